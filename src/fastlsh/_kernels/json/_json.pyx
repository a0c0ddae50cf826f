"""Lines of bytes, the members of lines of JSON, and the fields of CSV."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memchr, memcpy, memset

from fastlsh._kernels.common.checks cimport (
    Memory, check_apart, check_offsets, memory_of, memory_of_rows,
)
from fastlsh._kernels.json.rows cimport (
    ABSENT as _ABSENT, INTEGER as _INTEGER, LONG_REAL as _LONG_REAL, MOST_KEYS as _MOST_KEYS,
    NULL_VALUE as _NULL_VALUE, PADDING as _PADDING, REAL as _REAL, REFUSED as _REFUSED,
    STRING as _STRING, TOKEN as _TOKEN, Found, Key, Wanted,
)
from fastlsh._kernels.loops._chosen cimport loops

ABSENT = _ABSENT
REFUSED = _REFUSED
STRING = _STRING
NULL_VALUE = _NULL_VALUE
INTEGER = _INTEGER
REAL = _REAL
LONG_REAL = _LONG_REAL
TOKEN = _TOKEN
PADDING = _PADDING
MOST_KEYS = _MOST_KEYS


cdef struct Lines:
    const uint8_t* data
    Py_ssize_t size
    const int64_t* bounds
    const int64_t* rows
    Py_ssize_t n
    uint8_t* scratch            # for a line that does not end as the loop needs it
    size_t room


cdef int make_key(Key* key, object name) except -1:
    key.size = -1
    key.name = NULL
    if name is not None:
        key.name = <const uint8_t*> PyBytes_AS_STRING(<bytes?> name)
        key.size = PyBytes_GET_SIZE(name)
    return 0


cdef const uint8_t* ready_line(Lines* lines, Py_ssize_t row, Py_ssize_t* size) noexcept nogil:
    # A line that ends with a line feed and PADDING bytes that can be read; NULL: no memory.
    cdef Py_ssize_t start = lines.bounds[row]
    cdef Py_ssize_t stop = lines.bounds[row + 1]
    cdef size_t needed
    size[0] = stop - start
    if stop > start and lines.data[stop - 1] == c'\n':
        if lines.size - stop >= _PADDING:
            return lines.data + start
        size[0] -= 1
    needed = <size_t> size[0] + 1 + _PADDING
    if needed > lines.room:
        scratch = <uint8_t*> PyMem_RawRealloc(lines.scratch, needed)
        if scratch == NULL:
            return NULL
        lines.scratch = scratch
        lines.room = needed
    if size[0]:                     # else there may be no data
        memcpy(lines.scratch, lines.data + start, size[0])
    memset(lines.scratch + size[0], c'\n', 1 + _PADDING)
    size[0] += 1
    return lines.scratch


cdef Py_ssize_t read_lines(
    Lines* lines, const Wanted* wanted, uint8_t* out, uint8_t* kinds, int64_t* members
) noexcept nogil:
    # Returns how many bytes of `out` are used, or -1: no memory.
    cdef Py_ssize_t i
    cdef int k
    cdef Py_ssize_t n = lines.n
    cdef Py_ssize_t used = 0
    cdef Py_ssize_t size
    cdef const uint8_t* line
    cdef Found found
    memset(&found, 0, sizeof(Found))
    for i in range(n):
        line = ready_line(lines, lines.rows[i], &size)
        if line == NULL:
            return -1
        used = loops.json_line(line, size, wanted, out, used, &found)
        for k in range(wanted.n):
            kinds[k * n + i] = found.members[k].kind
            members[2 * k * n + i] = found.members[k].value
            members[(2 * k + 1) * n + i] = found.members[k].size
    return used


def json_lines(
    const uint8_t[::1] data not None, const int64_t[::1] bounds not None,
    const int64_t[::1] rows not None, tuple keys not None, int labels,
    uint8_t[::1] out not None, uint8_t[:, ::1] kinds not None, int64_t[:, ::1] members not None,
):
    """Find a text, an id and further members in each of some lines of JSON; return the bytes used.

    A line is refused if the json module would not take it, if a value is of a type that is not
    right, and if it is unusual: what is in it then is for somebody else to say.

    Parameters
    ----------
    data
        The lines, in UTF-8.
    bounds
        int64 (lines + 1,): line i is ``data[bounds[i]:bounds[i + 1]]``.
    rows
        int64 (n,): the lines to read.
    keys
        Those of the text and the id, of members that are numbers, and of labels, in UTF-8; at most
        `MOST_KEYS`. Each line must have all but the id, whose key may be None.
    labels
        int, at least 2: the first key of a label, which is a string, a number or a boolean.
    out
        uint8: what the strings are written to, one behind the other; as large as these lines and
        `PADDING`.
    kinds
        uint8 (keys, n): what the text is (`REFUSED`, `STRING` or `NULL_VALUE`), and the others.
    members
        int64 (2 * keys, n): of each member, where it begins in `out`, and its size. Of an
        `INTEGER`, the number, and of a `REAL`, the bits of a double, instead.
    """
    cdef Lines lines
    cdef Wanted wanted
    cdef Py_ssize_t used, i
    cdef Py_ssize_t total = _PADDING
    cdef Py_ssize_t n = rows.shape[0]
    cdef Py_ssize_t count = len(keys)
    cdef Memory[6] parts
    check_offsets(bounds, bounds.shape[0] - 1, data.shape[0], "bounds")
    parts[0] = memory_of(out, "out")
    parts[1] = memory_of_rows(kinds, "kinds")
    parts[2] = memory_of_rows(members, "members")
    parts[3] = memory_of(data, "data")
    parts[4] = memory_of(bounds, "bounds")
    parts[5] = memory_of(rows, "rows")
    check_apart(parts, 6, 3, "out, kinds, members and what is read")
    if not 2 <= count <= _MOST_KEYS or keys[0] is None or None in keys[2:]:
        raise ValueError(f"keys must be 2 to {_MOST_KEYS}, of which only that of the id is None")
    if not 2 <= labels <= count:
        raise ValueError(f"labels must be from 2 to {count}, got {labels}")
    if kinds.shape[0] != count or kinds.shape[1] != n:
        raise ValueError(f"kinds must have the shape ({count}, {n})")
    if members.shape[0] != 2 * count or members.shape[1] != n:
        raise ValueError(f"members must have the shape ({2 * count}, {n})")
    for i in range(n):
        if not 0 <= rows[i] < bounds.shape[0] - 1:
            raise IndexError(f"line {rows[i]} of {bounds.shape[0] - 1}")
        total += bounds[rows[i] + 1] - bounds[rows[i]]
    if out.shape[0] < total:
        raise ValueError(f"out has {out.shape[0]} bytes, and these lines may need {total}")
    if n == 0:
        return 0
    for i in range(count):
        make_key(&wanted.keys[i], keys[i])
    wanted.n = <int> count
    wanted.labels = labels
    memset(&lines, 0, sizeof(Lines))
    lines.data = &data[0] if data.shape[0] else NULL
    lines.size = data.shape[0]
    lines.bounds = &bounds[0]
    lines.rows = &rows[0]
    lines.n = n
    with nogil:
        used = read_lines(&lines, &wanted, &out[0], &kinds[0, 0], &members[0, 0])
        PyMem_RawFree(lines.scratch)
    if used < 0:
        raise MemoryError()
    return used


cdef inline const uint8_t* next_byte(
    const uint8_t* p, const uint8_t* end, uint8_t value
) noexcept nogil:
    # The next byte of a value; `end`: there is none.
    cdef const uint8_t* found = NULL
    if p < end:
        found = <const uint8_t*> memchr(p, value, end - p)
    return end if found == NULL else found


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
        if count == room:
            room = 2 * room + 1024
            grown = <int64_t*> PyMem_RawRealloc(out[0], room * sizeof(int64_t))
            if grown == NULL:
                return -1
            out[0] = grown
        out[0][count] = p - data
        count += 1
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
    cdef int64_t[::1] bounds
    if n == 0:
        return np.zeros(1, np.int64)
    try:
        with nogil:
            count = find_ends(&data[0], n, returns, last, &ends)
        if count < 0:
            raise MemoryError()
        more = last and (count == 0 or ends[count - 1] != n)
        found = np.empty(count + 1 + more, np.int64)
        bounds = found
        bounds[0] = 0
        if more:
            bounds[count + 1] = n
        if count:
            memcpy(&bounds[1], ends, count * sizeof(int64_t))
    finally:
        PyMem_RawFree(ends)
    return found


cdef Py_ssize_t copy_runs(
    const uint8_t* data, const int64_t* bounds, const uint8_t* chosen, Py_ssize_t n, char* out
) noexcept nogil:
    # Chosen lines, consecutive ones at once; returns how many bytes they have. `out` may be NULL.
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t first, size
    cdef Py_ssize_t i = 0
    while i < n:
        if not chosen[i]:
            i += 1
            continue
        first = i
        while i < n and chosen[i]:
            i += 1
        size = bounds[i] - bounds[first]
        if out != NULL and size:
            memcpy(out + total, data + bounds[first], size)
        total += size
    return total


def chosen_lines(
    const uint8_t[::1] data not None, const int64_t[::1] bounds not None,
    const uint8_t[::1] chosen not None,
):
    """Return the bytes of some lines.

    Parameters
    ----------
    data, bounds
        As in `json_lines`.
    chosen
        uint8 (lines,): 0 for a line that is left out.
    """
    cdef Py_ssize_t n = chosen.shape[0]
    cdef Py_ssize_t total
    cdef bytes joined
    cdef char* out
    check_offsets(bounds, n, data.shape[0], "bounds")
    if n == 0 or data.shape[0] == 0:
        return b""
    with nogil:
        total = copy_runs(&data[0], &bounds[0], &chosen[0], n, NULL)
    joined = PyBytes_FromStringAndSize(NULL, total)
    out = PyBytes_AS_STRING(joined)
    with nogil:
        copy_runs(&data[0], &bounds[0], &chosen[0], n, out)
    return joined


include "json/fields.pxi"
