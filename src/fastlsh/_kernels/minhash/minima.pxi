# The minima of k functions h_j(x) = a_j * x + b_j mod 2^32 over the shingles of a document.

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastlsh._kernels.common.compiler cimport noinline_void
from fastlsh._kernels.common.mixing cimport fold
from fastlsh._kernels.minhash.signer cimport WIDE, Signer
from fastlsh._kernels.text.source cimport BLOCK, CHARACTERS, TOKEN_IDS, Source

cdef enum:
    SEEN = 1024     # values of a document that are remembered, at most
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


cdef noinline_void leave_out_seen(
    uint32_t* x, Py_ssize_t* n, uint32_t* seen, Py_ssize_t slots
) noexcept nogil:
    # What a text has said before changes no minimum. Not all of it is found.
    cdef Py_ssize_t kept = 0
    cdef Py_ssize_t i, slot
    cdef uint32_t value
    for i in range(n[0]):
        value = x[i]
        slot = value & (slots - 1)
        x[kept] = value
        kept += seen[slot] != value
        seen[slot] = value
    n[0] = kept


cdef Py_ssize_t slots_for(const Source* s, const Signer* how) noexcept nogil:
    # Single words repeat: from a few hundred on, half of them. Longer shingles do not. 0: nothing
    # is to be remembered, for it costs more than a few minima.
    cdef Py_ssize_t slots = 64
    cdef Py_ssize_t words = s.length
    if s.plan == NULL or s.plan.size > 1 or s.plan.unit == CHARACTERS or how.k < WIDE:
        return 0
    if s.tokens == NULL and s.plan.unit != TOKEN_IDS:
        words //= 4                             # and a little more
    while slots < SEEN and slots < words:
        slots *= 2
    return slots


cdef void sign_affine32(const Source* document, const Signer* how, uint32_t* row) noexcept nogil:
    cdef uint64_t block[BLOCK]
    cdef uint32_t x[BLOCK]
    cdef uint32_t seen[SEEN]
    cdef Source s = document[0]
    cdef Py_ssize_t n = s.next(&s, block)
    cdef Py_ssize_t slots = slots_for(document, how)
    cdef Py_ssize_t i
    for i in range(slots):
        seen[i] = ~<uint32_t> i                 # a value that does not belong there
    while n:
        fold_block(block, n, x)
        if slots:
            leave_out_seen(x, &n, seen, slots)
        minima(x, n, how.a, how.b, how.k, row)
        n = s.next(&s, block)
