# The pinned tables of Unicode, read: properties, mappings and the forms' arithmetic.

from libc.stdint cimport uint16_t, uint32_t

from fastlsh._kernels.text._normal cimport (
    canonical, canonical_index, compatible, compatible_index, composites, lowercase,
    lowercase_index, n_composites, pool, properties, properties_index,
)

cdef enum:
    # Of a code point: the combining class in the lowest byte, and
    COMBINING = 0xFF
    IS_SPACE = 1 << 8
    IS_MARK = 1 << 9                # nonspacing, Mn
    IS_DIGIT = 1 << 10              # decimal, Nd
    IS_CASED = 1 << 11
    IS_IGNORABLE = 1 << 12          # Case_Ignorable
    IS_PUNCTUATION = 1 << 13        # P*, and the other marks of ASCII
    IS_WORD = 1 << 14               # letter, number or underscore
    QUICK = 15                      # the first of four bits: surely in NFC, NFD, NFKC, NFKD
    IS_ANY_MARK = 1 << 19           # M
    IS_APART = 1 << 20              # letter of scripts that are written without spaces
    # Hangul syllables, by arithmetic
    SYLLABLES = 0xAC00
    LEADING = 0x1100
    VOWELS = 0x1161
    TRAILING = 0x11A7
    N_SYLLABLES = 11172
    N_LEADING = 19
    N_VOWELS = 21
    N_TRAILING = 28

cdef enum Form:
    NO_FORM = -1
    NFC = 0
    NFD = 1
    NFKC = 2
    NFKD = 3


cdef inline uint32_t properties_of(uint32_t c) noexcept nogil:
    return properties[properties_index[c >> 7] * 128 + (c & 127)]


cdef inline uint32_t lowercase_of(uint32_t c) noexcept nogil:
    return c + lowercase[lowercase_index[c >> 7] * 128 + (c & 127)]


cdef inline int apart(uint32_t c, bint compatibly, uint32_t* out) noexcept nogil:
    """Write the full decomposition of a code point, at most 18; return how many."""
    cdef uint32_t place
    cdef int i
    if c < 0xA0:
        out[0] = c
        return 1
    if c - SYLLABLES < N_SYLLABLES:
        c -= SYLLABLES
        out[0] = LEADING + c // (N_VOWELS * N_TRAILING)
        out[1] = VOWELS + c // N_TRAILING % N_VOWELS
        out[2] = TRAILING + c % N_TRAILING
        return 2 + (c % N_TRAILING != 0)
    if compatibly:
        place = compatible[compatible_index[c >> 7] * 128 + (c & 127)]
    else:
        place = canonical[canonical_index[c >> 7] * 128 + (c & 127)]
    if place == 0:
        out[0] = c
        return 1
    for i in range(<int> pool[place]):
        out[i] = pool[place + 1 + i]
    return <int> pool[place]


cdef inline uint32_t together(uint32_t a, uint32_t b) noexcept nogil:
    """Return the code point that NFC makes of two, or 0."""
    cdef Py_ssize_t low = 0
    cdef Py_ssize_t high = n_composites
    cdef Py_ssize_t middle
    cdef const uint32_t* triple
    if a - LEADING < N_LEADING and b - VOWELS < N_VOWELS:
        return SYLLABLES + ((a - LEADING) * N_VOWELS + b - VOWELS) * N_TRAILING
    if a - SYLLABLES < N_SYLLABLES and b - TRAILING < N_TRAILING and b != TRAILING:
        return a + b - TRAILING if (a - SYLLABLES) % N_TRAILING == 0 else 0
    while low < high:
        middle = (low + high) // 2
        triple = composites + 3 * middle
        if triple[0] == a and triple[1] == b:
            return triple[2]
        if triple[0] < a or (triple[0] == a and triple[1] < b):
            low = middle + 1
        else:
            high = middle
    return 0
