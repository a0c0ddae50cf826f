# UTF-8 to code points, in the width in which Python would store them. Strict: no overlong form,
# no surrogate, nothing above U+10FFFF, nothing cut off.

ctypedef fused code_unit:
    uint8_t
    uint16_t
    uint32_t


cdef void measure(const uint8_t* data, Py_ssize_t n, Py_ssize_t* points, int* width) noexcept nogil:
    # How many code points there are and how wide the widest is, if the bytes are valid.
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t i
    cdef uint8_t most = 0
    for i in range(n):
        most |= data[i]
    if most < 0x80:
        points[0] = n
        width[0] = 0                            # ASCII: nothing to decode
        return
    most = 0
    for i in range(n):
        count += (data[i] & 0xC0) != 0x80       # what continues no code point
        most = data[i] if data[i] > most else most
    points[0] = count
    width[0] = 1 if most < 0xC4 else 2 if most < 0xF0 else 4


cdef inline bint continues(uint8_t c) noexcept nogil:
    return (c & 0xC0) == 0x80


cdef bint decode(const uint8_t* data, Py_ssize_t n, code_unit* out) noexcept nogil:
    # Returns whether the bytes are valid. Writes no more code points than `measure` tells.
    cdef const uint8_t* end = data + n
    cdef uint32_t c
    while data < end:
        c = data[0]
        if c < 0x80:
            out[0] = <code_unit> c
            data += 1
        elif c < 0xE0:
            if c < 0xC2 or end - data < 2 or not continues(data[1]):
                return False
            out[0] = <code_unit> ((c & 0x1F) << 6 | (data[1] & 0x3F))
            data += 2
        elif c < 0xF0:
            if end - data < 3 or not (continues(data[1]) and continues(data[2])):
                return False
            c = (c & 0x0F) << 12 | <uint32_t> (data[1] & 0x3F) << 6 | (data[2] & 0x3F)
            if c < 0x800 or c >> 11 == 0x1B:    # overlong, or a surrogate
                return False
            out[0] = <code_unit> c
            data += 3
        else:
            if c > 0xF4 or end - data < 4 or not (
                continues(data[1]) and continues(data[2]) and continues(data[3])
            ):
                return False
            c = (
                (c & 0x07) << 18 | <uint32_t> (data[1] & 0x3F) << 12
                | <uint32_t> (data[2] & 0x3F) << 6 | (data[3] & 0x3F)
            )
            if c < 0x10000 or c > 0x10FFFF:
                return False
            out[0] = <code_unit> c
            data += 4
        out += 1
    return True


cdef bint decode_span(Span* span, Py_ssize_t points, int width, void* out) noexcept nogil:
    # Makes the span one of the code points, written to `out`.
    cdef const uint8_t* data = <const uint8_t*> span.text
    cdef bint good
    if width == 1:
        good = decode(data, span.length, <uint8_t*> out)
    elif width == 2:
        good = decode(data, span.length, <uint16_t*> out)
    else:
        good = decode(data, span.length, <uint32_t*> out)
    span.text = out
    span.length = points
    span.kind = width
    return good


cdef Py_ssize_t room_of(Py_ssize_t points, int width) noexcept nogil:
    # Bytes, so that the next text is aligned for any width.
    return (points * width + 3) & ~3


cdef Py_ssize_t room_for_utf8(Spans spans) noexcept nogil:
    # Settles the ASCII texts; returns how many bytes the code points of the others take.
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i
    cdef Py_ssize_t points = 0
    cdef int width = 0
    for i in range(spans.n):
        if spans.at[i].kind == UTF8:
            measure(<const uint8_t*> spans.at[i].text, spans.at[i].length, &points, &width)
            if width:
                total += room_of(points, width)
            else:
                spans.at[i].kind = 1
    return total


cdef Py_ssize_t decode_utf8(Spans spans, char* out) noexcept nogil:
    # Returns the first text that is not valid, or -1; that one keeps its bytes.
    cdef Py_ssize_t i
    cdef Py_ssize_t points = 0
    cdef int width = 0
    cdef Span before
    for i in range(spans.n):
        if spans.at[i].kind == UTF8:
            before = spans.at[i]
            measure(<const uint8_t*> before.text, before.length, &points, &width)
            if not decode_span(&spans.at[i], points, width, out):
                spans.at[i] = before
                return i
            out += room_of(points, width)
            spans.at[i].before = 8              # of the buffer, or of the text before
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
    buffer = PyBytes_FromStringAndSize(NULL, total + 8)
    spans.owners.append(buffer)
    out = PyBytes_AS_STRING(buffer) + 8
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
        refuse_utf8(spans, bad, first + bad if ids is None else ids[bad])
    return 0
