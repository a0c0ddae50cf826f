# SHA-1 of many short messages: which block of which message is in each lane.

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastlsh._kernels.common.compiler cimport noinline_void
from fastlsh._kernels.compat.sha1 cimport SHA1_LANES, from_big_endian
from fastlsh._kernels.loops._chosen cimport loops
from fastlsh._kernels.text._texts cimport Span


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
        loops.sha1_compress(lanes.state, lanes.words)
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
