# MurmurHash3 under many seeds: the minimum over the windows of a text, for each seed.
#
# What the bytes of a window are mixed to does not depend on the seed, so that is done once for all
# seeds: an array for each word of a window, with an item for each window. The chain that starts at
# a seed then runs through all windows at once, which are the lanes of the vectors.

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from fastlsh._kernels.common.compiler cimport noinline_void
from fastlsh._kernels.common.mixing cimport fmix32, fmix64
from fastlsh._kernels.compat.murmur cimport Murmur
from fastlsh._kernels.text.source cimport element


cdef inline uint32_t rotated32(uint32_t x, int r) noexcept nogil:
    return (x << r) | (x >> (32 - r))


cdef inline uint64_t rotated64(uint64_t x, int r) noexcept nogil:
    return (x << r) | (x >> (64 - r))


cdef noinline_void load_words(
    const uint8_t* text, Py_ssize_t n, Py_ssize_t width, element* words
) noexcept nogil:
    # words[i]: the `width` bytes from i on, little endian.
    cdef Py_ssize_t byte, i
    memset(words, 0, n * sizeof(element))
    for byte in range(width):
        for i in range(n):
            words[i] |= <element> text[i + byte] << (8 * byte)


cdef noinline_void fill_states(element seed, Py_ssize_t n, element* states) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        states[i] = seed


cdef noinline_void add_size(element size, Py_ssize_t n, element* words) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        words[i] ^= size


# ---- x86_32. The words are those of the whole blocks of 4 bytes, then the rest with the size.

cdef noinline_void mix32(uint32_t* words, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        words[i] = rotated32(words[i] * <uint32_t> 0xCC9E2D51, 15) * <uint32_t> 0x1B873593


cdef noinline_void chain32(const uint32_t* words, Py_ssize_t n, uint32_t* states) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        states[i] = rotated32(states[i] ^ words[i], 13) * 5 + <uint32_t> 0xE6546B64


cdef noinline_void take_least32(
    const uint32_t* states, const uint32_t* rest, Py_ssize_t n, uint32_t* least
) noexcept nogil:
    cdef int32_t low = <int32_t> least[0]
    cdef int32_t value
    cdef Py_ssize_t i
    for i in range(n):
        value = <int32_t> fmix32(states[i] ^ rest[i])
        low = value if value < low else low
    least[0] = <uint32_t> low


cdef void minima_of_text32(
    Murmur* m, const uint8_t* text, Py_ssize_t length, Py_ssize_t size, uint32_t* row
) noexcept nogil:
    # Into `row`, which holds where to start, in the order of signed numbers.
    cdef uint32_t* words = <uint32_t*> m.words
    cdef uint32_t* rest = words + size // 4 * m.piece
    cdef uint32_t* states = rest + m.piece
    cdef const uint8_t* end = text + (length - size + 1)
    cdef Py_ssize_t n, width, j, word
    while text < end:
        n = min(end - text, m.piece)
        for word in range(size // 4 + 1):
            width = min(size - 4 * word, <Py_ssize_t> 4)
            load_words(text + 4 * word, n, width, words + word * m.piece)
            mix32(words + word * m.piece, n)
        add_size(<uint32_t> size, n, rest)
        for j in range(m.k):
            fill_states(m.seeds[j], n, states)
            for word in range(size // 4):
                chain32(words + word * m.piece, n, states)
            take_least32(states, rest, n, row + j)
        text += n


# ---- The first half of x64_128. The words are those of both halves of the whole blocks of 16
# bytes, then both halves of the rest, with the size.

cdef noinline_void mix64(uint64_t* words, Py_ssize_t n, bint second) noexcept nogil:
    cdef uint64_t before = 0x4CF5AD432745937F if second else 0x87C37B91114253D5
    cdef uint64_t after = 0x87C37B91114253D5 if second else 0x4CF5AD432745937F
    cdef int turn = 33 if second else 31
    cdef Py_ssize_t i
    for i in range(n):
        words[i] = rotated64(words[i] * before, turn) * after


cdef noinline_void chain64(
    const uint64_t* first, const uint64_t* second, Py_ssize_t n, uint64_t* h1, uint64_t* h2
) noexcept nogil:
    cdef uint64_t x, y
    cdef Py_ssize_t i
    for i in range(n):
        x = rotated64(h1[i] ^ first[i], 27) + h2[i]
        x = x + (x << 2) + <uint64_t> 0x52DCE729        # times 5: few processors multiply vectors
        y = rotated64(h2[i] ^ second[i], 31) + x
        h1[i] = x
        h2[i] = y + (y << 2) + <uint64_t> 0x38495AB5


cdef inline uint64_t finished64(uint64_t h1, uint64_t h2) noexcept nogil:
    h1 += h2
    h2 += h1
    return fmix64(h1) + fmix64(h2)


cdef noinline_void take_least64(
    const uint64_t* h1, const uint64_t* h2, const uint64_t* first, const uint64_t* second,
    Py_ssize_t n, uint64_t* least
) noexcept nogil:
    cdef uint64_t low = least[0]
    cdef uint64_t value
    cdef Py_ssize_t i
    for i in range(n):
        value = finished64(h1[i] ^ first[i], h2[i] ^ second[i])
        low = value if value < low else low
    least[0] = low


cdef noinline_void take_least_of_rest64(
    uint64_t seed, const uint64_t* first, const uint64_t* second, Py_ssize_t n, uint64_t* least
) noexcept nogil:
    # Of windows without a whole block, which are the usual ones.
    cdef uint64_t low = least[0]
    cdef uint64_t value
    cdef Py_ssize_t i
    for i in range(n):
        value = finished64(seed ^ first[i], seed ^ second[i])
        low = value if value < low else low
    least[0] = low


cdef void minima_of_text64(
    Murmur* m, const uint8_t* text, Py_ssize_t length, Py_ssize_t size, uint64_t* row
) noexcept nogil:
    # Into `row`, which holds where to start.
    cdef uint64_t* words = <uint64_t*> m.words
    cdef uint64_t* first = words + 2 * (size // 16) * m.piece
    cdef uint64_t* second = first + m.piece
    cdef uint64_t* h1 = second + m.piece
    cdef uint64_t* h2 = h1 + m.piece
    cdef const uint8_t* end = text + (length - size + 1)
    cdef Py_ssize_t n, width, j, word
    while text < end:
        n = min(end - text, m.piece)
        for word in range(2 * (size // 16) + 2):
            width = max(min(size - 8 * word, <Py_ssize_t> 8), <Py_ssize_t> 0)
            load_words(text + 8 * word, n, width, words + word * m.piece)
            mix64(words + word * m.piece, n, word & 1)
        add_size(<uint64_t> size, n, first)
        add_size(<uint64_t> size, n, second)
        for j in range(m.k):
            if size < 16:
                take_least_of_rest64(m.seeds[j], first, second, n, row + j)
                continue
            fill_states(<uint64_t> m.seeds[j], n, h1)
            fill_states(<uint64_t> m.seeds[j], n, h2)
            for word in range(0, 2 * (size // 16), 2):
                chain64(words + word * m.piece, words + (word + 1) * m.piece, n, h1, h2)
            take_least64(h1, h2, first, second, n, row + j)
        text += n
