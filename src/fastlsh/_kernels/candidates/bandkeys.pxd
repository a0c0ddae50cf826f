# 64-bit band keys. The key 0 says that the document is empty and in no bucket.

from libc.stdint cimport uint32_t, uint64_t

from fastlsh._kernels.common.mixing cimport fmix64


cdef inline uint64_t begin_key(uint64_t band) noexcept nogil:
    return (band + 1) * <uint64_t> 0x9E3779B97F4A7C15


cdef inline uint64_t add_value(uint64_t h, uint32_t value) noexcept nogil:
    h = (h ^ value) * <uint64_t> 0xD6E8FEB86659FD93
    return h ^ (h >> 32)


cdef inline uint64_t end_key(uint64_t h) noexcept nogil:
    h = fmix64(h)
    return h if h != 0 else 1


cdef inline uint64_t band_key(
    const uint32_t* values, Py_ssize_t rows, uint64_t band
) noexcept nogil:
    cdef uint64_t h = begin_key(band)
    cdef Py_ssize_t i
    for i in range(rows):
        h = add_value(h, values[i])
    return end_key(h)


cdef inline void four_band_keys(
    const uint32_t* values, Py_ssize_t rows, uint64_t band, uint64_t* keys, Py_ssize_t stride
) noexcept nogil:
    # The keys of four bands in a row: each waits for its own multiplications only.
    cdef uint64_t h0 = begin_key(band)
    cdef uint64_t h1 = begin_key(band + 1)
    cdef uint64_t h2 = begin_key(band + 2)
    cdef uint64_t h3 = begin_key(band + 3)
    cdef Py_ssize_t i
    for i in range(rows):
        h0 = add_value(h0, values[i])
        h1 = add_value(h1, values[i + rows])
        h2 = add_value(h2, values[i + 2 * rows])
        h3 = add_value(h3, values[i + 3 * rows])
    keys[0] = end_key(h0)
    keys[stride] = end_key(h1)
    keys[2 * stride] = end_key(h2)
    keys[3 * stride] = end_key(h3)


cdef inline bint is_empty_row(const uint32_t* row, Py_ssize_t k) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(k):
        if row[j] != <uint32_t> 0xFFFFFFFF:
            return False
    return True
