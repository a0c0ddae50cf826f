# Where lines end, and arrays of such ends.

from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memchr, memcpy


cdef inline const uint8_t* next_byte(
    const uint8_t* p, const uint8_t* end, uint8_t value
) noexcept nogil:
    # The next byte of a value; `end`: there is none.
    cdef const uint8_t* found = NULL
    if p < end:
        found = <const uint8_t*> memchr(p, value, end - p)
    return end if found == NULL else found


cdef inline bint append_end(
    int64_t** out, Py_ssize_t* count, Py_ssize_t* room, int64_t value
) noexcept nogil:
    # False: no memory.
    cdef int64_t* grown
    if count[0] == room[0]:
        room[0] = 2 * room[0] + 1024
        grown = <int64_t*> PyMem_RawRealloc(out[0], room[0] * sizeof(int64_t))
        if grown == NULL:
            return False
        out[0] = grown
    out[0][count[0]] = value
    count[0] += 1
    return True


cdef bounds_of(const int64_t* ends, Py_ssize_t count, Py_ssize_t more):
    # 0, the ends, and one more, unless that is negative.
    import numpy as np
    cdef int64_t[::1] bounds
    found = np.zeros(count + 1 + (more >= 0), np.int64)
    bounds = found
    if more >= 0:
        bounds[count + 1] = more
    if count:
        memcpy(&bounds[1], ends, count * sizeof(int64_t))
    return found


cdef Py_ssize_t find_ends(
    const uint8_t* data, Py_ssize_t n, bint returns, bint last, int64_t** out
) noexcept nogil:
    # Appends where the lines end; returns how many there are, or -1: no memory. With `returns`, a
    # carriage return ends a line, too, alone or before a line feed, which may yet come.
    cdef const uint8_t* end = data + n
    cdef const uint8_t* feed = next_byte(data, end, c'\n')
    cdef const uint8_t* back = next_byte(data, end, c'\r') if returns else end
    cdef const uint8_t* p
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t room = 0
    while feed < end or back < end:
        p = min(feed, back) + 1
        if back + 1 == feed and feed < end:
            p = feed + 1
        elif p == end and back < end and not last:
            break
        if not append_end(out, &count, &room, p - data):
            return -1
        if feed < p:
            feed = next_byte(p, end, c'\n')
        if back < p:
            back = next_byte(p, end, c'\r')
    return count


def line_bounds(const uint8_t[::1] data not None, bint last, bint returns=False):
    """Return where lines begin and end, int64 (lines + 1,).

    Parameters
    ----------
    data
        Bytes that begin with a line.
    last
        Whether they end with one, were it without a line feed.
    returns
        Whether a carriage return ends a line, too, alone or before a line feed.
    """
    import numpy as np
    cdef Py_ssize_t n = data.shape[0]
    cdef Py_ssize_t count
    cdef int64_t* ends = NULL
    if n == 0:
        return np.zeros(1, np.int64)
    try:
        with nogil:
            count = find_ends(&data[0], n, returns, last, &ends)
        if count < 0:
            raise MemoryError()
        return bounds_of(ends, count, n if last and (count == 0 or ends[count - 1] != n) else -1)
    finally:
        PyMem_RawFree(ends)
