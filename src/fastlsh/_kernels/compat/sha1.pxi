# SHA-1 (FIPS 180-4) of many short messages: one message in each lane of a vector.

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastlsh._kernels.common.compiler cimport noinline_void
from fastlsh._kernels.text._texts cimport Span

cdef enum:
    SHA1_LANES = 16          # one vector of AVX-512, two of AVX2, four of SSE and NEON

cdef extern from *:
    """
    #define SHA1_LANES 16
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    #define SHA1_FROM_BIG_ENDIAN(x) (x)
    #else
    #define SHA1_FROM_BIG_ENDIAN(x) \\
        ((x) >> 24 | ((x) >> 8 & 0xFF00) | ((x) << 8 & 0xFF0000) | (x) << 24)
    #endif
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
    uint32_t from_big_endian "SHA1_FROM_BIG_ENDIAN"(uint32_t word) noexcept nogil
    void sha1_compress(uint32_t (*state)[SHA1_LANES], uint32_t (*words)[SHA1_LANES]) noexcept nogil


cdef struct Sha1Lanes:
    uint32_t state[5][SHA1_LANES]
    uint32_t words[16][SHA1_LANES]       # a block of each message, as it lies in memory
    uint8_t padded[SHA1_LANES][64]       # the last blocks
    const uint8_t* source[SHA1_LANES]
    Py_ssize_t message[SHA1_LANES]       # -1: none left for this lane
    Py_ssize_t block[SHA1_LANES]


cdef inline uint32_t swap32(uint32_t h) noexcept nogil:
    return h >> 24 | (h >> 8 & 0xFF00) | (h << 8 & 0xFF0000) | h << 24


cdef inline void copy_short(uint8_t* to, const uint8_t* text, Py_ssize_t n) noexcept nogil:
    # Fewer than 64 bytes, in line: a call would cost more than the copy.
    cdef Py_ssize_t i = 0
    while i + 8 <= n:
        memcpy(to + i, text + i, 8)
        i += 8
    if n >= 8:
        memcpy(to + n - 8, text + n - 8, 8)
        return
    while i < n:
        to[i] = text[i]
        i += 1


cdef inline void sha1_start(Sha1Lanes* lanes, int lane, Py_ssize_t message) noexcept nogil:
    lanes.message[lane] = message
    lanes.block[lane] = 0
    lanes.source[lane] = lanes.padded[lane]
    lanes.state[0][lane] = 0x67452301
    lanes.state[1][lane] = <uint32_t> 0xEFCDAB89
    lanes.state[2][lane] = <uint32_t> 0x98BADCFE
    lanes.state[3][lane] = 0x10325476
    lanes.state[4][lane] = <uint32_t> 0xC3D2E1F0


cdef inline int sha1_pad(Sha1Lanes* lanes, int lane, const Span* at) noexcept nogil:
    # Find the next block of a lane: text, and at its end 0x80, zeros. Returns how many of its
    # words may differ from zero, but for the length in the last two.
    cdef const uint8_t* text = <const uint8_t*> at.text + 64 * lanes.block[lane]
    cdef uint8_t* padded = lanes.padded[lane]
    cdef Py_ssize_t rest = at.length - 64 * lanes.block[lane]
    if rest >= 64:
        lanes.source[lane] = text
        return 16
    lanes.source[lane] = padded
    memset(padded, 0, 64)
    if rest < 0:
        return 0
    copy_short(padded, text, rest)
    padded[rest] = 0x80
    return <int> (rest // 4) + 1


cdef noinline_void sha1_gather(Sha1Lanes* lanes, const Span* at) noexcept nogil:
    # The stores of one loop are read by the next: in one loop the reads would wait for them.
    cdef int used = 0
    cdef int lane, i
    cdef uint64_t bits
    for lane in range(SHA1_LANES):
        if lanes.message[lane] >= 0:
            used = max(used, sha1_pad(lanes, lane, at + lanes.message[lane]))
    for i in range(used):
        for lane in range(SHA1_LANES):
            memcpy(&lanes.words[i][lane], lanes.source[lane] + 4 * i, 4)
    memset(lanes.words[used], 0, (16 - used) * sizeof(lanes.words[0]))
    for lane in range(SHA1_LANES):
        if lanes.message[lane] < 0:
            continue
        if at[lanes.message[lane]].length - 64 * lanes.block[lane] < 56:
            bits = <uint64_t> at[lanes.message[lane]].length * 8
            lanes.words[14][lane] = from_big_endian(<uint32_t> (bits >> 32))
            lanes.words[15][lane] = from_big_endian(<uint32_t> bits)


cdef void sha1_many(const Span* at, Py_ssize_t n, uint64_t* out) noexcept nogil:
    # The first eight bytes of each digest as a little-endian number. A lane that is done with a
    # message takes the next one, so lengths may differ.
    cdef Sha1Lanes lanes
    cdef Py_ssize_t taken = SHA1_LANES
    cdef Py_ssize_t left = n
    cdef Py_ssize_t m
    cdef int lane
    memset(lanes.padded, 0, sizeof(lanes.padded))
    for lane in range(SHA1_LANES):
        sha1_start(&lanes, lane, lane if lane < n else -1)
    while left:
        sha1_gather(&lanes, at)
        sha1_compress(lanes.state, lanes.words)
        for lane in range(SHA1_LANES):
            m = lanes.message[lane]
            lanes.block[lane] += 1
            if m < 0 or 64 * lanes.block[lane] < at[m].length + 9:
                continue
            out[m] = <uint64_t> swap32(lanes.state[1][lane]) << 32 | swap32(lanes.state[0][lane])
            left -= 1
            sha1_start(&lanes, lane, taken if taken < n else -1)
            taken += 1


cdef void narrow_words(const uint64_t* words, Py_ssize_t n, uint32_t* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = <uint32_t> words[i]
