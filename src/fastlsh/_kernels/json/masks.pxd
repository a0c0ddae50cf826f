# Which of 64 bytes are equal to a value, or at least as large: bit i of a mask is for byte i.

from libc.stdint cimport uint8_t, uint64_t

cdef extern from *:
    """
    #ifndef FASTLSH_BYTE_MASKS
    #define FASTLSH_BYTE_MASKS
    #if defined(_MSC_VER)
    #include <intrin.h>
    static __inline int fastlsh_first_bit(uint64_t mask)
    {
        unsigned long place;
        _BitScanForward64(&place, mask);
        return (int) place;
    }
    #else
    #define fastlsh_first_bit(mask) __builtin_ctzll(mask)
    #endif

    #if defined(FASTLSH_PORTABLE)
    #define FASTLSH_MASK_WIDTH 0
    #elif defined(__AVX512BW__)
    #include <immintrin.h>
    #define FASTLSH_MASK_WIDTH 64
    static CYTHON_INLINE uint64_t fastlsh_equal(const uint8_t *p, uint8_t value)
    {
        return _mm512_cmpeq_epi8_mask(
            _mm512_loadu_si512((const void *) p), _mm512_set1_epi8((char) value));
    }
    static CYTHON_INLINE uint64_t fastlsh_at_least(const uint8_t *p, uint8_t value)
    {
        return _mm512_cmpge_epu8_mask(
            _mm512_loadu_si512((const void *) p), _mm512_set1_epi8((char) value));
    }
    #elif defined(__AVX2__)
    #include <immintrin.h>
    #define FASTLSH_MASK_WIDTH 32
    #define FASTLSH_VECTOR __m256i
    #define fastlsh_load(p) _mm256_loadu_si256((const __m256i *) (p))
    #define fastlsh_all(value) _mm256_set1_epi8((char) (value))
    #define fastlsh_same(a, b) ((uint64_t) (uint32_t) _mm256_movemask_epi8(_mm256_cmpeq_epi8(a, b)))
    #define fastlsh_larger(a, b) _mm256_max_epu8(a, b)
    #elif defined(__SSE2__) || defined(_M_X64)
    #include <emmintrin.h>
    #define FASTLSH_MASK_WIDTH 16
    #define FASTLSH_VECTOR __m128i
    #define fastlsh_load(p) _mm_loadu_si128((const __m128i *) (p))
    #define fastlsh_all(value) _mm_set1_epi8((char) (value))
    #define fastlsh_same(a, b) ((uint64_t) (uint32_t) _mm_movemask_epi8(_mm_cmpeq_epi8(a, b)))
    #define fastlsh_larger(a, b) _mm_max_epu8(a, b)
    #else
    #define FASTLSH_MASK_WIDTH 0
    #endif

    #ifdef FASTLSH_VECTOR
    static CYTHON_INLINE uint64_t fastlsh_equal(const uint8_t *p, uint8_t value)
    {
        const FASTLSH_VECTOR wanted = fastlsh_all(value);
        uint64_t mask = 0;
        int i;
        for (i = 0; i < 64; i += FASTLSH_MASK_WIDTH)
            mask |= fastlsh_same(fastlsh_load(p + i), wanted) << i;
        return mask;
    }
    static CYTHON_INLINE uint64_t fastlsh_at_least(const uint8_t *p, uint8_t value)
    {
        const FASTLSH_VECTOR least = fastlsh_all(value);
        uint64_t mask = 0;
        int i;
        for (i = 0; i < 64; i += FASTLSH_MASK_WIDTH) {
            FASTLSH_VECTOR bytes = fastlsh_load(p + i);
            mask |= fastlsh_same(fastlsh_larger(bytes, least), bytes) << i;
        }
        return mask;
    }
    #elif FASTLSH_MASK_WIDTH == 0
    /* Eight bytes at a time in a word; the first of them is the lowest. */
    static CYTHON_INLINE uint64_t fastlsh_eight_bytes(const uint8_t *p)
    {
        return (uint64_t) p[0] | (uint64_t) p[1] << 8 | (uint64_t) p[2] << 16
            | (uint64_t) p[3] << 24 | (uint64_t) p[4] << 32 | (uint64_t) p[5] << 40
            | (uint64_t) p[6] << 48 | (uint64_t) p[7] << 56;
    }
    static CYTHON_INLINE uint64_t fastlsh_top_bits(uint64_t word)
    {
        const uint64_t top = 0x8080808080808080u;
        return ((word & top) >> 7) * 0x0102040810204080u >> 56;
    }
    static CYTHON_INLINE uint64_t fastlsh_equal(const uint8_t *p, uint8_t value)
    {
        const uint64_t low = 0x7F7F7F7F7F7F7F7Fu, each = 0x0101010101010101u;
        uint64_t mask = 0, word;
        int i;
        for (i = 0; i < 8; i++) {
            word = fastlsh_eight_bytes(p + 8 * i) ^ each * value;
            mask |= fastlsh_top_bits(~(((word & low) + low) | word)) << 8 * i;
        }
        return mask;
    }
    static CYTHON_INLINE uint64_t fastlsh_at_least(const uint8_t *p, uint8_t value)
    {
        const uint64_t low = 0x7F7F7F7F7F7F7F7Fu, each = 0x0101010101010101u;
        uint64_t mask = 0, word, reached;
        int i;
        for (i = 0; i < 8; i++) {
            word = fastlsh_eight_bytes(p + 8 * i);
            /* The top bit of each byte: whether its lower seven bits reach those of the value. */
            reached = (word & low) + each * (uint64_t) (0x80 - (value & 0x7F));
            reached = value & 0x80 ? word & reached : word | reached;
            mask |= fastlsh_top_bits(reached) << 8 * i;
        }
        return mask;
    }
    #endif
    #endif
    """
    uint64_t equal "fastlsh_equal"(const uint8_t* p, uint8_t value) noexcept nogil
    uint64_t at_least "fastlsh_at_least"(const uint8_t* p, uint8_t value) noexcept nogil
    int first_bit "fastlsh_first_bit"(uint64_t mask) noexcept nogil     # of a mask not 0
