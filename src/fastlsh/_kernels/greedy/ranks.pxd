# The orders in which candidates are chosen and compared.

from libc.stdint cimport int32_t


cdef inline int compare_int32(const void* a, const void* b) noexcept nogil:
    cdef int32_t x = (<const int32_t*> a)[0]
    cdef int32_t y = (<const int32_t*> b)[0]
    return (x > y) - (x < y)


cdef struct Rank:
    int32_t shared
    int32_t equal
    int32_t candidate


cdef inline int compare_ranks(const void* a, const void* b) noexcept nogil:
    # More shared bands, then more equal minima, then earlier.
    cdef const Rank* x = <const Rank*> a
    cdef const Rank* y = <const Rank*> b
    if x.shared != y.shared:
        return -1 if x.shared > y.shared else 1
    if x.equal != y.equal:
        return -1 if x.equal > y.equal else 1
    return -1 if x.candidate < y.candidate else 1
