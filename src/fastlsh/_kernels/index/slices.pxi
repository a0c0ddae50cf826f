# Which documents share a bucket. With slices, the sizes of both documents count: the document that
# is looked up (asked) and a document in the tables are in groups by the steps of their sizes.

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcmp

from fastlsh._kernels.candidates.bandkeys cimport band_key
from fastlsh._kernels.candidates.same_band cimport same_band, same_earlier
from fastlsh._kernels.index.tables cimport Slice, Tables

cdef uint64_t GROUPS_APART = 0x9E3779B97F4A7C15


cdef inline uint64_t group_of(
    const Tables* t, const Slice* s, const uint32_t* row, bint asked
) noexcept nogil:
    cdef uint64_t group = s.number + (<uint64_t> (row[t.minima] + s.odd) >> s.shift)
    return group + s.distance if asked else group


cdef inline uint32_t tag_in(
    const Tables* t, const uint32_t* row, Py_ssize_t b, bint asked
) noexcept nogil:
    cdef const Slice* s
    if t.slices == NULL:
        return <uint32_t> (band_key(row + b * t.rows, t.rows, b) >> 32)
    s = &t.slices[b]
    return <uint32_t> (
        (band_key(row + s.start, s.rows, s.band) ^ group_of(t, s, row, asked) * GROUPS_APART) >> 32
    )


cdef inline bint in_slice(
    const Tables* t, const uint32_t* asked, const uint32_t* other, Py_ssize_t b
) noexcept nogil:
    cdef const Slice* s = &t.slices[b]
    cdef const uint32_t* values = asked + s.start
    cdef const uint32_t* others = other + s.start
    return (
        values[0] == others[0]
        and group_of(t, s, asked, True) == group_of(t, s, other, False)
        and memcmp(values, others, s.rows * sizeof(uint32_t)) == 0
    )


cdef inline bint in_bucket(
    const Tables* t, const uint32_t* asked, const uint32_t* other, Py_ssize_t b
) noexcept nogil:
    if t.slices == NULL:
        return same_band(asked, other, t.rows, b)
    return in_slice(t, asked, other, b)


cdef inline bint in_earlier_bucket(
    const Tables* t, const uint32_t* asked, const uint32_t* other, Py_ssize_t b
) noexcept nogil:
    cdef Py_ssize_t e
    if t.slices == NULL:
        return same_earlier(asked, other, t.rows, b)
    for e in range(b):
        if in_slice(t, asked, other, e):
            return True
    return False


cdef inline const uint32_t* values_of(
    const Tables* t, uint32_t d, Py_ssize_t b
) noexcept nogil:
    return t.signatures + d * t.k + (b * t.rows if t.slices == NULL else t.slices[b].start)
