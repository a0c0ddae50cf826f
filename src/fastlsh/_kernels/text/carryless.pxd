# What two words at once change in a rolling fingerprint, by carry-less multiplication.
#
# Let P = x^64 + M be the modulus, and Q the quotient of x^(n + 64) by P, where n < 64. Then the
# quotient of h * x^n by P is the upper half of h * Q, exactly, and the remainder is
# (h << n) ^ the lower half of quotient * M: two multiplications, however large n is.

from libc.stdint cimport uint64_t

cdef extern from *:
    """
    #ifndef FASTLSH_CARRYLESS
    #if !defined(FASTLSH_PORTABLE) \\
        && (defined(__PCLMUL__) || (defined(_MSC_VER) && defined(__AVX2__)))
    #include <immintrin.h>
    #define FASTLSH_CARRYLESS 1
    static CYTHON_INLINE void fastlsh_two_changes(
        const uint64_t *leaving, const uint64_t *entering, Py_ssize_t n, uint64_t quotient,
        uint64_t modulus, uint64_t *change)
    {
        const __m128i factors = _mm_set_epi64x((int64_t) modulus, (int64_t) quotient);
        __m128i h = _mm_loadu_si128((const __m128i *) leaving);
        __m128i first = _mm_clmulepi64_si128(h, factors, 0x00);
        __m128i second = _mm_clmulepi64_si128(h, factors, 0x01);
        __m128i both = _mm_unpacklo_epi64(
            _mm_clmulepi64_si128(first, factors, 0x11),
            _mm_clmulepi64_si128(second, factors, 0x11));
        both = _mm_xor_si128(both, _mm_sll_epi64(h, _mm_cvtsi64_si128((int64_t) n)));
        both = _mm_xor_si128(both, _mm_loadu_si128((const __m128i *) entering));
        change[0] = (uint64_t) _mm_cvtsi128_si64(both);
        change[1] = (uint64_t) _mm_extract_epi64(both, 1);
    }
    #else
    #define FASTLSH_CARRYLESS 0
    #define fastlsh_two_changes(leaving, entering, n, quotient, modulus, change) ((void) 0)
    #endif
    #endif
    """
    bint CARRYLESS "FASTLSH_CARRYLESS"
    void two_changes "fastlsh_two_changes"(
        const uint64_t* leaving, const uint64_t* entering, Py_ssize_t n, uint64_t quotient,
        uint64_t modulus, uint64_t* change
    ) noexcept nogil
