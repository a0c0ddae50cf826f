# The candidates of one document, and the orders in which they are chosen and compared.

from libc.stdint cimport int32_t
from libc.stdlib cimport qsort


cdef struct Rank:
    int32_t shared
    int32_t equal
    int32_t candidate


cdef struct Candidates:
    int32_t* found
    int32_t* shared             # in how many buckets each was met
    Rank* ranks
    Py_ssize_t limit            # at most so many are compared


cdef inline int compare_int32(const void* a, const void* b) noexcept nogil:
    cdef int32_t x = (<const int32_t*> a)[0]
    cdef int32_t y = (<const int32_t*> b)[0]
    return (x > y) - (x < y)


cdef inline int compare_ranks(const void* a, const void* b) noexcept nogil:
    # More shared bands, then more equal minima, then earlier.
    cdef const Rank* x = <const Rank*> a
    cdef const Rank* y = <const Rank*> b
    if x.shared != y.shared:
        return -1 if x.shared > y.shared else 1
    if x.equal != y.equal:
        return -1 if x.equal > y.equal else 1
    return -1 if x.candidate < y.candidate else 1


cdef inline Py_ssize_t choose(Candidates* c, Py_ssize_t n) noexcept nogil:
    # Cuts n candidates down to the limit and sorts them by priority. Where they are more, `ranks`
    # holds the equal minima of each.
    cdef Py_ssize_t i
    if n > c.limit:
        for i in range(n):
            c.ranks[i].candidate = c.found[i]
            c.ranks[i].shared = c.shared[i]
        qsort(c.ranks, n, sizeof(Rank), compare_ranks)
        n = c.limit
        for i in range(n):
            c.found[i] = c.ranks[i].candidate
    if n > 1:
        qsort(c.found, n, sizeof(int32_t), compare_int32)
    return n
