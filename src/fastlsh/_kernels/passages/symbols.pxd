# Units of a text as numbers: polynomials over them, and how far two texts are equal.

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp

from fastlsh._kernels.common.mixing cimport CHARACTER_BASE, mix_code_point
from fastlsh._kernels.text._texts cimport Span
from fastlsh._kernels.text.ids cimport id_at

ctypedef fused symbol:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef inline uint64_t pushed(uint64_t h, uint64_t unit) noexcept nogil:
    return h * CHARACTER_BASE + mix_code_point(unit)


cdef inline Py_ssize_t equal_units(
    const Span* a, Py_ssize_t i, const Span* b, Py_ssize_t j, Py_ssize_t longest
) noexcept nogil:
    # How many units are equal from there on.
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t kind = a.kind
    cdef const char* left = <const char*> a.text + i * kind
    cdef const char* right = <const char*> b.text + j * kind
    if kind == b.kind:
        while n + 64 <= longest and memcmp(left + n * kind, right + n * kind, 64 * kind) == 0:
            n += 64
    while n < longest and id_at(a.text, a.kind, i + n) == id_at(b.text, b.kind, j + n):
        n += 1
    return n


cdef inline Py_ssize_t equal_before(
    const Span* a, Py_ssize_t i, const Span* b, Py_ssize_t j, Py_ssize_t longest
) noexcept nogil:
    # How many units are equal in front of there.
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t kind = a.kind
    cdef const char* left = <const char*> a.text + i * kind
    cdef const char* right = <const char*> b.text + j * kind
    if kind == b.kind:
        while n + 64 <= longest and memcmp(
            left - (n + 64) * kind, right - (n + 64) * kind, 64 * kind
        ) == 0:
            n += 64
    while n < longest and id_at(a.text, a.kind, i - n - 1) == id_at(b.text, b.kind, j - n - 1):
        n += 1
    return n
