# The keys of some bands of many signatures.

from libc.stdint cimport uint32_t, uint64_t

from fastlsh._kernels.candidates.bandkeys cimport band_key, four_band_keys, is_empty_row
from fastlsh._kernels.common.prefetch cimport prefetch

cdef enum:
    ROWS_AHEAD = 24         # of a few bands only pieces are read: no hardware sees that coming


cdef void keys_of_bands(
    const uint32_t* signatures, Py_ssize_t n, Py_ssize_t k,
    Py_ssize_t first, Py_ssize_t bands, Py_ssize_t rows, uint64_t* keys, Py_ssize_t stride
) noexcept nogil:
    # keys[b * stride + d] for the bands first ... first + bands - 1 of n signatures
    cdef const uint32_t* row
    cdef const uint32_t* values
    cdef Py_ssize_t d, b, i
    cdef Py_ssize_t width = bands * rows
    for d in range(n):
        row = signatures + d * k
        values = row + first * rows
        if d + ROWS_AHEAD < n:
            for i in range(0, width, 16):
                prefetch(values + ROWS_AHEAD * k + i)
            prefetch(values + ROWS_AHEAD * k + width - 1)
        if values[0] == <uint32_t> 0xFFFFFFFF and is_empty_row(row, k):     # no cache line more
            for b in range(bands):
                keys[b * stride + d] = 0
            continue
        b = 0
        while b + 4 <= bands:
            four_band_keys(values + b * rows, rows, first + b, keys + b * stride + d, stride)
            b += 4
        while b < bands:
            keys[b * stride + d] = band_key(values + b * rows, rows, first + b)
            b += 1
