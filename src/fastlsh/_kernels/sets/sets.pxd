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
    # Sets by number.
    const uint64_t* hashes
    const int64_t* start
    const int64_t* count
    Py_ssize_t total            # of the hashes
    bint sketched               # the sketch of each lies behind it
