# SHA-1 (FIPS 180-4) of many short messages, one in each lane of a vector: the shape of the state.

from libc.stdint cimport uint32_t

cdef enum:
    SHA1_LANES = 16          # one vector of AVX-512, two of AVX2, four of SSE and NEON

cdef extern from *:
    """
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    #define SHA1_FROM_BIG_ENDIAN(x) (x)
    #else
    #define SHA1_FROM_BIG_ENDIAN(x) \\
        ((x) >> 24 | ((x) >> 8 & 0xFF00) | ((x) << 8 & 0xFF0000) | (x) << 24)
    #endif
    """
    uint32_t from_big_endian "SHA1_FROM_BIG_ENDIAN"(uint32_t word) noexcept nogil
