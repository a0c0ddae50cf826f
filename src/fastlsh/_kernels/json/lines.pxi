# Lines of JSON: the members that are wanted, as strict as the json module is. Each line ends with
# a line feed, which nothing in it can pass, and PADDING bytes behind it can be read.
# With strings.pxi and numbers.pxi.

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcmp, memcpy

from fastlsh._kernels.json.rows cimport (
    ABSENT, INTEGER, LONG_REAL, MESSAGES, NULL_VALUE, REAL, REFUSED, STRING, TOKEN, Found, Key,
    Line, Member, Number, Place, Wanted,
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


cdef inline bint take_plain(Line* line, Key* string) noexcept nogil:
    # A string without escapes, as it stands in the line.
    if line.at[0] != c'"':
        return False
    line.at += 1
    string.name = line.at
    pass_some(line, NULL, False)
    string.size = line.at - string.name
    if line.at[0] != c'"':
        return False
    line.at += 1
    return True


cdef inline bint take_name(Line* line, Key* name) noexcept nogil:
    # A key, its colon, and the space behind them. A key with an escape may be a wanted one: False.
    if not take_plain(line, name) or after_space(line) != c':':
        return False
    line.at += 1
    after_space(line)
    return True


cdef bint take_member(
    Line* line, const Wanted* wanted, Found* found, const uint8_t* out
) noexcept nogil:
    cdef Key name
    cdef int i
    if not take_name(line, &name):
        return False
    for i in range(wanted.n):
        if is_named(name.name, name.size, &wanted.keys[i]):
            if i < wanted.texts:
                return take_text(line, wanted, found, i, out)
            return take_value(line, &found.members[i], out)
    return pass_value(line)


cdef inline bint take_value(Line* line, Member* member, const uint8_t* out) noexcept nogil:
    if line.at[0] == c'"':
        return take_bytes(line, member, out)
    return take_scalar(line, member, out)


cdef bint take_text(
    Line* line, const Wanted* wanted, Found* found, int which, const uint8_t* out
) noexcept nogil:
    # A text, or a chat. One of several is written to the pieces.
    cdef uint8_t* behind = line.out
    cdef Member* member = &found.members[which]
    cdef bint good
    if wanted.texts > 1:
        line.out = found.pieces_end
        out = found.pieces
    if wanted.messages and line.at[0] == c'[':
        good = take_messages(line, wanted, member, out)
    else:
        good = take_value(line, member, out)
    if wanted.texts > 1:
        found.pieces_end = line.out
        line.out = behind
    return good


# ---- messages of a chat

cdef bint take_messages(
    Line* line, const Wanted* wanted, Member* member, const uint8_t* out
) noexcept nogil:
    # An array of messages, of which the contents are joined.
    cdef const uint8_t* begin = line.out
    cdef uint8_t c
    line.at += 1
    if after_space(line) == c']':
        line.at += 1
    else:
        while True:
            if not take_message(line, wanted, begin):
                return False
            c = after_space(line)
            line.at += 1
            if c != c',':
                break
            after_space(line)
        if c != c']':
            return False
    member.kind = MESSAGES
    member.value = begin - out
    member.size = line.out - begin
    return True


cdef bint take_message(Line* line, const Wanted* wanted, const uint8_t* begin) noexcept nogil:
    # An object with a role, a string, and a content, a string or null, under one pair of names.
    cdef uint8_t* behind = line.out
    cdef Key name, role
    cdef bint has_content = False
    cdef bint first = False     # pair of names
    cdef bint second = False
    cdef uint8_t c
    role.size = -1
    if line.at[0] != c'{':
        return False
    line.at += 1
    after_space(line)
    while True:
        if not take_name(line, &name):
            return False
        if has_name(&name, b"role", 4) or has_name(&name, b"from", 4):
            first |= name.name[0] == c'r'
            second |= name.name[0] == c'f'
            if not take_plain(line, &role):
                return False
        elif has_name(&name, b"content", 7) or has_name(&name, b"value", 5):
            first |= name.name[0] == c'c'
            second |= name.name[0] == c'v'
            has_content = True
            line.out = behind           # of repeated names, the last counts
            if not take_content(line, wanted, begin):
                return False
        elif not pass_value(line):
            return False
        c = after_space(line)
        line.at += 1
        if c != c',':
            break
        after_space(line)
    if c != c'}' or role.size < 0 or not has_content or (first and second):
        return False
    if not is_role_wanted(wanted, &role):
        line.out = behind
    return True


cdef inline bint has_name(const Key* name, const char* other, Py_ssize_t size) noexcept nogil:
    return name.size == size and memcmp(name.name, other, size) == 0


cdef inline bint take_content(
    Line* line, const Wanted* wanted, const uint8_t* begin
) noexcept nogil:
    # Behind the contents before it, if there are any. An empty one is left out.
    cdef uint8_t* behind = line.out
    cdef const uint8_t* start
    if line.at[0] != c'"':
        return line.at[0] == c'n' and pass_literal(line)
    line.at += 1
    if behind > begin and wanted.join.size:
        memcpy(behind, wanted.join.name, wanted.join.size)
        line.out += wanted.join.size
    start = line.out
    if not take_string(line):
        return False
    if line.out == start:
        line.out = behind
    return True


cdef inline bint is_role_wanted(const Wanted* wanted, const Key* role) noexcept nogil:
    cdef int i
    for i in range(wanted.n_roles):
        if is_named(role.name, role.size, &wanted.roles[i]):
            return True
    return wanted.n_roles == 0


# ---- lines


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
    cdef uint8_t kind
    cdef bint strings = True
    for i in range(wanted.texts):
        kind = found.members[i].kind
        if kind != STRING and kind != NULL_VALUE and kind != MESSAGES:
            return False
        strings &= kind == STRING
    if strings and wanted.n_roles:      # for which there are no messages
        return False
    for i in range(wanted.texts + 1, wanted.n):
        kind = found.members[i].kind
        if i < wanted.labels and kind != INTEGER and kind != REAL and kind != LONG_REAL:
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
    found.pieces_end = found.pieces
    if take_line(&line, data + size, wanted, found, out) and is_usual(found, wanted):
        return line.out - out
    found.members[wanted.texts - 1].kind = REFUSED
    return used


cdef bint json_place(
    const uint8_t* data, Py_ssize_t size, const Key* key, Place* place
) noexcept nogil:
    # Find the value of a key, and of a repeated key the last one; False: the line is unusual.
    cdef Line line
    cdef Key name
    cdef const uint8_t* begin
    cdef uint8_t c
    place.start = -1
    line.at = data
    line.high = 0
    if after_space(&line) != c'{':
        return False
    line.at += 1
    after_space(&line)
    while True:
        if not take_name(&line, &name):
            return False
        begin = line.at
        if not pass_value(&line):
            return False
        if is_named(name.name, name.size, key):
            place.start = begin - data
            place.stop = line.at - data
        c = after_space(&line)
        line.at += 1
        if c != c',':
            break
        after_space(&line)
    if c != c'}' or place.start < 0:
        return False
    after_space(&line)
    place.ascii = line.high == 0
    return line.at == data + size - 1
