# Strings of a line of JSON, which ends with a line feed that nothing can pass. With numbers.pxi.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fastlsh._kernels.json.masks cimport at_least, equal, first_bit
from fastlsh._kernels.json.rows cimport Line
from fastlsh._kernels.text.encoding cimport put_utf8_point


cdef inline uint64_t ends_in(const uint8_t* p) noexcept nogil:
    # Quotes, backslashes, and what may not be in a string.
    return equal(p, c'"') | equal(p, c'\\') | ~at_least(p, 32)


cdef inline bint pass_some(Line* line, uint8_t** out, bint copies) noexcept nogil:
    # Up to a quote, a backslash or a control character.
    cdef const uint8_t* p = line.at
    cdef uint64_t ends, high
    while True:
        if copies:
            memcpy(out[0], p, 64)
        ends = ends_in(p)
        high = at_least(p, 0x80)
        if ends:
            break
        line.high |= high
        p += 64
        if copies:
            out[0] += 64
    line.high |= high & (ends ^ (ends - 1))
    line.at = p + first_bit(ends)
    if copies:
        out[0] += first_bit(ends)
    return True


cdef inline int hex_digit(uint8_t c) noexcept nogil:
    if is_digit(c):
        return c - 48
    c |= 32
    return c - 87 if <uint8_t> (c - 97) < 6 else -1


cdef inline int64_t hex_at(const uint8_t* p) noexcept nogil:
    # Four digits; below 0: they are not.
    cdef int64_t value = 0
    cdef int i, digit
    for i in range(4):
        digit = hex_digit(p[i])
        if digit < 0:
            return -1
        value = value << 4 | digit
    return value


cdef inline uint8_t meaning(uint8_t c) noexcept nogil:
    # Of the character behind a backslash; 0: it has none.
    if c == c'n':
        return 10
    if c == c'"' or c == c'\\' or c == c'/':
        return c
    if c == c't':
        return 9
    if c == c'r':
        return 13
    if c == c'b':
        return 8
    return 12 if c == c'f' else 0


cdef inline bint pass_escape(Line* line) noexcept nogil:
    # From a backslash on, of a string that nobody wants: alone, a surrogate is right.
    cdef const uint8_t* p = line.at + 1
    if p[0] == c'u':
        line.at = p + 5
        return hex_at(p + 1) >= 0
    line.at = p + 1
    return meaning(p[0]) != 0


cdef inline bint take_escape(Line* line, uint8_t** place) noexcept nogil:
    cdef const uint8_t* p = line.at + 1
    cdef uint8_t* out = place[0]
    cdef int64_t c, low
    if p[0] != c'u':
        out[0] = meaning(p[0])
        line.at = p + 1
        place[0] = out + 1
        return out[0] != 0
    c = hex_at(p + 1)
    p += 5
    if c < 0:
        return False
    if c >> 11 == 0x1B:         # a surrogate
        if c >> 10 != 0x36 or p[0] != c'\\' or p[1] != c'u':
            return False
        low = hex_at(p + 2)
        if low >> 10 != 0x37:
            return False
        p += 6
        c = 0x10000 + ((c & 0x3FF) << 10 | (low & 0x3FF))
    line.at = p
    place[0] = put_utf8_point(out, <uint32_t> c)
    return True


cdef bint pass_string(Line* line) noexcept nogil:
    # From behind the opening quote to behind the closing one.
    while pass_some(line, NULL, False):
        if line.at[0] == c'"':
            line.at += 1
            return True
        if line.at[0] != c'\\' or not pass_escape(line):
            break
    return False


cdef bint take_string(Line* line) noexcept nogil:
    # The same; writes it as UTF-8.
    cdef uint8_t* out = line.out
    while pass_some(line, &out, True):
        if line.at[0] == c'"':
            line.at += 1
            line.out = out
            return True
        if line.at[0] != c'\\' or not take_escape(line, &out):
            break
    return False


cdef bint is_strict_utf8(const uint8_t* p, const uint8_t* end) noexcept nogil:
    # Of a line: behind its end only what it lacks matters, for a line feed continues nothing.
    cdef uint64_t carry = 0     # places of the next 64 that must continue a character
    cdef uint64_t e0 = 0
    cdef uint64_t ed = 0
    cdef uint64_t f0 = 0
    cdef uint64_t f4 = 0
    cdef uint64_t high, lead, three, four, after_e0, after_ed, after_f0, after_f4, wrong, valid
    while p < end:
        high = at_least(p, 0x80)
        if high | carry == 0:
            p += 64
            continue
        valid = ~<uint64_t> 0 if end - p >= 64 else (<uint64_t> 1 << (end - p)) - 1
        lead = at_least(p, 0xC0)
        three = at_least(p, 0xE0)
        four = at_least(p, 0xF0)
        wrong = (lead << 1 | three << 2 | four << 3 | carry) ^ (high & ~lead)
        wrong |= lead & ~at_least(p, 0xC2)
        carry = lead >> 63 | three >> 62 | four >> 61
        if three | e0 | ed | f0 | f4:
            after_e0, e0 = e0, three & ~at_least(p, 0xE1)
            after_ed, ed = ed, equal(p, 0xED)
            after_f0, f0 = f0, four & ~at_least(p, 0xF1)
            after_f4, f4 = f4, equal(p, 0xF4)
            after_e0 |= e0 << 1
            after_ed |= ed << 1
            after_f0 |= f0 << 1
            after_f4 |= f4 << 1
            wrong |= after_e0 & ~at_least(p, 0xA0)
            wrong |= after_ed & at_least(p, 0xA0)
            wrong |= after_f0 & ~at_least(p, 0x90)
            wrong |= after_f4 & at_least(p, 0x90)
            wrong |= at_least(p, 0xF5)
            e0 >>= 63
            ed >>= 63
            f0 >>= 63
            f4 >>= 63
        if wrong & valid:
            return False
        p += 64
    return True
