# Where the values of a key are in some lines, and texts as the json module would write them there.
# With ready.pxi and tails.pxi.

from libc.stdint cimport uint8_t, uint16_t, uint32_t

from fastlsh._kernels.json.rows cimport Key, Place
from fastlsh._kernels.text._texts cimport Span, Spans, code_unit
from fastlsh._kernels.text.encoding cimport put_utf8_point


cdef int find_places(
    Lines* lines, const Key* key, int64_t* places, uint8_t* plain
) noexcept nogil:
    # Returns -1: no memory.
    cdef Py_ssize_t i, size, start
    cdef const uint8_t* line
    cdef Place place
    for i in range(lines.n):
        line = ready_line(lines, lines.rows[i], &size)
        if line == NULL:
            return -1
        places[2 * i] = -1
        if loops.json_place(line, size, key, &place):
            start = lines.bounds[lines.rows[i]]
            places[2 * i] = start + place.start
            places[2 * i + 1] = start + place.stop
            plain[i] |= place.ascii
    return 0


def value_places(
    const uint8_t[::1] data not None, const int64_t[::1] bounds not None,
    const int64_t[::1] rows not None, bytes key not None, int64_t[:, ::1] places not None,
    uint8_t[::1] plain not None,
):
    """Find the value of a key in each of some lines of JSON.

    Parameters
    ----------
    data, bounds, rows
        As in `json_lines`.
    key
        In UTF-8.
    places
        int64 (n, 2): where in the data the value begins and ends, of a repeated key the last one;
        -1: the line is not one that `json_lines` takes, a key has an escape, or none is this one.
    plain
        uint8 (n,): becomes 1 where all of the line is ASCII.
    """
    cdef Lines lines
    cdef Key sought
    cdef int made
    cdef Py_ssize_t n = rows.shape[0]
    cdef Memory[5] parts
    check_offsets(bounds, bounds.shape[0] - 1, data.shape[0], "bounds")
    parts[0] = memory_of_rows(places, "places")
    parts[1] = memory_of(plain, "plain")
    parts[2] = memory_of(data, "data")
    parts[3] = memory_of(bounds, "bounds")
    parts[4] = memory_of(rows, "rows")
    check_apart(parts, 5, 2, "places, plain and what is read")
    if places.shape[0] != n or places.shape[1] != 2 or plain.shape[0] != n:
        raise ValueError(f"places must have the shape ({n}, 2), and plain {n} items")
    check_rows(rows, bounds.shape[0] - 1)
    if n == 0:
        return
    make_key(&sought, key)
    memset(&lines, 0, sizeof(Lines))
    lines.data = &data[0] if data.shape[0] else NULL
    lines.size = data.shape[0]
    lines.bounds = &bounds[0]
    lines.rows = &rows[0]
    lines.n = n
    with nogil:
        made = find_places(&lines, &sought, &places[0, 0], &plain[0])
        PyMem_RawFree(lines.scratch)
    if made < 0:
        raise MemoryError()


# ---- strings

cdef inline uint8_t short_escape(uint32_t c) noexcept nogil:
    # Return the letter behind the backslash; 0: there is no short escape.
    if c == c'"' or c == c'\\':
        return <uint8_t> c
    if c == 8:
        return c'b'
    if c == 9:
        return c't'
    if c == 10:
        return c'n'
    if c == 12:
        return c'f'
    return c'r' if c == 13 else 0


cdef inline int written_size(uint32_t c, bint plain) noexcept nogil:
    if 32 <= c < 127 and c != c'"' and c != c'\\':
        return 1
    if short_escape(c):
        return 2
    if c < 32 or (plain and c < 0x10000):
        return 6
    if plain:
        return 12
    if c < 0x80:
        return 1
    if c < 0x800:
        return 2
    return 3 if c < 0x10000 else 4


cdef inline uint8_t* put_hex(uint8_t* out, uint32_t c) noexcept nogil:
    cdef int i
    out[0] = c'\\'
    out[1] = c'u'
    for i in range(4):
        out[2 + i] = b"0123456789abcdef"[c >> (12 - 4 * i) & 15]
    return out + 6


cdef inline uint8_t* put_point(uint8_t* out, uint32_t c, bint plain) noexcept nogil:
    # Write a code point that is escaped or not ASCII; it takes `written_size` bytes.
    cdef uint8_t letter = short_escape(c)
    if letter:
        out[0] = c'\\'
        out[1] = letter
        return out + 2
    if c < 32 or (plain and c < 0x10000):
        return put_hex(out, c)
    if plain:
        out = put_hex(out, 0xD800 + (c - 0x10000 >> 10))
        return put_hex(out, 0xDC00 | (c & 0x3FF))
    return put_utf8_point(out, c)


cdef bint has_surrogate(const code_unit* text, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    cdef bint found = False
    for i in range(n):
        found |= <uint32_t> text[i] >> 11 == 0x1B
    return found


cdef Py_ssize_t string_size(
    const code_unit* text, Py_ssize_t n, const uint8_t* sizes, bint plain
) noexcept nogil:
    cdef Py_ssize_t i
    cdef Py_ssize_t total = 2
    for i in range(n):
        total += sizes[text[i]] if text[i] < 127 else written_size(text[i], plain)
    return total


cdef uint8_t* put_string(
    const code_unit* text, Py_ssize_t n, const uint8_t* sizes, bint plain, uint8_t* out
) noexcept nogil:
    cdef Py_ssize_t i
    out[0] = c'"'
    out += 1
    for i in range(n):
        if text[i] < 127 and sizes[text[i]] == 1:
            out[0] = <uint8_t> text[i]
            out += 1
        else:
            out = put_point(out, text[i], plain)
    out[0] = c'"'
    return out + 1


cdef Py_ssize_t size_of_span(const Span* at, const uint8_t* sizes, uint8_t* plain) noexcept nogil:
    # A lone surrogate can only be escaped.
    if at.kind == 1:
        return string_size(<const uint8_t*> at.text, at.length, sizes, plain[0] != 0)
    if at.kind == 2:
        plain[0] |= has_surrogate(<const uint16_t*> at.text, at.length)
        return string_size(<const uint16_t*> at.text, at.length, sizes, plain[0] != 0)
    plain[0] |= has_surrogate(<const uint32_t*> at.text, at.length)
    return string_size(<const uint32_t*> at.text, at.length, sizes, plain[0] != 0)


cdef uint8_t* put_span(
    const Span* at, const uint8_t* sizes, bint plain, uint8_t* out
) noexcept nogil:
    if at.kind == 1:
        return put_string(<const uint8_t*> at.text, at.length, sizes, plain, out)
    if at.kind == 2:
        return put_string(<const uint16_t*> at.text, at.length, sizes, plain, out)
    return put_string(<const uint32_t*> at.text, at.length, sizes, plain, out)


def json_strings(
    Spans texts not None, const uint8_t[::1] plain not None, int64_t[::1] offsets not None
):
    """Return texts as the json module writes them, one behind the other.

    Parameters
    ----------
    texts
        No ids of tokens.
    plain
        uint8 (n,): 0 where what is not ASCII is written as it is, unless there is a surrogate.
    offsets
        int64 (n + 1,): where the string of each begins in what is returned.
    """
    cdef Py_ssize_t i
    cdef Py_ssize_t n = texts.n
    cdef Py_ssize_t total = 0
    cdef Memory[2] parts
    cdef uint8_t[127] sizes
    cdef bytes escapes      # of each text; whatever happens to `plain`, the sizes stay right
    cdef bytes joined
    cdef uint8_t* flags
    cdef uint8_t* out
    parts[0] = memory_of(offsets, "offsets")
    parts[1] = memory_of(plain, "plain")
    check_apart(parts, 2, 1, "offsets and plain")
    if texts.tokens:
        raise ValueError("ids of tokens are no texts")
    if plain.shape[0] != n or offsets.shape[0] != n + 1:
        raise ValueError(f"plain must have {n} items, and offsets {n + 1}")
    offsets[0] = 0
    if n == 0:
        return b""
    escapes = PyBytes_FromStringAndSize(NULL, n)
    flags = <uint8_t*> PyBytes_AS_STRING(escapes)
    memcpy(flags, &plain[0], n)
    for i in range(127):
        sizes[i] = written_size(i, False)
    with nogil:
        for i in range(n):
            total += size_of_span(&texts.at[i], sizes, &flags[i])
            offsets[i + 1] = total
    joined = PyBytes_FromStringAndSize(NULL, total)
    out = <uint8_t*> PyBytes_AS_STRING(joined)
    with nogil:
        for i in range(n):
            out = put_span(&texts.at[i], sizes, flags[i] != 0, out)
    return joined
