# Hash tables of band keys, one for each band: open addressing, and chains of documents.
#
# A slot is 0 (empty) or tag << 32 | more << 31 | (number of a chain's last document + 1). The tag
# is the upper half of the key and decides on the place, too, so that a table grows without a look
# at the signatures. The documents of a tag are a chain in ascending order, closed to a ring: the
# last links to the first. While `more` is 0, the document is alone, and its link not set: most are,
# and the link would be one more place in memory to wait for. What two documents in a chain have
# in common is seen by comparing rows.
#
# A table may come from a file: each number read from it is checked before it is used, and as a
# chain only ascends, each walk ends.

from libc.stdlib cimport calloc

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #if defined(_M_ARM64)
    #define fastlsh_prefetch(p) __prefetch(p)
    #else
    #define fastlsh_prefetch(p) _mm_prefetch((const char*) (p), _MM_HINT_T0)
    #endif
    #else
    #define fastlsh_prefetch(p) __builtin_prefetch(p)
    #endif
    """
    void fastlsh_prefetch(const void* address) noexcept nogil

cdef enum:
    AHEAD = 16                  # memory is fetched for so many documents ahead
    MOST_TOGETHER = 4096        # documents that are looked up in one band before the next
    TAGS_TOGETHER = 1 << 17

cdef uint32_t MORE = 0x80000000
cdef uint32_t NO_CHAIN = 0x7FFFFFFF     # no number of a document
cdef uint32_t DAMAGED = 0xFFFFFFFF


cdef struct Band:
    uint64_t* slots
    uint64_t size
    uint32_t* links
    int64_t* used               # slots that are not empty; NULL: nothing is written


cdef struct Tables:
    Band* bands
    Py_ssize_t count            # of the bands
    Py_ssize_t rows
    Py_ssize_t k
    Py_ssize_t n                # documents
    uint32_t* signatures
    uint8_t* live               # NULL: all are
    uint64_t* hashes            # sets, one after the other; NULL: none
    int64_t* offsets
    Py_ssize_t total            # of the hashes


cdef struct Walk:
    # Through the chains of one document, band by band.
    const uint32_t* row
    const uint32_t* tails       # the last document of the chain in each band, with MORE
    Py_ssize_t band
    uint32_t here
    uint32_t latest             # that was returned
    uint32_t bound              # later documents are not wanted
    int64_t dead                # removed documents that were met
    bint damaged


cdef inline uint64_t place_of(uint32_t tag, uint64_t size) noexcept nogil:
    return (<uint64_t> tag * size) >> 32


cdef inline uint32_t tail_of(const Band* band, uint32_t tag, Py_ssize_t n) noexcept nogil:
    cdef uint64_t at = place_of(tag, band.size)
    cdef uint64_t slot, probe
    cdef uint32_t tail
    for probe in range(band.size):
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
    # The caller left a slot empty. False: the table is damaged.
    cdef uint64_t at = place_of(tag, band.size)
    cdef uint64_t slot, probe
    cdef uint32_t tail
    for probe in range(band.size):
        slot = band.slots[at]
        if slot == 0:
            band.used[0] += 1
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
    # Returns how many; the caller checked that they leave a slot empty.
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
    return moved


cdef struct Desk:
    # Some documents on their way through the tables: all in one band, then all in the next. So
    # one table at a time is in the caches, those for addresses included.
    Py_ssize_t room             # for documents
    uint32_t* tags              # of each document; then the last of its chains, with MORE
    uint32_t* filled            # 0: the document is empty


cdef Py_ssize_t desk_room(const Tables* t, Py_ssize_t documents) noexcept nogil:
    cdef Py_ssize_t most = min(<Py_ssize_t> MOST_TOGETHER, TAGS_TOGETHER // t.count)
    return min(documents, max(<Py_ssize_t> AHEAD, most))


cdef void put_tags(
    const Tables* t, const uint32_t* signatures, Py_ssize_t n, Desk* desk
) noexcept nogil:
    cdef Py_ssize_t i, b
    cdef const uint32_t* row = signatures
    for i in range(n):
        desk.filled[i] = not is_empty_row(row, t.k)
        if desk.filled[i]:
            for b in range(t.count):
                desk.tags[i * t.count + b] = <uint32_t> (
                    band_key(row + b * t.rows, t.rows, b) >> 32
                )
        row += t.k


cdef inline void fetch_slot(const Tables* t, const Desk* desk, Py_ssize_t i, Py_ssize_t b) noexcept nogil:
    fastlsh_prefetch(
        &t.bands[b].slots[place_of(desk.tags[i * t.count + b], t.bands[b].size)]
    )


cdef void find_tails(const Tables* t, Py_ssize_t n, Desk* desk) noexcept nogil:
    cdef Py_ssize_t i, b
    cdef uint32_t* tag
    for b in range(t.count):
        for i in range(n):
            if i + AHEAD < n and desk.filled[i + AHEAD]:
                fetch_slot(t, desk, i + AHEAD, b)
            if desk.filled[i]:
                tag = &desk.tags[i * t.count + b]
                tag[0] = tail_of(&t.bands[b], tag[0], t.n)


cdef inline void fetch_rows(const Tables* t, const uint32_t* tails) noexcept nogil:
    cdef Py_ssize_t b
    for b in range(t.count):
        if tails[b] != NO_CHAIN and tails[b] != DAMAGED:
            fastlsh_prefetch(t.signatures + (tails[b] & ~MORE) * t.k + b * t.rows)


cdef inline bint same_rows(const uint32_t* a, const uint32_t* b, Py_ssize_t rows) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(rows):
        if a[i] != b[i]:
            return False
    return True


cdef inline bint first_met_here(
    const uint32_t* a, const uint32_t* b, Py_ssize_t rows, Py_ssize_t band
) noexcept nogil:
    # Equal in this band and in none before.
    cdef Py_ssize_t e
    if not same_rows(a + band * rows, b + band * rows, rows):
        return False
    for e in range(band):
        if same_rows(a + e * rows, b + e * rows, rows):
            return False
    return True


cdef void start_walk(
    Walk* walk, const Tables* t, const uint32_t* row, const uint32_t* tails
) noexcept nogil:
    walk.row = row
    walk.tails = tails
    walk.band = -1
    walk.here = NO_CHAIN
    walk.latest = NO_CHAIN
    walk.bound = <uint32_t> t.n


cdef uint32_t next_candidate(Walk* walk, const Tables* t) noexcept nogil:
    # Each document that shares a band, once; NO_CHAIN at the end.
    cdef uint32_t after, tail
    while True:
        if walk.here == NO_CHAIN:               # to the first of the next chain
            walk.band += 1
            if walk.band >= t.count:
                return NO_CHAIN
            tail = walk.tails[walk.band]
            if tail == NO_CHAIN:
                continue
            if tail == DAMAGED:
                walk.damaged = True
                continue
            after = t.bands[walk.band].links[tail & ~MORE] if tail & MORE else tail
            tail &= ~MORE
        else:
            tail = walk.tails[walk.band] & ~MORE
            after = t.bands[walk.band].links[walk.here]
            if after <= walk.here:
                after = NO_CHAIN
        if after > tail:                        # it ascends, and ends at the tail
            walk.damaged = True
            walk.here = NO_CHAIN
            continue
        walk.here = after if after < min(tail, walk.bound) else NO_CHAIN
        if after > walk.bound or after == walk.latest:
            continue
        if t.live != NULL and not t.live[after]:
            walk.dead += 1
        elif first_met_here(walk.row, t.signatures + after * t.k, t.rows, walk.band):
            walk.latest = after
            return after


cdef struct Question:
    # Documents that are compared with those in the tables.
    const uint32_t* signatures
    const uint64_t* hashes
    const int64_t* offsets
    double threshold
    int mode


cdef inline double similarity_to(
    const Tables* t, const Question* question, Py_ssize_t d, uint32_t c, Walk* walk
) noexcept nogil:
    # -1 where it is below the threshold; 1 where nothing is compared.
    cdef Py_ssize_t equal
    cdef double similarity
    cdef int64_t start, end
    if question.mode == BY_SIGNATURE:
        count_equal(question.signatures + d * t.k, t.signatures + c * t.k, t.k, &equal)
        similarity = <double> equal / <double> t.k
        return similarity if similarity >= question.threshold else -1.0
    if question.mode == BY_SETS:
        start = t.offsets[c]
        end = t.offsets[c + 1]
        if not 0 <= start <= end <= t.total:
            walk.damaged = True
            return -1.0
        return jaccard_of_sets(
            question.hashes + question.offsets[d],
            question.offsets[d + 1] - question.offsets[d],
            t.hashes + start, end - start, question.threshold, False,
        )
    return 1.0


cdef bint link_documents(
    Tables* t, Py_ssize_t first, Py_ssize_t last, Desk* desk
) noexcept nogil:
    # False: the tables are damaged.
    cdef Py_ssize_t n, i, b
    cdef bint sound = True
    while first < last:
        n = min(desk.room, last - first)
        put_tags(t, t.signatures + first * t.k, n, desk)
        for b in range(t.count):
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
