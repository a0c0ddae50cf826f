# The functions of one of datasketch's schemes: of 32 bits with AFFINE32, else of 64.

from libc.stdint cimport uint32_t, uint64_t

cdef struct Functions:
    int scheme
    Py_ssize_t k
    const uint32_t* a32
    const uint32_t* b32
    const uint64_t* a64
    const uint64_t* b64
