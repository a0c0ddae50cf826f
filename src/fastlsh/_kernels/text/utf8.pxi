# UTF-8 to code points, in the width in which Python would store them. Strict: no overlong form,
# no surrogate, nothing above U+10FFFF, nothing cut off.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport uint8_t, uint16_t, uint32_t

from fastlsh._kernels.text._texts cimport ROOM, UTF8, Span, Spans, code_unit, number_of
from fastlsh._kernels.text.decoding cimport decode_some
from fastlsh._kernels.text.squeeze cimport fill_squeezing
from fastlsh._kernels.text.unicode cimport PyUnicode_DecodeUTF8

cdef enum:
    STRIDE = 18                 # bytes that are decoded one by one where vectors cannot


fill_squeezing()


cdef int width_of(const uint8_t* data, Py_ssize_t n) noexcept nogil:
    # Of the widest code point, if the bytes are valid; 0 for ASCII: nothing to decode.
    cdef uint8_t most = 0
    cdef Py_ssize_t i
    for i in range(n):
        most = data[i] if data[i] > most else most
    return 0 if most < 0x80 else 1 if most < 0xC4 else 2 if most < 0xF0 else 4


cdef inline bint continues(uint8_t c) noexcept nogil:
    return (c & 0xC0) == 0x80


cdef Py_ssize_t decode(const uint8_t* data, Py_ssize_t n, code_unit* out) noexcept nogil:
    # Returns how many code points there are, or -1 if the bytes are not valid.
    cdef const uint8_t* end = data + n
    cdef const code_unit* begin = out
    cdef const uint8_t* stop
    cdef Py_ssize_t written
    cdef Py_ssize_t taken = 0
    while data < end:
        written = decode_some(data, end - data, <char*> out, sizeof(code_unit), &taken)
        if written < 0:
            return -1
        data += taken
        out += written // <Py_ssize_t> sizeof(code_unit)
        # And byte by byte, what is 4 bytes long included.
        stop = min(data + STRIDE, end)
        written = decode_until(&data, stop, end, out)
        if written < 0:
            return -1
        out += written
    return out - begin


cdef inline Py_ssize_t decode_until(
    const uint8_t** place, const uint8_t* stop, const uint8_t* end, code_unit* out
) noexcept nogil:
    # The code points that begin before `stop`; moves the place behind them.
    cdef const uint8_t* data = place[0]
    cdef const code_unit* begin = out
    cdef uint32_t c
    while data < stop:
        c = data[0]
        if c < 0x80:
            out[0] = <code_unit> c
            data += 1
        elif c < 0xE0:
            if c < 0xC2 or end - data < 2 or not continues(data[1]):
                return -1
            out[0] = <code_unit> ((c & 0x1F) << 6 | (data[1] & 0x3F))
            data += 2
        elif c < 0xF0:
            if end - data < 3 or not (continues(data[1]) and continues(data[2])):
                return -1
            c = (c & 0x0F) << 12 | <uint32_t> (data[1] & 0x3F) << 6 | (data[2] & 0x3F)
            if c < 0x800 or c >> 11 == 0x1B:    # overlong, or a surrogate
                return -1
            out[0] = <code_unit> c
            data += 3
        else:
            if c > 0xF4 or end - data < 4 or not (
                continues(data[1]) and continues(data[2]) and continues(data[3])
            ):
                return -1
            c = (
                (c & 0x07) << 18 | <uint32_t> (data[1] & 0x3F) << 12
                | <uint32_t> (data[2] & 0x3F) << 6 | (data[3] & 0x3F)
            )
            if c < 0x10000 or c > 0x10FFFF:
                return -1
            out[0] = <code_unit> c
            data += 4
        out += 1
    place[0] = data
    return out - begin


cdef Py_ssize_t decode_span(const Span* span, int width, void* out) noexcept nogil:
    cdef const uint8_t* data = <const uint8_t*> span.text
    if width == 1:
        return decode(data, span.length, <uint8_t*> out)
    if width == 2:
        return decode(data, span.length, <uint16_t*> out)
    return decode(data, span.length, <uint32_t*> out)


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
