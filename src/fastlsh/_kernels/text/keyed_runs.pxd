# The fingerprints of runs of code points, looked up for several at once: keyed.pxd says of what.

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from fastlsh._kernels.common.mixing cimport UNITS
from fastlsh._kernels.text._plans cimport points
from fastlsh._kernels.text._texts cimport code_unit
from fastlsh._kernels.text.keyed cimport (
    BASIC_POINTS, BASIC_TABLE, SHORT, Keyed, keyed_points, times_few,
)
from fastlsh._kernels.text.points cimport Keep
from fastlsh._kernels.text.polynomials cimport load_bytes


cdef inline uint64_t keyed_eight(const Keyed* key, uint64_t bytes) noexcept nogil:
    return (
        key.placed[0][bytes >> 56] ^ key.placed[1][(bytes >> 48) & 0xFF]
        ^ key.placed[2][(bytes >> 40) & 0xFF] ^ key.placed[3][(bytes >> 32) & 0xFF]
        ^ key.placed[4][(bytes >> 24) & 0xFF] ^ key.placed[5][(bytes >> 16) & 0xFF]
        ^ key.placed[6][(bytes >> 8) & 0xFF] ^ key.placed[7][bytes & 0xFF]
    )


cdef inline uint64_t keyed_short(
    const Keyed* key, const uint8_t* end, Py_ssize_t m
) noexcept nogil:
    # Of the m <= SHORT bytes before `end`. Reads SHORT bytes, branches never.
    cdef const Keep* kept = &points.keep[m]
    return (
        keyed_eight(key, load_bytes(end - 8) & kept.eight)
        ^ key.placed[8][(end - 9)[0] & kept.ninth] ^ key.placed[9][(end - 10)[0] & kept.tenth]
        ^ key.cleared[m]
    )


cdef inline uint64_t keyed_long(const Keyed* key, const uint8_t* text, Py_ssize_t n) noexcept nogil:
    # More than SHORT bytes.
    cdef uint64_t h = keyed_eight(key, load_bytes(text))
    n -= 8
    while n > 8:
        text += 8
        n -= 8
        h = times_few(key, h, 8) ^ keyed_eight(key, load_bytes(text))
    h = times_few(key, h, n) ^ keyed_eight(key, load_bytes(text + n) & points.keep[n].eight)
    return h ^ key.cleared[n] ^ key.cleared[8]


cdef inline uint64_t basic(
    const Keyed* key, const code_unit* end, const uint32_t* mask, Py_ssize_t place
) noexcept nogil:
    return key.basic[place * BASIC_TABLE + <Py_ssize_t> (end[-1 - place] & mask[-place])]


cdef inline uint64_t keyed_basic(
    const Keyed* key, const code_unit* end, Py_ssize_t m
) noexcept nogil:
    # As keyed_short, of code points below BASIC_POINTS.
    cdef const uint32_t* mask = &points.kept_points[SHORT - 1 + m]
    return (
        basic(key, end, mask, 0) ^ basic(key, end, mask, 1) ^ basic(key, end, mask, 2)
        ^ basic(key, end, mask, 3) ^ basic(key, end, mask, 4) ^ basic(key, end, mask, 5)
        ^ basic(key, end, mask, 6) ^ basic(key, end, mask, 7) ^ basic(key, end, mask, 8)
        ^ basic(key, end, mask, 9) ^ key.cleared[m]
    )


cdef inline bint are_basic(const code_unit* end) noexcept nogil:
    # Whether the SHORT code points before `end` are below BASIC_POINTS.
    cdef uint32_t seen = 0
    cdef Py_ssize_t i
    if code_unit is uint32_t:
        for i in range(1, SHORT + 1):
            seen |= end[-i]
    return seen < BASIC_POINTS


cdef inline uint64_t keyed_polynomial(
    const Keyed* key, const code_unit* text, Py_ssize_t n, bint roomy
) noexcept nogil:
    # As `polynomial`, for the mixer of the key.
    if code_unit is uint8_t:
        if n > SHORT:
            return keyed_long(key, text, n) + <uint64_t> n * UNITS
        if roomy:
            return keyed_short(key, text + n, n) + <uint64_t> n * UNITS
    elif n <= SHORT and roomy and are_basic(text + n):
        return keyed_basic(key, text + n, n) + <uint64_t> n * UNITS
    return keyed_points(key, text, n)
