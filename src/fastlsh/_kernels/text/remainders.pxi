# What is left of texts without some of their lines or paragraphs. With pieces.pxi.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy

from fastlsh._kernels.common.checks cimport memory_of_rows
from fastlsh._kernels.text._texts cimport Span, Spans, code_unit
from fastlsh._kernels.text.unicode cimport PyUnicode_FromKindAndData


def remainders(Spans spans not None, const int64_t[:, ::1] places not None, bint paragraphs):
    """Return texts without some pieces, a list of str: one for each text that loses something.

    A line goes with its line end, or with the one before it if it has none; a paragraph with the
    blank lines behind it, or at the end of a text with those before it. If only blank lines are
    left, nothing is.

    Parameters
    ----------
    spans
        The texts.
    places
        int64 (m, 3), ascending: text, begin and end of what goes.
    paragraphs
        Paragraphs, not lines.
    """
    cdef Py_ssize_t m = places.shape[0]
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t last, longest, left
    cdef const Span* span
    if spans.tokens:
        raise TypeError("ids of tokens have no lines")
    if places.shape[1] != 3:
        raise ValueError(f"places has {places.shape[1]} columns, expected 3")
    memory_of_rows(places, "places")
    found = []
    if not m:
        return found
    longest = most_bytes(spans.at, spans.n, &places[0, 0], m)
    if longest < 0:
        raise IndexError("places are outside of the texts, or do not ascend")
    room = bytearray(longest + 1)
    cdef uint8_t[::1] view = room
    while first < m:
        span = spans.at + places[first, 0]
        last = end_of_text(&places[0, 0], first, m)
        with nogil:
            left = write_rest(span, &places[first, 0], last - first, paragraphs, &view[0])
        found.append(PyUnicode_FromKindAndData(span.kind, &view[0], left))
        first = last
    return found


cdef Py_ssize_t most_bytes(
    const Span* at, Py_ssize_t n, const int64_t* places, Py_ssize_t m
) noexcept nogil:
    """Return the bytes of the longest text that loses something; -1 if a place is none."""
    cdef Py_ssize_t most = 0
    cdef Py_ssize_t i
    cdef const int64_t* row
    for i in range(m):
        row = places + 3 * i
        if not 0 <= row[0] < n or not 0 <= row[1] <= row[2] <= at[row[0]].length:
            return -1
        if i and (row[0] < (row - 3)[0] or (row[0] == (row - 3)[0] and row[1] < (row - 1)[0])):
            return -1
        most = max(most, at[row[0]].length * at[row[0]].kind)
    return most


cdef Py_ssize_t end_of_text(const int64_t* places, Py_ssize_t first, Py_ssize_t m) noexcept nogil:
    cdef Py_ssize_t last = first + 1
    while last < m and places[3 * last] == places[3 * first]:
        last += 1
    return last


cdef Py_ssize_t write_rest(
    const Span* span, const int64_t* places, Py_ssize_t m, bint paragraphs, uint8_t* out
) noexcept nogil:
    """Write what is left of a text; return how many code points."""
    if span.kind == 1:
        return keep_rest(
            <const uint8_t*> span.text, span.length, places, m, paragraphs, <uint8_t*> out
        )
    if span.kind == 2:
        return keep_rest(
            <const uint16_t*> span.text, span.length, places, m, paragraphs, <uint16_t*> out
        )
    return keep_rest(
        <const uint32_t*> span.text, span.length, places, m, paragraphs, <uint32_t*> out
    )


cdef inline Py_ssize_t keep_rest(
    const code_unit* text, Py_ssize_t length, const int64_t* places, Py_ssize_t m,
    bint paragraphs, code_unit* out,
) noexcept nogil:
    cdef Py_ssize_t position = 0
    cdef Py_ssize_t left = 0
    cdef Py_ssize_t i
    for i in range(m):
        left = copy_units(text, position, <Py_ssize_t> places[3 * i + 1], out, left)
        # Places that are no pieces may lie in what went with the one before.
        position = max(position, behind(text, <Py_ssize_t> places[3 * i + 2], length, paragraphs))
    if position < length:
        left = copy_units(text, position, length, out, left)
    elif paragraphs or text[length - 1] != LINE_FEED:
        left = without_last_end(out, left, paragraphs)
        left = copy_units(text, <Py_ssize_t> places[3 * m - 1], length, out, left)
    return 0 if is_blank(<const code_unit*> out, 0, left) else left


cdef inline Py_ssize_t copy_units(
    const code_unit* text, Py_ssize_t begin, Py_ssize_t end, code_unit* out, Py_ssize_t left
) noexcept nogil:
    if begin >= end:
        return left
    memcpy(out + left, text + begin, <size_t> (end - begin) * sizeof(code_unit))
    return left + end - begin


cdef inline Py_ssize_t behind(
    const code_unit* text, Py_ssize_t end, Py_ssize_t length, bint paragraphs
) noexcept nogil:
    """Return where what follows a piece begins."""
    cdef Py_ssize_t line = min(line_end(text, end, length) + 1, length)
    cdef Py_ssize_t stop
    while paragraphs and line < length:
        stop = line_end(text, line, length)
        if not is_blank(text, line, stop):
            return line
        line = min(stop + 1, length)
    return line


cdef inline Py_ssize_t without_last_end(
    code_unit* out, Py_ssize_t left, bint paragraphs
) noexcept nogil:
    """Return where the last line ends that is left, or the last one that is not blank."""
    cdef Py_ssize_t inked = left
    if paragraphs:
        while inked and is_blank(<const code_unit*> out, inked - 1, inked):
            inked -= 1
        left = min(line_end(<const code_unit*> out, inked, left) + 1, left)
    if left and out[left - 1] == LINE_FEED:
        left -= 1
        if left and out[left - 1] == CARRIAGE_RETURN:
            left -= 1
    return left
