# 64-bit band keys. The key 0 says that the document is empty and in no bucket.

cdef inline uint64_t band_key(
    const uint32_t* values, Py_ssize_t rows, uint64_t band
) noexcept nogil:
    cdef uint64_t h = (band + 1) * <uint64_t> 0x9E3779B97F4A7C15
    cdef Py_ssize_t i
    for i in range(rows):
        h = (h ^ values[i]) * <uint64_t> 0xD6E8FEB86659FD93
        h ^= h >> 32
    h = fmix64(h)
    return h if h != 0 else 1


cdef bint is_empty_row(const uint32_t* row, Py_ssize_t k) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(k):
        if row[j] != <uint32_t> 0xFFFFFFFF:
            return False
    return True


cdef void keys_of_bands(
    const uint32_t* signatures, Py_ssize_t n, Py_ssize_t k,
    Py_ssize_t first, Py_ssize_t bands, Py_ssize_t rows, uint64_t* keys
) noexcept nogil:
    # keys[b, d] for the bands first ... first + bands - 1 of n signatures
    cdef const uint32_t* row
    cdef Py_ssize_t d, b
    cdef bint empty
    for d in range(n):
        row = signatures + d * k
        empty = is_empty_row(row, k)
        for b in range(bands):
            keys[b * n + d] = (
                0 if empty else band_key(row + (first + b) * rows, rows, first + b)
            )
