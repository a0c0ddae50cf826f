# Walking through the chains of a document: its candidates, and their similarity.
# With slices.pxi, stored.pxi and tables.pxi.

from libc.stdint cimport int64_t, uint32_t, uint64_t

from fastlsh._kernels.common.prefetch cimport prefetch
from fastlsh._kernels.index.tables cimport Question, Spent, Tables, Walk
from fastlsh._kernels.loops._chosen cimport loops
from fastlsh._kernels.sets.modes cimport BY_SETS, BY_SIGNATURE, BY_TEXTS


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
