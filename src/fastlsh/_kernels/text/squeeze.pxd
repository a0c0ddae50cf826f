# Chosen elements of a vector, moved together: a table of shuffles by a mask of eight bits.

from libc.stdint cimport uint8_t, uint64_t

cdef extern from *:
    """
    #ifndef FASTLSH_SQUEEZE
    #define FASTLSH_SQUEEZE
    #if defined(__SSE4_1__) && !defined(FASTLSH_PORTABLE)
    #define FASTLSH_SHUFFLES 1
    #include <smmintrin.h>
    #else
    #define FASTLSH_SHUFFLES 0
    #endif

    static uint8_t fastlsh_bytes_of[256][8];    /* which of eight bytes, in order */
    static uint8_t fastlsh_pairs_of[256][16];   /* and of eight pairs of bytes */
    static uint8_t fastlsh_count_of[256];

    static void fastlsh_fill_squeezing(void)
    {
        int mask, i, n;
        for (mask = 0; mask < 256; mask++) {
            for (i = n = 0; i < 8; i++)
                if (mask >> i & 1) {
                    fastlsh_bytes_of[mask][n] = (uint8_t) i;
                    fastlsh_pairs_of[mask][2 * n] = (uint8_t) (2 * i);
                    fastlsh_pairs_of[mask][2 * n + 1] = (uint8_t) (2 * i + 1);
                    n++;
                }
            fastlsh_count_of[mask] = (uint8_t) n;
        }
    }

    /* Writes of 64 bytes those that a mask says, and up to 8 more; returns how many. */
    static CYTHON_INLINE Py_ssize_t fastlsh_squeeze(
        const uint8_t *bytes, uint64_t keep, uint8_t *out)
    {
        uint8_t *begin = out;
        int i;
    #if FASTLSH_SHUFFLES
        for (i = 0; i < 8; i++) {
            __m128i c = _mm_loadl_epi64((const __m128i *) (bytes + 8 * i));
            __m128i how = _mm_loadl_epi64((const __m128i *) fastlsh_bytes_of[keep & 255]);
            _mm_storel_epi64((__m128i *) out, _mm_shuffle_epi8(c, how));
            out += fastlsh_count_of[keep & 255];
            keep >>= 8;
        }
    #else
        for (i = 0; i < 64; i++) {
            *out = bytes[i];
            out += keep >> i & 1;
        }
    #endif
        return out - begin;
    }
    #endif
    """
    void fill_squeezing "fastlsh_fill_squeezing"() noexcept nogil
    Py_ssize_t squeeze "fastlsh_squeeze"(
        const uint8_t* bytes, uint64_t keep, uint8_t* out
    ) noexcept nogil
