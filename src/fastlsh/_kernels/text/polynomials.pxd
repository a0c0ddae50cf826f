# The polynomial of a run of code points, without a multiplication for each.

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from fastlsh._kernels.common.mixing cimport CHARACTER_BASE, UNITS, mix_code_point
from fastlsh._kernels.text._plans cimport points
from fastlsh._kernels.text._texts cimport code_unit
from fastlsh._kernels.text.keyed cimport SHORT
from fastlsh._kernels.text.points cimport MIXED_POINTS, Keep

cdef extern from *:
    """
    /* Eight bytes, the last one on top. */
    static CYTHON_INLINE uint64_t fastlsh_load_bytes(const uint8_t *p)
    {
        uint64_t word;
        memcpy(&word, p, 8);
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
    #endif
        return word;
    }
    """
    uint64_t load_bytes "fastlsh_load_bytes"(const uint8_t* p) noexcept nogil


cdef inline uint64_t mixed_point(code_unit c) noexcept nogil:
    if code_unit is uint32_t:
        return points.mixed[c] if c < MIXED_POINTS else mix_code_point(c)
    else:
        return points.mixed[c]


cdef inline uint64_t of_eight(uint64_t bytes) noexcept nogil:
    return (
        points.placed[0][bytes >> 56] + points.placed[1][(bytes >> 48) & 0xFF]
        + points.placed[2][(bytes >> 40) & 0xFF] + points.placed[3][(bytes >> 32) & 0xFF]
        + points.placed[4][(bytes >> 24) & 0xFF] + points.placed[5][(bytes >> 16) & 0xFF]
        + points.placed[6][(bytes >> 8) & 0xFF] + points.placed[7][bytes & 0xFF]
    )


cdef inline uint64_t of_short(const uint8_t* end, Py_ssize_t m) noexcept nogil:
    # Of the m <= SHORT bytes before `end`, with their units. Reads SHORT bytes, branches never.
    cdef const Keep* kept = &points.keep[m]
    return (
        of_eight(load_bytes(end - 8) & kept.eight) + points.placed[8][(end - 9)[0] & kept.ninth]
        + points.placed[9][(end - 10)[0] & kept.tenth] + kept.correction
    )


cdef inline uint64_t of_points(const code_unit* text, Py_ssize_t n) noexcept nogil:
    cdef uint64_t h = 0
    cdef Py_ssize_t i
    for i in range(n):
        h = h * CHARACTER_BASE + mixed_point(text[i])
    return h + <uint64_t> n * UNITS


cdef inline uint64_t of_long(const uint8_t* text, Py_ssize_t n) noexcept nogil:
    # More than SHORT bytes.
    cdef uint64_t h = 0
    cdef Py_ssize_t left = n
    while left > SHORT:
        h = h * points.powers[8] + of_eight(load_bytes(text))
        text += 8
        left -= 8
    return h * points.powers[left] + of_short(text + left, left) + <uint64_t> (n - left) * UNITS


cdef inline uint64_t polynomial(const code_unit* text, Py_ssize_t n, bint roomy) noexcept nogil:
    # Of a run of n code points, with n * UNITS: fmix64 makes the hash of it. `roomy`: the SHORT
    # bytes before the end of the run may be read, however short it is.
    if code_unit is uint8_t:
        if n > SHORT:
            return of_long(text, n)
        if roomy:
            return of_short(text + n, n)
        return of_points(text, n)
    else:
        return of_points(text, n)
