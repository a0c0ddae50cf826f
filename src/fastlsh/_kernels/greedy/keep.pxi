# The keep-or-drop step: documents in priority order against the kept documents of their buckets.
#
# `root` and `document` belong to the caller, who may have written to them since they were checked:
# each number is compared with what it counts before it is used.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from fastlsh._kernels.common.debug cimport check
from fastlsh._kernels.greedy.keeper cimport ASKS, OFFERS, PER_CANDIDATE, REMEMBERED, Buckets
from fastlsh._kernels.greedy.ranks cimport Candidates, choose
from fastlsh._kernels.loops._chosen cimport loops
from fastlsh._kernels.sets._sets cimport containment_of_numbers, has_numbers, jaccard_of_numbers
from fastlsh._kernels.sets.modes cimport BY_CONTAINMENT, BY_SETS, BY_SIGNATURE
from fastlsh._kernels.sets.sets cimport Sets


cdef Py_ssize_t check_roots(const Buckets* s) noexcept nogil:
    # The first document with a root that is none, or -1.
    cdef Py_ssize_t d, b
    cdef int32_t root
    for d in range(s.n):
        for b in range(s.bands):
            root = s.root[d * s.bands + b]
            if root != -1 and (
                <uint32_t> root >= <size_t> s.n or s.root[root * s.bands + b] != root
            ):
                return d
    return -1


cdef Py_ssize_t gather(Buckets* s, Py_ssize_t d) noexcept nogil:
    # The kept documents in the buckets of d, as candidates; sets `clipped`.
    cdef Candidates* candidates = &s.candidates
    cdef const int32_t* roots = s.root + d * s.bands
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t b, i, root
    cdef int32_t c
    cdef int left
    s.clipped = False
    for b in range(s.bands):
        root = roots[b]
        if <size_t> root >= <size_t> s.n:       # alone
            continue
        if s.role != NULL and s.role[d * s.bands + b] == OFFERS:
            continue
        left = s.filled[root * s.bands + b]
        if left > REMEMBERED:
            s.clipped = True
            left = REMEMBERED
        c = s.chain[root * s.bands + b]
        s.steps -= PER_CANDIDATE * left
        while left and <size_t> c < <size_t> s.n:
            if s.position[c] < 0:
                s.position[c] = <int32_t> n
                candidates.found[n] = c
                candidates.shared[n] = 1
                n += 1
            else:
                candidates.shared[s.position[c]] += 1
            left -= 1
            c = s.chain[c * s.bands + b]
    check(n <= s.n and n <= REMEMBERED * s.bands)
    for i in range(n):
        s.position[candidates.found[i]] = -1
    if n > candidates.limit:
        s.clipped = True
    return n


cdef inline const uint32_t* row_of(Buckets* s, Py_ssize_t d) noexcept nogil:
    cdef int64_t row = s.document[d]
    if <uint64_t> row >= <size_t> s.signed:
        s.changed = True
        row = 0
    return s.signatures + row * s.k


cdef Py_ssize_t chosen(Buckets* s, Py_ssize_t d, Py_ssize_t n) noexcept nogil:
    # Cuts the candidates down to the limit and sorts them by priority.
    cdef Candidates* candidates = &s.candidates
    cdef Py_ssize_t i, equal
    if n > candidates.limit:
        s.steps -= n * (s.k // 16 + 8 * PER_CANDIDATE)
        for i in range(n):
            loops.count_equal(row_of(s, d), row_of(s, candidates.found[i]), s.k, &equal)
            candidates.ranks[i].equal = <int32_t> equal
    return choose(candidates, n)


cdef inline bint by_sets(const Buckets* s) noexcept nogil:
    return s.mode == BY_SETS or s.mode == BY_CONTAINMENT


cdef double compare(Buckets* s, Py_ssize_t d, Py_ssize_t c, const Sets* sets) noexcept nogil:
    # What the rule asks for, a similarity or the share of d in c; -1 where that is too little.
    cdef Py_ssize_t equal
    cdef double similarity
    if by_sets(s):
        if not (has_numbers(sets, d) and has_numbers(sets, c)):
            s.incomplete = True
            return -1.0
        if s.mode == BY_CONTAINMENT:
            return containment_of_numbers(
                sets.words + sets.start[d], sets.count[d],
                sets.words + sets.start[c], sets.count[c], s.threshold,
            )
        return jaccard_of_numbers(
            sets.words + sets.start[d], sets.count[d],
            sets.words + sets.start[c], sets.count[c], s.threshold,
        )
    if s.mode == BY_SIGNATURE:
        loops.count_equal(row_of(s, d), row_of(s, c), s.k, &equal)
        similarity = <double> equal / <double> s.k
        return similarity if similarity >= s.threshold else -1.0
    return 2.0                              # anything that is not refused


cdef void remember(Buckets* s, Py_ssize_t d) noexcept nogil:
    cdef const int32_t* roots = s.root + d * s.bands
    cdef Py_ssize_t b, root, at
    for b in range(s.bands):
        root = roots[b]
        if <size_t> root >= <size_t> s.n:
            continue
        if s.role != NULL and s.role[d * s.bands + b] == ASKS:
            continue
        at = root * s.bands + b
        if s.filled[at] >= REMEMBERED:
            s.filled[at] = REMEMBERED + 1
            continue
        s.filled[at] += 1
        if d != root:
            s.chain[d * s.bands + b] = s.chain[at]
        s.chain[at] = <int32_t> d


cdef Py_ssize_t put_candidates(
    Buckets* s, Py_ssize_t first, Py_ssize_t last, int32_t* out, Py_ssize_t room, Py_ssize_t most,
    int64_t* offsets
) noexcept nogil:
    # Returns the first document whose candidates, at most `most`, might not fit.
    cdef Py_ssize_t d = first
    cdef Py_ssize_t end = 0
    cdef Py_ssize_t i, n
    offsets[0] = 0
    while d < last and most <= room - end and (s.steps > 0 or d == first):
        n = 0 if s.fixed[d] else chosen(s, d, gather(s, d))
        check(n <= most)
        for i in range(n):
            out[end + i] = s.candidates.found[i]
        end += n
        d += 1
        offsets[d - first] = end
    return d


cdef void find_hits(
    Buckets* s, Py_ssize_t first, Py_ssize_t last, const int32_t* candidates,
    const int64_t* offsets, const Sets* sets, int32_t* hit, double* similarity
) noexcept nogil:
    cdef Py_ssize_t d, i
    cdef double found
    for d in range(last - first):
        hit[d] = -1
        similarity[d] = 0.0
        for i in range(offsets[d], offsets[d + 1]):
            found = compare(s, first + d, candidates[i], sets)
            if found >= 0.0:
                hit[d] = candidates[i]
                similarity[d] = found
                break


cdef inline Py_ssize_t steps_to_compare(
    const Buckets* s, Py_ssize_t d, Py_ssize_t c, const Sets* sets
) noexcept nogil:
    if by_sets(s):
        return sets.count[d] + sets.count[c]
    return s.k // 16 + 1


cdef Py_ssize_t decide(
    Buckets* s, Py_ssize_t first, Py_ssize_t last, Py_ssize_t done, const Sets* sets,
    int32_t* hit, double* similarity, uint8_t* unsure
) noexcept nogil:
    # Returns on how many, `done` included: at least on one more.
    cdef Py_ssize_t d = first + done
    cdef Py_ssize_t i, n
    cdef int32_t c
    cdef double found
    cdef bint cut, over
    while d < last and (s.steps > 0 or d == first + done):
        unsure[d - first] = 0
        if s.fixed[d]:
            remember(s, d)
            d += 1
            continue
        n = gather(s, d)
        cut = s.clipped
        over = n > s.candidates.limit
        if over:                        # others may be among the compared ones now
            hit[d - first] = -1
        if hit[d - first] < 0:
            n = chosen(s, d, n)
            for i in range(n):
                c = s.candidates.found[i]
                if c < first and not over:
                    continue            # compared before, in vain
                s.steps -= steps_to_compare(s, d, c, sets)
                found = compare(s, d, c, sets)
                if found >= 0.0:
                    hit[d - first] = c
                    similarity[d - first] = found
                    break
        if hit[d - first] < 0:
            remember(s, d)
            unsure[d - first] = cut
        d += 1
    return d - first
