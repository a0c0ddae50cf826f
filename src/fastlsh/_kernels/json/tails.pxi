# Further members or fields of some lines. With ready.pxi.

from fastlsh._kernels.json.rows cimport Names


cdef Py_ssize_t find_braces(
    Lines* lines, const Names* names, int64_t* ends, uint8_t* doubtful
) noexcept nogil:
    # Returns -1: no memory.
    cdef Py_ssize_t i, size, start, stop
    cdef const uint8_t* line
    for i in range(lines.n):
        start = lines.bounds[lines.rows[i]]
        stop = lines.bounds[lines.rows[i] + 1]
        while stop > start and lines.data[stop - 1] != c'}':
            stop -= 1
        ends[i] = max(stop - 1, start)
        line = ready_line(lines, lines.rows[i], &size)
        if line == NULL:
            return -1
        doubtful[i] = stop == start or loops.may_have_name(line, size, names)
    return 0


def object_ends(
    const uint8_t[::1] data not None, const int64_t[::1] bounds not None,
    const int64_t[::1] rows not None, tuple names not None, int lowest,
    int64_t[::1] ends not None, uint8_t[::1] doubtful not None,
):
    """Find the brace that closes each of some lines of JSON, and which may have a key.

    Parameters
    ----------
    data, bounds, rows
        As in `json_lines`; each line is an object.
    names
        The keys, in UTF-8; at most `MOST_KEYS`.
    lowest
        The code of a digit d: escapes from ``\\u00d0`` to ``\\u007f`` may stand for characters of
        the keys. 0: any escape may.
    ends
        int64 (n,): where the braces are in the data; of a line without one, where it begins.
    doubtful
        uint8 (n,): 0 where there is a brace, and none of the keys.
    """
    cdef Lines lines
    cdef Names sought
    cdef uint8_t first
    cdef Py_ssize_t i, made
    cdef Py_ssize_t n = rows.shape[0]
    cdef Memory[5] parts
    check_offsets(bounds, bounds.shape[0] - 1, data.shape[0], "bounds")
    parts[0] = memory_of(ends, "ends")
    parts[1] = memory_of(doubtful, "doubtful")
    parts[2] = memory_of(data, "data")
    parts[3] = memory_of(bounds, "bounds")
    parts[4] = memory_of(rows, "rows")
    check_apart(parts, 5, 2, "ends, doubtful and what is read")
    if len(names) > _MOST_KEYS or None in names:
        raise ValueError(f"names must be at most {_MOST_KEYS}, none of them None")
    if ends.shape[0] != n or doubtful.shape[0] != n:
        raise ValueError(f"ends and doubtful must have {n} items")
    check_rows(rows, bounds.shape[0] - 1)
    if n == 0:
        return
    memset(&sought, 0, sizeof(Names))
    sought.n = <int> len(names)
    sought.lowest = <uint8_t> (lowest & 0x7F)
    for i in range(sought.n):
        make_key(&sought.keys[i], names[i])
        first = sought.keys[i].name[0] if sought.keys[i].size else c'"'
        if memchr(sought.first, first, sought.n_first) == NULL:
            sought.first[sought.n_first] = first
            sought.n_first += 1
    memset(&lines, 0, sizeof(Lines))
    lines.data = &data[0] if data.shape[0] else NULL
    lines.size = data.shape[0]
    lines.bounds = &bounds[0]
    lines.rows = &rows[0]
    lines.n = n
    with nogil:
        made = find_braces(&lines, &sought, &ends[0], &doubtful[0])
        PyMem_RawFree(lines.scratch)
    if made < 0:
        raise MemoryError()


cdef int check_rows(const int64_t[::1] rows, Py_ssize_t count) except -1:
    cdef Py_ssize_t i
    for i in range(rows.shape[0]):
        if not 0 <= rows[i] < count:
            raise IndexError(f"line {rows[i]} of {count}")
    return 0


cdef inline char* append_part(
    char* out, const uint8_t* data, int64_t start, int64_t stop
) noexcept nogil:
    if stop > start:                # else there may be no data
        memcpy(out, data + start, stop - start)
    return out + (stop - start)


cdef void copy_with_tails(
    const uint8_t* data, const int64_t* bounds, const int64_t* rows, Py_ssize_t n,
    const int64_t* ends, const uint8_t* tails, const int64_t* tail_bounds, char* out
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out = append_part(out, data, bounds[rows[i]], ends[i])
        out = append_part(out, tails, tail_bounds[i], tail_bounds[i + 1])
        out = append_part(out, data, ends[i], bounds[rows[i] + 1])


def lines_with_tails(
    const uint8_t[::1] data not None, const int64_t[::1] bounds not None,
    const int64_t[::1] rows not None, const int64_t[::1] ends not None,
    const uint8_t[::1] tails not None, const int64_t[::1] tail_bounds not None,
):
    """Return the bytes of some lines, with further bytes inside each.

    Parameters
    ----------
    data, bounds, rows
        As in `json_lines`.
    ends
        int64 (n,): where in the data the further bytes go, in the line or behind it.
    tails
        uint8: the further bytes.
    tail_bounds
        int64 (n + 1,): those of line i are ``tails[tail_bounds[i]:tail_bounds[i + 1]]``.
    """
    cdef Py_ssize_t n = rows.shape[0]
    cdef Py_ssize_t i, start, stop
    cdef Py_ssize_t total = 0
    cdef bytes joined
    cdef char* out
    check_offsets(bounds, bounds.shape[0] - 1, data.shape[0], "bounds")
    check_offsets(tail_bounds, n, tails.shape[0], "tail_bounds")
    memory_of(rows, "rows")
    memory_of(ends, "ends")
    check_rows(rows, bounds.shape[0] - 1)
    if ends.shape[0] != n:
        raise ValueError(f"ends must have {n} items")
    for i in range(n):
        start, stop = bounds[rows[i]], bounds[rows[i] + 1]
        if not start <= ends[i] <= stop:
            raise IndexError(f"{ends[i]} is not in line {rows[i]}")
        total += stop - start + tail_bounds[i + 1] - tail_bounds[i]
    if total == 0:
        return b""
    joined = PyBytes_FromStringAndSize(NULL, total)
    out = PyBytes_AS_STRING(joined)
    with nogil:
        copy_with_tails(
            &data[0] if data.shape[0] else NULL, &bounds[0], &rows[0], n, &ends[0],
            &tails[0] if tails.shape[0] else NULL, &tail_bounds[0], out,
        )
    return joined
