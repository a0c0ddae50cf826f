# The tables of points.pxd, filled when the module is imported and constant from then on.

from libc.stdint cimport uint64_t

from fastlsh._kernels.common.mixing cimport CHARACTER_BASE, UNITS, mix_code_point
from fastlsh._kernels.text.keyed cimport BASIC_POINTS, SHORT
from fastlsh._kernels.text.points cimport MIXED_POINTS, Keep


cdef void fill_tables() noexcept nogil:
    cdef int c, j
    cdef Keep* keep = points.keep
    for c in range(MIXED_POINTS):
        points.mixed[c] = mix_code_point(c)
    points.powers[0] = 1
    for j in range(SHORT):
        points.powers[j + 1] = points.powers[j] * CHARACTER_BASE
        for c in range(256):
            points.placed[j][c] = points.mixed[c] * points.powers[j]
    keep[SHORT].correction = <uint64_t> SHORT * UNITS
    for j in range(SHORT, -1, -1):
        keep[j].eight = ~<uint64_t> 0 if j >= 8 else ~(~<uint64_t> 0 >> (8 * j))
        keep[j].ninth = 0xFF if j >= 9 else 0
        keep[j].tenth = 0xFF if j >= 10 else 0
        if j < SHORT:
            keep[j].correction = keep[j + 1].correction - points.placed[j][0] - UNITS
    for j in range(SHORT):
        points.kept_points[SHORT + j] = BASIC_POINTS - 1


fill_tables()
