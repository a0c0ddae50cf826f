# Integer mixers. Each number here is part of docs/signature-spec.md and never changes.

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    #define FASTLSH_NOINLINE __declspec(noinline)
    #define FASTLSH_INLINE __forceinline
    #if defined(_M_ARM64)
    #define fastlsh_popcount(x) ((uint64_t) _CountOneBits64(x))
    #else
    #define fastlsh_popcount(x) ((uint64_t) __popcnt64(x))
    #endif
    #else
    #define FASTLSH_NOINLINE __attribute__((noinline))
    #define FASTLSH_INLINE inline __attribute__((always_inline))
    #define fastlsh_popcount(x) ((uint64_t) __builtin_popcountll(x))
    #endif
    #if defined(__clang__)
    #define fastlsh_either(condition) __builtin_unpredictable(condition)
    #elif defined(__GNUC__)
    #define fastlsh_either(condition) __builtin_expect_with_probability(condition, 1, 0.5)
    #else
    #define fastlsh_either(condition) (condition)
    #endif
    """
    # A condition that no predictor can learn: keeps the compiler from making a branch of it.
    Py_ssize_t either "fastlsh_either"(bint condition) noexcept nogil
    uint64_t popcount "fastlsh_popcount"(uint64_t word) noexcept nogil
    # A hot loop that is inlined into its caller loses its registers there (up to 3x slower).
    ctypedef void noinline_void "FASTLSH_NOINLINE void"
    # A `cdef inline` whose arguments must be constants where it is called.
    ctypedef void inline_void "FASTLSH_INLINE void"


cdef inline uint32_t fmix32(uint32_t h) noexcept nogil:
    # MurmurHash3 finaliser: a bijection with fmix32(0) = 0.
    h ^= h >> 16
    h *= <uint32_t> 0x85EBCA6B
    h ^= h >> 13
    h *= <uint32_t> 0xC2B2AE35
    return h ^ (h >> 16)


cdef inline uint64_t fmix64(uint64_t h) noexcept nogil:
    # MurmurHash3 finaliser: a bijection with fmix64(0) = 0.
    h ^= h >> 33
    h *= <uint64_t> 0xFF51AFD7ED558CCD
    h ^= h >> 33
    h *= <uint64_t> 0xC4CEB9FE1A85EC53
    return h ^ (h >> 33)


cdef inline uint64_t mix_code_point(uint64_t c) noexcept nogil:
    # Steps that are bijections and keep zero, applied to c + 1: never zero.
    cdef uint64_t h = (c + 1) * <uint64_t> 0x9E3779B97F4A7C15
    h ^= h >> 32
    h *= <uint64_t> 0xD6E8FEB86659FD93
    return h ^ (h >> 32)


# The first 64 bits after the point of the square root of 2, made odd.
cdef uint64_t UNITS = 0x6A09E667F3BCC909


cdef inline uint64_t finish(uint64_t polynomial, uint64_t units) noexcept nogil:
    return fmix64(polynomial + units * UNITS)


cdef inline uint32_t fold(uint64_t h) noexcept nogil:
    # Any 64-bit element to the input of the 32-bit hash functions.
    return fmix32(<uint32_t> h ^ fmix32(<uint32_t> (h >> 32)))
