# Called from Python: the exact join of sets. The loops run without the GIL.
# With join.pxi.

from libc.stdint cimport int32_t, int64_t, uint32_t

import numpy as np

from fastlsh._kernels.common.checks cimport (
    Memory, check_apart, check_starts, memory_of, memory_of_rows,
)


cdef class SetJoin:
    """The join of sets that stand in ascending order of size.

    Parameters
    ----------
    size
        int64 (n,), at least 1, ascending: of the sets, elements that are not stored included.
    start, elements
        int64 (n + 1,) and uint32: the stored elements of each set, ascending.
    lists, postings
        int64 (m + 1,) and int32: the sets in whose prefix each number lies, ascending.
    threshold
        The one that `invert` made these for.
    """

    cdef const int64_t[::1] size
    cdef const int64_t[::1] start
    cdef const uint32_t[::1] elements
    cdef const int64_t[::1] lists
    cdef const int32_t[::1] postings
    cdef double threshold

    def __cinit__(
        self, const int64_t[::1] size not None, const int64_t[::1] start not None,
        const uint32_t[::1] elements not None, const int64_t[::1] lists not None,
        const int32_t[::1] postings not None, double threshold,
    ):
        cdef Py_ssize_t n = size.shape[0]
        cdef Py_ssize_t m = lists.shape[0] - 1
        cdef Py_ssize_t i
        memory_of(size, "size")
        memory_of(elements, "elements")
        memory_of(postings, "postings")
        if not 0.0 < threshold <= 1.0:
            raise ValueError(f"threshold must be above 0 and at most 1, got {threshold}")
        if start.shape[0] != n + 1 or n >= <Py_ssize_t> 1 << 31:
            raise ValueError(f"start has {start.shape[0]} elements, expected {n + 1}")
        check_starts(start, elements.shape[0], "start")
        check_starts(lists, postings.shape[0], "lists")
        for i in range(n):
            if size[i] < max(start[i + 1] - start[i], <int64_t> 1):
                raise ValueError(f"set {i} stores more elements than its size {size[i]}")
            if i and size[i] < size[i - 1]:
                raise ValueError("size must ascend")
        for i in range(elements.shape[0]):
            if elements[i] >= m:
                raise IndexError(f"element {elements[i]} of {m}")
        for i in range(postings.shape[0]):
            if not 0 <= postings[i] < n:
                raise IndexError(f"set {postings[i]} of {n}")
        self.size = np.array(size)      # small, and all else is found by them
        self.start = np.array(start)
        self.elements = elements
        self.lists = lists
        self.postings = postings
        self.threshold = threshold

    def pairs(
        self, int64_t[::1] at not None, Py_ssize_t last, int32_t[:, ::1] scratch not None,
        int32_t[::1] left not None, int32_t[::1] right not None, double[::1] similarity not None,
        Py_ssize_t steps=JOIN_STEPS,
    ):
        """Write the pairs of the sets at[0] ... last - 1 with earlier ones; return how many.

        Returns when there might be no room for those of the next set, and after about `steps`,
        for Ctrl-C.

        Parameters
        ----------
        at
            int64 (1,): the first set; written: where to go on, `last` at the end.
        last
            One after the last set.
        scratch
            int32 (2, n).
        left, right, similarity
            int32, int32, float64 of the same length, at least n; written: left < right.
        """
        cdef Join j
        cdef Memory parts[5]
        cdef Py_ssize_t n = self.size.shape[0]
        cdef Py_ssize_t room = left.shape[0]
        cdef Py_ssize_t found
        parts[0] = memory_of(at, "at")
        parts[1] = memory_of_rows(scratch, "scratch")
        parts[2] = memory_of(left, "left")
        parts[3] = memory_of(right, "right")
        parts[4] = memory_of(similarity, "similarity")
        check_apart(parts, 5, 5, "at, scratch, left, right and similarity")
        if at.shape[0] != 1 or not 0 <= at[0] <= last <= n:
            raise ValueError(f"at and last must lie within {n} sets")
        if scratch.shape[0] != 2 or scratch.shape[1] != n:
            raise ValueError(f"scratch needs the shape (2, {n})")
        if room < n or right.shape[0] != room or similarity.shape[0] != room:
            raise ValueError(f"left, right and similarity need the same length, at least {n}")
        if at[0] == last or self.postings.shape[0] == 0:
            at[0] = last
            return 0
        j.size = &self.size[0]
        j.start = &self.start[0]
        j.elements = &self.elements[0]
        j.lists = &self.lists[0]
        j.postings = &self.postings[0]
        j.threshold = self.threshold
        j.met = &scratch[0, 0]
        j.candidates = &scratch[1, 0]
        j.numbers = self.lists.shape[0] - 1
        j.total = self.postings.shape[0]
        j.changed = False
        j.steps = steps
        with nogil:
            found = join_sets(
                &j, &at[0], <int32_t> last, &left[0], &right[0], &similarity[0], room
            )
        if j.changed:
            raise ValueError("elements, lists or postings were changed")
        return found
