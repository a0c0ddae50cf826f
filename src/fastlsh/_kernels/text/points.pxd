# Tables for the polynomials of runs of code points; _plans.pyx fills them.

from libc.stdint cimport uint32_t, uint64_t

from fastlsh._kernels.text.keyed cimport SHORT

cdef enum:
    MIXED_POINTS = 1 << 17      # planes 0 and 1: nearly all text, emoji included


cdef struct Keep:
    # Of SHORT bytes the last m, clearing the others.
    uint64_t eight              # masks of the last eight,
    uint64_t ninth              # the one before
    uint64_t tenth              # and the one before that
    uint64_t correction         # m times UNITS, less what the cleared bytes add


cdef struct PointTables:
    uint64_t mixed[MIXED_POINTS]
    uint64_t placed[SHORT][256]         # [j][c]: c mixed, j places before the end of a run
    uint64_t powers[SHORT + 1]          # of CHARACTER_BASE
    Keep keep[SHORT + 1]
    # Of SHORT masks in a row, the last of them at SHORT - 1 + m, the last m keep what they mask.
    uint32_t kept_points[2 * SHORT]
