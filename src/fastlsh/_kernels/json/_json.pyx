"""Lines of bytes, the members of lines of JSON, and the fields of CSV."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_RawFree
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy, memset

from fastlsh._kernels.common.checks cimport (
    Memory, check_apart, check_offsets, memory_of, memory_of_rows,
)
from fastlsh._kernels.json.rows cimport (
    ABSENT as _ABSENT, INTEGER as _INTEGER, LONG_REAL as _LONG_REAL, MESSAGES,
    MOST_JOIN as _MOST_JOIN, MOST_KEYS as _MOST_KEYS, MOST_ROLES as _MOST_ROLES,
    NULL_VALUE as _NULL_VALUE, PADDING as _PADDING, REAL as _REAL, REFUSED as _REFUSED,
    STRING as _STRING, TOKEN as _TOKEN, Found, Member, Wanted,
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
MOST_ROLES = _MOST_ROLES
MOST_JOIN = _MOST_JOIN


include "json/ready.pxi"


cdef Py_ssize_t join_texts(
    const Wanted* wanted, Found* found, uint8_t* out, Py_ssize_t used
) noexcept nogil:
    # Joins the texts of a line; the last of them becomes the joined one. Returns as `json_line`.
    cdef Member* last = &found.members[wanted.texts - 1]
    cdef Member* member
    cdef Py_ssize_t start = used
    cdef int i
    if last.kind == _REFUSED:
        return used
    if wanted.texts == 1:
        if last.kind == MESSAGES:
            last.kind = _STRING
        return used
    for i in range(wanted.texts):
        member = &found.members[i]
        if member.kind == _NULL_VALUE or member.size == 0:
            continue
        if used > start and wanted.join.size:
            memcpy(out + used, wanted.join.name, wanted.join.size)
            used += wanted.join.size
        memcpy(out + used, found.pieces + member.value, member.size)
        used += member.size
    last.kind = _STRING
    last.value = start
    last.size = used - start
    return used


cdef Py_ssize_t read_lines(
    Lines* lines, const Wanted* wanted, uint8_t* out, uint8_t* kinds, int64_t* members
) noexcept nogil:
    # Returns how many bytes of `out` are used, or -1: no memory.
    cdef Py_ssize_t i
    cdef int k
    cdef int before = wanted.texts - 1      # members that are joined to the one behind them
    cdef Member* member
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
        if before:
            if not has_room(&lines.pieces, &lines.pieces_room, <size_t> size + _PADDING):
                return -1
            found.pieces = lines.pieces
        used = loops.json_line(line, size, wanted, out, used, &found)
        used = join_texts(wanted, &found, out, used)
        for k in range(wanted.n - before):
            member = &found.members[before + k]
            kinds[k * n + i] = member.kind
            members[2 * k * n + i] = member.value
            members[(2 * k + 1) * n + i] = member.size
    return used


cdef int make_wanted(
    Wanted* wanted, tuple keys, int texts, int labels, bytes join_with, tuple roles
) except -1:
    cdef Py_ssize_t i
    cdef Py_ssize_t count = len(keys)
    if not 2 <= count <= _MOST_KEYS or not 1 <= texts < count:
        raise ValueError(f"keys must be 2 to {_MOST_KEYS}, and texts one to all but one of them")
    if None in keys[:texts] or None in keys[texts + 1:]:
        raise ValueError("of the keys, only that of the id may be None")
    if not texts < labels <= count:
        raise ValueError(f"labels must be from {texts + 1} to {count}, got {labels}")
    if len(join_with) > _MOST_JOIN:
        raise ValueError(f"join_with must have at most {_MOST_JOIN} bytes, got {len(join_with)}")
    if roles is not None and (len(roles) > _MOST_ROLES or None in roles):
        raise ValueError(f"roles must be at most {_MOST_ROLES}, none of them None")
    memset(wanted, 0, sizeof(Wanted))
    for i in range(count):
        make_key(&wanted.keys[i], keys[i])
    wanted.n = <int> count
    wanted.texts = texts
    wanted.labels = labels
    make_key(&wanted.join, join_with)
    wanted.messages = roles is not None
    if roles is not None:
        wanted.n_roles = <int> len(roles)
        for i in range(wanted.n_roles):
            make_key(&wanted.roles[i], roles[i])
    return 0


def json_lines(
    const uint8_t[::1] data not None, const int64_t[::1] bounds not None,
    const int64_t[::1] rows not None, tuple keys not None, int labels,
    uint8_t[::1] out not None, uint8_t[:, ::1] kinds not None, int64_t[:, ::1] members not None,
    int texts=1, bytes join_with not None=b"", tuple roles=None,
):
    """Find a text, an id and further members in each of some lines of JSON; return the bytes used.

    Several texts are joined, and so are the contents of the messages of a chat; null and empty ones
    are left out. A line is refused if the json module would not take it, if a value is of a type
    that is not right, and if it is unusual: what is in it then is for somebody else to say.

    Parameters
    ----------
    data
        The lines, in UTF-8.
    bounds
        int64 (lines + 1,): line i is ``data[bounds[i]:bounds[i + 1]]``.
    rows
        int64 (n,): the lines to read.
    keys
        Those of the texts and the id, of members that are numbers, and of labels, in UTF-8; at most
        `MOST_KEYS`. Each line must have the texts and numbers. The key of the id may be None.
    labels
        int, above `texts`: the first key of a label, which is a string, a number or a literal.
    out
        uint8: what the strings are written to, one behind the other; as large as these lines, what
        joins their texts, and `PADDING`.
    kinds
        uint8 (keys - texts + 1, n): what the text is (`REFUSED`, `STRING` or `NULL_VALUE`), and the
        others.
    members
        int64 (2 * (keys - texts + 1), n): of each member, where it begins in `out`, and its size.
        Of an `INTEGER`, the number, and of a `REAL`, the bits of a double, instead.
    texts
        int: how many of the keys are those of texts.
    join_with
        What stands between texts and between messages, in UTF-8; at most `MOST_JOIN` bytes.
    roles
        The roles, in UTF-8, of the messages that are read, at most `MOST_ROLES`; () stands for all.
        None: a text must be a string or null.
    """
    cdef Lines lines
    cdef Wanted wanted
    cdef Py_ssize_t used, i
    cdef Py_ssize_t total = _PADDING
    cdef Py_ssize_t n = rows.shape[0]
    cdef Py_ssize_t count
    cdef Memory[6] parts
    check_offsets(bounds, bounds.shape[0] - 1, data.shape[0], "bounds")
    parts[0] = memory_of(out, "out")
    parts[1] = memory_of_rows(kinds, "kinds")
    parts[2] = memory_of_rows(members, "members")
    parts[3] = memory_of(data, "data")
    parts[4] = memory_of(bounds, "bounds")
    parts[5] = memory_of(rows, "rows")
    check_apart(parts, 6, 3, "out, kinds, members and what is read")
    make_wanted(&wanted, keys, texts, labels, join_with, roles)
    count = wanted.n - texts + 1
    total += n * (texts - 1) * wanted.join.size
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
    memset(&lines, 0, sizeof(Lines))
    lines.data = &data[0] if data.shape[0] else NULL
    lines.size = data.shape[0]
    lines.bounds = &bounds[0]
    lines.rows = &rows[0]
    lines.n = n
    with nogil:
        used = read_lines(&lines, &wanted, &out[0], &kinds[0, 0], &members[0, 0])
        PyMem_RawFree(lines.scratch)
        PyMem_RawFree(lines.pieces)
    if used < 0:
        raise MemoryError()
    return used


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


include "json/bounds.pxi"
include "json/elements.pxi"
include "json/fields.pxi"
include "json/tails.pxi"
include "json/places.pxi"
