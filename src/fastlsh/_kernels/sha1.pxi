# SHA-1 (FIPS 180-4) of many short messages: one message in each lane of a vector.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_Check, PyBytes_GET_SIZE

cdef enum:
    LANES = 16          # one vector of AVX-512, two of AVX2, four of SSE and NEON

cdef extern from *:
    """
    #define SHA1_LANES 16
    #define SHA1_ROTATE(x, n) (((x) << (n)) | ((x) >> (32 - (n))))
    #define SHA1_CHOOSE(b, c, d) ((d) ^ ((b) & ((c) ^ (d))))
    #define SHA1_PARITY(b, c, d) ((b) ^ (c) ^ (d))
    #define SHA1_MAJORITY(b, c, d) (((b) & (c)) | ((d) & ((b) | (c))))
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
            x[0] = words[0][lane]; x[1] = words[1][lane];
            x[2] = words[2][lane]; x[3] = words[3][lane];
            x[4] = words[4][lane]; x[5] = words[5][lane];
            x[6] = words[6][lane]; x[7] = words[7][lane];
            x[8] = words[8][lane]; x[9] = words[9][lane];
            x[10] = words[10][lane]; x[11] = words[11][lane];
            x[12] = words[12][lane]; x[13] = words[13][lane];
            x[14] = words[14][lane]; x[15] = words[15][lane];
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
    void sha1_compress(uint32_t (*state)[LANES], uint32_t (*words)[LANES]) noexcept nogil


cdef inline uint32_t big_endian(const uint8_t* p) noexcept nogil:
    return (
        <uint32_t> p[0] << 24 | <uint32_t> p[1] << 16 | <uint32_t> p[2] << 8 | <uint32_t> p[3]
    )


cdef inline uint32_t swap32(uint32_t h) noexcept nogil:
    return h >> 24 | (h >> 8 & 0xFF00) | (h << 8 & 0xFF0000) | h << 24


cdef inline Py_ssize_t sha1_blocks(Py_ssize_t length) noexcept nogil:
    return (length + 8) // 64 + 1


cdef inline void sha1_load(
    const uint8_t* text, Py_ssize_t length, Py_ssize_t block, uint32_t (*words)[LANES],
    int lane
) noexcept nogil:
    # A block of 64 bytes of the padded message: text, 0x80, zeros, length in bits.
    cdef uint8_t padded[64]
    cdef uint64_t bits = <uint64_t> length * 8
    cdef Py_ssize_t rest = length - 64 * block
    cdef int i
    cdef const uint8_t* source = padded
    if rest >= 64:
        source = text + 64 * block
    else:
        memset(padded, 0, 64)
        if rest > 0:
            memcpy(padded, text + 64 * block, rest)
        if rest >= 0:
            padded[rest] = 0x80
        if rest < 56:
            for i in range(8):
                padded[63 - i] = <uint8_t> (bits >> (8 * i))
    for i in range(16):
        words[i][lane] = big_endian(source + 4 * i)


cdef inline void sha1_start(uint32_t (*state)[LANES], int lane) noexcept nogil:
    state[0][lane] = 0x67452301
    state[1][lane] = <uint32_t> 0xEFCDAB89
    state[2][lane] = <uint32_t> 0x98BADCFE
    state[3][lane] = 0x10325476
    state[4][lane] = <uint32_t> 0xC3D2E1F0


cdef void sha1_many(const Span* at, Py_ssize_t n, uint64_t* out) noexcept nogil:
    # The first eight bytes of each digest as a little-endian number. A lane that is done with a
    # message takes the next one, so lengths may differ.
    cdef uint32_t state[5][LANES]
    cdef uint32_t words[16][LANES]
    cdef Py_ssize_t message[LANES]
    cdef Py_ssize_t block[LANES]
    cdef Py_ssize_t taken = min(n, <Py_ssize_t> LANES)
    cdef Py_ssize_t left = n
    cdef int lane
    memset(state, 0, sizeof(state))
    memset(words, 0, sizeof(words))
    for lane in range(LANES):
        message[lane] = lane if lane < n else -1
        block[lane] = 0
        sha1_start(state, lane)
    while left:
        for lane in range(LANES):
            if message[lane] >= 0:
                sha1_load(
                    <const uint8_t*> at[message[lane]].text, at[message[lane]].length,
                    block[lane], words, lane,
                )
        sha1_compress(state, words)
        for lane in range(LANES):
            if message[lane] < 0:
                continue
            block[lane] += 1
            if block[lane] < sha1_blocks(at[message[lane]].length):
                continue
            out[message[lane]] = (
                <uint64_t> swap32(state[1][lane]) << 32 | swap32(state[0][lane])
            )
            left -= 1
            message[lane] = taken if taken < n else -1
            taken += message[lane] >= 0
            block[lane] = 0
            sha1_start(state, lane)
