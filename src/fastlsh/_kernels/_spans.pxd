cdef struct Span:
    const void* text
    Py_ssize_t length       # code points (or bytes)
    int kind                # bytes of a code unit: 1 (Latin-1), 2, 4


cdef class Spans:
    cdef Span* at
    cdef readonly Py_ssize_t n
    cdef list owners        # whatever keeps the texts alive


cdef Spans new_spans(Py_ssize_t n)
cdef int put_text(Spans spans, Py_ssize_t i, object text, bint as_bytes) except -1
cdef int put_utf8(
    Spans spans, Py_ssize_t i, const char* data, Py_ssize_t n, bint as_bytes, Py_ssize_t document
) except -1
