# Numbers and literals of a line of JSON.

from libc.stdint cimport INT64_MAX, int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memcpy

from fastlsh._kernels.json.rows cimport INTEGER, LONG_REAL, REAL, TOKEN, Line, Number

cdef enum:
    MOST_DIGITS = 640   # Python takes so many in an integer, however it is told to limit them

cdef double[23] POWERS
POWERS[:] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
]


cdef inline bint is_digit(uint8_t c) noexcept nogil:
    return <uint8_t> (c - 48) < 10


cdef inline void pass_digits(const uint8_t** place) noexcept nogil:
    while is_digit(place[0][0]):
        place[0] += 1


cdef bint pass_number(Line* line, Number* number) noexcept nogil:
    cdef const uint8_t* p = line.at
    cdef const uint8_t* digits
    cdef const uint8_t* fraction
    cdef uint64_t value = 0
    cdef int64_t exponent = 0
    cdef int64_t shown
    cdef bint negative = p[0] == c'-'
    cdef bint less
    p += negative
    number.kind = TOKEN
    if p[0] == c'I':
        line.at = p + 8
        return memcmp(p, b"Infinity", 8) == 0
    digits = p
    while is_digit(p[0]):
        value = value * 10 + (p[0] - 48)
        p += 1
    if p == digits or p - digits > MOST_DIGITS or (digits[0] == c'0' and p > digits + 1):
        return False
    line.at = p
    if p[0] != c'.' and p[0] | 32 != c'e':
        if p - digits < 19 or (p - digits == 19 and value <= <uint64_t> INT64_MAX):
            number.kind = INTEGER
            number.value = -<int64_t> value if negative else <int64_t> value
        return True
    shown = p - digits
    if p[0] == c'.':
        p += 1
        fraction = p
        while is_digit(p[0]):
            value = value * 10 + (p[0] - 48)
            p += 1
        if p == fraction:
            return False
        shown += p - fraction
        exponent = fraction - p
    if p[0] | 32 == c'e':
        p += 1
        less = p[0] == c'-'
        p += less or p[0] == c'+'
        digits = p
        line.at = p
        pass_digits(&p)
        if p == digits:
            return False
        if p - digits > 3:
            shown = MOST_DIGITS     # far from what is exact
        else:
            exponent += signed_number(digits, p, less)
    line.at = p
    number.kind = LONG_REAL
    # Both are exact, so that the result is the nearest double: what `float` returns.
    if shown <= 15 and -22 <= exponent <= 22:
        number.kind = REAL
        number.value = bits_of_real(value, exponent, negative)
    return True


cdef inline int64_t signed_number(
    const uint8_t* p, const uint8_t* end, bint negative
) noexcept nogil:
    cdef int64_t value = 0
    while p < end:
        value = value * 10 + (p[0] - 48)
        p += 1
    return -value if negative else value


cdef inline int64_t bits_of_real(uint64_t digits, int64_t exponent, bint negative) noexcept nogil:
    cdef double value = <double> digits
    cdef int64_t bits
    if exponent < 0:
        value /= POWERS[-exponent]
    else:
        value *= POWERS[exponent]
    if negative:
        value = -value
    memcpy(&bits, &value, 8)
    return bits


cdef inline bint pass_word(Line* line, const char* word, int size) noexcept nogil:
    cdef const uint8_t* p = line.at
    line.at = p + size
    return memcmp(p, word, size) == 0


cdef bint pass_literal(Line* line) noexcept nogil:
    cdef uint8_t c = line.at[0]
    if c == c't':
        return pass_word(line, b"true", 4)
    if c == c'f':
        return pass_word(line, b"false", 5)
    if c == c'n':
        return pass_word(line, b"null", 4)
    if c == c'N':
        return pass_word(line, b"NaN", 3)
    return c == c'I' and pass_word(line, b"Infinity", 8)
