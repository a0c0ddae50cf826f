"""The keep-or-drop step."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

import numpy as np

from fastlsh._kernels.common.checks cimport (
    Memory, check_apart, check_offsets, check_range, check_threshold, memory_of, memory_of_rows,
)
from fastlsh._kernels.common.debug cimport check
from fastlsh._kernels.greedy.keeper cimport (
    ASKS, KEEP_STEPS, OFFERS, PER_CANDIDATE, REMEMBERED, Buckets,
)
from fastlsh._kernels.greedy.ranks cimport Candidates, Rank, choose
from fastlsh._kernels.loops._chosen cimport loops
from fastlsh._kernels.sets._sets cimport containment_of_numbers, has_numbers, jaccard_of_numbers
from fastlsh._kernels.sets.checks cimport check_mode, sets_of
from fastlsh._kernels.sets.modes cimport BY_CONTAINMENT, BY_SETS, BY_SIGNATURE
from fastlsh._kernels.sets.sets cimport Sets


# ---- The keep-or-drop step: documents in priority order against the kept documents of their
# buckets.
#
# `root` and `document` belong to the caller, who may have written to them since they were checked:
# each number is compared with what it counts before it is used.

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


# ---- Called from Python: the keep-or-drop step.

globals().update(REMEMBERED=REMEMBERED)         # for callers


cdef int check_rule(int mode) except -1:
    return 0 if mode == BY_CONTAINMENT else check_mode(mode)


cdef int hold_input(
    Memory* held, const int32_t[:, ::1] root, const uint32_t[:, ::1] signatures,
    const int64_t[::1] document, const uint8_t[::1] fixed, const uint8_t[:, ::1] role,
) except -1:
    # Writes where the five arrays are that a Keeper reads; without `role`, `fixed` once more.
    held[0] = memory_of_rows(root, "root")
    held[1] = memory_of_rows(signatures, "signatures")
    held[2] = memory_of(document, "document")
    held[3] = held[4] = memory_of(fixed, "fixed")
    if role is not None:
        if role.shape[0] != root.shape[0] or role.shape[1] != root.shape[1]:
            raise ValueError("role needs one number for each one in root")
        held[4] = memory_of_rows(role, "role")
    return 0


cdef int check_state(
    int32_t[:, ::1] chain, uint8_t[:, ::1] filled, Py_ssize_t bands,
    const int64_t[::1] document, Py_ssize_t signed_rows, const Memory* held,
) except -1:
    # Checks the documents and what a Keeper writes, made by others; empties the buckets.
    cdef Memory parts[7]
    cdef Py_ssize_t i, n = document.shape[0]
    if not chain.shape[0] == filled.shape[0] == n or not chain.shape[1] == filled.shape[1] == bands:
        raise ValueError(f"empty made an array of another shape than ({n}, {bands})")
    parts[0] = memory_of_rows(chain, "chain")
    parts[1] = memory_of_rows(filled, "filled")
    memcpy(&parts[2], held, 5 * sizeof(Memory))
    for i in range(n):
        if not 0 <= document[i] < signed_rows:
            raise ValueError("document points outside the signatures")
    check_apart(parts, 7, 2, "what empty made and what the Keeper holds")
    filled[:] = 0
    return 0


cdef int check_outcome(const Buckets* s) except -1:
    if s.changed:
        raise ValueError("document was changed: it points outside the signatures")
    if s.incomplete:
        raise ValueError("a set that is needed has not been made")
    return 0


cdef class Keeper:
    """State of the buckets while documents are decided on, in priority order.

    Parameters
    ----------
    root
        int32 (n, bands): the first document of each one's bucket, -1 where it is alone.
    signatures
        uint32 (m, num_perm).
    document
        int64 (n,): each one's row in `signatures`. The sets are by place here.
    fixed
        uint8 (n,): 1 = kept without being asked.
    threshold
        The least similarity of a duplicate, or its least share in the kept document.
    mode
        `BY_SETS` of shingle hashes, `BY_CONTAINMENT`, `BY_SIGNATURE` or `NOT_VERIFIED`.
    limit
        At most so many candidates are compared with a document.
    role
        uint8 (n, bands), or None: 1 where a document only asks in its bucket, and is no candidate;
        2 where it only is one, and does not ask; other numbers: both.
    empty
        As `numpy.empty`: makes what has a value for each document and band.
    """

    cdef Buckets s
    cdef Memory[5] held             # root, signatures, document, fixed, role or fixed
    cdef object owners

    def __cinit__(
        self, const int32_t[:, ::1] root not None, const uint32_t[:, ::1] signatures not None,
        const int64_t[::1] document not None, const uint8_t[::1] fixed not None,
        double threshold, int mode, Py_ssize_t limit, const uint8_t[:, ::1] role=None,
        empty=np.empty,
    ):
        cdef Buckets* s = &self.s
        cdef Py_ssize_t wrong, n = document.shape[0]
        cdef int32_t[:, ::1] chain
        cdef uint8_t[:, ::1] filled
        cdef int32_t[::1] position
        if not root.shape[0] == n == fixed.shape[0] or n > 0x7FFFFFFF:
            raise ValueError("root, document and fixed need the same number of documents")
        check_rule(mode)
        check_threshold(threshold)
        if limit < 1:
            raise ValueError(f"limit must be at least 1, got {limit}")
        hold_input(self.held, root, signatures, document, fixed, role)
        s.n = n
        s.signed, s.k = signatures.shape[0], signatures.shape[1]
        s.threshold = threshold
        s.mode = mode
        s.candidates.limit = limit
        if n == 0:
            return
        s.bands = root.shape[1]
        if s.bands < 1 or s.k < 1:
            raise ValueError(f"root has {s.bands} bands and signatures have {s.k} values")
        s.root = &root[0, 0]
        with nogil:
            wrong = check_roots(s)
        if wrong >= 0:
            raise ValueError(f"root points outside the documents, or to no root, at {wrong}")
        chain = empty((n, s.bands), np.int32)
        filled = empty((n, s.bands), np.uint8)
        check_state(chain, filled, s.bands, document, s.signed, self.held)
        position = np.full(n, -1, np.int32)
        self.owners = root, signatures, document, fixed, role, chain, filled, position
        s.chain = &chain[0, 0]
        s.filled = &filled[0, 0]
        s.signatures = &signatures[0, 0]
        s.document = &document[0]
        s.fixed = &fixed[0]
        if role is not None:  # NULL until then
            s.role = &role[0, 0]
        s.position = &position[0]

    cdef int check_held(self, Memory written, str name) except -1:
        cdef Memory parts[6]
        parts[0] = written
        memcpy(&parts[1], self.held, 5 * sizeof(Memory))
        return check_apart(parts, 6, 1, f"{name} and what the Keeper holds")

    cdef Buckets begin(self, Py_ssize_t steps) except *:
        # A call's own view, so that several threads can decide on different families: with room for
        # all candidates that `gather` can find, whatever the arrays contain by now.
        cdef Buckets s = self.s
        cdef size_t room = <size_t> (REMEMBERED * s.bands)
        s.steps = steps
        s.candidates.ranks = <Rank*> malloc(room * (sizeof(Rank) + 2 * sizeof(int32_t)) + 1)
        if s.candidates.ranks == NULL:
            raise MemoryError()
        s.candidates.found = <int32_t*> (s.candidates.ranks + room)
        s.candidates.shared = s.candidates.found + room
        return s

    cdef Sets sets(
        self, const uint64_t[::1] words, const int64_t[::1] start, const int64_t[::1] count
    ) except *:
        cdef Sets none
        memset(&none, 0, sizeof(Sets))
        if self.s.n == 0 or not by_sets(&self.s):
            return none
        return sets_of(words, start, count, self.s.n)

    def candidates(
        self, Py_ssize_t first, Py_ssize_t last,
        int32_t[::1] out not None, int64_t[::1] offsets not None, Py_ssize_t steps=KEEP_STEPS,
    ):
        """Collect the candidates of documents first ... as they stand now, by priority.

        Stops before a document whose candidates might not fit, and after about `steps`, for
        Ctrl-C; returns the first not done.

        Parameters
        ----------
        out
            int32, written; at least as long as one document's candidates can be.
        offsets
            int64 (last - first + 1,), written: where each one's candidates begin and end.
        """
        cdef Memory parts[2]
        cdef Py_ssize_t most = min(REMEMBERED * self.s.bands, self.s.n, self.s.candidates.limit)
        cdef Py_ssize_t done
        check_range(first, last, self.s.n)
        if offsets.shape[0] != last - first + 1 or out.shape[0] < most:
            raise ValueError("out or offsets too short")
        parts[0] = memory_of(out, "out")
        parts[1] = memory_of(offsets, "offsets")
        check_apart(parts, 2, 2, "out and offsets")
        self.check_held(parts[0], "out")
        self.check_held(parts[1], "offsets")
        cdef Buckets s = self.begin(steps)
        with nogil:
            done = put_candidates(
                &s, first, last, &out[0] if out.shape[0] else NULL, out.shape[0], most, &offsets[0],
            )
            free(s.candidates.ranks)
        check_outcome(&s)
        return done

    def first_hits(
        self, Py_ssize_t first, Py_ssize_t last,
        const int32_t[::1] candidates not None, const int64_t[::1] offsets not None,
        const uint64_t[::1] words not None, const int64_t[::1] start not None,
        const int64_t[::1] count not None,
        int32_t[::1] hit not None, double[::1] similarity not None,
    ):
        """Find each document's first candidate that reaches the threshold (-1: none).

        Parameters
        ----------
        candidates, offsets
            From `candidates`: int32 (total,), int64 (last - first + 1,).
        words, start, count
            The sets, as in `number_jaccard`.
        hit, similarity
            int32 and float64 (last - first,), written.
        """
        cdef Memory parts[7]
        cdef Py_ssize_t i
        check_range(first, last, self.s.n)
        check_offsets(offsets, last - first, candidates.shape[0], "offsets")
        if hit.shape[0] != last - first or similarity.shape[0] != last - first:
            raise ValueError("hit and similarity need one element per document")
        parts[0] = memory_of(hit, "hit")
        parts[1] = memory_of(similarity, "similarity")
        parts[2] = memory_of(candidates, "candidates")
        parts[3] = memory_of(offsets, "offsets")
        parts[4] = memory_of(words, "words")
        parts[5] = memory_of(start, "start")
        parts[6] = memory_of(count, "count")
        check_apart(parts, 7, 2, "hit, similarity and what is read")
        self.check_held(parts[0], "hit")
        self.check_held(parts[1], "similarity")
        for i in range(offsets[0], offsets[last - first]):
            if not 0 <= candidates[i] < self.s.n:
                raise ValueError("candidates point outside the documents")
        cdef Sets sets = self.sets(words, start, count)
        cdef Buckets s = self.s
        if first == last:
            return
        with nogil:
            find_hits(
                &s, first, last, &candidates[0] if candidates.shape[0] else NULL, &offsets[0],
                &sets, &hit[0], &similarity[0],
            )
        check_outcome(&s)

    def settle(
        self, Py_ssize_t first, Py_ssize_t last,
        const uint64_t[::1] words not None, const int64_t[::1] start not None,
        const int64_t[::1] count not None,
        int32_t[::1] hit not None, double[::1] similarity not None,
        uint8_t[::1] unsure not None, Py_ssize_t done=0, Py_ssize_t steps=KEEP_STEPS,
    ):
        """Decide on documents first ... last - 1 in order; return on how many.

        Not on all after about `steps`, for Ctrl-C: `done` tells on how many it was before. Several
        threads may settle documents of different buckets at the same time.

        `hit` and `similarity` come from `first_hits`, made when none of these documents was
        decided on; here they become final: -1 = kept. `unsure`, uint8 (last - first,), is
        written: 1 where a document was kept that could not be compared with every candidate.
        """
        cdef Memory parts[6]
        cdef int i
        check_range(first, last, self.s.n)
        if not hit.shape[0] == similarity.shape[0] == unsure.shape[0] == last - first:
            raise ValueError("hit, similarity and unsure need one element per document")
        parts[0] = memory_of(hit, "hit")
        parts[1] = memory_of(similarity, "similarity")
        parts[2] = memory_of(unsure, "unsure")
        parts[3] = memory_of(words, "words")
        parts[4] = memory_of(start, "start")
        parts[5] = memory_of(count, "count")
        check_apart(parts, 6, 3, "hit, similarity, unsure and the sets")
        for i in range(3):
            self.check_held(parts[i], "hit, similarity, unsure")
        cdef Sets sets = self.sets(words, start, count)
        if not 0 <= done <= last - first:
            raise ValueError(f"done must lie between 0 and {last - first}, got {done}")
        if done == last - first:
            return done
        cdef Buckets s = self.begin(steps)
        with nogil:
            done = decide(&s, first, last, done, &sets, &hit[0], &similarity[0], &unsure[0])
            free(s.candidates.ranks)
        check_outcome(&s)
        return done
