# Modulo the prime 2^61 - 1; the minima of (a * h + b mod 2^64) modulo it, of which datatrove makes
# its signatures.

from libc.stdint cimport int64_t, uint64_t

from fastlsh._kernels.common.compiler cimport noinline_void


cdef inline int64_t modulo_prime61(uint64_t t) noexcept nogil:
    # Modulo 2^61 - 1. Signed, for older vectors compare only signed numbers.
    cdef int64_t prime = <int64_t> 0x1FFFFFFFFFFFFFFF
    cdef int64_t r = <int64_t> ((t & <uint64_t> prime) + (t >> 61))
    return r - prime if r >= prime else r


cdef noinline_void prime61_element(
    uint64_t h, const uint64_t* a, const uint64_t* b, Py_ssize_t k, int64_t* row
) noexcept nogil:
    # All functions of one element.
    cdef int64_t v
    cdef Py_ssize_t j
    for j in range(k):
        v = modulo_prime61(a[j] * h + b[j])
        row[j] = v if v < row[j] else row[j]


cdef void permute_prime61(
    const uint64_t* hashes, Py_ssize_t n, const uint64_t* a, const uint64_t* b, Py_ssize_t k,
    uint64_t* row
) noexcept nogil:
    cdef Py_ssize_t i, j
    for j in range(k if n else 0):      # a value that no element can have gives way to any
        row[j] = min(row[j], <uint64_t> 1 << 61)
    for i in range(n):
        prime61_element(hashes[i], a, b, k, <int64_t*> row)
