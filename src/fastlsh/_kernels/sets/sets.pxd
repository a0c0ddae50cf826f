# Sets of shingle hashes: what sorts them, and where they lie.

from libc.stdint cimport int64_t, uint16_t, uint64_t

cdef enum:
    SORT_LIMIT = 1 << 15                # hashes sorted in one go, within the L2 cache
    RECENT = 1 << 13

cdef struct Workbench:
    uint64_t recent[RECENT]
    uint16_t place[2 * SORT_LIMIT + 1]
    uint64_t values[SORT_LIMIT]


cdef struct Sets:
    # Sets by number: of hashes (compare.pxi), or of numbers (_sets.pyx).
    const uint64_t* words
    const int64_t* start
    const int64_t* count        # of elements; negative: there is no set
    Py_ssize_t total            # of the words
