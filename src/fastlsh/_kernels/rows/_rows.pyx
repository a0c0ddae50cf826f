"""Rows of files: lines of bytes, the members of lines of JSON, and the fields of CSV."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memchr, memcpy, memset

from fastlsh._kernels.common.checks cimport check_array, check_matrix, check_offsets
from fastlsh._kernels.json.masks cimport at_least, equal, first_bit
from fastlsh._kernels.json.rows cimport (
    ABSENT as _ABSENT, INTEGER as _INTEGER, LONG_REAL as _LONG_REAL, MESSAGES,
    MOST_JOIN as _MOST_JOIN, MOST_KEYS as _MOST_KEYS, MOST_ROLES as _MOST_ROLES,
    NULL_VALUE as _NULL_VALUE, PADDING as _PADDING, REAL as _REAL, REFUSED as _REFUSED,
    STRING as _STRING, TOKEN as _TOKEN, Found, Key, Member, Names, Place, Wanted,
)
from fastlsh._kernels.common._common cimport loops
from fastlsh._kernels.text._texts cimport Span, Spans, code_unit
from fastlsh._kernels.text.encoding cimport put_utf8_point


# ---- Where lines end, and arrays of such ends.

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


# ---- Lines of a block, each made ready for a loop that reads up to PADDING bytes behind it.

cdef struct Lines:
    const uint8_t* data
    Py_ssize_t size
    const int64_t* bounds
    const int64_t* rows
    Py_ssize_t n
    uint8_t* scratch            # for a line that does not end as the loop needs it
    size_t room
    uint8_t* pieces             # for the texts of a line, if they are several
    size_t pieces_room


cdef int make_key(Key* key, object name) except -1:
    key.size = -1
    key.name = NULL
    if name is not None:
        key.name = <const uint8_t*> PyBytes_AS_STRING(<bytes?> name)
        key.size = PyBytes_GET_SIZE(name)
    return 0


cdef bint has_room(uint8_t** memory, size_t* room, size_t needed) noexcept nogil:
    # Makes memory larger where it must be; False: no memory.
    if needed <= room[0]:
        return True
    larger = <uint8_t*> PyMem_RawRealloc(memory[0], needed)
    if larger == NULL:
        return False
    memory[0] = larger
    room[0] = needed
    return True


cdef const uint8_t* ready_line(Lines* lines, Py_ssize_t row, Py_ssize_t* size) noexcept nogil:
    # A line that ends with a line feed and PADDING bytes that can be read; NULL: no memory.
    cdef Py_ssize_t start = lines.bounds[row]
    cdef Py_ssize_t stop = lines.bounds[row + 1]
    size[0] = stop - start
    if stop > start and lines.data[stop - 1] == c'\n':
        if lines.size - stop >= _PADDING:
            return lines.data + start
        size[0] -= 1
    if not has_room(&lines.scratch, &lines.room, <size_t> size[0] + 1 + _PADDING):
        return NULL
    if size[0]:                     # else there may be no data
        memcpy(lines.scratch, lines.data + start, size[0])
    memset(lines.scratch + size[0], c'\n', 1 + _PADDING)
    size[0] += 1
    return lines.scratch


# ---- Lines of bytes, and the members of lines of JSON.

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
    check_offsets(bounds, bounds.shape[0] - 1, data.shape[0], "bounds")
    check_matrix(members, "members")
    check_array(rows, "rows")
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


# ---- Further members or fields of some lines.

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
    check_offsets(bounds, bounds.shape[0] - 1, data.shape[0], "bounds")
    check_array(ends, "ends")
    check_array(rows, "rows")
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
    check_array(rows, "rows")
    check_array(ends, "ends")
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


# ---- Where the values of a key are in some lines, and texts as the json module would write them
# there.

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
    check_offsets(bounds, bounds.shape[0] - 1, data.shape[0], "bounds")
    check_matrix(places, "places")
    check_array(rows, "rows")
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


cdef Py_ssize_t size_of_spans(
    const Span* at, Py_ssize_t n, const uint8_t* sizes, uint8_t* plain, int64_t* offsets
) noexcept nogil:
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i
    for i in range(n):
        total += size_of_span(at + i, sizes, plain + i)
        offsets[i + 1] = total
    return total


cdef void put_spans(
    const Span* at, Py_ssize_t n, const uint8_t* sizes, const uint8_t* plain, uint8_t* out
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out = put_span(at + i, sizes, plain[i] != 0, out)


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
    cdef Py_ssize_t total
    cdef uint8_t[127] sizes
    cdef bytes escapes      # of each text; whatever happens to `plain`, the sizes stay right
    cdef bytes joined
    cdef uint8_t* flags
    cdef uint8_t* out
    check_array(offsets, "offsets")
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
        total = size_of_spans(texts.at, n, sizes, flags, &offsets[0])
    joined = PyBytes_FromStringAndSize(NULL, total)
    out = <uint8_t*> PyBytes_AS_STRING(joined)
    with nogil:
        put_spans(texts.at, n, sizes, flags, out)
    return joined


# ---- The elements of an array of JSON, found without taking them apart.

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
    check_array(scan, "scan")
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


# ---- Fields of CSV: those of some columns, as the csv module reads them in its strict mode.

cdef enum:
    MOST_COLUMNS = 16           # that are wanted

COLUMNS = MOST_COLUMNS          # for callers

cdef struct CsvFields:
    uint8_t delimiter
    bint quotes
    Py_ssize_t width            # of each row
    Py_ssize_t columns[MOST_COLUMNS]
    int wanted                  # so many columns
    uint8_t* out
    Py_ssize_t used             # bytes of `out`
    uint8_t high                # at least 0x80: there are bytes that are not ASCII


cdef inline void append(CsvFields* t, const uint8_t* p, Py_ssize_t n) noexcept nogil:
    if n:
        memcpy(t.out + t.used, p, n)
        t.used += n


cdef const uint8_t* pass_quoted(
    CsvFields* t, const uint8_t* p, const uint8_t* end, bint wanted
) noexcept nogil:
    # From behind the opening quote to behind the closing one; NULL: there is none.
    cdef const uint8_t* quote
    while True:
        quote = <const uint8_t*> memchr(p, c'"', end - p) if p < end else NULL
        if quote == NULL:
            return NULL
        if wanted:
            append(t, p, quote - p)
        p = quote + 1
        if p == end or p[0] != c'"':
            return p
        if wanted:
            append(t, p, 1)
        p += 1


cdef const uint8_t* pass_field(
    CsvFields* t, const uint8_t* p, const uint8_t* end, bint wanted
) noexcept nogil:
    # To the delimiter behind a field, or to the end of the row; NULL: the field is unusual.
    cdef const uint8_t* stop
    if p == end:
        return p
    if t.quotes and p[0] == c'"':
        p = pass_quoted(t, p + 1, end, wanted)
        return p if p == NULL or p == end or p[0] == t.delimiter else NULL
    stop = <const uint8_t*> memchr(p, t.delimiter, end - p)
    if stop == NULL:
        stop = end
    if memchr(p, c'\n', stop - p) != NULL or memchr(p, c'\r', stop - p) != NULL:
        return NULL
    if wanted:
        append(t, p, stop - p)
    return stop


cdef bint take_fields(
    CsvFields* t, const uint8_t* p, const uint8_t* end, int64_t* members, Py_ssize_t n
) noexcept nogil:
    # Whether a row, which is not blank, is usual. The members of a row lie n apart.
    cdef Py_ssize_t field = 0
    cdef Py_ssize_t column, begin, i
    for i in range(end - p):
        t.high |= p[i]
    if p == end or memchr(p, 0, end - p) != NULL:
        return False
    if (end - 1)[0] == c'\n':
        end -= 1
    if p < end and (end - 1)[0] == c'\r':
        end -= 1
    if p == end:
        return False
    while field < t.width:
        begin = t.used
        column = 0
        while column < t.wanted and t.columns[column] != field:
            column += 1
        p = pass_field(t, p, end, column < t.wanted)
        if p == NULL:
            return False
        while column < t.wanted:         # a column may be wanted twice
            if t.columns[column] == field:
                members[2 * column * n] = begin
                members[(2 * column + 1) * n] = t.used - begin
            column += 1
        field += 1
        if p == end:
            return field == t.width
        p += 1                          # the delimiter
    return False


cdef bint take_table(
    CsvFields* t, const uint8_t* data, const int64_t* bounds, const int64_t* rows, Py_ssize_t n,
    int64_t* members
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if not take_fields(t, data + bounds[rows[i]], data + bounds[rows[i] + 1], members + i, n):
            return False
    return True


def delimited_fields(
    const uint8_t[::1] data not None, const int64_t[::1] bounds not None,
    const int64_t[::1] rows not None, bytes delimiter not None, bint quotes, Py_ssize_t width,
    tuple columns not None, uint8_t[::1] out not None, int64_t[:, ::1] members not None,
):
    """Find some fields of rows of CSV; return the bytes used, and whether all rows are ASCII.

    The former is -1 if a row is one that the csv module would not take, or is unusual.

    Parameters
    ----------
    data
        The rows, in UTF-8.
    bounds
        int64 (rows + 1,): row i is ``data[bounds[i]:bounds[i + 1]]``, with its line end.
    rows
        int64 (n,): the rows to read, none of them blank.
    delimiter
        One byte, of ASCII.
    quotes
        Whether quotes may enclose fields.
    width
        How many fields each row must have.
    columns
        Those that are wanted, from 0, at most `COLUMNS`.
    out
        uint8: what the fields are written to, one behind the other; as large as these rows.
    members
        int64 (2 * columns, n): of each of them, where the fields begin in `out`, and their sizes.
    """
    cdef CsvFields table
    cdef Py_ssize_t n = rows.shape[0]
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i
    cdef bint usual
    check_offsets(bounds, bounds.shape[0] - 1, data.shape[0], "bounds")
    check_matrix(members, "members")
    check_array(rows, "rows")
    if PyBytes_GET_SIZE(delimiter) != 1 or delimiter in (b'"', b"\r", b"\n", b"\0"):
        raise ValueError("delimiter must be one byte, and no quote, line end or NUL")
    if not 0 < len(columns) <= MOST_COLUMNS:
        raise ValueError(f"at least one column and at most {MOST_COLUMNS} can be wanted")
    table.wanted = len(columns)
    if members.shape[0] != 2 * table.wanted or members.shape[1] != n:
        raise ValueError(f"members must have the shape ({2 * table.wanted}, {n})")
    table.delimiter = <uint8_t> PyBytes_AS_STRING(delimiter)[0]
    table.quotes = quotes
    table.width = width
    table.used = 0
    table.high = 0
    for i in range(table.wanted):
        table.columns[i] = columns[i]
        if not 0 <= table.columns[i] < width:
            raise IndexError(f"column {table.columns[i]} of {width}")
    for i in range(n):
        if not 0 <= rows[i] < bounds.shape[0] - 1:
            raise IndexError(f"row {rows[i]} of {bounds.shape[0] - 1}")
        total += bounds[rows[i] + 1] - bounds[rows[i]]
    if out.shape[0] < total:
        raise ValueError(f"out has {out.shape[0]} bytes, and these rows may need {total}")
    if total == 0:
        return (-1, True) if n else (0, True)
    table.out = &out[0]
    with nogil:
        usual = take_table(&table, &data[0], &bounds[0], &rows[0], n, &members[0, 0])
    return table.used if usual else -1, table.high < 0x80
