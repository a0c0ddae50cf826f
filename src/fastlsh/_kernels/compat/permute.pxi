# Minima of the 64-bit permutations of datasketch and datatrove over the element hashes of a set.
# With minima.pxi and prime61.pxi.

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastlsh._kernels.common.compiler cimport noinline_void
from fastlsh._kernels.common.mixing cimport fmix32, fmix64
from fastlsh._kernels.compat.functions cimport Functions
from fastlsh._kernels.minhash.signer cimport AFFINE32, AFFINE64, PRIME61, WIDE
from fastlsh._kernels.text.source cimport BLOCK

cdef enum:
    WIDE_64 = 32
    NARROW_64 = 8
    LEGACY_FEW = 16     # so few elements that the filter would not pay
    LEGACY_GROUP = 16   # elements whose least filter value is remembered together


cdef noinline_void fmix32_block(const uint32_t* hashes, Py_ssize_t n, uint32_t* x) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        x[i] = fmix32(hashes[i])


cdef noinline_void fmix64_block(const uint64_t* hashes, Py_ssize_t n, uint64_t* x) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        x[i] = fmix64(hashes[i])


cdef void permute_affine32(
    const uint32_t* hashes, Py_ssize_t n, const uint32_t* a, const uint32_t* b, Py_ssize_t k,
    uint32_t* row
) noexcept nogil:
    cdef uint32_t x[BLOCK]
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t m
    while i < n:
        m = min(n - i, <Py_ssize_t> BLOCK)
        fmix32_block(hashes + i, m, x)
        minima(x, m, a, b, k, row)
        i += m


# ---- affine64: a * fmix64(h) + b mod 2^64

cdef noinline_void minima64_wide(
    const uint64_t* x, Py_ssize_t n, const uint64_t* a, const uint64_t* b, uint64_t* row
) noexcept nogil:
    cdef uint64_t m[WIDE_64]
    cdef uint64_t h
    cdef Py_ssize_t i, j
    for j in range(WIDE_64):
        m[j] = row[j]
    for i in range(n):
        for j in range(WIDE_64):
            h = a[j] * x[i] + b[j]
            m[j] = h if h < m[j] else m[j]
    for j in range(WIDE_64):
        row[j] = m[j]


cdef noinline_void minima64_narrow(
    const uint64_t* x, Py_ssize_t n, const uint64_t* a, const uint64_t* b,
    uint64_t* row, Py_ssize_t width
) noexcept nogil:
    cdef uint64_t m[NARROW_64]
    cdef uint64_t c[NARROW_64]
    cdef uint64_t d[NARROW_64]
    cdef uint64_t h
    cdef Py_ssize_t i, j
    memset(m, 0xFF, sizeof(m))
    memset(c, 0, sizeof(c))
    memset(d, 0, sizeof(d))
    memcpy(m, row, width * sizeof(uint64_t))
    memcpy(c, a, width * sizeof(uint64_t))
    memcpy(d, b, width * sizeof(uint64_t))
    for i in range(n):
        for j in range(NARROW_64):
            h = c[j] * x[i] + d[j]
            m[j] = h if h < m[j] else m[j]
    memcpy(row, m, width * sizeof(uint64_t))


cdef void permute_affine64(
    const uint64_t* hashes, Py_ssize_t n, const uint64_t* a, const uint64_t* b, Py_ssize_t k,
    uint64_t* row
) noexcept nogil:
    cdef uint64_t x[BLOCK]
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t j, m
    while i < n:
        m = min(n - i, <Py_ssize_t> BLOCK)
        fmix64_block(hashes + i, m, x)
        j = 0
        while j + WIDE_64 <= k:
            minima64_wide(x, m, a + j, b + j, row + j)
            j += WIDE_64
        while j < k:
            minima64_narrow(x, m, a + j, b + j, row + j, min(k - j, <Py_ssize_t> NARROW_64))
            j += NARROW_64
        i += m


# ---- legacy: ((a * h + b mod 2^64) mod (2^61 - 1)) mod 2^32

cdef inline int64_t legacy_value(uint64_t t) noexcept nogil:
    # Of t = a * h + b mod 2^64.
    return <int64_t> <uint32_t> modulo_prime61(t)


cdef noinline_void legacy_least(
    const uint64_t* hashes, Py_ssize_t n, uint64_t a, uint64_t b, uint64_t* least
) noexcept nogil:
    # One function over all elements.
    cdef int64_t m = <int64_t> least[0]
    cdef int64_t v
    cdef Py_ssize_t i
    for i in range(n):
        v = legacy_value(a * hashes[i] + b)
        m = v if v < m else m
    least[0] = <uint64_t> m


cdef noinline_void legacy_element(
    uint64_t h, const uint64_t* a, const uint64_t* b, Py_ssize_t k, uint64_t* row
) noexcept nogil:
    # All functions of one element.
    cdef int64_t v
    cdef Py_ssize_t j
    for j in range(k):
        v = legacy_value(a[j] * h + b[j])
        row[j] = <uint64_t> v if v < <int64_t> row[j] else row[j]


cdef noinline_void filter_group(
    const uint32_t* group, uint32_t number, uint32_t* least, uint32_t* second, uint32_t* where
) noexcept nogil:
    # Remember the least group of each function, and how near the others came.
    cdef uint32_t g
    cdef Py_ssize_t j
    for j in range(WIDE):
        g = group[j]
        second[j] = min(second[j], max(g, least[j]))
        where[j] = number if g < least[j] else where[j]
        least[j] = min(least[j], g)


cdef void legacy_tile(
    const uint64_t* hashes, Py_ssize_t n, const uint64_t* a, const uint64_t* b, Py_ssize_t width,
    uint64_t* row
) noexcept nogil:
    # With t as above and q = t >> 61 <= 7, the value is (t + q) mod 2^32, or one more: it lies
    # between t and t + 8 mod 2^32. So the minima f of the cheap t + 8 mod 2^32 tell where the
    # minimum is: unless f < 8, where the sum may wrap around, only elements with
    # t + 8 <= f + 8 can have it, and these are evaluated in full.
    cdef uint32_t c[WIDE]
    cdef uint32_t d[WIDE]
    cdef uint32_t group[WIDE]
    cdef uint32_t least[WIDE]
    cdef uint32_t second[WIDE]
    cdef uint32_t where[WIDE]
    cdef uint32_t x[LEGACY_GROUP]
    cdef Py_ssize_t i, j, m
    cdef Py_ssize_t groups = (n + LEGACY_GROUP - 1) // LEGACY_GROUP
    memset(c, 0, sizeof(c))
    memset(d, 0xFF, sizeof(d))
    memset(least, 0xFF, sizeof(least))
    memset(second, 0xFF, sizeof(second))
    memset(where, 0, sizeof(where))
    for j in range(width):
        c[j] = <uint32_t> a[j]
        d[j] = <uint32_t> b[j] + 8
    for i in range(groups):
        m = min(n - i * LEGACY_GROUP, <Py_ssize_t> LEGACY_GROUP)
        for j in range(m):
            x[j] = <uint32_t> hashes[i * LEGACY_GROUP + j]
        memset(group, 0xFF, sizeof(group))
        minima(x, m, c, d, width, group)
        filter_group(group, <uint32_t> i, least, second, where)
    for j in range(width):
        if least[j] < 8 or second[j] - least[j] <= 8:
            legacy_least(hashes, n, a[j], b[j], row + j)
        else:
            i = <Py_ssize_t> where[j] * LEGACY_GROUP
            legacy_least(hashes + i, min(n - i, <Py_ssize_t> LEGACY_GROUP), a[j], b[j], row + j)


cdef void permute_legacy(
    const uint64_t* hashes, Py_ssize_t n, const uint64_t* a, const uint64_t* b, Py_ssize_t k,
    uint64_t* row
) noexcept nogil:
    cdef Py_ssize_t i, j
    if n == 0:
        return
    for j in range(k):          # a value that no element can have gives way to any
        row[j] = min(row[j], <uint64_t> 0xFFFFFFFF)
    if n <= LEGACY_FEW:
        for i in range(n):
            legacy_element(hashes[i], a, b, k, row)
        return
    j = 0
    while j < k:
        legacy_tile(hashes, n, a + j, b + j, min(k - j, <Py_ssize_t> WIDE), row + j)
        j += WIDE


# ---- any of them

cdef void permute(const Functions* f, const void* hashes, Py_ssize_t n, void* row) noexcept nogil:
    if f.scheme == AFFINE32:
        permute_affine32(<const uint32_t*> hashes, n, f.a32, f.b32, f.k, <uint32_t*> row)
    elif f.scheme == AFFINE64:
        permute_affine64(<const uint64_t*> hashes, n, f.a64, f.b64, f.k, <uint64_t*> row)
    elif f.scheme == PRIME61:
        permute_prime61(<const uint64_t*> hashes, n, f.a64, f.b64, f.k, <uint64_t*> row)
    else:
        permute_legacy(<const uint64_t*> hashes, n, f.a64, f.b64, f.k, <uint64_t*> row)
