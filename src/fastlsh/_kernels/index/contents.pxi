# Which documents of the tables are live, and their rows.

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fastlsh._kernels.index.tables cimport Band, Question, Tables


cdef bint all_below(const int64_t* numbers, Py_ssize_t n, Py_ssize_t end) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if not 0 <= numbers[i] < end:
            return False
    return True


cdef inline int64_t words_asked(
    const Question* question, Py_ssize_t first, Py_ssize_t last
) noexcept nogil:
    return question.offsets[last] - question.offsets[first] if question.offsets != NULL else 0


cdef int64_t mark(
    Tables* t, Py_ssize_t first, const int64_t* gone, Py_ssize_t n
) noexcept nogil:
    # Documents from `first` on become live, those in `gone` are removed. Returns by how many the
    # number of dead documents grows.
    cdef Py_ssize_t i
    cdef int64_t fewer = 0
    for i in range(first, t.n):
        fewer -= not t.live[i]
        t.live[i] = 1
    for i in range(n):
        fewer += t.live[gone[i]]
        t.live[gone[i]] = 0
    return fewer


cdef int64_t count_all(Tables* t) noexcept nogil:
    # Counts the used slots of each band; returns how many numbers have no document.
    cdef Py_ssize_t d, b
    cdef uint64_t i
    cdef Band* band
    cdef int64_t dead = 0
    for d in range(t.n):
        t.live[d] = t.live[d] != 0
        dead += not t.live[d]
    for b in range(t.count):
        band = &t.bands[b]
        band.used = 0
        for i in range(band.size):
            band.used += band.slots[i] != 0
    return dead


cdef void rows_of(
    const Tables* t, const int64_t* numbers, Py_ssize_t n, uint32_t* out
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        memcpy(out + i * t.k, t.signatures + numbers[i] * t.k, t.k * sizeof(uint32_t))
