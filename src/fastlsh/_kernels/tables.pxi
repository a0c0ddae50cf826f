# Hash tables of band keys, one for each band: open addressing, and chains of documents.
#
# A slot is 0 (empty) or tag << 32 | (number of a chain's last document + 1). The tag is the upper
# half of the key and decides on the place, too, so that a table grows without a look at the
# signatures. The documents of a tag are a chain in ascending order, closed to a ring: the last
# links to the first. What two documents in a chain have in common is seen by comparing rows.
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
    TOGETHER = 16               # documents whose memory is fetched together

cdef uint32_t NO_CHAIN = 0xFFFFFFFF
cdef uint32_t DAMAGED = 0xFFFFFFFE


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
    const uint32_t* tails       # the last document of the chain in each band
    Py_ssize_t band
    uint32_t here
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
            return tail if tail < <uint64_t> n else DAMAGED
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
            band.links[d] = d
            band.slots[at] = <uint64_t> tag << 32 | (d + 1)
            return True
        if <uint32_t> (slot >> 32) == tag:
            tail = <uint32_t> slot - 1
            if tail >= d:
                return False
            band.links[d] = band.links[tail]
            band.links[tail] = d
            band.slots[at] = <uint64_t> tag << 32 | (d + 1)
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


cdef inline void fetch_places(const Tables* t, const uint32_t* row, uint32_t* tags) noexcept nogil:
    # The tags of a document that is not empty; their places are on the way to the cache.
    cdef Py_ssize_t b
    for b in range(t.count):
        tags[b] = <uint32_t> (band_key(row + b * t.rows, t.rows, b) >> 32)
        fastlsh_prefetch(&t.bands[b].slots[place_of(tags[b], t.bands[b].size)])


cdef inline void find_tails(const Tables* t, uint32_t* tags, bint fetch) noexcept nogil:
    # Each tag is replaced by the last document of its chain.
    cdef Py_ssize_t b
    for b in range(t.count):
        tags[b] = tail_of(&t.bands[b], tags[b], t.n)
        if fetch and tags[b] < DAMAGED:
            fastlsh_prefetch(&t.bands[b].links[tags[b]])
            fastlsh_prefetch(t.signatures + tags[b] * t.k + b * t.rows)


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
    walk.bound = <uint32_t> t.n


cdef uint32_t next_candidate(Walk* walk, const Tables* t) noexcept nogil:
    # Each document that shares a band, once; NO_CHAIN at the end.
    cdef uint32_t after
    cdef uint32_t tail = NO_CHAIN
    if walk.band >= 0:
        tail = walk.tails[walk.band]
    while True:
        if walk.here == NO_CHAIN or walk.here == tail:
            walk.band += 1
            if walk.band >= t.count:
                return NO_CHAIN
            walk.here = NO_CHAIN
            tail = walk.tails[walk.band]
            if tail == NO_CHAIN:
                continue
            if tail == DAMAGED:
                walk.damaged = True
                continue
            after = t.bands[walk.band].links[tail]
        else:
            after = t.bands[walk.band].links[walk.here]
            if after <= walk.here:
                after = NO_CHAIN
        if after > tail:                        # it ascends, and ends at the tail
            walk.damaged = True
            walk.here = NO_CHAIN
            continue
        walk.here = after
        if after > walk.bound:
            walk.here = NO_CHAIN
        elif t.live != NULL and not t.live[after]:
            walk.dead += 1
        elif first_met_here(walk.row, t.signatures + after * t.k, t.rows, walk.band):
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
    Tables* t, Py_ssize_t first, Py_ssize_t last, uint32_t* tags, bint* filled
) noexcept nogil:
    # False: the tables are damaged.
    cdef Py_ssize_t end, d, b
    cdef Py_ssize_t begin = first
    cdef bint sound = True
    while begin < last:
        end = min(begin + TOGETHER, last)
        for d in range(begin, end):
            filled[d - begin] = not is_empty_row(t.signatures + d * t.k, t.k)
            if filled[d - begin]:
                fetch_places(t, t.signatures + d * t.k, tags + (d - begin) * t.count)
        for d in range(begin, end):
            if filled[d - begin]:
                for b in range(t.count):
                    sound &= append_to_chain(
                        &t.bands[b], tags[(d - begin) * t.count + b], <uint32_t> d
                    )
        begin = end
    t.n = last
    return sound
