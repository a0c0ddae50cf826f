"""An index: its tables, and its ids."""

from cpython.exc cimport PyErr_CheckSignals
from cython cimport no_gc_clear
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memcmp, memcpy, memmove, memset

from fastlsh._kernels.candidates.bandkeys cimport band_key, four_band_keys, is_empty_row
from fastlsh._kernels.candidates.same_band cimport same_band, same_earlier
from fastlsh._kernels.common.checks cimport (
    check_array, check_band_rows, check_matrix, check_offsets, check_range, check_threshold,
)
from fastlsh._kernels.common.debug cimport check
from fastlsh._kernels.common.mixing cimport fmix64
from fastlsh._kernels.common.prefetch cimport AHEAD, prefetch
from fastlsh._kernels.candidates.keeper cimport REMEMBERED
from fastlsh._kernels.candidates.ranks cimport Candidates, Rank, choose, compare_int32
from fastlsh._kernels.common._common cimport loops
from fastlsh._kernels.sets.checks cimport check_mode
from fastlsh._kernels.sets.modes cimport (
    BY_CONTAINMENT, BY_SETS, BY_SIGNATURE, BY_TEXTS, NOT_VERIFIED,
)
from fastlsh._kernels.sets.sets cimport Workbench
from fastlsh._kernels.text._plans cimport ShinglePlan, plan_of
from fastlsh._kernels.text._texts cimport Span
from fastlsh._kernels.text.packed cimport read_head
from fastlsh._kernels.text.source cimport TOKEN_IDS, Hashing, room_for_window


# ---- The tables of an index, and the structures of queries and changes.

cdef struct Band:
    uint64_t* slots
    uint64_t size
    uint32_t* links
    int64_t used                # slots that are not empty


cdef struct Slice:
    # Where the values of a band are, and which documents share a bucket of it, by the steps of
    # their sizes. The group of a document in the tables is (step + odd) >> shift; a document that
    # is looked up finds those of the group that is `distance` above its own.
    Py_ssize_t start
    Py_ssize_t rows
    uint64_t band               # its number among the bands that its key is made for
    uint64_t number             # of the first group: no other slice has the same groups
    uint32_t distance
    uint32_t odd
    uint32_t shift


cdef struct Tables:
    Band* bands
    Py_ssize_t count            # of the bands
    Py_ssize_t rows
    const Slice* slices         # of each band; NULL: each has `rows` values, one after the other
    Py_ssize_t k                # values of a row: the minima, and the step if there are slices
    Py_ssize_t minima
    Py_ssize_t n                # documents
    uint32_t* signatures
    uint8_t* live               # 0: removed, or not yet inserted in full; NULL: all are
    uint64_t* hashes            # sets or packed texts, one after the other; NULL: none
    int64_t* offsets
    Py_ssize_t total            # room for hashes
    int64_t longest             # words of any text; -1: not known


cdef struct Desk:
    # Documents that are looked up together: all of them in one band, then all in the next. So only
    # one table at a time is in the caches, including those for addresses.
    Py_ssize_t room             # for documents
    uint32_t* tags              # of each document; later the first of each chain, with MORE
    uint32_t* filled            # 0: the document is empty


cdef struct Spent:
    # The steps that a call has made, and what it has met.
    int64_t budget              # steps that are left until a pause
    int64_t dead                # removed documents that were met
    bint damaged


cdef struct Walk:
    # A walk through the chains of one document, band by band.
    const uint32_t* row
    const uint32_t* heads       # the first document of the chain in each band, with MORE
    Py_ssize_t band
    uint32_t here
    uint32_t recent[4]          # returned last: most of them are met again in the next band
    int turn
    uint32_t bound              # later documents are skipped
    Spent spent


cdef enum:
    SETS_HELD = 1 << 10              # sets that a reader holds at most

cdef struct Reader:
    # Makes the sets of texts, and keeps the latest ones; for one caller at a time.
    const Hashing* plan
    uint64_t* window
    Workbench* bench
    Py_ssize_t longest          # words of the longest text that there is room for
    uint64_t* sets              # first the set of the document that is looked up
    Py_ssize_t room
    Py_ssize_t end
    Py_ssize_t document         # the number of this document, or -1
    Py_ssize_t count            # of its hashes
    int64_t number[SETS_HELD]        # by place: of which document there is a set, or -1
    int64_t start[SETS_HELD]
    int64_t size[SETS_HELD]


cdef struct Question:
    # Documents that are compared with those in the tables.
    const uint32_t* signatures
    const uint64_t* hashes
    const int64_t* offsets
    int64_t total               # of the hashes
    double threshold
    int mode
    bint contained              # the share of the question that a document has is compared
    Reader* reader              # for texts


cdef struct Answer:
    double similarity
    double number               # of the document, exact up to 2^53


cdef struct Answers:
    Answer* out
    Py_ssize_t room
    Py_ssize_t limit
    int64_t* counts             # of each document
    Py_ssize_t end
    Py_ssize_t first            # the document that is next
    Py_ssize_t place            # of this document on the desk
    Py_ssize_t held             # documents on the desk
    bint walking                # its walk has begun
    Py_ssize_t found            # for it so far
    Walk walk


cdef struct Stream:
    # Documents of which only those are inserted that are like no other.
    uint8_t* fresh              # of each document
    int64_t* matches            # of each document, the first that it is like; NULL: any will do
    Py_ssize_t first            # the document that is next
    Py_ssize_t place            # of this document on the desk
    Py_ssize_t held             # documents on the desk
    uint32_t* heads             # the first of its chain in each band, with MORE
    Py_ssize_t band             # that its candidates are gathered from next
    Candidates candidates
    Py_ssize_t n                # of them
    Py_ssize_t compared         # of them
    bint eager                  # no limit applies: each candidate is compared when it is found
    bint limited                # a bucket, or the limit, left candidates out
    uint32_t own                # this and later ones count as live: they come with this call
    Spent spent


cdef struct Sweep:
    # A compaction: the documents are moved together, the tables are emptied, and the documents are
    # linked again. It is done in parts, and nothing else is done before it has ended.
    int phase                   # 0: there is none
    Py_ssize_t next             # document, or band
    Py_ssize_t kept             # documents
    int64_t end                 # of the sets that are kept
    bint damaged
    Desk desk


# ---- Which documents share a bucket. With slices, the sizes of both documents count: the document
# that is looked up (asked) and a document in the tables are in groups by the steps of their sizes.

cdef uint64_t GROUPS_APART = 0x9E3779B97F4A7C15


cdef inline uint64_t group_of(
    const Tables* t, const Slice* s, const uint32_t* row, bint asked
) noexcept nogil:
    cdef uint64_t group = s.number + (<uint64_t> (row[t.minima] + s.odd) >> s.shift)
    return group + s.distance if asked else group


cdef inline uint32_t tag_in(
    const Tables* t, const uint32_t* row, Py_ssize_t b, bint asked
) noexcept nogil:
    cdef const Slice* s
    if t.slices == NULL:
        return <uint32_t> (band_key(row + b * t.rows, t.rows, b) >> 32)
    s = &t.slices[b]
    return <uint32_t> (
        (band_key(row + s.start, s.rows, s.band) ^ group_of(t, s, row, asked) * GROUPS_APART) >> 32
    )


cdef inline bint in_slice(
    const Tables* t, const uint32_t* asked, const uint32_t* other, Py_ssize_t b
) noexcept nogil:
    cdef const Slice* s = &t.slices[b]
    cdef const uint32_t* values = asked + s.start
    cdef const uint32_t* others = other + s.start
    return (
        values[0] == others[0]
        and group_of(t, s, asked, True) == group_of(t, s, other, False)
        and memcmp(values, others, s.rows * sizeof(uint32_t)) == 0
    )


cdef inline bint in_bucket(
    const Tables* t, const uint32_t* asked, const uint32_t* other, Py_ssize_t b
) noexcept nogil:
    if t.slices == NULL:
        return same_band(asked, other, t.rows, b)
    return in_slice(t, asked, other, b)


cdef inline bint in_earlier_bucket(
    const Tables* t, const uint32_t* asked, const uint32_t* other, Py_ssize_t b
) noexcept nogil:
    cdef Py_ssize_t e
    if t.slices == NULL:
        return same_earlier(asked, other, t.rows, b)
    for e in range(b):
        if in_slice(t, asked, other, e):
            return True
    return False


cdef inline const uint32_t* values_of(const Tables* t, uint32_t d, Py_ssize_t b) noexcept nogil:
    return t.signatures + d * t.k + (b * t.rows if t.slices == NULL else t.slices[b].start)


# ---- Hash tables of band keys, one for each band: open addressing, and chains of documents.
#
# A slot is 0 (empty) or tag << 32 | more << 31 | (number of a chain's last document + 1). The tag
# is the upper half of the key and decides on the place, too, so that a table grows without a look
# at the signatures. The documents of a tag are a chain in ascending order, closed to a ring: the
# last links to the first. While `more` is 0, the document is alone, and its link not set: most are,
# and the link would be one more place in memory to wait for. What two documents in a chain have
# in common is seen by comparing rows.
#
# A table may come from a file: each number in it is checked before it is used. Every walk ends,
# because a chain only ascends.

cdef enum:
    MOST_TOGETHER = 4096        # documents that are looked up in one band before the next
    TAGS_TOGETHER = 1 << 17
    WORK = 1 << 20              # steps between two looks for Ctrl-C

cdef uint32_t MORE = 0x80000000
cdef uint32_t NO_CHAIN = 0x7FFFFFFF     # no number of a document
cdef uint32_t PAUSED = 0xFFFFFFFE       # no number of a document: the walk will be continued
cdef uint32_t DAMAGED = 0xFFFFFFFF


cdef inline void put_tags_of(
    const Tables* t, const uint32_t* row, uint32_t* tags, bint asked
) noexcept nogil:
    cdef Py_ssize_t b = 0
    cdef Py_ssize_t i
    cdef uint64_t keys[4]
    while b + 4 <= t.count and t.slices == NULL:
        four_band_keys(row + b * t.rows, t.rows, b, keys, 1)
        for i in range(4):
            tags[b + i] = <uint32_t> (keys[i] >> 32)
        b += 4
    for b in range(b, t.count):
        tags[b] = tag_in(t, row, b, asked)


cdef inline uint64_t place_of(uint32_t tag, uint64_t size) noexcept nogil:
    return (<uint64_t> tag * size) >> 32


cdef inline uint32_t tail_of(const Band* band, uint32_t tag, Py_ssize_t n) noexcept nogil:
    cdef uint64_t at = place_of(tag, band.size)
    cdef uint64_t slot, _probe
    cdef uint32_t tail
    for _probe in range(band.size):
        slot = band.slots[at]
        if slot == 0:
            return NO_CHAIN
        if <uint32_t> (slot >> 32) == tag:
            tail = <uint32_t> slot - 1
            return tail if (tail & ~MORE) < <uint64_t> n else DAMAGED
        at += 1
        if at == band.size:
            at = 0
    return NO_CHAIN


cdef inline bint append_to_chain(Band* band, uint32_t tag, uint32_t d) noexcept nogil:
    # The caller guarantees an empty slot. False: the table is damaged.
    cdef uint64_t at = place_of(tag, band.size)
    cdef uint64_t slot, _probe
    cdef uint32_t tail
    for _probe in range(band.size):
        slot = band.slots[at]
        if slot == 0:
            band.used += 1
            check(band.used < <int64_t> band.size)      # a slot is empty, so each search ends
            band.slots[at] = <uint64_t> tag << 32 | (d + 1)
            return True
        if <uint32_t> (slot >> 32) == tag:
            tail = (<uint32_t> slot & ~MORE) - 1
            if tail >= d:
                return False
            band.links[d] = band.links[tail] if <uint32_t> slot & MORE else tail
            band.links[tail] = d
            band.slots[at] = <uint64_t> tag << 32 | MORE | (d + 1)
            return True
        at += 1
        if at == band.size:
            at = 0
    return False


cdef Py_ssize_t move_slots_to(
    const uint64_t* old, Py_ssize_t n, uint64_t* slots, Py_ssize_t size
) noexcept nogil:
    # Returns the number of slots moved; the caller checked that a slot stays empty.
    cdef Py_ssize_t i
    cdef Py_ssize_t moved = 0
    cdef uint64_t at
    for i in range(n):
        if old[i] == 0:
            continue
        at = place_of(<uint32_t> (old[i] >> 32), size)
        while slots[at] != 0:
            at += 1
            if at == <uint64_t> size:
                at = 0
        slots[at] = old[i]
        moved += 1
        check(moved < size)
    return moved


cdef Py_ssize_t desk_room(const Tables* t, Py_ssize_t documents) noexcept nogil:
    cdef Py_ssize_t most = min(<Py_ssize_t> MOST_TOGETHER, TAGS_TOGETHER // t.count)
    return min(documents, max(<Py_ssize_t> AHEAD, most))


cdef void put_tags(
    const Tables* t, const uint32_t* signatures, Py_ssize_t n, bint asked, Desk* desk
) noexcept nogil:
    cdef Py_ssize_t i
    cdef const uint32_t* row = signatures
    for i in range(n):
        desk.filled[i] = not is_empty_row(row, t.minima)
        if desk.filled[i]:
            put_tags_of(t, row, desk.tags + i * t.count, asked)
        row += t.k


cdef inline void fetch_slot(
    const Tables* t, const Desk* desk, Py_ssize_t i, Py_ssize_t b
) noexcept nogil:
    prefetch(
        &t.bands[b].slots[place_of(desk.tags[i * t.count + b], t.bands[b].size)]
    )


cdef inline uint32_t head_of(const Tables* t, Py_ssize_t b, uint32_t tag) noexcept nogil:
    # The first document of a chain, with MORE.
    cdef uint32_t d = tail_of(&t.bands[b], tag, t.n)
    if d & MORE and d != DAMAGED:
        d = t.bands[b].links[d & ~MORE]
        return d | MORE if d < <uint64_t> t.n else DAMAGED
    return d


cdef void find_heads(const Tables* t, Py_ssize_t n, Desk* desk) noexcept nogil:
    cdef Py_ssize_t i, b
    cdef uint32_t* tag
    for b in range(t.count):
        for i in range(n):
            if i + AHEAD < n and desk.filled[i + AHEAD]:
                fetch_slot(t, desk, i + AHEAD, b)
            if desk.filled[i]:
                tag = &desk.tags[i * t.count + b]
                tag[0] = head_of(t, b, tag[0])


cdef bint link_documents(
    Tables* t, Py_ssize_t first, Py_ssize_t last, Desk* desk
) noexcept nogil:
    # False: the tables are damaged.
    cdef Py_ssize_t n, i, b
    cdef bint sound = True
    while first < last:
        n = min(desk.room, last - first)
        put_tags(t, t.signatures + first * t.k, n, False, desk)
        for b in range(t.count):
            memset(t.bands[b].links + first, 0, n * sizeof(uint32_t))   # a file shows no old memory
            for i in range(n):
                if i + AHEAD < n and desk.filled[i + AHEAD]:
                    fetch_slot(t, desk, i + AHEAD, b)
                if desk.filled[i]:
                    sound &= append_to_chain(
                        &t.bands[b], desk.tags[i * t.count + b], <uint32_t> (first + i)
                    )
        first += n
    t.n = last
    return sound


# ---- Which documents of the tables are live, and their rows.

cdef bint all_below(const int64_t* numbers, Py_ssize_t n, Py_ssize_t end) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if not 0 <= numbers[i] < end:
            return False
    return True


cdef inline int64_t words_asked(
    const Question* question, Py_ssize_t first, Py_ssize_t last
) noexcept nogil:
    return question.offsets[last] - question.offsets[first] if question.offsets != NULL else 0


cdef int64_t mark(
    Tables* t, Py_ssize_t first, const int64_t* gone, Py_ssize_t n
) noexcept nogil:
    # Documents from `first` on become live, those in `gone` are removed. Returns by how many the
    # number of dead documents grows.
    cdef Py_ssize_t i
    cdef int64_t fewer = 0
    for i in range(first, t.n):
        fewer -= not t.live[i]
        t.live[i] = 1
    for i in range(n):
        fewer += t.live[gone[i]]
        t.live[gone[i]] = 0
    return fewer


cdef int64_t count_all(Tables* t) noexcept nogil:
    # Counts the used slots of each band; returns how many numbers have no document.
    cdef Py_ssize_t d, b
    cdef uint64_t i
    cdef Band* band
    cdef int64_t dead = 0
    for d in range(t.n):
        t.live[d] = t.live[d] != 0
        dead += not t.live[d]
    for b in range(t.count):
        band = &t.bands[b]
        band.used = 0
        for i in range(band.size):
            band.used += band.slots[i] != 0
    return dead


cdef void rows_of(
    const Tables* t, const int64_t* numbers, Py_ssize_t n, uint32_t* out
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        memcpy(out + i * t.k, t.signatures + numbers[i] * t.k, t.k * sizeof(uint32_t))


# ---- Memory of the tables of an index.

cdef extern from "Python.h":
    void* PyMem_RawMalloc(size_t n) nogil
    void* PyMem_RawCalloc(size_t count, size_t n) nogil
    void* PyMem_RawRealloc(void* old, size_t n) nogil
    void PyMem_RawFree(void* old) nogil

cdef Py_ssize_t MOST_BYTES = 0x7FFFFFFFFFFFFFFF


cdef Desk new_desk(const Tables* t, Py_ssize_t documents) except *:
    cdef Desk desk
    desk.room = max(desk_room(t, documents), <Py_ssize_t> AHEAD + 1)
    desk.tags = <uint32_t*> PyMem_RawMalloc(desk.room * (t.count + 1) * sizeof(uint32_t))
    if desk.tags == NULL:
        raise MemoryError()
    desk.filled = desk.tags + desk.room * t.count
    return desk


cdef Candidates new_candidates(const Tables* t, Py_ssize_t more, Py_ssize_t limit) except *:
    # Room for the candidates of one document, while up to `more` documents are inserted.
    cdef Candidates candidates
    cdef Py_ssize_t room = t.count * min(<Py_ssize_t> REMEMBERED, t.n + more)
    candidates.ranks = <Rank*> PyMem_RawMalloc(room * (sizeof(Rank) + 2 * sizeof(int32_t)))
    if candidates.ranks == NULL:
        raise MemoryError()
    candidates.found = <int32_t*> (candidates.ranks + room)
    candidates.shared = candidates.found + room
    candidates.limit = limit
    return candidates


cdef Slice* slices_of(
    const int64_t[:, ::1] given, Py_ssize_t bands, Py_ssize_t minima
) except NULL:
    # A checked copy.
    cdef Slice* slices
    cdef Py_ssize_t b
    if given.shape[0] != bands or given.shape[1] != 7:
        raise ValueError(f"slices need the shape ({bands}, 7)")
    for b in range(bands):
        if not (
            given[b, 0] >= 0 and 1 <= given[b, 1] <= minima - given[b, 0] and given[b, 2] >= 0
            and given[b, 3] >= 0 and 0 <= given[b, 4] <= 255
            and 0 <= given[b, 5] <= 1 and 0 <= given[b, 6] <= 1
        ):
            raise ValueError(f"slice {b} does not suit signatures of {minima} values")
    slices = <Slice*> PyMem_RawCalloc(bands, sizeof(Slice))
    if slices == NULL:
        raise MemoryError()
    for b in range(bands):
        slices[b].start = given[b, 0]
        slices[b].rows = given[b, 1]
        slices[b].band = given[b, 2]
        slices[b].number = given[b, 3]
        slices[b].distance = <uint32_t> given[b, 4]
        slices[b].odd = <uint32_t> given[b, 5]
        slices[b].shift = <uint32_t> given[b, 6]
    return slices


cdef int check_sound(bint damaged) except -1:
    if damaged:
        raise ValueError("the tables are damaged")
    return 0


cdef int resize(void** memory, Py_ssize_t count, Py_ssize_t width) except -1:
    cdef void* moved = NULL
    if count <= MOST_BYTES // width:
        moved = PyMem_RawRealloc(memory[0], max(count, <Py_ssize_t> 1) * width)
    if moved == NULL:
        raise MemoryError()
    memory[0] = moved
    return 0


# ---- The sets of the texts that an index keeps. They are made when they are compared.

cdef enum:
    HASHING = 64                # steps for a word of eight characters, as the budgets count


cdef int64_t longest_words(
    const int64_t* offsets, Py_ssize_t first, Py_ssize_t last, int64_t total
) noexcept nogil:
    # Texts that lie outside of the words are skipped; a comparison will report them.
    cdef Py_ssize_t d
    cdef int64_t longest = 0
    for d in range(first, last):
        if 0 <= offsets[d] <= offsets[d + 1] <= total:
            longest = max(longest, offsets[d + 1] - offsets[d])
    return longest


cdef inline Py_ssize_t most_hashes(Py_ssize_t words) noexcept nogil:
    # The most hashes of a text of so many words: one for each character, and one more.
    return 8 * words + 1


cdef void forget_sets(Reader* reader) noexcept nogil:
    cdef Py_ssize_t i
    reader.document = -1
    reader.end = most_hashes(reader.longest)
    for i in range(SETS_HELD):
        reader.number[i] = -1


cdef Py_ssize_t make_set(
    Reader* reader, const uint64_t* words, Py_ssize_t n, uint64_t* out, Spent* spent
) noexcept nogil:
    # Returns the number of hashes; -1 if the tables are damaged.
    cdef Span span
    cdef int64_t[2] start = [0, most_hashes(n)]
    cdef int64_t count
    if n == 0:
        return 0
    if n > reader.longest or not read_head(words, n, reader.plan.unit == TOKEN_IDS, &span):
        spent.damaged = True
        return -1
    spent.budget -= n * HASHING
    loops.sets_of_texts(
        &span, 1, reader.plan, reader.window, out, start, &count, False, reader.bench
    )
    spent.damaged |= count < 0
    return count


cdef Py_ssize_t hold_set(
    Reader* reader, uint32_t c, const uint64_t* words, Py_ssize_t n, Spent* spent
) noexcept nogil:
    # Makes the set of a document, unless it is held already. Returns its place; -1: damaged.
    cdef Py_ssize_t place = c & (SETS_HELD - 1)
    cdef Py_ssize_t document
    if reader.number[place] == c:
        return place
    if n > reader.longest:
        spent.damaged = True
        return -1
    if reader.room - reader.end < most_hashes(n):
        document = reader.document
        forget_sets(reader)
        reader.document = document
    check(reader.end + most_hashes(n) <= reader.room)
    reader.number[place] = -1
    reader.start[place] = reader.end
    reader.size[place] = make_set(reader, words, n, reader.sets + reader.end, spent)
    if reader.size[place] < 0:
        return -1
    reader.end += reader.size[place]
    reader.number[place] = c
    return place


cdef inline double similarity_of_sets(
    const Question* question, const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb
) noexcept nogil:
    # Of the set that is asked about, a, to one in the tables; -1 where it is below the threshold.
    if question.contained:
        return loops.containment_of_sets(a, na, b, nb, question.threshold)
    return loops.jaccard_of_sets(a, na, b, nb, question.threshold)


cdef double similarity_of_texts(
    const Question* question, Py_ssize_t d, uint32_t c, const uint64_t* words, Py_ssize_t n,
    Spent* spent
) noexcept nogil:
    # Of the document d that is asked about, to document c in the tables with these words.
    cdef Reader* reader = question.reader
    cdef const uint64_t* asked = question.hashes + question.offsets[d]
    cdef Py_ssize_t m = question.offsets[d + 1] - question.offsets[d]
    cdef Py_ssize_t place
    spent.budget -= 1 + (n >> 3)
    if n == m and n and memcmp(asked, words, n * sizeof(uint64_t)) == 0:
        return 1.0                      # a candidate is not empty: it has a set, and this is it
    if reader.document != d:
        reader.document = -1
        reader.count = make_set(reader, asked, m, reader.sets, spent)
        if reader.count < 0:
            return -1.0
        reader.document = d
    place = hold_set(reader, c, words, n, spent)
    if place < 0:
        return -1.0
    spent.budget -= (reader.count + reader.size[place]) >> 2
    return similarity_of_sets(
        question, reader.sets, reader.count, reader.sets + reader.start[place], reader.size[place]
    )


# ---- Walking through the chains of a document: its candidates, and their similarity.

cdef inline void fetch_links(const Tables* t, const uint32_t* heads) noexcept nogil:
    cdef Py_ssize_t b
    for b in range(t.count):
        if heads[b] & MORE and heads[b] != DAMAGED:
            prefetch(&t.bands[b].links[heads[b] & ~MORE])


cdef inline void fetch_rows(const Tables* t, const uint32_t* heads) noexcept nogil:
    # The rows of the first two documents in each chain.
    cdef Py_ssize_t b
    cdef uint32_t d
    cdef uint32_t latest = NO_CHAIN
    for b in range(t.count):
        if heads[b] == NO_CHAIN or heads[b] == DAMAGED:
            continue
        d = heads[b] & ~MORE
        prefetch(values_of(t, d, b))
        if d != latest:
            prefetch(t.signatures + d * t.k)
        latest = d
        if heads[b] & MORE:
            d = t.bands[b].links[d]
            if d < <uint64_t> t.n:
                prefetch(values_of(t, d, b))


cdef void start_walk(       # without a change to walk.spent
    Walk* walk, const Tables* t, const uint32_t* row, const uint32_t* heads
) noexcept nogil:
    cdef int i
    walk.row = row
    walk.heads = heads
    walk.band = -1
    walk.here = NO_CHAIN
    walk.turn = 0
    for i in range(4):
        walk.recent[i] = NO_CHAIN
    walk.bound = <uint32_t> t.n


cdef inline bint is_recent(const Walk* walk, uint32_t d) noexcept nogil:
    # A single branch for all four, because a processor could not predict four.
    return (
        (walk.recent[0] == d) | (walk.recent[1] == d)
        | (walk.recent[2] == d) | (walk.recent[3] == d)
    )


cdef uint32_t next_candidate(Walk* walk, const Tables* t) noexcept nogil:
    # Each document that shares a band, once; NO_CHAIN at the end; PAUSED where the budget is spent.
    cdef uint32_t d
    while True:
        if walk.here == NO_CHAIN:               # to the next chain
            walk.band += 1
            if walk.band >= t.count:
                return NO_CHAIN
            d = walk.heads[walk.band]
            if d == NO_CHAIN:
                continue
            if d == DAMAGED:
                walk.spent.damaged = True
                continue
            if d & MORE:
                d &= ~MORE
                walk.here = d
        else:
            if walk.spent.budget <= 0:
                return PAUSED
            walk.spent.budget -= 1 + (walk.band >> 2)     # rows of the bands before are compared
            d = t.bands[walk.band].links[walk.here]
            if d <= walk.here or d >= <uint64_t> t.n:
                walk.spent.damaged |= d >= <uint64_t> t.n
                walk.here = NO_CHAIN            # the last links to the first
                continue
            walk.here = d
        if d > walk.bound:
            walk.here = NO_CHAIN
        elif is_recent(walk, d):
            continue
        elif t.live != NULL and not t.live[d]:
            walk.spent.dead += 1
        elif in_bucket(
            t, walk.row, t.signatures + d * t.k, walk.band
        ) and not in_earlier_bucket(t, walk.row, t.signatures + d * t.k, walk.band):
            walk.recent[walk.turn & 3] = d
            walk.turn += 1
            return d


cdef inline double similarity_to(
    const Tables* t, const Question* question, Py_ssize_t d, uint32_t c, Spent* spent
) noexcept nogil:
    # -1 where it is below the threshold; 1 where nothing is compared.
    cdef Py_ssize_t equal
    cdef double similarity
    cdef int64_t start, end
    if question.mode == BY_SIGNATURE:
        spent.budget -= t.k >> 4
        loops.count_equal(question.signatures + d * t.k, t.signatures + c * t.k, t.minima, &equal)
        similarity = <double> equal / <double> t.minima
        return similarity if similarity >= question.threshold else -1.0
    if question.mode == BY_SETS or question.mode == BY_TEXTS:
        start = t.offsets[c]
        end = t.offsets[c + 1]
        if not 0 <= start <= end <= t.total:
            spent.damaged = True
            return -1.0
        if question.mode == BY_TEXTS:
            return similarity_of_texts(question, d, c, t.hashes + start, end - start, spent)
        spent.budget -= (end - start) >> 1
        return similarity_of_sets(
            question, question.hashes + question.offsets[d],
            question.offsets[d + 1] - question.offsets[d], t.hashes + start, end - start,
        )
    return 1.0


# ---- The best answers of a query: a bounded heap, the worst on top, then sorted.

cdef inline bint better(const Answer* a, const Answer* b) noexcept nogil:
    # More similar, then earlier.
    if a.similarity != b.similarity:
        return a.similarity > b.similarity
    return a.number < b.number


cdef void sink(Answer* heap, Py_ssize_t n) noexcept nogil:
    # Restores the order below a new top.
    cdef Answer moving = heap[0]
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t child
    while 2 * i + 1 < n:
        child = 2 * i + 1
        if child + 1 < n and better(&heap[child], &heap[child + 1]):
            child += 1
        if not better(&moving, &heap[child]):
            break
        heap[i] = heap[child]
        i = child
    heap[i] = moving


cdef void offer(Answer* heap, Py_ssize_t* n, Py_ssize_t most, Answer answer) noexcept nogil:
    cdef Py_ssize_t i, above
    if n[0] == most:
        if better(&answer, heap):
            heap[0] = answer
            sink(heap, most)
        return
    i = n[0]
    n[0] += 1
    while i:
        above = (i - 1) >> 1
        if not better(&heap[above], &answer):
            break
        heap[i] = heap[above]
        i = above
    heap[i] = answer


cdef void best_first(Answer* heap, Py_ssize_t n) noexcept nogil:
    cdef Answer worst
    while n > 1:
        n -= 1
        worst = heap[0]
        heap[0] = heap[n]
        sink(heap, n)
        heap[n] = worst


# ---- Querying the tables, adding documents, and compacting them.

cdef enum:
    DONE = 0
    FULL = 1                    # no room for the answers of a document
    PAUSE = 2                   # the budget of this call is spent


cdef int answer_one(
    const Tables* t, const Question* question, const uint32_t* heads, Answers* answers
) noexcept nogil:
    cdef Walk walk
    cdef Answer answer
    cdef Answer* heap = answers.out + answers.end
    cdef Py_ssize_t d = answers.first
    cdef Py_ssize_t most = min(answers.room - answers.end, answers.limit)
    cdef Py_ssize_t n = 0
    cdef uint32_t c
    if answers.walking:
        walk = answers.walk
        n = answers.found
    else:
        walk.spent = answers.walk.spent
        start_walk(&walk, t, question.signatures + d * t.k, heads)
    c = next_candidate(&walk, t)
    while c != NO_CHAIN and c != PAUSED:
        answer.similarity = similarity_to(t, question, d, c, &walk.spent)
        answer.number = c
        if answer.similarity >= 0.0:
            if n == most and most < answers.limit:
                return FULL
            offer(heap, &n, most, answer)
            # Of equally similar documents, earlier ones come first: later ones can be skipped.
            if n == answers.limit and heap.similarity >= 1.0:
                walk.bound = <uint32_t> heap.number
        c = next_candidate(&walk, t)
    answers.walking = c == PAUSED
    if c == PAUSED:
        answers.walk = walk
        answers.found = n
        return PAUSE
    answers.walk.spent = walk.spent
    check(n <= most)
    best_first(heap, n)
    answers.counts[0] = n
    answers.end += n
    return DONE


cdef int answer_some(
    const Tables* t, const Question* question, Py_ssize_t last, Desk* desk, Answers* answers
) noexcept nogil:
    cdef Py_ssize_t i
    cdef int state
    answers.walk.spent.budget = WORK
    while answers.first < last:
        if answers.place == answers.held:
            if answers.walk.spent.budget <= 0:
                return PAUSE
            answers.place = 0
            answers.held = min(desk.room, last - answers.first)
            put_tags(t, question.signatures + answers.first * t.k, answers.held, True, desk)
            find_heads(t, answers.held, desk)
            answers.walk.spent.budget -= answers.held * t.count
        i = answers.place
        if i + 8 < answers.held and desk.filled[i + 8]:
            fetch_links(t, desk.tags + (i + 8) * t.count)
        if i + 4 < answers.held and desk.filled[i + 4]:
            fetch_rows(t, desk.tags + (i + 4) * t.count)
        answers.counts[0] = 0
        if desk.filled[i]:
            state = answer_one(t, question, desk.tags + i * t.count, answers)
            if state != DONE:
                return state
        answers.counts += 1
        answers.place += 1
        answers.first += 1
    return DONE


cdef void take_in(Tables* t, const Question* question, Py_ssize_t d) noexcept nogil:
    # Copies a document behind the last one; queries do not find it yet.
    cdef Py_ssize_t n = t.n
    cdef int64_t words
    memcpy(t.signatures + n * t.k, question.signatures + d * t.k, t.k * sizeof(uint32_t))
    t.live[n] = 0
    if t.offsets != NULL:
        words = question.offsets[d + 1] - question.offsets[d]
        check(0 <= words <= t.total - t.offsets[n])
        if words:
            memcpy(
                t.hashes + t.offsets[n], question.hashes + question.offsets[d],
                words * sizeof(uint64_t),
            )
        t.offsets[n + 1] = t.offsets[n] + words
        if t.longest >= 0:
            t.longest = max(t.longest, words)
    t.n = n + 1


cdef bint append_all(
    Tables* t, const Question* question, Py_ssize_t first, Py_ssize_t last, Desk* desk
) noexcept nogil:
    # False: the tables are damaged.
    cdef Py_ssize_t n = t.n
    cdef Py_ssize_t d
    for d in range(first, last):
        take_in(t, question, d)
    return link_documents(t, n, t.n, desk)


cdef Py_ssize_t sets_within(const Tables* t) noexcept nogil:
    # The number of documents before the first whose set lies outside of the hashes; all documents,
    # if there are no sets. Nothing behind the last document is read.
    cdef Py_ssize_t d
    if t.offsets != NULL:
        for d in range(t.n):
            if not 0 <= t.offsets[d] <= t.offsets[d + 1] <= t.total:
                return d
    return t.n


cdef enum:
    MOVING = 1
    EMPTYING = 2
    LINKING = 3


cdef void move_some(Tables* t, Sweep* sweep) noexcept nogil:
    cdef Py_ssize_t d, words
    cdef int64_t start
    cdef int64_t budget = 4 * WORK
    while sweep.next < t.n and budget > 0:
        d = sweep.next
        sweep.next += 1
        budget -= 1
        if not t.live[d]:
            continue
        if d != sweep.kept:
            memcpy(
                t.signatures + sweep.kept * t.k, t.signatures + d * t.k, t.k * sizeof(uint32_t)
            )
            budget -= t.k
        if t.offsets != NULL:
            start = t.offsets[d]
            words = t.offsets[d + 1] - start
            if words and start != sweep.end:
                memmove(t.hashes + sweep.end, t.hashes + start, words * sizeof(uint64_t))
                budget -= words
            check(sweep.kept <= d and sweep.end <= start)
            # Read before it is written: kept <= d.
            t.offsets[sweep.kept] = sweep.end
            sweep.end += words
        sweep.kept += 1
    if sweep.next < t.n:
        return
    if t.offsets != NULL:
        t.offsets[sweep.kept] = sweep.end
    memset(t.live, 1, sweep.kept)
    t.n = 0
    sweep.next = 0
    sweep.phase = EMPTYING


cdef void sweep_some(Tables* t, Sweep* sweep) noexcept nogil:
    cdef Py_ssize_t last
    if sweep.phase == MOVING:
        move_some(t, sweep)
    elif sweep.phase == EMPTYING:
        memset(t.bands[sweep.next].slots, 0, t.bands[sweep.next].size * sizeof(uint64_t))
        t.bands[sweep.next].used = 0
        sweep.next += 1
        if sweep.next == t.count:
            sweep.phase = LINKING
    else:
        last = min(sweep.kept, t.n + max(<Py_ssize_t> WORK // t.count, <Py_ssize_t> AHEAD))
        sweep.damaged |= not link_documents(t, t.n, last, &sweep.desk)
        if last == sweep.kept:
            sweep.phase = 0


# ---- The keep-or-drop step of an index: each document against those before it, then into the
# tables. What `Keeper` does with documents that are linked beforehand, to the same limits. While
# the limit cannot leave out a candidate, which of them is compared first does not matter, only
# whether one is alike: so each is compared once it is found, and most copies are known by the
# first. Where the first that is alike is asked for, all are found before.

cdef enum:
    KNOWN = 0
    FRESH = 1
    UNSURE = 2                  # fresh, but not compared with every candidate


cdef bint takes_all(const Tables* t, const Stream* stream) noexcept nogil:
    # Whether all candidates are compared, however many there are in the bands to come, and in any
    # order.
    cdef Py_ssize_t most = stream.n
    cdef Py_ssize_t b
    for b in range(stream.band, t.count):
        if stream.heads[b] != NO_CHAIN and stream.heads[b] != DAMAGED:
            most += REMEMBERED if stream.heads[b] & MORE else 1
    return stream.matches == NULL and most <= stream.candidates.limit


cdef inline bint is_gathered(
    const Tables* t, const uint32_t* row, uint32_t d, const Stream* stream
) noexcept nogil:
    # From a band before, where a full bucket may have left it out.
    cdef Py_ssize_t i
    if not in_earlier_bucket(t, row, t.signatures + d * t.k, stream.band):
        return False
    if not stream.limited:
        return True
    for i in range(stream.n):
        if stream.candidates.found[i] == <int32_t> d:
            return True
    return False


cdef void gather_band(
    const Tables* t, const uint32_t* row, uint32_t head, Stream* stream
) noexcept nogil:
    # The first documents of a bucket, as candidates: one more than REMEMBERED tells of more.
    cdef Py_ssize_t b = stream.band
    cdef int left = REMEMBERED
    cdef uint32_t d = head & ~MORE
    cdef uint32_t before
    if head == NO_CHAIN or head == DAMAGED:
        stream.spent.damaged |= head == DAMAGED
        return
    while True:
        stream.spent.budget -= 1
        if not t.live[d] and d < stream.own:
            stream.spent.dead += 1
        elif in_bucket(t, row, t.signatures + d * t.k, b):
            if left == 0:
                stream.limited = True
                return
            left -= 1
            check(stream.n < REMEMBERED * t.count and d < <uint64_t> t.n)
            if not (stream.eager and is_gathered(t, row, d, stream)):
                stream.candidates.found[stream.n] = <int32_t> d
                stream.n += 1
        if not head & MORE:
            return
        before = d
        d = t.bands[b].links[d]
        if d <= before or d >= <uint64_t> t.n:      # the last links to the first
            stream.spent.damaged |= d >= <uint64_t> t.n
            return


cdef void count_shared(Stream* stream) noexcept nogil:
    # Each candidate once, ascending, and in how many buckets it was met.
    cdef Candidates* candidates = &stream.candidates
    cdef int32_t* found = candidates.found
    cdef Py_ssize_t i
    cdef Py_ssize_t n = 0
    if stream.n > 1:
        qsort(found, stream.n, sizeof(int32_t), compare_int32)
    for i in range(stream.n):
        if n and found[n - 1] == found[i]:
            candidates.shared[n - 1] += 1
        else:
            found[n] = found[i]
            candidates.shared[n] = 1
            n += 1
    stream.n = n
    for i in range(1, n):
        check(found[i - 1] < found[i] and candidates.shared[i] <= stream.band)


cdef void choose_among(const Tables* t, const uint32_t* row, Stream* stream) noexcept nogil:
    cdef Candidates* candidates = &stream.candidates
    cdef Py_ssize_t i, equal
    count_shared(stream)
    if stream.n > candidates.limit:
        stream.limited = True
        stream.spent.budget -= stream.n * (t.minima >> 4)
        for i in range(stream.n):
            loops.count_equal(row, t.signatures + candidates.found[i] * t.k, t.minima, &equal)
            candidates.ranks[i].equal = <int32_t> equal
    stream.n = choose(candidates, stream.n)
    check(stream.n <= candidates.limit)


cdef uint32_t first_known(
    const Tables* t, const Question* question, const uint32_t* tags, Stream* stream
) noexcept nogil:
    # The first candidate that reaches the threshold; NO_CHAIN or PAUSED.
    cdef const uint32_t* row = question.signatures + stream.first * t.k
    cdef Py_ssize_t b
    cdef uint32_t c
    if stream.band == 0 and stream.n == 0:
        for b in range(t.count):
            stream.heads[b] = head_of(t, b, tags[b])
        stream.eager = takes_all(t, stream)
    while True:
        while stream.eager and stream.compared < stream.n:
            if stream.spent.budget <= 0:
                return PAUSED
            c = <uint32_t> stream.candidates.found[stream.compared]
            stream.compared += 1
            if similarity_to(t, question, stream.first, c, &stream.spent) >= 0.0:
                return c
        if stream.band == t.count:
            return NO_CHAIN
        if stream.spent.budget <= 0:
            return PAUSED
        gather_band(t, row, stream.heads[stream.band], stream)
        stream.band += 1
        if not stream.eager and stream.band == t.count:
            choose_among(t, row, stream)
            stream.eager = True
        elif not stream.eager and takes_all(t, stream):
            count_shared(stream)
            stream.eager = True


cdef void append_one(
    Tables* t, const Question* question, const uint32_t* tags, bint filled, Stream* stream
) noexcept nogil:
    cdef Py_ssize_t b
    cdef uint32_t tag
    take_in(t, question, stream.first)
    for b in range(t.count):
        t.bands[b].links[t.n - 1] = 0
        if filled:
            tag = tags[b]
            if t.slices != NULL:        # it is found by another tag than those that it asks for
                tag = tag_in(t, question.signatures + stream.first * t.k, b, False)
            stream.spent.damaged |= not append_to_chain(&t.bands[b], tag, <uint32_t> (t.n - 1))


cdef bint insert_some(
    Tables* t, const Question* question, Py_ssize_t last, Desk* desk, Stream* stream
) noexcept nogil:
    # In order; `fresh` says what became of each document. An empty one is fresh. Returns whether
    # all are done.
    cdef Py_ssize_t i, b
    cdef uint32_t known
    cdef const uint32_t* tags
    stream.spent.budget = WORK
    while stream.first < last:
        if stream.place == stream.held:
            if stream.spent.budget <= 0:
                return False
            stream.place = 0
            stream.held = min(<Py_ssize_t> AHEAD, last - stream.first)
            put_tags(t, question.signatures + stream.first * t.k, stream.held, True, desk)
            for i in range(stream.held):
                for b in range(t.count if desk.filled[i] else 0):
                    fetch_slot(t, desk, i, b)
            stream.spent.budget -= stream.held * t.count
        i = stream.place
        tags = desk.tags + i * t.count
        known = first_known(t, question, tags, stream) if desk.filled[i] else NO_CHAIN
        if known == PAUSED:
            return False
        if known == NO_CHAIN:
            append_one(t, question, tags, desk.filled[i], stream)
            stream.fresh[stream.first] = UNSURE if stream.limited else FRESH
        else:
            stream.fresh[stream.first] = KNOWN
        if stream.matches != NULL:
            stream.matches[stream.first] = -1 if known == NO_CHAIN else <int64_t> known
        stream.band = stream.n = stream.compared = 0
        stream.limited = False
        stream.place += 1
        stream.first += 1
    return True


# ---- Ids of an index: lists of answers, and the look-up table that a file holds.

cdef extern from *:
    """
    #ifdef Py_GIL_DISABLED                      /* other threads go on: leave it alone */
    #define fastlsh_pause_gc() 0
    #else
    #define fastlsh_pause_gc() PyGC_Disable()
    #endif
    """
    # Lists and tuples by the thousand, none of them garbage: looking through them again and again
    # would take longer than making them. No other thread runs meanwhile.
    bint fastlsh_pause_gc()

cdef extern from "Python.h":
    int PyGC_Enable()
    void PyObject_GC_UnTrack(object o)
    bint PyBytes_CheckExact(object o)
    bint PyLong_CheckExact(object o)
    bint PyUnicode_CheckExact(object o)


cdef enum:
    TOGETHER = 1 << 16          # answers between two looks for Ctrl-C


def answer_lists(
    list names not None, const double[:, ::1] found not None, const int64_t[::1] counts not None,
    object alike=None,
):
    """Return for each question the list of its answers (id, similarity).

    Parameters
    ----------
    names
        The ids of all answers.
    found
        float64 (total, 2): the similarity of each comes first.
    counts
        int64 (questions,): how many answers each has.
    alike
        If it is given, the similarity of all, whatever was found.
    """
    cdef Py_ssize_t i
    cdef bint was_on
    cdef Py_ssize_t total = 0
    check_matrix(found, "found")
    check_array(counts, "counts")
    for i in range(counts.shape[0]):
        if not 0 <= counts[i] <= found.shape[0] - total:
            raise ValueError("counts do not fit what was found")
        total += counts[i]
    if len(names) != total or total != found.shape[0] or (total and found.shape[1] != 2):
        raise ValueError(f"{len(names)} names and {found.shape[0]} similarities of {total} answers")
    was_on = fastlsh_pause_gc()
    try:
        return lists_of(names, found, counts, alike)
    finally:
        if was_on:
            PyGC_Enable()


cdef list lists_of(list names, const double[:, ::1] found, const int64_t[::1] counts, alike):
    cdef Py_ssize_t i, j, total = 0
    cdef list answers, result = []
    cdef double latest = 1.0
    cdef object similarity = 1.0 if alike is None else alike
    for i in range(counts.shape[0]):
        answers = []
        for j in range(total, total + counts[i]):
            if alike is None and found[j, 0] != latest:     # equal ones often follow each other
                latest = found[j, 0]
                similarity = latest
            name = names[j]
            answer = (name, similarity)
            # No part of a cycle: the garbage collector need not look at it.
            if PyUnicode_CheckExact(name) or PyLong_CheckExact(name) or PyBytes_CheckExact(name):
                PyObject_GC_UnTrack(answer)
            answers.append(answer)
            if j % TOGETHER == TOGETHER - 1:
                PyErr_CheckSignals()
        total += counts[i]
        result.append(answers)
    return result


cdef uint64_t hash_of(const uint8_t* data, Py_ssize_t n) noexcept nogil:
    # docs/index-format.md: words of 8 bytes, the first byte lowest.
    cdef uint64_t h = <uint64_t> n + 1
    cdef uint64_t word
    cdef Py_ssize_t i, j
    for i in range(0, n, 8):
        word = 0
        for j in range(min(n - i, <Py_ssize_t> 8)):
            word |= <uint64_t> data[i + j] << (8 * j)
        h = (h ^ word) * <uint64_t> 0xD6E8FEB86659FD93
        h ^= h >> 32
    return fmix64(h)


cdef enum:
    DAMAGED_IDS = -2

cdef struct Names:
    # The bytes of n ids; without offsets each has 8.
    const uint8_t* data
    Py_ssize_t total
    const int64_t* offsets
    Py_ssize_t n


cdef Names names_of(
    const uint8_t[::1] data, const int64_t[::1] offsets, Py_ssize_t n, Py_ssize_t size
) except *:
    cdef Names names
    if n < 0 or n > <Py_ssize_t> 0x7FFFFFFF:
        raise ValueError(f"{n} ids")
    if not n < size <= <Py_ssize_t> 0xFFFFFFFF:
        raise ValueError(f"a table of {size} slots does not suit {n} ids")
    if offsets is None and data.shape[0] != 8 * n:
        raise ValueError(f"{data.shape[0]} bytes are no {n} integers")
    if offsets is not None and offsets.shape[0] != n + 1:
        raise ValueError(f"{n} ids need {n + 1} offsets, got {offsets.shape[0]}")
    check_array(offsets, "offsets")
    names.data = &data[0] if data.shape[0] else NULL
    names.total = data.shape[0]
    names.offsets = &offsets[0] if offsets is not None else NULL
    names.n = n
    return names


cdef inline bint name_at(
    const Names* names, Py_ssize_t i, const uint8_t** name, Py_ssize_t* width
) noexcept nogil:
    # False: it lies outside the bytes.
    cdef int64_t start = 8 * i
    cdef int64_t end = start + 8
    if names.offsets != NULL:
        start = names.offsets[i]
        end = names.offsets[i + 1]
        if not 0 <= start <= end <= names.total:
            return False
    width[0] = end - start
    name[0] = names.data + start if width[0] else NULL
    return True


cdef bint is_zero(const uint64_t* table, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(size):
        if table[i] != 0:
            return False
    return True


cdef Py_ssize_t enter_all(const Names* names, uint64_t* table, uint64_t size) noexcept nogil:
    # Returns how many were entered: all, or the first that lies outside the bytes.
    cdef const uint8_t* name
    cdef Py_ssize_t i, width
    cdef uint64_t h, at
    for i in range(names.n):
        if not name_at(names, i, &name, &width):
            return i
        h = hash_of(name, width) >> 32
        at = (h * size) >> 32
        while table[at] != 0:
            at = at + 1 if at + 1 < size else 0
        table[at] = h << 32 | <uint64_t> (i + 1)
    return names.n


cdef Py_ssize_t look_up(
    const Names* names, const uint64_t* table, uint64_t size, const uint8_t* wanted, Py_ssize_t n
) noexcept nogil:
    cdef uint64_t h = hash_of(wanted, n) >> 32
    cdef uint64_t at = (h * size) >> 32
    cdef uint64_t _probe
    cdef const uint8_t* name
    cdef Py_ssize_t i, width
    for _probe in range(size):
        if table[at] == 0:
            return -1
        if table[at] >> 32 == h:
            i = <Py_ssize_t> <uint32_t> table[at] - 1
            if not (0 <= i < names.n and name_at(names, i, &name, &width)):
                return DAMAGED_IDS
            if width == n and (width == 0 or memcmp(name, wanted, width) == 0):
                return i
        at = at + 1 if at + 1 < size else 0
    return -1


def link_ids(
    const uint8_t[::1] data not None, const int64_t[::1] offsets, Py_ssize_t n,
    uint64_t[::1] table not None,
):
    """Enter the ids into a look-up table.

    Parameters
    ----------
    data, offsets
        The bytes of the ids, and int64 (n + 1,): where each begins; None: each has 8 bytes.
    n
        How many.
    table
        uint64 (size,), size > n, zeros; written: hash and number of the ids.
    """
    cdef Py_ssize_t entered
    cdef Names names = names_of(data, offsets, n, table.shape[0])
    check_array(table, "table")
    check_array(offsets, "offsets")
    if not is_zero(&table[0], table.shape[0]):
        raise ValueError("the table is not empty")
    with nogil:
        entered = enter_all(&names, &table[0], table.shape[0])
    if entered < n:
        raise ValueError(f"id {entered} lies outside the bytes")


def find_id(
    const uint8_t[::1] data not None, const int64_t[::1] offsets, Py_ssize_t n,
    const uint64_t[::1] table not None, const uint8_t[::1] wanted not None,
):
    """Return the number of an id, -1 if it is not there.

    Parameters as in `link_ids`, but nothing in them is trusted; `wanted` are the bytes of the id.
    """
    cdef Py_ssize_t found
    cdef Names names = names_of(data, offsets, n, table.shape[0])
    check_array(table, "table")
    check_array(offsets, "offsets")
    with nogil:
        found = look_up(
            &names, &table[0], table.shape[0], &wanted[0] if wanted.shape[0] else NULL,
            wanted.shape[0],
        )
    if found == DAMAGED_IDS:
        raise ValueError("the table of ids is damaged")
    return found


# ---- Called from Python: the reader of the texts of an index.

cdef enum:
    ROOM_FOR_SETS = 1 << 18             # hashes at least: 2 MB


cdef class TextReader:
    """Makes the sets of texts that are compared, and keeps the latest ones.

    Parameters
    ----------
    unit, size
        As in `signatures`.
    prepared
        Hashes with a key, or without some words; for this unit and size.
    """

    cdef Hashing plan
    cdef ShinglePlan prepared
    cdef Reader reader
    cdef Py_ssize_t size

    def __cinit__(self, int unit, Py_ssize_t size, ShinglePlan prepared=None):
        self.reader.plan = plan_of(&self.plan, unit, size, prepared)
        self.prepared = prepared
        self.size = size
        self.reader.longest = -1
        self.reader.bench = <Workbench*> PyMem_RawMalloc(sizeof(Workbench))
        if self.reader.bench == NULL:
            raise MemoryError()

    def __dealloc__(self):
        PyMem_RawFree(self.reader.bench)
        PyMem_RawFree(self.reader.window)
        PyMem_RawFree(self.reader.sets)

    cdef Reader* begun(self, int64_t longest) except NULL:
        # The numbers may belong to other documents since the last call.
        cdef Py_ssize_t most
        if longest > self.reader.longest:
            if longest > MOST_BYTES >> 8:
                raise MemoryError()
            most = most_hashes(longest)
            self.reader.longest = -1
            resize(
                <void**> &self.reader.window, room_for_window(self.size, most), sizeof(uint64_t)
            )
            resize(<void**> &self.reader.sets, 2 * most + ROOM_FOR_SETS, sizeof(uint64_t))
            self.reader.room = 2 * most + ROOM_FOR_SETS
            self.reader.longest = longest
        forget_sets(&self.reader)
        return &self.reader


# ---- Called from Python: the memory of an index.
#
# It belongs to the class below, not to arrays of Python: so it grows in place, and between two
# instructions of Python all of it is always sound. Each call does all or nothing.

cdef enum:
    PART_SIGNATURES = 0
    PART_LIVE = 1
    PART_OFFSETS = 2
    PART_HASHES = 3
    PART_SLOTS = 4              # of band 0; then its links, and so on

cdef int64_t MOST_SLOTS = 0xFFFFFFFF    # more would not be reached


@no_gc_clear                            # `release` needs `owners` until the very end
cdef class TableMemory:
    """Signatures, sets and hash tables of numbered documents, in memory of their own.

    Parameters
    ----------
    num_perm
        Length of the signatures.
    bands, rows
        How a signature is cut into bands.
    with_sets
        Whether each document has a set.
    slices
        int64 (bands, 7): start, rows, band, number, distance, odd and shift of each `Slice`,
        instead of `rows`. The last value of a signature is then the step of the size.
    """

    cdef Tables t
    cdef Slice* slices          # NULL: there are none
    cdef Py_ssize_t capacity    # room for documents
    cdef readonly int64_t dead      # numbers without a document
    cdef Sweep sweep            # the compaction, if one has begun
    cdef list owners            # of arrays of someone else, which nothing is written to

    def __cinit__(
        self, Py_ssize_t num_perm, Py_ssize_t bands, Py_ssize_t rows, bint with_sets, ids=None,
        const int64_t[:, ::1] slices=None,
    ):
        cdef Py_ssize_t b
        if bands < 1 or num_perm >= 1 << 31:
            raise ValueError(f"{bands} bands of signatures of {num_perm} values")
        self.t.minima = num_perm
        if slices is None:
            check_band_rows(0, bands, rows, num_perm)
        else:
            self.t.minima -= 1
            self.slices = slices_of(slices, bands, self.t.minima)
            self.t.slices = self.slices
        self.t.bands = <Band*> PyMem_RawCalloc(bands, sizeof(Band))
        if self.t.bands == NULL:
            raise MemoryError()
        self.t.count = bands
        self.t.rows = rows
        self.t.k = num_perm
        resize(<void**> &self.t.signatures, 0, 1)
        resize(<void**> &self.t.live, 0, 1)
        if with_sets:
            resize(<void**> &self.t.offsets, 1, sizeof(int64_t))
            resize(<void**> &self.t.hashes, 0, sizeof(uint64_t))
            self.t.offsets[0] = 0
        for b in range(bands):
            resize(<void**> &self.t.bands[b].links, 0, sizeof(uint32_t))
            self.resize_table(b, 2)

    cdef void release(self) noexcept:
        # Frees everything but the list of the bands.
        cdef Py_ssize_t b
        if self.owners is None:
            PyMem_RawFree(self.t.signatures)
            PyMem_RawFree(self.t.live)
            PyMem_RawFree(self.t.offsets)
            PyMem_RawFree(self.t.hashes)
            for b in range(self.t.count):
                PyMem_RawFree(self.t.bands[b].slots)
                PyMem_RawFree(self.t.bands[b].links)
                memset(&self.t.bands[b], 0, sizeof(Band))
        self.t.signatures = NULL
        self.t.live = NULL
        self.t.offsets = NULL
        self.t.hashes = NULL

    def __dealloc__(self):
        self.release()
        PyMem_RawFree(self.t.bands)
        PyMem_RawFree(self.slices)
        PyMem_RawFree(self.sweep.desk.tags)

    cdef int check_own(self) except -1:
        if self.t.live == NULL:
            raise ValueError("nothing can be written here")
        return self.check_settled()

    cdef int check_settled(self) except -1:
        if self.sweep.phase:
            raise ValueError("a compaction must be ended first")
        return 0

    cdef int check_end(self) except -1:
        if self.t.offsets != NULL:
            check_sound(not 0 <= self.t.offsets[self.t.n] <= self.t.total)
        return 0

    cdef int check_sets(self) except -1:
        cdef Py_ssize_t within
        with nogil:
            within = sets_within(&self.t)
        check_sound(within < self.t.n or self.t.offsets != NULL and self.t.offsets[0] != 0)
        return 0

    cdef int check_room(self, Py_ssize_t count, int64_t words) except -1:
        cdef Py_ssize_t b
        self.check_own()
        if not 0 <= count <= self.capacity - self.t.n:
            raise ValueError(f"no room for {count} documents")
        for b in range(self.t.count):
            if self.t.bands[b].used + count >= <int64_t> self.t.bands[b].size:
                raise ValueError(f"the table of band {b} has no room for {count} keys")
        self.check_end()
        if self.t.offsets != NULL and not 0 <= words <= self.t.total - self.t.offsets[self.t.n]:
            raise ValueError("no room for the sets")
        return 0

    cdef int check_band(self, Py_ssize_t band) except -1:
        if not 0 <= band < self.t.count:
            raise IndexError(f"band {band} of {self.t.count}")
        return 0

    # ---- arrays of someone else

    cdef int borrow(
        self, const uint32_t[:, ::1] signatures, list slots, list links,
        const uint64_t[::1] hashes, const int64_t[::1] offsets,
    ) except -1:
        # Reads these arrays from now on, instead of memory of its own. Nothing can be written.
        self.release()
        self.owners = [signatures, hashes, offsets]
        if signatures.shape[0] > 0x7FFFFFFF:
            raise ValueError(f"{signatures.shape[0]} documents are too many")
        self.capacity = self.t.n = signatures.shape[0]
        self.t.longest = -1
        if self.capacity:
            self.t.signatures = <uint32_t*> &signatures[0, 0]
        check_matrix(signatures, "signatures")
        self.borrow_sets(hashes, offsets)
        return self.borrow_bands(slots, links)

    cdef int borrow_sets(self, const uint64_t[::1] hashes, const int64_t[::1] offsets) except -1:
        if offsets is None:
            return 0
        if hashes is None or offsets.shape[0] != self.capacity + 1:
            raise ValueError(f"hashes need {self.capacity + 1} offsets")
        self.t.offsets = <int64_t*> &offsets[0]
        self.t.total = hashes.shape[0]
        check_array(hashes, "hashes")
        check_array(offsets, "offsets")
        if hashes.shape[0]:
            self.t.hashes = <uint64_t*> &hashes[0]
        return 0

    cdef int borrow_bands(self, list slots, list links) except -1:
        cdef const uint64_t[::1] table
        cdef const uint32_t[::1] chain
        cdef Py_ssize_t b
        if len(links) != self.t.count:
            raise ValueError("slots and links need one array for each band")
        for b in range(self.t.count):
            table = slots[b]
            chain = links[b]
            if not 1 <= table.shape[0] <= MOST_SLOTS:
                raise ValueError(f"band {b} has a table of {table.shape[0]} slots")
            if chain.shape[0] != self.capacity:
                raise ValueError(f"band {b} has links for {chain.shape[0]}, not {self.capacity}")
            self.owners += [table, chain]
            self.t.bands[b].slots = <uint64_t*> &table[0]
            self.t.bands[b].size = table.shape[0]
            check_array(table, "slots")
            check_array(chain, "links")
            if self.capacity:
                self.t.bands[b].links = <uint32_t*> &chain[0]
        return 0

    # ---- room

    def reserve(self, Py_ssize_t count, Py_ssize_t words, double spare):
        """Make room for `count` more documents with `words` hashes, in place where it can be.

        Where there is too little, it grows by the factor `spare` at least.
        """
        cdef Py_ssize_t documents = self.t.n + count
        cdef Py_ssize_t end = 0
        self.check_own()
        if not 0 <= count <= 0x7FFFFFFF - self.t.n or not 0 <= words <= 1 << 58:
            raise ValueError(f"{count} documents with {words} hashes are too many")
        if not 0.0 <= spare <= 2.0:
            raise ValueError(f"spare must be between 0 and 2, got {spare}")
        self.check_end()
        if self.t.offsets != NULL:
            end = self.t.offsets[self.t.n]
            if end + words > self.t.total:
                words = max(end + words, <Py_ssize_t> (spare * end))
                resize(<void**> &self.t.hashes, words, sizeof(uint64_t))
                self.t.total = words
        if documents > self.capacity:
            documents = max(documents, <Py_ssize_t> (spare * self.t.n))
            self.resize_documents(documents)
            self.capacity = documents

    def shrink(self):
        """Give back the room behind the last document."""
        self.check_own()
        self.check_end()
        self.capacity = self.t.n
        self.resize_documents(self.t.n)
        if self.t.offsets != NULL:
            self.t.total = self.t.offsets[self.t.n]
            resize(<void**> &self.t.hashes, self.t.total, sizeof(uint64_t))

    cdef int resize_documents(self, Py_ssize_t room) except -1:
        # Whatever fails, each array has at least the room that `capacity` says.
        cdef Py_ssize_t b
        for b in range(self.t.count):
            resize(<void**> &self.t.bands[b].links, room, sizeof(uint32_t))
        resize(<void**> &self.t.live, room, 1)
        if self.t.offsets != NULL:
            resize(<void**> &self.t.offsets, room + 1, sizeof(int64_t))
        return resize(<void**> &self.t.signatures, room, self.t.k * sizeof(uint32_t))

    def resize_table(self, Py_ssize_t band, Py_ssize_t size):
        """Move the table of a band into one of another size."""
        cdef uint64_t* slots
        self.check_own()
        self.check_band(band)
        cdef Band* table = &self.t.bands[band]
        if not table.used < size <= MOST_SLOTS:
            raise ValueError(f"{table.used} keys do not fit into a table of {size} slots")
        slots = <uint64_t*> PyMem_RawCalloc(size, sizeof(uint64_t))
        if slots == NULL:
            raise MemoryError()
        with nogil:
            move_slots_to(table.slots, table.size, slots, size)
        PyMem_RawFree(table.slots)
        table.slots = slots
        table.size = size

    def crowded_band(self, Py_ssize_t first, Py_ssize_t count, double share):
        """Return the first band from `first` on that `count` more keys would fill beyond `share`.

        -1: there is none.
        """
        cdef Py_ssize_t b
        for b in range(max(first, <Py_ssize_t> 0), self.t.count):
            if self.t.bands[b].used + count > share * self.t.bands[b].size:
                return b
        return -1

    def slots(self, Py_ssize_t band):
        """Return the size of the table of a band."""
        self.check_band(band)
        return self.t.bands[band].size

    def used(self, Py_ssize_t band):
        """Return how many slots of a band are not empty."""
        self.check_band(band)
        return self.t.bands[band].used

    @property
    def nbytes(self):
        """The size of all arrays in bytes, spare room included."""
        cdef Py_ssize_t number, size
        cdef Py_ssize_t total = 0
        for number in range(PART_SLOTS + 2 * self.t.count):
            self.part(number, &size)
            total += size
        return total

    # ---- bytes

    cdef char* part(self, Py_ssize_t number, Py_ssize_t* size) except? NULL:
        cdef Band* band
        size[0] = 0
        if not 0 <= number < PART_SLOTS + 2 * self.t.count:
            raise IndexError(f"part {number}")
        if number == PART_SIGNATURES:
            size[0] = self.capacity * self.t.k * sizeof(uint32_t)
            return <char*> self.t.signatures
        if number == PART_LIVE:
            size[0] = self.capacity if self.t.live != NULL else 0
            return <char*> self.t.live
        if number == PART_OFFSETS:
            size[0] = (self.capacity + 1) * sizeof(int64_t) if self.t.offsets != NULL else 0
            return <char*> self.t.offsets
        if number == PART_HASHES:
            size[0] = self.t.total * sizeof(uint64_t)
            return <char*> self.t.hashes
        band = &self.t.bands[(number - PART_SLOTS) // 2]
        if (number - PART_SLOTS) % 2 == 0:
            size[0] = band.size * sizeof(uint64_t)
            return <char*> band.slots
        size[0] = self.capacity * sizeof(uint32_t)
        return <char*> band.links

    def read(self, Py_ssize_t number, Py_ssize_t start, uint8_t[::1] out not None):
        """Copy bytes of a part into `out`, from `start` on.

        Parts: signatures, live, offsets, hashes, and then the slots and the links of each band.
        """
        cdef Py_ssize_t size
        cdef Py_ssize_t n = out.shape[0]
        cdef char* data = self.part(number, &size)
        if not 0 <= start <= size or n > size - start:
            raise IndexError(f"{n} bytes from {start} on of {size}")
        if n:
            memcpy(&out[0], data + start, n)

    def write(self, Py_ssize_t number, Py_ssize_t start, const uint8_t[::1] data not None):
        """Copy bytes into a part, from `start` on; `complete` must follow."""
        cdef Py_ssize_t size
        cdef Py_ssize_t n = data.shape[0]
        cdef char* into = self.part(number, &size)
        self.check_own()
        if not 0 <= start <= size or n > size - start:
            raise IndexError(f"{n} bytes from {start} on of {size}")
        self.t.n = 0
        if n:
            memcpy(into + start, &data[0], n)


# ---- Called from Python: the tables of an index. The loops run without the GIL.

cdef class BandTables(TableMemory):
    """Numbered documents in hash tables of their band keys.

    Several threads may query at once. Everything else is for one caller at a time, while no
    thread queries. A document that was appended is found by nobody before `switch`, which cannot
    fail half-way. A removed document stays in its chains until the tables are compacted.

    Parameters
    ----------
    num_perm, bands, rows, with_sets, slices
        As in `TableMemory`.
    ids
        The ids of the documents: any object, replaced together with the numbers.
    """

    cdef readonly bint changing     # a change is under way in some thread: no time to fork
    cdef readonly object ids
    cdef readonly int64_t limited   # documents that came in not compared with every candidate

    def __cinit__(
        self, Py_ssize_t num_perm, Py_ssize_t bands, Py_ssize_t rows, bint with_sets, ids=None,
        const int64_t[:, ::1] slices=None,
    ):
        self.ids = ids

    @staticmethod
    def over(
        const uint32_t[:, ::1] signatures not None, list slots not None, list links not None,
        Py_ssize_t rows, const uint64_t[::1] hashes=None, const int64_t[::1] offsets=None,
        object ids=None, const int64_t[:, ::1] slices=None,
    ):
        """Return tables over arrays of the caller, which are only read.

        No number in them is trusted.

        Parameters
        ----------
        signatures
            uint32 (n, num_perm).
        slots, links
            For each band uint64 (size,), its table, and uint32 (n,), the next document of the
            chain.
        rows
            Rows in a band.
        hashes, offsets
            uint64 (total,) and int64 (n + 1,): the sets, one after the other; or None.
        ids
            The ids of the documents.
        slices
            As in `TableMemory`.
        """
        cdef BandTables self = BandTables(
            signatures.shape[1], len(slots), rows, False, ids, slices
        )
        self.borrow(signatures, slots, links, hashes, offsets)
        return self

    def complete(self, Py_ssize_t n, object ids):
        """Accept the bytes that were written as the tables of n documents with these ids."""
        self.check_own()
        if not 0 <= n <= self.capacity:
            raise ValueError(f"{n} documents in a room for {self.capacity}")
        self.t.n = n
        self.t.longest = -1
        try:
            self.check_sets()
        except ValueError:
            self.t.n = 0
            raise
        self.dead = count_all(&self.t)
        self.ids = ids

    @property
    def n(self):
        """How many numbers are in use, including those of removed documents."""
        return self.t.n

    @property
    def words(self):
        """The number of hashes of all sets."""
        if self.t.offsets == NULL:
            return 0
        self.check_end()
        return self.t.offsets[self.t.n]

    def is_live(self, Py_ssize_t number):
        """Whether there is a document of this number."""
        return 0 <= number < self.t.n and (self.t.live == NULL or self.t.live[number] != 0)

    def copy_rows(self, const int64_t[::1] numbers not None, uint32_t[:, ::1] out not None):
        """Copy the signatures of some numbers."""
        check_matrix(out, "out")
        check_array(numbers, "numbers")
        if out.shape[0] != numbers.shape[0] or out.shape[1] != self.t.k:
            raise ValueError(f"out needs the shape ({numbers.shape[0]}, {self.t.k})")
        if not numbers.shape[0]:
            return
        if not all_below(&numbers[0], numbers.shape[0], self.t.n):
            raise IndexError(f"numbers must be documents of {self.t.n}")
        rows_of(&self.t, &numbers[0], numbers.shape[0], &out[0, 0])

    # ---- changes

    def append(
        self, const uint32_t[:, ::1] signatures not None, const uint64_t[::1] hashes,
        const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last,
    ):
        """Give the next numbers to documents first ... last - 1, and link them.

        Queries do not find them before `switch`.

        Parameters
        ----------
        signatures, hashes, offsets
            uint32 (m, num_perm); uint64 and int64 (m + 1,): the sets, or packed texts, where the
            tables have some.
        first, last
            Which of them.
        """
        cdef bint sound
        cdef Question question = self.asked(
            signatures, hashes, offsets, first, last, NOT_VERIFIED, 0.0, None
        )
        if self.t.offsets != NULL and offsets is None:
            raise ValueError("the tables need the sets of what is inserted")
        self.check_room(last - first, words_asked(&question, first, last))
        if first == last:
            return
        cdef Desk desk = new_desk(&self.t, last - first)
        self.changing = True
        with nogil:
            sound = append_all(&self.t, &question, first, last, &desk)
        self.dead += last - first
        self.changing = False
        PyMem_RawFree(desk.tags)
        check_sound(not sound)

    def insert_unique(
        self, const uint32_t[:, ::1] signatures not None, const uint64_t[::1] hashes,
        const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last, Py_ssize_t own, int mode,
        double threshold, Py_ssize_t limit, uint8_t[::1] fresh not None, TextReader reader=None,
        int64_t[::1] matches=None,
    ):
        """Append those that are like none in the tables, in order; return the removed ones met.

        Decides as `Keeper` does. Ctrl-C is answered within `WORK` steps, or those of one chain.

        Parameters
        ----------
        signatures, hashes, offsets, first, last
            As in `append`.
        own
            The first number of this change. Documents from this number on are compared, too.
        mode, threshold
            How documents are compared, and the least similarity; `BY_CONTAINMENT`: the least share
            of its set that a document in the tables has. With a reader, it compares texts.
        limit
            At most so many candidates are compared with a document.
        fresh
            uint8 (m,), written: 0 = is like one, 1 = is new and appended, 2 = likewise, but could
            not be compared with every candidate.
        matches
            int64 (m,), written: the number of the first candidate that it is like; -1: none is.
        """
        cdef Stream stream
        cdef bint done = False
        cdef Py_ssize_t before
        cdef Question question = self.asked(
            signatures, hashes, offsets, first, last, mode, threshold, reader
        )
        check_array(matches, "matches")
        check_array(offsets, "offsets")
        if fresh.shape[0] != signatures.shape[0]:
            raise ValueError("fresh needs one element per document")
        if matches is not None and matches.shape[0] != signatures.shape[0]:
            raise ValueError("matches needs one element per document")
        if not 0 <= own <= self.t.n:
            raise ValueError(f"own is {own} of {self.t.n}")
        if limit < 1:
            raise ValueError(f"limit must be at least 1, got {limit}")
        if self.t.offsets != NULL and offsets is None:
            raise ValueError("the tables need the sets of what is inserted")
        self.check_room(last - first, words_asked(&question, first, last))
        if first == last:
            return 0
        memset(&stream, 0, sizeof(Stream))
        stream.fresh = &fresh[0]
        if matches is not None:
            stream.matches = &matches[0]
        stream.first = first
        stream.own = <uint32_t> own
        cdef Desk desk = new_desk(&self.t, AHEAD + 1)
        stream.heads = desk.tags + AHEAD * self.t.count
        try:
            stream.candidates = new_candidates(&self.t, last - first, limit)
            while not done:
                before = self.t.n
                self.changing = True
                with nogil:
                    done = insert_some(&self.t, &question, last, &desk, &stream)
                self.dead += self.t.n - before
                self.changing = False
                PyErr_CheckSignals()
        finally:
            PyMem_RawFree(desk.tags)
            PyMem_RawFree(stream.candidates.ranks)
        check_sound(stream.spent.damaged)
        return stream.spent.dead

    def switch(
        self, Py_ssize_t first, const int64_t[::1] gone not None, Py_ssize_t limited=0
    ):
        """Let queries find the documents from number `first` on, and no longer those of `gone`.

        `limited` of the first could not be compared with every candidate.
        """
        self.check_own()
        check_array(gone, "gone")
        if not 0 <= first <= self.t.n:
            raise ValueError(f"document {first} of {self.t.n}")
        if gone.shape[0] and not all_below(&gone[0], gone.shape[0], first):
            raise ValueError(f"gone needs documents before {first}")
        self.limited += limited
        self.dead += mark(&self.t, first, &gone[0] if gone.shape[0] else NULL, gone.shape[0])

    def remove(self, Py_ssize_t number):
        """Remove a document; it stays in its chains until the tables are compacted."""
        self.check_own()
        if not 0 <= number < self.t.n:
            raise IndexError(f"document {number} of {self.t.n}")
        self.dead += self.t.live[number]
        self.t.live[number] = 0

    # ---- queries

    cdef Question asked(
        self, const uint32_t[:, ::1] signatures, const uint64_t[::1] hashes,
        const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last, int mode, double threshold,
        TextReader reader,
    ) except *:
        cdef Question question
        memset(&question, 0, sizeof(Question))
        self.check_settled()
        question.contained = mode == BY_CONTAINMENT
        if question.contained:
            mode = BY_SETS if reader is None else BY_TEXTS
        question.mode = mode
        question.threshold = threshold
        if mode != BY_TEXTS:
            check_mode(mode)
        check_threshold(threshold)
        if signatures.shape[1] != self.t.k:
            raise ValueError(f"signatures have {signatures.shape[1]} values, not {self.t.k}")
        check_range(first, last, signatures.shape[0])
        check_matrix(signatures, "signatures")
        if signatures.shape[0]:
            question.signatures = &signatures[0, 0]
        if mode == BY_SETS or mode == BY_TEXTS:
            if self.t.offsets == NULL or hashes is None or offsets is None:
                raise ValueError("without sets or texts they cannot be compared")
        if self.t.offsets != NULL and offsets is not None:
            if hashes is None:
                raise ValueError("offsets of no hashes")
            check_offsets(offsets, signatures.shape[0], hashes.shape[0], "offsets")
            check_array(hashes, "hashes")
            question.offsets = &offsets[0]
            question.total = hashes.shape[0]
            if hashes.shape[0]:
                question.hashes = &hashes[0]
        if mode == BY_TEXTS:
            if reader is None:
                raise TypeError("texts need a reader")
            if self.t.longest < 0:
                self.t.longest = longest_words(self.t.offsets, 0, self.t.n, self.t.total)
            question.reader = reader.begun(max(
                self.t.longest, longest_words(question.offsets, first, last, question.total)
            ))
        return question

    def query(
        self, const uint32_t[:, ::1] signatures not None, const uint64_t[::1] hashes,
        const int64_t[::1] offsets, Py_ssize_t first, Py_ssize_t last, int mode, double threshold,
        Py_ssize_t limit, double[:, ::1] out not None, int64_t[::1] counts not None,
        const uint8_t[::1] halt not None, TextReader reader=None,
    ):
        """Find the documents that are similar to each given one.

        Stops before a document whose answers do not fit. Returns (the first document not done,
        how many answers, removed documents met). Ctrl-C is answered within `WORK` steps.

        Parameters
        ----------
        signatures, hashes, offsets, first, last, mode, threshold, reader
            As in `insert_unique`. Each thread needs a reader of its own.
        limit
            The most answers for each document; the best ones are kept.
        out
            float64 (room, 2), written: similarity and number of each answer; by document, best
            first, of equals the earlier. Not verified: similarity 1.
        counts
            int64 (last - first,), written: answers of each document.
        halt
            uint8 (1,): another thread writes 1 into it to stop this call.
        """
        cdef Answers answers
        cdef int state = PAUSE
        cdef Question question = self.asked(
            signatures, hashes, offsets, first, last, mode, threshold, reader
        )
        if counts.shape[0] != last - first or out.shape[0] < 1 or out.shape[1] != 2:
            raise ValueError("counts needs one element per document, out the shape (room, 2)")
        check_matrix(out, "out")
        check_array(counts, "counts")
        check_array(offsets, "offsets")
        if limit < 1:
            raise ValueError(f"limit must be at least 1, got {limit}")
        if halt.shape[0] != 1:
            raise ValueError("halt needs one element")
        if first == last:
            return first, 0, 0
        memset(&answers, 0, sizeof(Answers))
        answers.out = <Answer*> &out[0, 0]
        answers.room = out.shape[0]
        answers.limit = limit
        answers.counts = &counts[0]
        answers.first = first
        cdef Desk desk = new_desk(&self.t, last - first)
        try:
            while state == PAUSE and not halt[0]:
                with nogil:
                    state = answer_some(&self.t, &question, last, &desk, &answers)
                PyErr_CheckSignals()
        finally:
            PyMem_RawFree(desk.tags)
        check_sound(answers.walk.spent.damaged)
        return answers.first, answers.end, answers.walk.spent.dead

    # ---- compaction

    def begin_compact(self, object ids):
        """Begin to drop the removed documents. The others get new numbers and these ids.

        From now on nothing can fail. `go_on` must be called until it returns False.
        """
        cdef Desk desk
        self.check_room(0, 0)
        self.check_sets()
        desk = new_desk(&self.t, self.t.n)
        memset(&self.sweep, 0, sizeof(Sweep))
        self.sweep.desk = desk
        self.sweep.phase = MOVING
        self.ids = ids

    @property
    def unsettled(self):
        """Whether a change is under way in some thread, or a compaction has not ended."""
        return self.changing or self.sweep.phase != 0

    def go_on(self):
        """Do a part of the compaction, if one has begun; return whether more is left."""
        if self.sweep.phase:
            self.changing = True
            with nogil:
                sweep_some(&self.t, &self.sweep)
            self.changing = False
            if self.sweep.phase == 0:
                self.dead = 0
                PyMem_RawFree(self.sweep.desk.tags)
                self.sweep.desk.tags = NULL
                check_sound(self.sweep.damaged)
        return self.sweep.phase != 0
