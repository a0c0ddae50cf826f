# Where the lines or the paragraphs of texts stand, and such pieces as texts themselves.
# With spans.pxi.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memchr

from fastlsh._kernels.common.checks cimport memory_of_rows
from fastlsh._kernels.text._texts cimport ROOM, Span, Spans, code_unit

cdef enum:
    TAB = 9
    LINE_FEED = 10
    CARRIAGE_RETURN = 13
    SPACE = 32


cdef struct Pieces:
    # Rows of (text, begin, end); what has no room is counted only.
    int64_t* rows
    Py_ssize_t room
    Py_ssize_t found


def cut_pieces(Spans spans not None, bint paragraphs, int64_t[:, ::1] out not None):
    """Write where the lines or paragraphs of texts stand; return how many there are.

    A line ends at a line feed, a carriage return before that left out; blank ones (of ASCII's white
    space) are none. A paragraph is a run of lines that are not blank.

    Parameters
    ----------
    spans
        The texts.
    paragraphs
        Paragraphs, not lines.
    out
        int64 (room, 3), written as far as it reaches: text, begin and end, in code points.
    """
    cdef Pieces pieces
    if spans.tokens:
        raise TypeError("ids of tokens have no lines")
    if out.shape[1] != 3:
        raise ValueError(f"out has {out.shape[1]} columns, expected 3")
    memory_of_rows(out, "out")
    pieces.rows = &out[0, 0] if out.shape[0] else NULL
    pieces.room = out.shape[0]
    pieces.found = 0
    with nogil:
        cut_texts(spans.at, spans.n, paragraphs, &pieces)
    return pieces.found


def windows_of(Spans spans not None, const int64_t[:, ::1] places not None):
    """Return pieces of texts as texts, read in place; copied if they are less wide of their own.

    Parameters
    ----------
    spans
        The texts.
    places
        int64 (m, 3): text, begin and end of each, as `cut_pieces` writes them.
    """
    cdef Spans windows
    cdef Py_ssize_t n = places.shape[0]
    cdef Py_ssize_t i
    cdef Py_ssize_t room = 0
    cdef uint8_t* data
    if places.shape[1] != 3:
        raise ValueError(f"places has {places.shape[1]} columns, expected 3")
    memory_of_rows(places, "places")
    windows = new_spans(n)
    windows.owners.append(spans)
    windows.tokens = spans.tokens
    if not n:
        return windows
    with nogil:
        i = put_windows(spans.at, spans.n, &places[0, 0], n, windows.at)
        if i == n and not spans.tokens:
            room = bytes_if_narrow(windows.at, n)
    if i < n:
        raise IndexError(
            f"place {i}: code points {places[i, 1]} to {places[i, 2]} of text {places[i, 0]}"
        )
    if room:
        buffer = PyBytes_FromStringAndSize(NULL, room + ROOM)
        windows.owners.append(buffer)
        data = <uint8_t*> PyBytes_AS_STRING(buffer)
        with nogil:
            make_narrow(windows.at, n, data + ROOM)
    return windows


cdef void cut_texts(const Span* at, Py_ssize_t n, bint paragraphs, Pieces* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if at[i].kind == 1:
            cut_text(<const uint8_t*> at[i].text, at[i].length, i, paragraphs, out)
        elif at[i].kind == 2:
            cut_text(<const uint16_t*> at[i].text, at[i].length, i, paragraphs, out)
        else:
            cut_text(<const uint32_t*> at[i].text, at[i].length, i, paragraphs, out)


cdef inline void cut_text(
    const code_unit* text, Py_ssize_t length, Py_ssize_t number, bint paragraphs, Pieces* out
) noexcept nogil:
    cdef Py_ssize_t position = 0
    cdef Py_ssize_t begin = -1          # of the paragraph that may go on
    cdef Py_ssize_t end = 0
    cdef Py_ssize_t line
    while position < length:
        line = position
        position = line_end(text, position, length)
        if is_blank(text, line, position):
            if begin >= 0:
                put_piece(out, number, begin, end)
                begin = -1
        else:
            end = position - (position < length and text[position - 1] == CARRIAGE_RETURN)
            if begin < 0:
                begin = line
            if not paragraphs:
                put_piece(out, number, begin, end)
                begin = -1
        position += 1
    if begin >= 0:
        put_piece(out, number, begin, end)


cdef inline Py_ssize_t line_end(
    const code_unit* text, Py_ssize_t position, Py_ssize_t length
) noexcept nogil:
    """Return where the line that stands there ends, its line feed left out."""
    cdef const void* found
    if code_unit is uint8_t:
        found = memchr(text + position, LINE_FEED, <size_t> (length - position))
        return length if found == NULL else <const uint8_t*> found - text
    else:
        while position < length and text[position] != LINE_FEED:
            position += 1
        return position


cdef inline bint is_blank(
    const code_unit* text, Py_ssize_t begin, Py_ssize_t end
) noexcept nogil:
    while begin < end:
        if text[begin] != SPACE and not TAB <= text[begin] <= CARRIAGE_RETURN:
            return False
        begin += 1
    return True


cdef inline void put_piece(
    Pieces* out, Py_ssize_t number, Py_ssize_t begin, Py_ssize_t end
) noexcept nogil:
    cdef int64_t* row
    if out.found < out.room:
        row = out.rows + 3 * out.found
        row[0], row[1], row[2] = number, begin, end
    out.found += 1


cdef Py_ssize_t put_windows(
    const Span* at, Py_ssize_t n, const int64_t* places, Py_ssize_t m, Span* out
) noexcept nogil:
    """Write the windows; return the first that is none, m if all are."""
    cdef const Span* span
    cdef Py_ssize_t i
    cdef int64_t begin, end
    for i in range(m):
        begin, end = places[3 * i + 1], places[3 * i + 2]
        if not 0 <= places[3 * i] < n:
            return i
        span = at + places[3 * i]
        if not 0 <= begin <= end <= span.length:
            return i
        out[i].kind = span.kind
        out[i].length = end - begin
        if begin < end:
            out[i].text = <const char*> span.text + begin * span.kind
            out[i].before = <int> min(span.before + begin * span.kind, <Py_ssize_t> ROOM)
    return m


cdef Py_ssize_t bytes_if_narrow(const Span* at, Py_ssize_t n) noexcept nogil:
    """Return how many bytes the texts take that would be narrower as texts of their own."""
    cdef Py_ssize_t room = 0
    cdef Py_ssize_t i
    for i in range(n):
        if at[i].kind > 1 and least_kind(at + i) < at[i].kind:
            room += (at[i].length * least_kind(at + i) + 1) & ~1
    return room


cdef void make_narrow(Span* at, Py_ssize_t n, uint8_t* out) noexcept nogil:
    """Write the texts that are wider than they need be, as Python would have them."""
    cdef Py_ssize_t i
    cdef int kind
    for i in range(n):
        kind = least_kind(at + i) if at[i].kind > 1 else 1
        if kind == at[i].kind:
            continue
        if kind == 2:
            copy_narrow(<const uint32_t*> at[i].text, at[i].length, <uint16_t*> out)
        elif at[i].kind == 2:
            copy_narrow(<const uint16_t*> at[i].text, at[i].length, out)
        else:
            copy_narrow(<const uint32_t*> at[i].text, at[i].length, out)
        at[i].text = out
        at[i].kind = kind
        at[i].before = ROOM
        out += (at[i].length * kind + 1) & ~1


cdef inline int least_kind(const Span* span) noexcept nogil:
    cdef uint32_t seen
    if span.kind == 2:
        seen = all_bits(<const uint16_t*> span.text, span.length)
    else:
        seen = all_bits(<const uint32_t*> span.text, span.length)
    return 1 if seen < 0x100 else 2 if seen < 0x10000 else 4


cdef inline uint32_t all_bits(const code_unit* text, Py_ssize_t length) noexcept nogil:
    cdef uint32_t seen = 0
    cdef Py_ssize_t i
    for i in range(length):
        seen |= text[i]
    return seen


ctypedef fused narrow_unit:
    uint8_t
    uint16_t


cdef inline void copy_narrow(
    const code_unit* text, Py_ssize_t length, narrow_unit* out
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(length):
        out[i] = <narrow_unit> text[i]
