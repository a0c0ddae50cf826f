# Integer mixers. Each number here is part of docs/signature-spec.md and never changes.

from libc.stdint cimport uint32_t, uint64_t

cdef extern from *:
    """
    #define FASTLSH_UNITS ((uint64_t) 0x6A09E667F3BCC909)
    #define FASTLSH_CHARACTER_BASE ((uint64_t) 0x243F6A8885A308D5)
    #define FASTLSH_WORD_BASE ((uint64_t) 0xB7E151628AED2A6D)
    """
    # The first 64 bits after the point of the square root of 2, made odd; of pi and of e, with
    # the low three bits set to 5: powers of such a base repeat as late as any.
    const uint64_t UNITS "FASTLSH_UNITS"
    const uint64_t CHARACTER_BASE "FASTLSH_CHARACTER_BASE"
    const uint64_t WORD_BASE "FASTLSH_WORD_BASE"


cdef inline uint64_t power_of(uint64_t base, Py_ssize_t exponent) noexcept nogil:
    # Modulo 2^64.
    cdef uint64_t power = 1
    while exponent > 0:
        if exponent & 1:
            power *= base
        base *= base
        exponent >>= 1
    return power


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


cdef struct Mixer:
    # A finaliser in the form of fmix64: what is added before, and the two factors, which are odd.
    uint64_t add
    uint64_t first
    uint64_t second


cdef inline uint64_t mixed_by(const Mixer* mixer, uint64_t h) noexcept nogil:
    h += mixer.add
    h ^= h >> 33
    h *= mixer.first
    h ^= h >> 33
    h *= mixer.second
    return h ^ (h >> 33)


cdef inline Mixer public_mixer() noexcept nogil:
    # That of fmix64.
    cdef Mixer mixer
    mixer.add = 0
    mixer.first = <uint64_t> 0xFF51AFD7ED558CCD
    mixer.second = <uint64_t> 0xC4CEB9FE1A85EC53
    return mixer


cdef inline uint64_t finish(const Mixer* mixer, uint64_t h, uint64_t units) noexcept nogil:
    return mixed_by(mixer, h + units * UNITS)


cdef inline uint32_t fold(uint64_t h) noexcept nogil:
    # Any 64-bit element to the input of the 32-bit hash functions.
    return fmix32(<uint32_t> h ^ fmix32(<uint32_t> (h >> 32)))
