# Lines of JSON: the members that are wanted, as strict as the json module is. Each line ends with
# a line feed, which nothing in it can pass, and PADDING bytes behind it can be read.
# With strings.pxi and numbers.pxi.

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcmp, memcpy

from fastlsh._kernels.json.rows cimport (
    ABSENT, INTEGER, LONG_REAL, NULL_VALUE, REAL, REFUSED, STRING, TOKEN, Found, Key, Line, Member,
    Number, Wanted,
)

cdef enum:
    DEEPEST = 64        # arrays and objects inside each other


# ---- arrays and objects

cdef inline uint8_t after_space(Line* line) noexcept nogil:
    while line.at[0] == c' ' or line.at[0] == c'\t' or line.at[0] == c'\r':
        line.at += 1
    return line.at[0]


cdef inline bint pass_name(Line* line) noexcept nogil:
    # A key and its colon, and what space is behind them.
    if line.at[0] != c'"':
        return False
    line.at += 1
    if not pass_string(line) or after_space(line) != c':':
        return False
    line.at += 1
    after_space(line)
    return True


cdef inline bint pass_scalar(Line* line) noexcept nogil:
    cdef Number number
    if line.at[0] == c'"':
        line.at += 1
        return pass_string(line)
    if line.at[0] == c'-' or is_digit(line.at[0]):
        return pass_number(line, &number)
    return pass_literal(line)


cdef bint pass_value(Line* line) noexcept nogil:
    # A value that nobody wants.
    cdef uint64_t objects = 0       # the lowest bit: whether the innermost container is one
    cdef int depth = 0
    cdef uint8_t c
    while True:
        c = line.at[0]
        if c == c'{' or c == c'[':
            depth += 1
            if depth > DEEPEST:
                return False
            objects = objects << 1 | (c == c'{')
            line.at += 1
            if after_space(line) != (c'}' if objects & 1 else c']'):
                if objects & 1 and not pass_name(line):
                    return False
                continue
        elif not pass_scalar(line):
            return False
        while True:                 # behind a value, or before the end of an empty container
            if depth == 0:
                return True
            c = after_space(line)
            if c == c',' :
                break
            if c != (c'}' if objects & 1 else c']'):
                return False
            line.at += 1
            objects >>= 1
            depth -= 1
        line.at += 1
        after_space(line)
        if objects & 1 and not pass_name(line):
            return False


# ---- members

cdef inline bint take_bytes(Line* line, Member* member, const uint8_t* out) noexcept nogil:
    # A string.
    cdef const uint8_t* begin = line.out
    line.at += 1
    member.kind = STRING
    member.value = begin - out
    if not take_string(line):
        return False
    member.size = line.out - begin
    return True


cdef bint take_scalar(Line* line, Member* member, const uint8_t* out) noexcept nogil:
    # A number or a literal, which is copied where it is none of the usual ones.
    cdef const uint8_t* begin = line.at
    cdef Number number
    if begin[0] == c'-' or is_digit(begin[0]):
        if not pass_number(line, &number):
            return False
        member.kind = number.kind
        member.value = number.value
        if number.kind == INTEGER or number.kind == REAL:
            return True
    elif not pass_literal(line):
        return False
    elif begin[0] == c'n':
        member.kind = NULL_VALUE
        return True
    else:
        member.kind = TOKEN
    member.value = line.out - out
    member.size = line.at - begin
    memcpy(line.out, begin, member.size)
    line.out += member.size
    return True


cdef inline bint is_named(const uint8_t* name, Py_ssize_t size, const Key* key) noexcept nogil:
    return size == key.size and memcmp(name, key.name, size) == 0


cdef bint take_member(
    Line* line, const Wanted* wanted, Found* found, const uint8_t* out
) noexcept nogil:
    cdef const uint8_t* name = line.at + 1
    cdef Py_ssize_t size
    cdef Member* member = NULL
    cdef int i
    if line.at[0] != c'"':
        return False
    line.at += 1
    pass_some(line, NULL, False)
    if line.at[0] != c'"':          # with a backslash, it may be one that is wanted
        return False
    size = line.at - name
    line.at += 1
    if after_space(line) != c':':
        return False
    line.at += 1
    after_space(line)
    for i in range(wanted.n):
        if is_named(name, size, &wanted.keys[i]):
            member = &found.members[i]
            break
    if member == NULL:
        return pass_value(line)
    if line.at[0] == c'"':
        return take_bytes(line, member, out)
    return take_scalar(line, member, out)


cdef bint take_line(
    Line* line, const uint8_t* end, const Wanted* wanted, Found* found, const uint8_t* out
) noexcept nogil:
    # Whether a line is an object, from its begin to its line feed.
    cdef const uint8_t* begin = line.at
    cdef uint8_t c
    cdef int i
    for i in range(wanted.n):
        found.members[i].kind = ABSENT
    line.high = 0
    if after_space(line) != c'{':
        return False
    line.at += 1
    if after_space(line) == c'}':
        line.at += 1
    else:
        while True:
            if not take_member(line, wanted, found, out):
                return False
            c = after_space(line)
            line.at += 1
            if c != c',':
                break
            after_space(line)
        if c != c'}':
            return False
    after_space(line)
    return line.at == end - 1 and (line.high == 0 or is_strict_utf8(begin, end))


cdef bint is_usual(const Found* found, const Wanted* wanted) noexcept nogil:
    # Whether the values are of types that are right.
    cdef int i
    cdef uint8_t kind = found.members[0].kind
    if kind != STRING and kind != NULL_VALUE:
        return False
    for i in range(2, wanted.n):
        kind = found.members[i].kind
        if kind == ABSENT or kind == NULL_VALUE:
            return False
        if i < wanted.labels and (kind == STRING or kind == TOKEN):
            return False
    return True


cdef Py_ssize_t json_line(
    const uint8_t* data, Py_ssize_t size, const Wanted* wanted, uint8_t* out, Py_ssize_t used,
    Found* found
) noexcept nogil:
    # Takes one line, which ends with a line feed; returns how many bytes of `out` are used.
    cdef Line line
    line.at = data
    line.out = out + used
    if take_line(&line, data + size, wanted, found, out) and is_usual(found, wanted):
        return line.out - out
    found.members[0].kind = REFUSED
    return used
