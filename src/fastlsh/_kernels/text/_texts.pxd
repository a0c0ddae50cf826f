from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

ctypedef fused code_unit:
    uint8_t
    uint16_t
    uint32_t

cdef enum:
    UTF8 = 0                # kind of a text that has yet to be decoded
    ROOM = 16               # no reader wants more bytes in front of a text


cdef struct Span:
    const void* text
    Py_ssize_t length       # code points (or bytes)
    int kind                # bytes of a code unit: 1 (Latin-1), 2, 4
    int before              # bytes in front of the text that may be read, whatever they hold


cdef inline uint64_t id_at(const void* ids, int width, Py_ssize_t i) noexcept nogil:
    # A token id, or a code point, however wide.
    if width == 1:
        return (<const uint8_t*> ids)[i]
    if width == 2:
        return (<const uint16_t*> ids)[i]
    if width == 4:
        return (<const uint32_t*> ids)[i]
    return (<const uint64_t*> ids)[i]


cdef class Spans:
    cdef Span* at
    cdef readonly Py_ssize_t n
    cdef readonly bint tokens   # these are ids of tokens, 1, 2, 4 or 8 bytes wide
    cdef list owners        # whatever keeps the texts alive


cdef Spans new_spans(Py_ssize_t n)
cdef int put_utf8(
    Spans spans, Py_ssize_t i, const char* data, Py_ssize_t n, int before, bint as_bytes
) except -1
cdef int check_utf8(Spans spans, Py_ssize_t first, object ids) except -1


cdef inline object number_of(Py_ssize_t first, object ids, Py_ssize_t i):
    # Of a document, for messages. With objects: a C index is not checked, a C sum may overflow.
    cdef object place = i
    cdef object start = first
    return start + place if ids is None else ids[place]
