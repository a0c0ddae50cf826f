# MurmurHash3 under many seeds: its working memory.

from libc.stdint cimport uint32_t

cdef struct Murmur:
    Py_ssize_t k            # seeds
    const uint32_t* seeds
    Py_ssize_t piece        # windows at a time
    void* words             # arrays of `piece` numbers: first mixed words, then states


cdef inline Py_ssize_t arrays32(Py_ssize_t size) noexcept nogil:
    # How many arrays `words` has for windows of this size.
    return size // 4 + 2


cdef inline Py_ssize_t arrays64(Py_ssize_t size) noexcept nogil:
    # How many arrays `words` has for windows of this size.
    return 2 * (size // 16) + 4
