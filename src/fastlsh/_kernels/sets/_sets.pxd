from libc.stdint cimport uint64_t

from fastlsh._kernels.sets.sets cimport Sets

# Of sets of dense numbers; each is called once for a pair of sets.
cdef bint has_numbers(const Sets* sets, Py_ssize_t d) noexcept nogil
cdef double jaccard_of_numbers(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb, double threshold
) noexcept nogil
cdef double containment_of_numbers(
    const uint64_t* a, Py_ssize_t na, const uint64_t* b, Py_ssize_t nb, double share
) noexcept nogil
