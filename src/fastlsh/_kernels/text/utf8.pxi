# The texts in UTF-8 of a batch as code points, in the width in which Python would store them.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t

from fastlsh._kernels.text._texts cimport ROOM, UTF8, Spans, number_of
from fastlsh._kernels.text.decoding cimport decode_span, width_of
from fastlsh._kernels.text.squeeze cimport fill_squeezing
from fastlsh._kernels.text.unicode cimport PyUnicode_DecodeUTF8


fill_squeezing()


cdef Py_ssize_t room_for_utf8(Spans spans) noexcept nogil:
    # Settles the ASCII texts, and notes the width of the others as -kind. Returns how many bytes
    # these may take: more than they need, but what is not written costs nothing.
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i
    cdef int width
    for i in range(spans.n):
        if spans.at[i].kind == UTF8:
            width = width_of(<const uint8_t*> spans.at[i].text, spans.at[i].length)
            spans.at[i].kind = -width if width else 1
            total += spans.at[i].length * width + 3 * (width > 0)
    return total


cdef Py_ssize_t decode_utf8(Spans spans, char* out) noexcept nogil:
    # Returns the first text that is not valid, or -1.
    cdef Py_ssize_t i, points
    cdef int width
    for i in range(spans.n):
        width = -spans.at[i].kind
        if width > 0:
            points = decode_span(&spans.at[i], width, out)
            if points < 0:
                return i
            spans.at[i].text = out
            spans.at[i].length = points
            spans.at[i].kind = width
            spans.at[i].before = ROOM           # of the buffer, or of the text before
            out += (points * width + 3) & ~<Py_ssize_t> 3     # aligned for any width
    return -1


cdef Py_ssize_t settle_utf8(Spans spans) except -2:
    # Decodes the texts of kind UTF8. Returns the first that is not valid, or -1.
    cdef Py_ssize_t total
    cdef Py_ssize_t bad
    cdef bytes buffer
    cdef char* out
    with nogil:
        total = room_for_utf8(spans)
    if total == 0:
        return -1
    buffer = PyBytes_FromStringAndSize(NULL, total + ROOM)
    spans.owners.append(buffer)
    out = PyBytes_AS_STRING(buffer) + ROOM
    with nogil:
        bad = decode_utf8(spans, out)
    return bad


cdef int refuse_utf8(Spans spans, Py_ssize_t bad, object document) except -1:
    try:
        PyUnicode_DecodeUTF8(<const char*> spans.at[bad].text, spans.at[bad].length, "strict")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"document {document} is not valid UTF-8: {error.reason} at byte {error.start}"
        ) from None
    raise RuntimeError(f"document {document} changed while it was read")


cdef int check_utf8(Spans spans, Py_ssize_t first, object ids) except -1:
    cdef Py_ssize_t bad = settle_utf8(spans)
    if bad >= 0:
        refuse_utf8(spans, bad, number_of(first, ids, bad))
    return 0
