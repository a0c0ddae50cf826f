# The minima of k functions h_j(x) = a_j * x + b_j mod 2^32 over the shingles of a document.

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastlsh._kernels.common.compiler cimport noinline_void
from fastlsh._kernels.common.mixing cimport fold
from fastlsh._kernels.minhash.signer cimport WIDE, Signer
from fastlsh._kernels.text.source cimport BLOCK, Source

cdef enum:
    NARROW = 32     # not 16: gcc would take a loop of 16 apart before it makes vectors of it

# A fixed count of lanes, shingles outside and lanes inside: compilers turn that into vector
# code at the speed of hand-written intrinsics, for each instruction set.

cdef noinline_void minima_wide(
    const uint32_t* x, Py_ssize_t n, const uint32_t* a, const uint32_t* b, uint32_t* row
) noexcept nogil:
    cdef uint32_t m[WIDE]
    cdef uint32_t h
    cdef Py_ssize_t i, j
    for j in range(WIDE):
        m[j] = row[j]
    for i in range(n):
        for j in range(WIDE):
            h = a[j] * x[i] + b[j]
            m[j] = h if h < m[j] else m[j]
    for j in range(WIDE):
        row[j] = m[j]


cdef noinline_void minima_narrow(
    const uint32_t* x, Py_ssize_t n, const uint32_t* a, const uint32_t* b,
    uint32_t* row, Py_ssize_t width
) noexcept nogil:
    cdef uint32_t m[NARROW]
    cdef uint32_t c[NARROW]
    cdef uint32_t d[NARROW]
    cdef uint32_t h
    cdef Py_ssize_t i, j
    memset(m, 0xFF, sizeof(m))
    memset(c, 0, sizeof(c))
    memset(d, 0, sizeof(d))
    memcpy(m, row, width * sizeof(uint32_t))
    memcpy(c, a, width * sizeof(uint32_t))
    memcpy(d, b, width * sizeof(uint32_t))
    for i in range(n):
        for j in range(NARROW):
            h = c[j] * x[i] + d[j]
            m[j] = h if h < m[j] else m[j]
    memcpy(row, m, width * sizeof(uint32_t))


cdef void minima(
    const uint32_t* x, Py_ssize_t n, const uint32_t* a, const uint32_t* b,
    Py_ssize_t k, uint32_t* row
) noexcept nogil:
    cdef Py_ssize_t j = 0
    while j + WIDE <= k:
        minima_wide(x, n, a + j, b + j, row + j)
        j += WIDE
    while j < k:
        minima_narrow(x, n, a + j, b + j, row + j, min(k - j, <Py_ssize_t> NARROW))
        j += NARROW


cdef noinline_void fold_block(const uint64_t* hashes, Py_ssize_t n, uint32_t* x) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        x[i] = fold(hashes[i])


cdef void sign_affine32(const Source* document, const Signer* how, uint32_t* row) noexcept nogil:
    cdef uint64_t block[BLOCK]
    cdef uint32_t x[BLOCK]
    cdef Source s = document[0]
    cdef Py_ssize_t n = s.next(&s, block)
    while n:
        fold_block(block, n, x)
        minima(x, n, how.a, how.b, how.k, row)
        n = s.next(&s, block)
