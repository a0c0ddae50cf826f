# MurmurHash3_x86_32. Arrays of words, for windows of `blocks` whole blocks: the first block rotated
# for its use, that times 4, the other blocks, and what is left of the window, for its use. With no
# whole block only the last one.
# With murmur.pxi.

from libc.stdint cimport int32_t, uint8_t, uint32_t

from fastlsh._kernels.common.compiler cimport inline_void, noinline_void
from fastlsh._kernels.compat.murmur cimport GROUP, LANES, Murmur

cdef enum:
    ADDED = 0xE6546B64


cdef noinline_void mix_block32(uint32_t* words, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        words[i] = rotated32(words[i] * <uint32_t> 0xCC9E2D51, 15) * <uint32_t> 0x1B873593


cdef noinline_void prepare_first32(uint32_t* words, uint32_t* times_4, Py_ssize_t n) noexcept nogil:
    # rot(seed ^ word) = rot(seed) ^ rot(word), and so is a shift.
    cdef Py_ssize_t i
    for i in range(n):
        words[i] = rotated32(words[i], 13)
        times_4[i] = words[i] << 2


cdef noinline_void prepare_rest32(uint32_t* words, Py_ssize_t n, uint32_t size) noexcept nogil:
    # The finaliser begins with h ^ h >> 16, of h = chain ^ rest ^ size.
    cdef Py_ssize_t i
    for i in range(n):
        words[i] ^= size
        words[i] ^= words[i] >> 16


cdef void mix_windows32(
    const uint8_t* text, Py_ssize_t n, Py_ssize_t size, uint32_t* words, Py_ssize_t piece
) noexcept nogil:
    cdef Py_ssize_t blocks = size // 4
    cdef Py_ssize_t block
    cdef uint32_t* to = words
    for block in range(blocks):
        to = words + (block + 1) * piece if block else words
        load_words(text + 4 * block, n, 4, to)
        mix_block32(to, n)
        if block == 0:
            prepare_first32(words, words + piece, n)
            fill_group(words + piece, n)
        fill_group(to, n)
    to = words + (blocks + 1) * piece if blocks else words
    load_words(text + 4 * blocks, n, <int> (size % 4), to)
    mix_block32(to, n)
    prepare_rest32(to, n, <uint32_t> size)
    fill_group(to, n)


cdef inline uint32_t chained(uint32_t h, uint32_t word) noexcept nogil:
    return rotated32(h ^ word, 13) * 5 + <uint32_t> ADDED


cdef inline uint32_t almost32(uint32_t h, uint32_t rest) noexcept nogil:
    # All but the last step of the finaliser, h ^ h >> 16, which keeps the upper half.
    h = (h ^ (h >> 16)) ^ rest
    h *= <uint32_t> 0x85EBCA6B
    h ^= h >> 13
    return h * <uint32_t> 0xC2B2AE35


cdef inline_void filter_lanes32(
    Murmur* m, Py_ssize_t first, Py_ssize_t groups, int blocks, int lanes
) noexcept nogil:
    cdef uint32_t turned[LANES]
    cdef uint32_t times_4[LANES]
    cdef int32_t low[LANES]
    cdef const uint32_t* words = <const uint32_t*> m.words
    cdef const uint32_t* words_4 = words + m.piece
    cdef const uint32_t* second = words_4 + m.piece
    cdef const uint32_t* rest = words_4 + blocks * m.piece
    cdef uint32_t h
    cdef int32_t value
    cdef Py_ssize_t g, i, j
    for j in range(lanes):
        turned[j] = rotated32(m.seeds[first + j], 13)
        times_4[j] = turned[j] << 2
    for g in range(groups):
        for j in range(lanes):
            low[j] = 0x7FFFFFFF
        for i in range(g * GROUP, (g + 1) * GROUP):
            for j in range(lanes):
                h = (times_4[j] ^ words_4[i]) + ((turned[j] ^ words[i]) + <uint32_t> ADDED)
                if blocks == 2:
                    h = chained(h, second[i])
                value = <int32_t> almost32(h, rest[i])
                low[j] = value if value < low[j] else low[j]
        for j in range(lanes):
            m.least[g * LANES + j] = <uint32_t> low[j] ^ <uint32_t> 0x80000000
        note_group(m, <uint32_t> g, lanes)


# One and two whole blocks: windows of 4 to 11 bytes.

cdef noinline_void filter_one_wide(Murmur* m, Py_ssize_t first, Py_ssize_t groups) noexcept nogil:
    filter_lanes32(m, first, groups, 1, LANES)


cdef noinline_void filter_one_narrow(Murmur* m, Py_ssize_t first, Py_ssize_t groups) noexcept nogil:
    filter_lanes32(m, first, groups, 1, GROUP)


cdef noinline_void filter_two_wide(Murmur* m, Py_ssize_t first, Py_ssize_t groups) noexcept nogil:
    filter_lanes32(m, first, groups, 2, LANES)


cdef noinline_void filter_two_narrow(Murmur* m, Py_ssize_t first, Py_ssize_t groups) noexcept nogil:
    filter_lanes32(m, first, groups, 2, GROUP)


cdef noinline_void almost_of_group(
    const uint32_t* words, Py_ssize_t piece, Py_ssize_t blocks, uint32_t seed, uint32_t* h
) noexcept nogil:
    # The hashes of 16 windows under one seed, but for the last step.
    cdef uint32_t turned = rotated32(seed, 13)
    cdef uint32_t times_4 = turned << 2
    cdef Py_ssize_t block, i
    for i in range(GROUP):
        h[i] = seed
    if blocks:
        for i in range(GROUP):
            h[i] = (times_4 ^ words[piece + i]) + ((turned ^ words[i]) + <uint32_t> ADDED)
        words += piece
    for block in range(1, blocks):
        words += piece
        for i in range(GROUP):
            h[i] = chained(h[i], words[i])
    if blocks:
        words += piece
    for i in range(GROUP):
        h[i] = almost32(h[i], words[i])


cdef void filter_any(
    Murmur* m, Py_ssize_t first, Py_ssize_t groups, Py_ssize_t blocks
) noexcept nogil:
    cdef const uint32_t* words = <const uint32_t*> m.words
    cdef uint32_t h[GROUP]
    cdef int32_t low
    cdef Py_ssize_t g, i, j
    for g in range(groups):
        for j in range(GROUP):
            almost_of_group(words + g * GROUP, m.piece, blocks, m.seeds[first + j], h)
            low = 0x7FFFFFFF
            for i in range(GROUP):
                low = min(low, <int32_t> h[i])
            m.least[g * LANES + j] = <uint32_t> low ^ <uint32_t> 0x80000000
        note_group(m, <uint32_t> g, GROUP)


cdef Py_ssize_t filter32(
    Murmur* m, Py_ssize_t first, Py_ssize_t groups, Py_ssize_t blocks
) noexcept nogil:
    # Filter under as many seeds from the first on as fit; return how many.
    cdef bint wide = m.k - first > GROUP and 1 <= blocks <= 2
    forget_groups(m)
    if blocks == 1 and wide:
        filter_one_wide(m, first, groups)
    elif blocks == 1:
        filter_one_narrow(m, first, groups)
    elif blocks == 2 and wide:
        filter_two_wide(m, first, groups)
    elif blocks == 2:
        filter_two_narrow(m, first, groups)
    else:
        filter_any(m, first, groups, blocks)
    return min(m.k - first, <Py_ssize_t> (LANES if wide else GROUP))


cdef noinline_void least_of_group32(
    const uint32_t* words, Py_ssize_t piece, Py_ssize_t blocks, uint32_t seed, int32_t* least
) noexcept nogil:
    cdef uint32_t h[GROUP]
    cdef int32_t low = least[0]
    cdef int32_t value
    cdef Py_ssize_t i
    almost_of_group(words, piece, blocks, seed, h)
    for i in range(GROUP):
        value = <int32_t> (h[i] ^ (h[i] >> 16))
        low = value if value < low else low
    least[0] = low


cdef void minima_of_piece32(
    Murmur* m, Py_ssize_t size, Py_ssize_t groups, uint32_t* row
) noexcept nogil:
    cdef const uint32_t* words = <const uint32_t*> m.words
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t width, g, j
    cdef uint32_t bound
    while first < m.k:
        width = filter32(m, first, groups, size // 4)
        for j in range(width):
            # Equal upper halves may hide the least.
            bound = min(m.best[j], row[j] ^ <uint32_t> 0x80000000) | 0xFFFF
            g = next_group(m, j, 0, groups, bound)
            while g < groups:
                least_of_group32(
                    words + g * GROUP, m.piece, size // 4, m.seeds[first + j], <int32_t*> row + j
                )
                g = next_group(m, j, g + 1, groups, bound)
        first += width
        row += width


cdef void minima_of_text32(
    Murmur* m, const uint8_t* text, Py_ssize_t length, Py_ssize_t size, uint32_t* row
) noexcept nogil:
    # Into `row`, which holds where to start, in the order of signed numbers.
    cdef Py_ssize_t windows = length - size + 1
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t n
    while start < windows:
        n = min(windows - start, m.piece)
        mix_windows32(text + start, n, size, <uint32_t*> m.words, m.piece)
        minima_of_piece32(m, size, (n + GROUP - 1) // GROUP, row)
        start += n
