# The first half of MurmurHash3_x64_128. Arrays of words: what is left of the window behind its
# whole blocks of 16 bytes, both halves with the size, then both halves of each block.
# With murmur.pxi.

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from fastlsh._kernels.common.compiler cimport inline_void, noinline_void
from fastlsh._kernels.common.mixing cimport fmix64
from fastlsh._kernels.compat.murmur cimport GROUP, LANES, Murmur, arrays64

cdef enum:
    LANES_64 = 16

cdef union Halves:
    uint64_t whole[LANES_64]
    uint32_t half[2 * LANES_64]


cdef noinline_void mix_half(uint64_t* words, Py_ssize_t n, bint second) noexcept nogil:
    cdef uint64_t before = 0x4CF5AD432745937F if second else 0x87C37B91114253D5
    cdef uint64_t after = 0x87C37B91114253D5 if second else 0x4CF5AD432745937F
    cdef int turn = 33 if second else 31
    cdef Py_ssize_t i
    for i in range(n):
        words[i] = rotated64(words[i] * before, turn) * after


cdef void mix_windows64(
    const uint8_t* text, Py_ssize_t n, Py_ssize_t size, uint64_t* words, Py_ssize_t piece
) noexcept nogil:
    cdef Py_ssize_t array, offset, i
    cdef Py_ssize_t rest = size - size % 16
    cdef int width
    for array in range(arrays64(size)):
        offset = 8 * (array - 2) if array >= 2 else rest + 8 * array
        width = <int> max(min(size - offset, <Py_ssize_t> 8), <Py_ssize_t> 0)
        load_words(text + offset, n, width, words)
        mix_half(words, n, array & 1)
        if array < 2:
            for i in range(n):
                words[i] ^= <uint64_t> size
        fill_group(words, n)
        words += piece


cdef inline uint64_t almost64(uint64_t h) noexcept nogil:
    # All but the last step of the finaliser, h ^ h >> 33, which keeps the upper half.
    h ^= h >> 33
    h *= <uint64_t> 0xFF51AFD7ED558CCD
    h ^= h >> 33
    return h * <uint64_t> 0xC4CEB9FE1A85EC53


# The filter's value is the upper half of a hash, off by 1 to 3 (mod 2^32): 2 is added, and the
# lower halves of two summands without their last step are off by less than 2^32 together, up or
# down. Values below 3 may be the greatest instead, and say nothing.

cdef inline uint64_t filter64(uint64_t h1, uint64_t h2) noexcept nogil:
    h1 += h2
    h2 += h1
    return almost64(h1) + almost64(h2) + (<uint64_t> 2 << 32)


cdef inline_void filter_lanes64(
    Murmur* m, Py_ssize_t first, Py_ssize_t groups, bint longer
) noexcept nogil:
    # The lower halves take part in the minimum only for the sake of vectors: many processors
    # have one of 32 bits, few one of 64.
    cdef uint64_t seed[LANES_64]
    cdef uint64_t other[LANES_64]
    cdef Halves now
    cdef Halves low
    cdef const uint64_t* words = <const uint64_t*> m.words
    cdef const uint64_t* second = words + m.piece
    cdef uint64_t h
    cdef Py_ssize_t g, i, j
    for j in range(LANES_64):
        seed[j] = m.seeds[first + j]
        other[j] = seed[j] ^ second[0]
    for g in range(groups):
        memset(&low, 0xFF, sizeof(Halves))
        for i in range(g * GROUP, (g + 1) * GROUP):
            for j in range(LANES_64):
                h = seed[j] ^ second[i] if longer else other[j]
                now.whole[j] = filter64(seed[j] ^ words[i], h)
            for j in range(2 * LANES_64):
                low.half[j] = now.half[j] if now.half[j] < low.half[j] else low.half[j]
        for j in range(LANES_64):
            m.least[g * LANES + j] = <uint32_t> (low.whole[j] >> 32)
        note_group(m, <uint32_t> g, LANES_64)


# Windows of up to 8 bytes have nothing but their size in the second half.

cdef noinline_void filter_8(Murmur* m, Py_ssize_t first, Py_ssize_t groups) noexcept nogil:
    filter_lanes64(m, first, groups, False)


cdef noinline_void filter_15(Murmur* m, Py_ssize_t first, Py_ssize_t groups) noexcept nogil:
    filter_lanes64(m, first, groups, True)


cdef noinline_void chain_group(
    const uint64_t* words, Py_ssize_t piece, Py_ssize_t blocks, uint64_t seed,
    uint64_t* h1, uint64_t* h2
) noexcept nogil:
    # The states of 16 windows under one seed before the finaliser.
    cdef const uint64_t* first = words + 2 * piece
    cdef const uint64_t* second = first + piece
    cdef Py_ssize_t block, i
    for i in range(GROUP):
        h1[i] = seed
        h2[i] = seed
    for block in range(blocks):
        for i in range(GROUP):
            h1[i] = (rotated64(h1[i] ^ first[i], 27) + h2[i]) * 5 + <uint64_t> 0x52DCE729
            h2[i] = (rotated64(h2[i] ^ second[i], 31) + h1[i]) * 5 + <uint64_t> 0x38495AB5
        first += 2 * piece
        second += 2 * piece
    for i in range(GROUP):
        h1[i] ^= words[i]
        h2[i] ^= words[piece + i]


cdef void filter_long64(
    Murmur* m, Py_ssize_t first, Py_ssize_t groups, Py_ssize_t blocks
) noexcept nogil:
    cdef const uint64_t* words = <const uint64_t*> m.words
    cdef uint64_t h1[GROUP]
    cdef uint64_t h2[GROUP]
    cdef uint32_t low
    cdef Py_ssize_t g, i, j
    for g in range(groups):
        for j in range(LANES_64):
            chain_group(words + g * GROUP, m.piece, blocks, m.seeds[first + j], h1, h2)
            low = 0xFFFFFFFF
            for i in range(GROUP):
                low = min(low, <uint32_t> (filter64(h1[i], h2[i]) >> 32))
            m.least[g * LANES + j] = low
        note_group(m, <uint32_t> g, LANES_64)


cdef noinline_void least_of_group64(
    const uint64_t* words, Py_ssize_t piece, Py_ssize_t blocks, uint32_t seed, uint64_t* least
) noexcept nogil:
    cdef uint64_t h1[GROUP]
    cdef uint64_t h2[GROUP]
    cdef uint64_t low = least[0]
    cdef Py_ssize_t i
    chain_group(words, piece, blocks, seed, h1, h2)
    for i in range(GROUP):
        h1[i] += h2[i]
        h2[i] += h1[i]
        h1[i] = fmix64(h1[i]) + fmix64(h2[i])
    for i in range(GROUP):
        low = h1[i] if h1[i] < low else low
    least[0] = low


cdef uint32_t bound64(uint32_t filtered, uint64_t least) noexcept nogil:
    # No window with a greater filter value can have the least hash, nor one below `least`.
    cdef uint64_t bound = (least >> 32) + 3
    if filtered >= 3:
        bound = min(bound, <uint64_t> filtered + 2)
    return <uint32_t> min(bound, <uint64_t> 0xFFFFFFFF)


cdef void minima_of_piece64(
    Murmur* m, Py_ssize_t size, Py_ssize_t groups, uint64_t* row
) noexcept nogil:
    cdef const uint64_t* words = <const uint64_t*> m.words
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t width, g, j
    cdef uint32_t bound
    while first < m.k:
        width = min(m.k - first, <Py_ssize_t> LANES_64)
        forget_groups(m)
        if size <= 8:
            filter_8(m, first, groups)
        elif size < 16:
            filter_15(m, first, groups)
        else:
            filter_long64(m, first, groups, size // 16)
        for j in range(width):
            bound = bound64(m.best[j], row[j])
            g = next_group(m, j, 0, groups, bound)
            while g < groups:
                least_of_group64(
                    words + g * GROUP, m.piece, size // 16, m.seeds[first + j], row + j
                )
                g = next_group(m, j, g + 1, groups, bound)
        first += width
        row += width


cdef void minima_of_text64(
    Murmur* m, const uint8_t* text, Py_ssize_t length, Py_ssize_t size, uint64_t* row
) noexcept nogil:
    # Into `row`, which holds where to start.
    cdef Py_ssize_t windows = length - size + 1
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t n
    while start < windows:
        n = min(windows - start, m.piece)
        mix_windows64(text + start, n, size, <uint64_t*> m.words, m.piece)
        minima_of_piece64(m, size, (n + GROUP - 1) // GROUP, row)
        start += n
