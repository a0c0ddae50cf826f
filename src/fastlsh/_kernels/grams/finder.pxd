# What finds n-grams: their hashes in a table, and a filter before it.

from libc.stdint cimport int64_t, uint64_t

from fastlsh._kernels.common.mixing cimport UNITS, WORD_BASE, fmix64

cdef enum:
    WINDOWS = 256           # n-grams whose words of the filter are fetched together


cdef struct Filter:
    const uint64_t* words   # of each key, two bits of one word
    int shift               # 64 - the binary logarithm of the number of words


cdef struct Finder:
    Py_ssize_t size         # units of an n-gram
    Py_ssize_t least        # units of the shortest gram
    uint64_t power          # WORD_BASE to the power size - 1
    uint64_t least_power
    uint64_t mask           # of a hash, these bits are used
    Filter grams            # of all n-grams of `size` units
    Filter beginnings       # of the first `least` units of shorter grams
    const int64_t* shorter  # the sizes of these, ascending
    Py_ssize_t n_shorter
    const uint64_t* slots   # hashes of all grams, open addressing; 0: free
    const int64_t* numbers
    int shift


cdef inline uint64_t finished(uint64_t h, Py_ssize_t units, uint64_t mask) noexcept nogil:
    h = fmix64(h + <uint64_t> units * UNITS) & mask
    return h if h else 1


cdef inline uint64_t gram_hash(
    const uint64_t* unit, Py_ssize_t units, uint64_t mask
) noexcept nogil:
    cdef uint64_t h = 0
    cdef Py_ssize_t i
    for i in range(units):
        h = h * WORD_BASE + unit[i]
    return finished(h, units, mask)


cdef inline uint64_t filter_bits(uint64_t h) noexcept nogil:
    return <uint64_t> 1 << (h & 63) | <uint64_t> 1 << (h >> 6 & 63)


cdef inline uint64_t filter_word(const Filter* keys, uint64_t h) noexcept nogil:
    return h * <uint64_t> 0x9E3779B97F4A7C15 >> keys.shift


cdef inline bint passes(const Filter* keys, uint64_t h) noexcept nogil:
    cdef uint64_t bits = filter_bits(h)
    return keys.words[filter_word(keys, h)] & bits == bits
