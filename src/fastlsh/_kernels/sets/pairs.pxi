# Many pairs of sorted sets of shingle hashes.

from libc.stdint cimport int64_t

from fastlsh._kernels.loops._chosen cimport loops
from fastlsh._kernels.sets.sets cimport Sets


cdef inline bint has_set(const Sets* sets, Py_ssize_t d) noexcept nogil:
    cdef int64_t count = sets.count[d]
    return 0 <= count <= sets.total and 0 <= sets.start[d] <= sets.total - count


cdef Py_ssize_t compare_pairs(
    const Sets* sets, const int64_t* left, const int64_t* right, Py_ssize_t n, double threshold,
    double* out
) noexcept nogil:
    # Returns how many were compared: all, or the place of the first with a set that lies outside.
    cdef Py_ssize_t i
    cdef int64_t a, b
    for i in range(n):
        a = left[i]
        b = right[i]
        if not (has_set(sets, a) and has_set(sets, b)):
            return i
        out[i] = loops.jaccard_of_sets(
            sets.words + sets.start[a], sets.count[a],
            sets.words + sets.start[b], sets.count[b], threshold,
        )
    return n
