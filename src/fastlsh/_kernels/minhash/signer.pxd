# How a document is signed: the scheme with its functions, and the band keys that are wanted.

from libc.stdint cimport uint32_t

cdef enum:
    AFFINE32 = 0        # the schemes; the last three for the sketches of other libraries only
    FSS = 1
    AFFINE64 = 2
    LEGACY = 3
    PRIME61 = 4         # as LEGACY, with all 61 bits
    ROUNDS = 8          # of FSS
    WIDE = 64           # minima that stay in registers while a block of shingles passes by

cdef struct Signer:
    int scheme
    const uint32_t* a       # k functions a * x + b mod 2^32; with FSS ROUNDS more
    const uint32_t* b
    Py_ssize_t k
    Py_ssize_t rows         # of a band
    Py_ssize_t bands        # the first so many get keys; may be 0
    Py_ssize_t stride       # from a document's key in one band to that in the next
