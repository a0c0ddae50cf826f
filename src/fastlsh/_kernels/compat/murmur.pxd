# MurmurHash3 under many seeds: its working memory.

from libc.stdint cimport uint32_t

cdef enum:
    GROUP = 16          # windows that the filter cannot tell apart
    LANES = 32          # seeds at a time, at most
    PIECE = 2048        # windows at a time, at most
    GROUPS = PIECE / GROUP

cdef struct Murmur:
    Py_ssize_t k            # seeds
    const uint32_t* seeds   # k, filled up with zeros to a multiple of GROUP
    Py_ssize_t piece        # windows at a time: what `words` has room for
    void* words             # arrays of `piece` mixed words, one window after the other
    uint32_t least[GROUPS * LANES]      # the filter's minimum of each group under each seed
    uint32_t best[LANES]                # the least of these under each seed,
    uint32_t second[LANES]              # the one after that,
    uint32_t place[LANES]               # and the first group that has the least


cdef inline Py_ssize_t arrays32(Py_ssize_t size) noexcept nogil:
    # How many arrays `words` has for windows of this size.
    return size // 4 + 2


cdef inline Py_ssize_t arrays64(Py_ssize_t size) noexcept nogil:
    # How many arrays `words` has for windows of this size.
    return 2 * (size // 16) + 2
