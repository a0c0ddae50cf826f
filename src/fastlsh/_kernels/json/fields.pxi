# Fields of CSV: those of some columns, as the csv module reads them in its strict mode.

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memchr, memcpy

from fastlsh._kernels.common.checks cimport Memory, check_apart, check_offsets, memory_of
from fastlsh._kernels.common.checks cimport memory_of_rows

cdef enum:
    MOST_COLUMNS = 16           # that are wanted

COLUMNS = MOST_COLUMNS          # for callers

cdef struct Table:
    uint8_t delimiter
    bint quotes
    Py_ssize_t width            # of each row
    Py_ssize_t columns[MOST_COLUMNS]
    int wanted                  # so many columns
    uint8_t* out
    Py_ssize_t used             # bytes of `out`
    uint8_t high                # at least 0x80: there are bytes that are not ASCII


cdef inline void append(Table* t, const uint8_t* p, Py_ssize_t n) noexcept nogil:
    if n:
        memcpy(t.out + t.used, p, n)
        t.used += n


cdef const uint8_t* pass_quoted(
    Table* t, const uint8_t* p, const uint8_t* end, bint wanted
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
    Table* t, const uint8_t* p, const uint8_t* end, bint wanted
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
    Table* t, const uint8_t* p, const uint8_t* end, int64_t* members, Py_ssize_t n
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
    Table* t, const uint8_t* data, const int64_t* bounds, const int64_t* rows, Py_ssize_t n,
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
    cdef Table table
    cdef Py_ssize_t n = rows.shape[0]
    cdef Py_ssize_t total = 0
    cdef Py_ssize_t i
    cdef bint usual
    cdef Memory[5] parts
    check_offsets(bounds, bounds.shape[0] - 1, data.shape[0], "bounds")
    parts[0] = memory_of(out, "out")
    parts[1] = memory_of_rows(members, "members")
    parts[2] = memory_of(data, "data")
    parts[3] = memory_of(bounds, "bounds")
    parts[4] = memory_of(rows, "rows")
    check_apart(parts, 5, 2, "out, members and what is read")
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
