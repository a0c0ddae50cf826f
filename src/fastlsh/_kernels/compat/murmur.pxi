# MurmurHash3 under many seeds: the minimum over the windows of a text, for each seed.
#
# What a window's bytes are mixed to does not depend on the seed; it is done once, and only the
# chain that starts at the seed runs in lanes. Even of that the last steps are left out: they move
# no bit into the upper part of a hash. So a filter finds the few windows whose upper part is
# least, and only those are hashed in full.

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from fastlsh._kernels.common.compiler cimport noinline_void
from fastlsh._kernels.compat.murmur cimport GROUP, LANES, Murmur
from fastlsh._kernels.text.source cimport element


cdef inline uint32_t rotated32(uint32_t x, int r) noexcept nogil:
    return (x << r) | (x >> (32 - r))


cdef inline uint64_t rotated64(uint64_t x, int r) noexcept nogil:
    return (x << r) | (x >> (64 - r))


cdef noinline_void load_words(
    const uint8_t* text, Py_ssize_t n, int width, element* words
) noexcept nogil:
    # words[i]: the `width` bytes from i on, little endian.
    cdef Py_ssize_t i
    cdef int byte
    memset(words, 0, n * sizeof(element))
    for byte in range(width):
        for i in range(n):
            words[i] |= <element> text[i + byte] << (8 * byte)


cdef void fill_group(element* words, Py_ssize_t n) noexcept nogil:
    # Repeat the last window until the group is full: that changes no minimum.
    cdef Py_ssize_t i = n
    while i % GROUP:
        words[i] = words[n - 1]
        i += 1


cdef void forget_groups(Murmur* m) noexcept nogil:
    memset(m.best, 0xFF, sizeof(m.best))
    memset(m.second, 0xFF, sizeof(m.second))
    memset(m.place, 0, sizeof(m.place))


cdef noinline_void note_group(Murmur* m, uint32_t g, Py_ssize_t lanes) noexcept nogil:
    # Which group is the least under each seed, and how far the next one is away.
    cdef const uint32_t* least = m.least + g * LANES
    cdef uint32_t value, best, worse
    cdef Py_ssize_t j
    for j in range(lanes):
        value = least[j]
        best = m.best[j]
        worse = best if best > value else value
        m.second[j] = min(m.second[j], worse)
        m.place[j] = g if value < best else m.place[j]
        m.best[j] = min(best, value)


cdef Py_ssize_t next_group(
    const Murmur* m, Py_ssize_t j, Py_ssize_t g, Py_ssize_t groups, uint32_t bound
) noexcept nogil:
    # The first group from g on that does not exceed the bound under seed j; else `groups`.
    if m.best[j] > bound:
        return groups
    if m.second[j] > bound:
        return m.place[j] if g <= m.place[j] else groups
    while g < groups and m.least[g * LANES + j] > bound:
        g += 1
    return g
