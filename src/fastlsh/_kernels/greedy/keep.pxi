# The keep-or-drop step: documents in priority order against the kept documents of their buckets.
# With compare.pxi.

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, qsort

from fastlsh._kernels.greedy.ranks cimport Rank, compare_int32, compare_ranks
from fastlsh._kernels.sets.modes cimport BY_SETS, BY_SIGNATURE
from fastlsh._kernels.sets.sets cimport Sets

cdef enum:
    REMEMBERED = 64         # kept documents that a bucket offers


cdef class Keeper:
    """State of the buckets while documents are decided on, in priority order.

    Parameters
    ----------
    root
        int32 (n, bands): the first document of each one's bucket, -1 where it is alone. All that
        is asked about a document lies in one row, for these lookups are what takes the time.
    signatures
        uint32 (m, num_perm).
    document
        int64 (n,): each one's row in `signatures`. The sets are by place here.
    fixed
        uint8 (n,): 1 = kept without being asked.
    threshold
        The least similarity of a duplicate.
    mode
        0 by the sets of shingle hashes, 1 by the signatures, 2 not at all.
    limit
        At most so many candidates are compared with a document.
    """

    cdef const int32_t[:, ::1] root
    cdef int32_t[:, ::1] chain      # at a root: the latest kept; elsewhere: the kept one before
    cdef uint8_t[:, ::1] filled     # at a root: how many are kept; REMEMBERED + 1: more
    cdef const uint32_t[:, ::1] signatures
    cdef const int64_t[::1] document
    cdef const uint8_t[::1] fixed
    cdef int32_t[::1] position
    cdef int32_t[::1] found
    cdef int32_t[::1] shared
    cdef Rank* ranks
    cdef Py_ssize_t limit
    cdef double threshold
    cdef int mode
    cdef bint clipped

    def __cinit__(self):
        self.ranks = NULL

    def __init__(
        self, root, signatures, document, fixed, double threshold, int mode, Py_ssize_t limit
    ):
        import numpy as np
        self.root = root
        self.signatures = signatures
        self.document = document
        self.fixed = fixed
        if not self.root.shape[0] == self.document.shape[0] == self.fixed.shape[0]:
            raise ValueError("root, document and fixed need the same number of documents")
        n = self.document.shape[0]
        if n and (np.min(root) < -1 or np.max(root) >= n):
            raise ValueError("root points outside the documents")
        if n and (np.min(document) < 0 or np.max(document) >= self.signatures.shape[0]):
            raise ValueError("document points outside the signatures")
        if limit < 1:
            raise ValueError(f"limit must be at least 1, got {limit}")
        room = min(REMEMBERED * self.root.shape[1], n)
        self.chain = np.full((n, self.root.shape[1]), -1, np.int32)
        self.filled = np.zeros((n, self.root.shape[1]), np.uint8)
        self.position = np.full(n, -1, np.int32)
        self.found = np.empty(room, np.int32)
        self.shared = np.empty(room, np.int32)
        self.ranks = <Rank*> malloc((room + 1) * sizeof(Rank))
        if self.ranks == NULL:
            raise MemoryError()
        self.threshold = threshold
        self.mode = mode
        self.limit = limit

    def __dealloc__(self):
        free(self.ranks)

    cdef Py_ssize_t gather(self, Py_ssize_t d) noexcept nogil:
        # The kept documents in the buckets of d into `found`; sets `clipped`.
        cdef Py_ssize_t n = 0
        cdef Py_ssize_t b, i
        cdef int32_t root, c
        self.clipped = False
        for b in range(self.root.shape[1]):
            root = self.root[d, b]
            if root < 0:
                continue
            if self.filled[root, b] > REMEMBERED:
                self.clipped = True
            c = self.chain[root, b]
            while c >= 0:
                if self.position[c] < 0:
                    self.position[c] = <int32_t> n
                    self.found[n] = c
                    self.shared[n] = 1
                    n += 1
                else:
                    self.shared[self.position[c]] += 1
                c = -1 if c == root else self.chain[c, b]
        for i in range(n):
            self.position[self.found[i]] = -1
        if n > self.limit:
            self.clipped = True
        return n

    cdef Py_ssize_t choose(self, Py_ssize_t d, Py_ssize_t n) noexcept nogil:
        # Cuts `found` down to the limit and sorts it by priority.
        cdef Py_ssize_t i, equal
        cdef Py_ssize_t k = self.signatures.shape[1]
        cdef Rank* rank
        if n > self.limit:
            for i in range(n):
                rank = self.ranks + i
                rank.candidate = self.found[i]
                rank.shared = self.shared[i]
                count_equal(
                    &self.signatures[self.document[d], 0],
                    &self.signatures[self.document[rank.candidate], 0], k, &equal,
                )
                rank.equal = <int32_t> equal
            qsort(self.ranks, n, sizeof(Rank), compare_ranks)
            n = self.limit
            for i in range(n):
                self.found[i] = self.ranks[i].candidate
        if n > 1:
            qsort(&self.found[0], n, sizeof(int32_t), compare_int32)
        return n

    cdef double compare(self, Py_ssize_t d, Py_ssize_t c, Sets* sets) noexcept nogil:
        # The similarity, or -1 where it is below the threshold.
        cdef int64_t x = self.document[d]
        cdef int64_t y = self.document[c]
        cdef Py_ssize_t k = self.signatures.shape[1]
        cdef Py_ssize_t equal
        cdef double similarity
        if self.mode == BY_SETS:
            if not (has_set(sets, d) and has_set(sets, c)):
                sets.incomplete = True
                return -1.0
            return jaccard_of_sets(
                sets.hashes + sets.start[d], sets.count[d],
                sets.hashes + sets.start[c], sets.count[c], self.threshold, True,
            )
        if self.mode == BY_SIGNATURE:
            count_equal(&self.signatures[x, 0], &self.signatures[y, 0], k, &equal)
            similarity = <double> equal / <double> k
            return similarity if similarity >= self.threshold else -1.0
        return 2.0                              # anything that is not refused

    cdef void keep(self, Py_ssize_t d) noexcept nogil:
        cdef Py_ssize_t b
        cdef int32_t root
        for b in range(self.root.shape[1]):
            root = self.root[d, b]
            if root < 0:
                continue
            if self.filled[root, b] >= REMEMBERED:
                self.filled[root, b] = REMEMBERED + 1
                continue
            self.filled[root, b] += 1
            if d != root:
                self.chain[d, b] = self.chain[root, b]
            self.chain[root, b] = <int32_t> d

    cdef int check_range(self, Py_ssize_t first, Py_ssize_t last) except -1:
        if not 0 <= first <= last <= self.document.shape[0]:
            raise IndexError(f"documents {first} to {last} of {self.document.shape[0]}")
        return 0

    def candidates(
        self, Py_ssize_t first, Py_ssize_t last,
        int32_t[::1] out not None, int64_t[::1] offsets not None,
    ):
        """Collect the candidates of documents first ... as they stand now, by priority.

        Stops before a document whose candidates might not fit; returns the first not done.

        Parameters
        ----------
        out
            int32, written; at least as long as one document's candidates can be.
        offsets
            int64 (last - first + 1,), written: where each one's candidates begin and end.
        """
        cdef Py_ssize_t d, i, n
        cdef Py_ssize_t end = 0
        cdef Py_ssize_t most = min(self.found.shape[0], self.limit)
        self.check_range(first, last)
        if offsets.shape[0] != last - first + 1 or out.shape[0] < most:
            raise ValueError("out or offsets too short")
        offsets[0] = 0
        d = first
        with nogil:
            while d < last and end + most <= out.shape[0]:
                n = 0 if self.fixed[d] else self.choose(d, self.gather(d))
                for i in range(n):
                    out[end + i] = self.found[i]
                end += n
                d += 1
                offsets[d - first] = end
        return d

    def first_hits(
        self, Py_ssize_t first, Py_ssize_t last,
        const int32_t[::1] candidates not None, const int64_t[::1] offsets not None,
        const uint64_t[::1] hashes not None, const int64_t[::1] start not None,
        const int64_t[::1] count not None,
        int32_t[::1] hit not None, double[::1] similarity not None,
    ):
        """Find each document's first candidate that reaches the threshold (-1: none).

        Parameters
        ----------
        candidates, offsets
            From `candidates`: int32 (total,), int64 (last - first + 1,).
        hashes, start, count
            The sets with their sketches: uint64 values, int64 place and size of each.
        hit, similarity
            int32 and float64 (last - first,), written.
        """
        cdef Py_ssize_t d, i
        cdef double s
        self.check_range(first, last)
        if offsets.shape[0] != last - first + 1 or offsets[last - first] > candidates.shape[0]:
            raise ValueError("offsets do not fit the candidates")
        if hit.shape[0] != last - first or similarity.shape[0] != last - first:
            raise ValueError("hit and similarity need one element per document")
        cdef Py_ssize_t most = self.document.shape[0]
        for i in range(offsets[0], offsets[last - first]):
            if not 0 <= candidates[i] < most:
                raise ValueError("candidates point outside the documents")
        cdef Sets sets = sets_of(
            hashes, start, count, self.document.shape[0], self.mode == BY_SETS
        )
        with nogil:
            for d in range(last - first):
                hit[d] = -1
                similarity[d] = 0.0
                for i in range(offsets[d], offsets[d + 1]):
                    s = self.compare(first + d, candidates[i], &sets)
                    if s >= 0.0:
                        hit[d] = candidates[i]
                        similarity[d] = s
                        break
        check_complete(&sets)

    def settle(
        self, Py_ssize_t first, Py_ssize_t last,
        const uint64_t[::1] hashes not None, const int64_t[::1] start not None,
        const int64_t[::1] count not None,
        int32_t[::1] hit not None, double[::1] similarity not None,
        uint8_t[::1] unsure not None,
    ):
        """Decide on documents first ... last - 1 in order.

        `hit` and `similarity` come from `first_hits`, made when none of these documents was
        decided on; here they become final: -1 = kept. `unsure`, uint8 (last - first,), is
        written: 1 where a document was kept that could not be compared with every candidate.
        """
        cdef Py_ssize_t d, i, n
        cdef double s
        cdef bint cut, over
        self.check_range(first, last)
        if not hit.shape[0] == similarity.shape[0] == unsure.shape[0] == last - first:
            raise ValueError("hit, similarity and unsure need one element per document")
        cdef Sets sets = sets_of(
            hashes, start, count, self.document.shape[0], self.mode == BY_SETS
        )
        with nogil:
            for d in range(first, last):
                unsure[d - first] = 0
                if self.fixed[d]:
                    self.keep(d)
                    continue
                n = self.gather(d)
                cut = self.clipped
                over = n > self.limit
                if over:                        # others may be among the compared ones now
                    hit[d - first] = -1
                if hit[d - first] < 0:
                    n = self.choose(d, n)
                    for i in range(n):
                        if self.found[i] < first and not over:
                            continue            # compared before, in vain
                        s = self.compare(d, self.found[i], &sets)
                        if s >= 0.0:
                            hit[d - first] = self.found[i]
                            similarity[d - first] = s
                            break
                if hit[d - first] < 0:
                    self.keep(d)
                    unsure[d - first] = cut
        check_complete(&sets)
