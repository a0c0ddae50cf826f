# The elements of an array of JSON, found without taking them apart. With bounds.pxi.

from cpython.mem cimport PyMem_RawFree
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from fastlsh._kernels.common.checks cimport check_offsets, memory_of
from fastlsh._kernels.json.masks cimport at_least, equal, first_bit

cdef enum:
    DEEP = 64           # brackets inside each other of which the kinds are remembered
    CLOSED = 1          # what has ended the array
    BROKEN = 2

cdef struct Scan:       # int64 all, for an array of numpy has them
    int64_t ended       # 0: it goes on
    int64_t string      # 1: the scan is inside one; 2: behind a backslash there
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


cdef inline const uint8_t* inner_mark(const uint8_t* p, const uint8_t* end) noexcept nogil:
    # The next quote or bracket, or one of few other bytes.
    while p < end and p[0] != c'"' and (p[0] | 0x26) != 0x7F:   # true of [ ] { } Y y _ DEL
        p += 1
    return p


cdef inline bint is_space(uint8_t c) noexcept nogil:
    return c == c' ' or c == c'\n' or c == c'\r' or c == c'\t'


cdef inline void close_bracket(Scan* s, uint8_t c) noexcept nogil:
    if s.depth == 0:
        s.ended = CLOSED if c == c']' else BROKEN
        return
    if s.depth <= DEEP:
        if (s.objects & 1) != (c == c'}'):
            s.ended = BROKEN
        s.objects = <int64_t> (<uint64_t> s.objects >> 1)
    s.depth -= 1
    s.complete = s.depth == 0


cdef const uint8_t* element_end(Scan* s, const uint8_t* p, const uint8_t* end) noexcept nogil:
    # Behind the comma or bracket that ends the element, or what is wrong; NULL: it goes on.
    cdef uint8_t c
    while p < end:
        if s.string == 1:
            p = string_mark(p, end)
        elif s.depth and not s.string:
            p = inner_mark(p, end)
        if p == end:
            break
        c = p[0]
        p += 1
        if s.string:
            if s.string == 1 and c < 32:
                s.ended = BROKEN
            s.string = 1 if s.string == 2 else 2 if c == c'\\' else 0
            s.complete = s.string == 0 and s.depth == 0
        elif s.complete and c != c',' and c != c']' and not is_space(c):
            s.ended = BROKEN
        elif c == c'"':
            s.string = 1
        elif c == c'{' or c == c'[':
            s.depth += 1
            if s.depth <= DEEP:
                s.objects = <int64_t> (<uint64_t> s.objects << 1 | (c == c'{'))
        elif c == c'}' or c == c']':
            close_bracket(s, c)
        elif c == c',' and s.depth == 0:
            s.complete = False
            return p
        if s.ended:
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
        int64 (5,): where the scan is, which goes on from there; zeros where an element begins. The
        first number tells what has ended it: 1, the array is closed; 2, it is broken.
    """
    cdef Py_ssize_t count = 0
    cdef int64_t* ends = NULL
    memory_of(scan, "scan")
    if scan.shape[0] != 5:
        raise ValueError("scan must have 5 items")
    try:
        if data.shape[0]:
            with nogil:
                count = find_elements(<Scan*> &scan[0], &data[0], data.shape[0], &ends)
        return bounds_of(ends, count, -1)
    finally:
        PyMem_RawFree(ends)


cdef inline void replace_bytes(uint8_t* p, Py_ssize_t n, uint8_t old, uint8_t new) noexcept nogil:
    cdef uint8_t* end = p + n
    p = <uint8_t*> next_byte(p, end, old)
    while p < end:
        p[0] = new
        p = <uint8_t*> next_byte(p + 1, end, old)


cdef Py_ssize_t copy_elements(
    const uint8_t* data, int64_t* bounds, Py_ssize_t n, uint8_t feed, uint8_t back, uint8_t* out
) noexcept nogil:
    # Elements as lines, of which the bounds become the new ones; returns how many bytes they have.
    cdef Py_ssize_t used = 0
    cdef Py_ssize_t i, start, stop
    for i in range(n):
        start, stop = bounds[i], bounds[i + 1]
        bounds[i] = used
        if stop > start and (data[stop - 1] == c',' or data[stop - 1] == c']'):
            stop -= 1
        while start < stop and is_space(data[start]):
            start += 1
        while start < stop and is_space(data[stop - 1]):
            stop -= 1
        if start < stop:
            memcpy(out + used, data + start, stop - start)
        replace_bytes(out + used, stop - start, c'\n', feed)
        replace_bytes(out + used, stop - start, c'\r', back)
        used += stop - start
        out[used] = c'\n'
        used += 1
    bounds[n] = used
    return used


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
    cdef Py_ssize_t used = 0
    cdef const uint8_t* begin = &data[0] if data.shape[0] else NULL
    check_offsets(bounds, n, data.shape[0], "bounds")
    lines, found = np.empty(bounds[n] - bounds[0] + n, np.uint8), np.array(bounds)
    cdef uint8_t[::1] out = lines
    cdef int64_t[::1] places = found
    if n:
        with nogil:
            used = copy_elements(begin, &places[0], n, <uint8_t> feed, <uint8_t> back, &out[0])
    else:
        found[0] = 0
    return lines[:used], found
