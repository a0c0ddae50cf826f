# The elements of an array of JSON, found without taking them apart. With bounds.pxi.

from cpython.mem cimport PyMem_RawFree
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from fastlsh._kernels.common.checks cimport check_offsets, memory_of
from fastlsh._kernels.json.masks cimport at_least, equal, first_bit


cdef enum:
    DEEP = 64           # brackets inside each other of which the kinds are remembered

    # Where the scan is:
    BETWEEN = 0
    IN_STRING = 1
    BEHIND_BACKSLASH = 2

    # What has ended it:
    _ARRAY_CLOSED = 1
    _ARRAY_BROKEN = 2

cdef struct Scan:       # int64 all, for an array of numpy has them
    int64_t ended       # 0: it goes on
    int64_t where
    int64_t depth
    int64_t objects     # the lowest bit: whether the innermost bracket is that of an object
    int64_t complete    # whether there is an element, which only white space may follow


cdef inline const uint8_t* string_mark(const uint8_t* p, const uint8_t* end) noexcept nogil:
    # The next quote, backslash or control character.
    cdef uint64_t marks
    while end - p >= 64:
        marks = equal(p, c'"') | equal(p, c'\\') | ~at_least(p, 32)
        if marks:
            return p + first_bit(marks)
        p += 64
    while p < end and p[0] != c'"' and p[0] != c'\\' and p[0] >= 32:
        p += 1
    return p


cdef inline bint is_space(uint8_t c) noexcept nogil:
    return c == c' ' or c == c'\n' or c == c'\r' or c == c'\t'


cdef inline const uint8_t* inner_mark(const uint8_t* p, const uint8_t* end) noexcept nogil:
    # The next quote or bracket, or one of few other bytes.
    while p < end and p[0] != c'"' and (p[0] | 0x26) != 0x7F:   # true of [ ] { } Y y _ DEL
        p += 1
    return p


cdef bint pass_mark(Scan* s, uint8_t c) noexcept nogil:
    # A byte outside strings; True: the element ends with it.
    if c == c',' and s.depth == 0:
        s.complete = False
        return True
    if c == c']' and s.depth == 0:
        s.ended = _ARRAY_CLOSED
    elif s.depth == 0 and s.complete and not is_space(c):
        s.ended = _ARRAY_BROKEN
    elif c == c'"':
        s.where = IN_STRING
    elif c == c'{' or c == c'[':
        s.depth += 1
        if s.depth <= DEEP:
            s.objects = <int64_t> (<uint64_t> s.objects << 1 | (c == c'{'))
    elif c == c'}' or c == c']':
        if s.depth == 0 or (s.depth <= DEEP and (s.objects & 1) != (c == c'}')):
            s.ended = _ARRAY_BROKEN
        else:
            if s.depth <= DEEP:
                s.objects = <int64_t> (<uint64_t> s.objects >> 1)
            s.depth -= 1
            s.complete = s.depth == 0
    return s.ended != 0


cdef const uint8_t* element_end(Scan* s, const uint8_t* p, const uint8_t* end) noexcept nogil:
    # Behind the comma or bracket that ends the element, or what is wrong; NULL: it goes on.
    while p < end:
        if s.where == BEHIND_BACKSLASH:
            s.where = IN_STRING
            p += 1
        elif s.where == IN_STRING:
            p = string_mark(p, end)
            if p == end:
                return NULL
            if p[0] < 32:
                s.ended = _ARRAY_BROKEN
                return p + 1
            s.where = BEHIND_BACKSLASH if p[0] == c'\\' else BETWEEN
            s.complete = s.where == BETWEEN and s.depth == 0
            p += 1
        else:
            if s.depth:
                p = inner_mark(p, end)
                if p == end:
                    return NULL
            p += 1
            if pass_mark(s, (p - 1)[0]):
                return p
    return NULL


cdef Py_ssize_t find_elements(
    Scan* s, const uint8_t* data, Py_ssize_t n, int64_t** out
) noexcept nogil:
    # Appends where the elements end; returns how many there are, or -1: no memory.
    cdef const uint8_t* p = data
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t room = 0
    while not s.ended:
        p = element_end(s, p, data + n)
        if p == NULL:
            break
        if not append_end(out, &count, &room, p - data):
            return -1
    return count


def element_bounds(const uint8_t[::1] data not None, int64_t[::1] scan not None):
    """Return where the elements of an array of JSON begin and end, int64 (elements + 1,).

    An element ends behind its comma, or behind the bracket that closes the array. It ends behind a
    byte that no element can have there, too: then the array is broken. What an element is, is for
    somebody else to say: white space alone is one, too.

    Parameters
    ----------
    data
        Bytes of the array, behind its opening bracket or further on.
    scan
        int64 (`ARRAY_SCAN`,): where the scan is, which goes on from there; zeros where an element
        begins. The first number tells what has ended it: `ARRAY_CLOSED` or `ARRAY_BROKEN`.
    """
    cdef Py_ssize_t count = 0
    cdef int64_t* ends = NULL
    memory_of(scan, "scan")
    if scan.shape[0] != ARRAY_SCAN:
        raise ValueError(f"scan must have {ARRAY_SCAN} items")
    try:
        if data.shape[0]:
            with nogil:
                count = find_elements(<Scan*> &scan[0], &data[0], data.shape[0], &ends)
        return bounds_of(ends, count, -1)
    finally:
        PyMem_RawFree(ends)


cdef Py_ssize_t copy_elements(
    const uint8_t* data, int64_t* bounds, Py_ssize_t n, uint8_t feed, uint8_t back, uint8_t* out
) noexcept nogil:
    # Elements as lines, of which the bounds become the new ones; returns how many bytes they have.
    cdef uint8_t* begin = out
    cdef const uint8_t* p = data + bounds[0]
    cdef const uint8_t* end
    cdef uint8_t* at
    cdef Py_ssize_t i, size
    for i in range(n):
        end = data + bounds[i + 1]
        bounds[i] = out - begin
        if end > p and ((end - 1)[0] == c',' or (end - 1)[0] == c']'):
            end -= 1
        while p < end and is_space(p[0]):
            p += 1
        while end > p and is_space((end - 1)[0]):
            end -= 1
        size = end - p
        if size:
            memcpy(out, p, size)
        at = <uint8_t*> next_byte(out, out + size, c'\n')
        while at < out + size:
            at[0] = feed
            at = <uint8_t*> next_byte(at + 1, out + size, c'\n')
        at = <uint8_t*> next_byte(out, out + size, c'\r')
        while at < out + size:
            at[0] = back
            at = <uint8_t*> next_byte(at + 1, out + size, c'\r')
        out[size] = c'\n'
        out += size + 1
        p = data + bounds[i + 1]
    bounds[n] = out - begin
    return out - begin


def element_lines(
    const uint8_t[::1] data not None, const int64_t[::1] bounds not None, int feed, int back
):
    """Return elements of an array of JSON as lines, uint8, and their bounds, int64 (elements + 1,).

    Parameters
    ----------
    data, bounds
        The elements, from `element_bounds`, of which the first begins at 0 or behind it.
    feed, back
        The characters that stand for a line feed and for a carriage return inside an element.
    """
    import numpy as np
    cdef Py_ssize_t n = bounds.shape[0] - 1
    cdef Py_ssize_t used
    cdef const uint8_t* begin = &data[0] if data.shape[0] else NULL
    cdef uint8_t[::1] out
    cdef int64_t[::1] places
    check_offsets(bounds, n, data.shape[0], "bounds")
    lines = np.empty(bounds[n] - bounds[0] + n, np.uint8)
    found = np.array(bounds)
    if n == 0:
        return lines, np.zeros(1, np.int64)
    out, places = lines, found
    with nogil:
        used = copy_elements(begin, &places[0], n, <uint8_t> feed, <uint8_t> back, &out[0])
    return lines[:used], found
