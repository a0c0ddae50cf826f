# Names that a line of JSON must not have as keys. With strings.pxi.

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcmp

from fastlsh._kernels.json.masks cimport equal, first_bit
from fastlsh._kernels.json.rows cimport Key, Names


cdef inline bint begins_name(
    const uint8_t* p, const uint8_t* end, const Names* names
) noexcept nogil:
    # Whether one of the names and a quote are here, behind a quote.
    cdef const Key* name
    cdef int i
    for i in range(names.n):
        name = &names.keys[i]
        if end - p > name.size and p[name.size] == c'"' and memcmp(p, name.name, name.size) == 0:
            return True
    return False


cdef inline bint is_letter_escape(const uint8_t* p, uint8_t lowest) noexcept nogil:
    # Whether a backslash begins an escape that may stand for a character of a name.
    return lowest == 0 or (p[2] == c'0' and p[3] == c'0' and lowest <= p[4] <= c'7')


cdef inline uint64_t suspects(const uint8_t* p, const Names* names) noexcept nogil:
    # Quotes before the first character of a name, and backslashes of escapes.
    cdef uint64_t first = 0
    cdef uint64_t escapes = equal(p, c'\\')
    cdef int i
    for i in range(names.n_first):
        first |= equal(p + 1, names.first[i])
    if names.lowest:
        escapes &= equal(p + 1, c'u')
    return (equal(p, c'"') & first) | escapes


cdef bint may_have_name(const uint8_t* line, Py_ssize_t size, const Names* names) noexcept nogil:
    # Of a line that ends with a line feed; PADDING bytes behind it can be read.
    cdef const uint8_t* p = line
    cdef const uint8_t* end = line + size
    cdef const uint8_t* at
    cdef uint64_t places
    while p < end:
        places = suspects(p, names)
        if end - p < 64:
            places &= (<uint64_t> 1 << (end - p)) - 1
        while places:
            at = p + first_bit(places)
            places &= places - 1
            if at[0] == c'\\':
                if is_letter_escape(at, names.lowest):
                    return True
            elif begins_name(at + 1, end, names):
                return True
        p += 64
    return False
