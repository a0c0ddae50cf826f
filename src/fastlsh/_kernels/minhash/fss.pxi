# Fast similarity sketching (Dahlgaard, Knudsen, Thorup 2017): each round throws every element into
# one slot, at a rank there; a slot keeps its least value, and all values of a round are less than
# those of later ones. What all rounds leave empty gets the minimum of a function of its own.
# With minima.pxi.

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memset

from fastlsh._kernels.common.compiler cimport noinline_void
from fastlsh._kernels.common.mixing cimport fmix32
from fastlsh._kernels.minhash.signer cimport ROUNDS, WIDE, Signer
from fastlsh._kernels.text.source cimport BLOCK, Source

cdef enum:
    HELD = 4 * BLOCK        # inputs of a document that are kept for the next round: 8 KB


cdef inline uint32_t round_prefix(int number) noexcept nogil:
    # `number` ones before a zero; the rank has what remains of the 32 bits.
    return <uint32_t> (~<uint64_t> 0 << (32 - number))


cdef noinline_void aim(
    const uint32_t* x, Py_ssize_t n, uint32_t a, uint32_t b, int number, uint32_t k,
    uint32_t* slot, uint32_t* value
) noexcept nogil:
    cdef uint32_t prefix = round_prefix(number)
    cdef int shift = number + 1
    cdef uint32_t h
    cdef Py_ssize_t i
    for i in range(n):
        h = fmix32(a * x[i] + b)
        slot[i] = <uint32_t> ((<uint64_t> h * k) >> 32)
        value[i] = prefix | ((h * k) >> shift)      # the fraction of h * k / 2^32


cdef noinline_void throw_block(
    const uint32_t* slot, const uint32_t* value, Py_ssize_t n, uint32_t* row
) noexcept nogil:
    # Always stores: whether a value is the least so far, no predictor can learn.
    cdef Py_ssize_t i
    cdef uint32_t least
    for i in range(n):
        least = row[slot[i]]
        row[slot[i]] = value[i] if value[i] < least else least


cdef void throw_all(
    const uint32_t* x, Py_ssize_t n, const Signer* how, int number, uint32_t* row
) noexcept nogil:
    cdef uint32_t slot[BLOCK]
    cdef uint32_t value[BLOCK]
    cdef uint32_t a = how.a[how.k + number]
    cdef uint32_t b = how.b[how.k + number]
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t m
    while start < n:
        m = min(n - start, <Py_ssize_t> BLOCK)
        aim(x + start, m, a, b, number, <uint32_t> how.k, slot, value)
        throw_block(slot, value, m, row)
        start += m


cdef Py_ssize_t next_empty(const uint32_t* row, Py_ssize_t k, Py_ssize_t j) noexcept nogil:
    while j < k and row[j] != <uint32_t> 0xFFFFFFFF:
        j += 1
    return j


cdef bint has_empty(const uint32_t* row, Py_ssize_t k) noexcept nogil:
    cdef uint32_t greatest = 0
    cdef Py_ssize_t j
    for j in range(k):
        greatest = row[j] if row[j] > greatest else greatest
    return greatest == <uint32_t> 0xFFFFFFFF


cdef Py_ssize_t hold(Source* s, uint32_t* x) noexcept nogil:
    # The next inputs, up to HELD.
    cdef uint64_t block[BLOCK]
    cdef Py_ssize_t held = 0
    cdef Py_ssize_t n
    while held + BLOCK <= HELD:
        n = s.next(s, block)
        if n == 0:
            break
        fold_block(block, n, x + held)
        held += n
    return held


cdef void sign_fss(const Source* document, const Signer* how, uint32_t* row) noexcept nogil:
    cdef uint32_t x[HELD]
    cdef Source s = document[0]
    cdef bint whole = True              # all its inputs are in x
    cdef Py_ssize_t held = hold(&s, x)
    cdef Py_ssize_t n = held
    cdef int number
    while n:
        throw_all(x, n, how, 0, row)
        n = hold(&s, x)
        whole = whole and n == 0
    for number in range(1, ROUNDS):
        if held == 0 or not has_empty(row, how.k):
            return
        if whole:
            throw_all(x, held, how, number, row)
            continue
        s = document[0]
        n = hold(&s, x)
        while n:
            throw_all(x, n, how, number, row)
            n = hold(&s, x)
    fill_empty(document, how, x, held if whole else -1, row)


cdef void fill_empty(
    const Source* document, const Signer* how, uint32_t* x, Py_ssize_t held, uint32_t* row
) noexcept nogil:
    # The document is read again for every group of slots, unless x holds all of it (held >= 0).
    cdef uint32_t a[WIDE]
    cdef uint32_t b[WIDE]
    cdef uint32_t least[WIDE]
    cdef Py_ssize_t slot[WIDE]
    cdef Source s
    cdef Py_ssize_t n, m, i
    cdef Py_ssize_t j = next_empty(row, how.k, 0)
    while j < how.k:
        n = 0
        while j < how.k and n < WIDE:
            slot[n] = j
            a[n] = how.a[j]
            b[n] = how.b[j]
            n += 1
            j = next_empty(row, how.k, j + 1)
        memset(least, 0xFF, sizeof(least))
        if held >= 0:
            minima(x, held, a, b, n, least)
        else:
            s = document[0]
            m = hold(&s, x)
            while m:
                minima(x, m, a, b, n, least)
                m = hold(&s, x)
        for i in range(n):
            row[slot[i]] = round_prefix(ROUNDS) | (least[i] >> ROUNDS)
