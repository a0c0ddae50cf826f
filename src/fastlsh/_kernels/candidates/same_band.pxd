# Whether two signatures are equal in a band. Equal keys only suggest it: this is what decides.

from libc.stdint cimport uint32_t
from libc.string cimport memcmp


cdef inline bint same_band(
    const uint32_t* a, const uint32_t* b, Py_ssize_t rows, Py_ssize_t band
) noexcept nogil:
    a += band * rows
    b += band * rows
    return a[0] == b[0] and memcmp(a, b, rows * sizeof(uint32_t)) == 0


cdef inline bint same_earlier(
    const uint32_t* a, const uint32_t* b, Py_ssize_t rows, Py_ssize_t band
) noexcept nogil:
    # In a band before this one: a pair is met once, in the first band that it shares.
    cdef Py_ssize_t e
    for e in range(band):
        if same_band(a, b, rows, e):
            return True
    return False
