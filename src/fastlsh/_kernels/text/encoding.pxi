# Texts as UTF-8. With column.pxi.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from fastlsh._kernels.text._texts cimport Span, Spans, code_unit
from fastlsh._kernels.text.encoding cimport put_utf8_point


def column_of(Spans texts not None):
    """Return texts as a `TextColumn` of their own, in which they lie one behind the other.

    It is not strict if there is a surrogate.

    Parameters
    ----------
    texts
        Code points, neither bytes nor ids of tokens.
    """
    cdef int64_t[::1] start = new_numbers(texts.n)
    cdef int64_t[::1] size = new_numbers(texts.n)
    cdef Py_ssize_t i
    cdef Py_ssize_t total = 0
    cdef bint surrogates = False
    cdef bytes data
    cdef uint8_t* out
    cdef TextColumn column
    if texts.tokens:
        raise TypeError("ids of tokens are no texts")
    with nogil:
        for i in range(texts.n):
            start[i] = total
            size[i] = utf8_size(texts.at + i, &surrogates)
            total += size[i]
    data = PyBytes_FromStringAndSize(NULL, total)
    out = <uint8_t*> PyBytes_AS_STRING(data)
    with nogil:
        for i in range(texts.n):
            put_utf8_text(texts.at + i, size[i], out + start[i])
    # Nobody else has these numbers, which need not be copied and checked.
    column = TextColumn(data, start[:0], size[:0], not surrogates)
    column.start, column.size = start, size
    column.n, column.nbytes = texts.n, total
    return column


cdef Py_ssize_t utf8_size(const Span* at, bint* surrogates) noexcept nogil:
    if at.kind == 1:
        return size_of_units(<const uint8_t*> at.text, at.length, surrogates)
    if at.kind == 2:
        return size_of_units(<const uint16_t*> at.text, at.length, surrogates)
    return size_of_units(<const uint32_t*> at.text, at.length, surrogates)


cdef Py_ssize_t size_of_units(
    const code_unit* text, Py_ssize_t n, bint* surrogates
) noexcept nogil:
    cdef Py_ssize_t i
    cdef Py_ssize_t size = n
    cdef uint32_t c
    if code_unit is uint8_t:
        for i in range(n):
            size += text[i] >> 7
    else:
        for i in range(n):
            c = text[i]
            size += (c >= 0x80) + (c >= 0x800) + (c >= 0x10000)
            surrogates[0] |= c >> 11 == 0x1B
    return size


cdef void put_utf8_text(const Span* at, Py_ssize_t size, uint8_t* out) noexcept nogil:
    if at.kind == 1 and size == at.length:
        if size:
            memcpy(out, at.text, <size_t> size)
    elif at.kind == 1:
        put_units(<const uint8_t*> at.text, at.length, out)
    elif at.kind == 2:
        put_units(<const uint16_t*> at.text, at.length, out)
    else:
        put_units(<const uint32_t*> at.text, at.length, out)


cdef void put_units(const code_unit* text, Py_ssize_t n, uint8_t* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out = put_utf8_point(out, text[i])
