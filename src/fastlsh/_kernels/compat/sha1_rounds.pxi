# The rounds of SHA-1, on a block of the message in each lane; sha1.pxi calls them.

from libc.stdint cimport uint32_t

from fastlsh._kernels.common.compiler cimport popcount      # and its macros, in the text below
from fastlsh._kernels.compat.sha1 cimport SHA1_LANES, from_big_endian   # and its macro

cdef extern from *:
    """
    #define SHA1_LANES 16
    #define SHA1_ROTATE(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
    #define SHA1_CHOOSE(b, c, d) ((d) ^ ((b) & ((c) ^ (d))))
    #define SHA1_PARITY(b, c, d) ((b) ^ (c) ^ (d))
    #define SHA1_MAJORITY(b, c, d) (((b) & (c)) | ((d) & ((b) | (c))))
    #define SHA1_LOAD(i) x[i] = SHA1_FROM_BIG_ENDIAN(words[i][lane]);
    #define SHA1_WORD(i) x[i]
    #define SHA1_NEXT(i) (x[(i) & 15] = SHA1_ROTATE( \\
        x[((i) + 13) & 15] ^ x[((i) + 8) & 15] ^ x[((i) + 2) & 15] ^ x[(i) & 15], 1))
    #define SHA1_ROUND(f, k, word, a, b, c, d, e) \\
        e += SHA1_ROTATE(a, 5) + f(b, c, d) + (uint32_t) k + (word); b = SHA1_ROTATE(b, 30);
    #define SHA1_FIVE(f, k, word, i) \\
        SHA1_ROUND(f, k, word(i), a, b, c, d, e) \\
        SHA1_ROUND(f, k, word(i + 1), e, a, b, c, d) \\
        SHA1_ROUND(f, k, word(i + 2), d, e, a, b, c) \\
        SHA1_ROUND(f, k, word(i + 3), c, d, e, a, b) \\
        SHA1_ROUND(f, k, word(i + 4), b, c, d, e, a)

    /* All rounds stand in one straight line, so that compilers make vectors of the lanes. */
    static FASTLSH_NOINLINE void sha1_compress(
        uint32_t (*state)[SHA1_LANES], uint32_t (*words)[SHA1_LANES]
    ) {
        for (int lane = 0; lane < SHA1_LANES; lane++) {
            uint32_t x[16];
            uint32_t a = state[0][lane], b = state[1][lane], c = state[2][lane];
            uint32_t d = state[3][lane], e = state[4][lane];
            SHA1_LOAD(0) SHA1_LOAD(1) SHA1_LOAD(2) SHA1_LOAD(3)
            SHA1_LOAD(4) SHA1_LOAD(5) SHA1_LOAD(6) SHA1_LOAD(7)
            SHA1_LOAD(8) SHA1_LOAD(9) SHA1_LOAD(10) SHA1_LOAD(11)
            SHA1_LOAD(12) SHA1_LOAD(13) SHA1_LOAD(14) SHA1_LOAD(15)
            SHA1_FIVE(SHA1_CHOOSE, 0x5A827999, SHA1_WORD, 0)
            SHA1_FIVE(SHA1_CHOOSE, 0x5A827999, SHA1_WORD, 5)
            SHA1_FIVE(SHA1_CHOOSE, 0x5A827999, SHA1_WORD, 10)
            SHA1_ROUND(SHA1_CHOOSE, 0x5A827999, SHA1_WORD(15), a, b, c, d, e)
            SHA1_ROUND(SHA1_CHOOSE, 0x5A827999, SHA1_NEXT(16), e, a, b, c, d)
            SHA1_ROUND(SHA1_CHOOSE, 0x5A827999, SHA1_NEXT(17), d, e, a, b, c)
            SHA1_ROUND(SHA1_CHOOSE, 0x5A827999, SHA1_NEXT(18), c, d, e, a, b)
            SHA1_ROUND(SHA1_CHOOSE, 0x5A827999, SHA1_NEXT(19), b, c, d, e, a)
            SHA1_FIVE(SHA1_PARITY, 0x6ED9EBA1, SHA1_NEXT, 20)
            SHA1_FIVE(SHA1_PARITY, 0x6ED9EBA1, SHA1_NEXT, 25)
            SHA1_FIVE(SHA1_PARITY, 0x6ED9EBA1, SHA1_NEXT, 30)
            SHA1_FIVE(SHA1_PARITY, 0x6ED9EBA1, SHA1_NEXT, 35)
            SHA1_FIVE(SHA1_MAJORITY, 0x8F1BBCDC, SHA1_NEXT, 40)
            SHA1_FIVE(SHA1_MAJORITY, 0x8F1BBCDC, SHA1_NEXT, 45)
            SHA1_FIVE(SHA1_MAJORITY, 0x8F1BBCDC, SHA1_NEXT, 50)
            SHA1_FIVE(SHA1_MAJORITY, 0x8F1BBCDC, SHA1_NEXT, 55)
            SHA1_FIVE(SHA1_PARITY, 0xCA62C1D6, SHA1_NEXT, 60)
            SHA1_FIVE(SHA1_PARITY, 0xCA62C1D6, SHA1_NEXT, 65)
            SHA1_FIVE(SHA1_PARITY, 0xCA62C1D6, SHA1_NEXT, 70)
            SHA1_FIVE(SHA1_PARITY, 0xCA62C1D6, SHA1_NEXT, 75)
            state[0][lane] += a;
            state[1][lane] += b;
            state[2][lane] += c;
            state[3][lane] += d;
            state[4][lane] += e;
        }
    }
    """
    void sha1_compress(uint32_t (*state)[SHA1_LANES], uint32_t (*words)[SHA1_LANES]) noexcept nogil
