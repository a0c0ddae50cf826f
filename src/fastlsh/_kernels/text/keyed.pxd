# Hashing with a key: the fingerprints of Rabin (1981).
#
# A hash is a polynomial over GF(2) of less than 64 terms, in the bits of a word, modulo an
# irreducible one that is secret. Each byte of a code point has a secret summand: see
# docs/signature-spec.md, section 11.

from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from fastlsh._kernels.common.mixing cimport UNITS, Mixer, mixed_by
from fastlsh._kernels.text._texts cimport code_unit

cdef enum:
    SHORT = 10                  # code points looked up at once: most words, and shingles of 9
    KNOWN_IDS = 1 << 17         # token ids whose hashes are kept: nearly all of most vocabularies
    BASIC_POINTS = 1 << 16      # code points of plane 0
    BASIC_TABLE = BASIC_POINTS + 128    # so that tables in a row use different lines of a cache
    KNOWN_POINTS = 1 << 17      # code points: planes 0 and 1, nearly all text, emoji included
    SECRET = 4 + 256 + 255 + 16     # numbers that a key gives: modulus, mixer, summands

cdef struct Keyed:
    uint64_t modulus                    # without its term x^64
    uint64_t point[3][256]              # what each byte of a code point adds, the lowest first
    uint64_t leaving[3][256]            # the same times x^(size - 1)
    uint64_t reduced[256]               # [t]: t times x^64
    uint64_t placed[SHORT][256]         # [j][c]: the Latin-1 code point c, times x^j
    uint64_t cleared[SHORT + 1]         # [m]: what the others of SHORT bytes add that are cleared
    # [j][t]: t in byte j, times x^size; if size <= 32, only what becomes x^64 or more of it
    uint64_t beyond[8][256]
    uint64_t quotient                   # of x^(size + 64) by the whole modulus, if size < 64
    const uint64_t* ids                 # of the unit TOKEN_IDS
    const uint64_t* entered             # what each code point < KNOWN_POINTS adds
    const uint64_t* basic               # [j][c]: the same times x^j, for words: SHORT tables
    const uint64_t* left                # the same times x^(size - 1), of the unit CHARACTERS


cdef inline uint64_t carried(uint64_t h, uint64_t modulus) noexcept nogil:
    # What the uppermost term of h becomes when it is multiplied by x.
    return <uint64_t> (<int64_t> h >> 63) & modulus


cdef inline uint64_t times_x(uint64_t h, uint64_t modulus) noexcept nogil:
    return (h << 1) ^ carried(h, modulus)


cdef inline uint64_t times_few(const Keyed* key, uint64_t h, Py_ssize_t n) noexcept nogil:
    # h * x^n, where 1 <= n <= 8.
    return (h << n) ^ key.reduced[h >> (64 - n)]


cdef inline uint64_t of_point(const Keyed* key, code_unit c) noexcept nogil:
    if code_unit is uint8_t:
        return key.point[0][c]
    elif code_unit is uint16_t:
        return key.entered[c]
    elif c < KNOWN_POINTS:
        return key.entered[c]
    else:
        return key.entered[c & 0xFFFF] ^ key.point[2][(c >> 16) & 0xFF]


cdef inline uint64_t of_leaving(const Keyed* key, code_unit c) noexcept nogil:
    if code_unit is uint8_t:
        return key.leaving[0][c]
    elif code_unit is uint16_t:
        return key.left[c]
    elif c < KNOWN_POINTS:
        return key.left[c]
    else:
        return key.left[c & 0xFFFF] ^ key.leaving[2][(c >> 16) & 0xFF]


cdef inline uint64_t keyed_points(
    const Keyed* key, const code_unit* text, Py_ssize_t n
) noexcept nogil:
    # Of a run of n code points, with n * UNITS: the mixer makes the hash of it.
    cdef uint64_t h = 0
    cdef Py_ssize_t i
    for i in range(n):
        # In this order the new code point waits for nothing, and h but three instructions.
        h = (h << 1 ^ of_point(key, text[i])) ^ carried(h, key.modulus)
    return h + <uint64_t> n * UNITS


cdef inline uint64_t keyed_id(const Keyed* key, const Mixer* mixer, uint64_t number) noexcept nogil:
    # The word of its decimal digits.
    cdef uint8_t digits[20]
    cdef Py_ssize_t n = 20
    while True:
        n -= 1
        digits[n] = <uint8_t> (48 + number % 10)
        number //= 10
        if number == 0:
            return mixed_by(mixer, keyed_points(key, &digits[n], 20 - n))
