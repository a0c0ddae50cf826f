# The hot loops of hashing with a key: keyed.pxd says how. What is around them does not know.

from libc.stdint cimport uint64_t

from fastlsh._kernels.common.compiler cimport noinline_void
from fastlsh._kernels.text._texts cimport code_unit
from fastlsh._kernels.text.carryless cimport CARRYLESS, two_changes
from fastlsh._kernels.text.keyed cimport Keyed, carried, of_leaving, of_point, times_x
from fastlsh._kernels.text.keyed_runs cimport keyed_polynomial
from fastlsh._kernels.text.source cimport Hashing, Source


cdef void roll_four_keyed(
    const Hashing* plan, const code_unit* text, Source* s, Py_ssize_t n, uint64_t* out
) noexcept nogil:
    cdef const Keyed* key = plan.keyed
    cdef uint64_t modulus = key.modulus
    cdef const code_unit* t0 = text + s.at[0]
    cdef const code_unit* t1 = text + s.at[1]
    cdef const code_unit* t2 = text + s.at[2]
    cdef const code_unit* t3 = text + s.at[3]
    cdef Py_ssize_t last = plan.size - 1
    cdef uint64_t h0 = s.state[0]
    cdef uint64_t h1 = s.state[1]
    cdef uint64_t h2 = s.state[2]
    cdef uint64_t h3 = s.state[3]
    cdef Py_ssize_t i
    for i in range(n):
        h0 = times_x(h0, modulus) ^ of_point(key, t0[i + last])
        h1 = times_x(h1, modulus) ^ of_point(key, t1[i + last])
        h2 = times_x(h2, modulus) ^ of_point(key, t2[i + last])
        h3 = times_x(h3, modulus) ^ of_point(key, t3[i + last])
        out[i] = h0
        out[i + n] = h1
        out[i + 2 * n] = h2
        out[i + 3 * n] = h3
        h0 ^= of_leaving(key, t0[i])
        h1 ^= of_leaving(key, t1[i])
        h2 ^= of_leaving(key, t2[i])
        h3 ^= of_leaving(key, t3[i])
    s.state[0] = h0
    s.state[1] = h1
    s.state[2] = h2
    s.state[3] = h3


cdef noinline_void hash_words_keyed(
    const Keyed* key, const code_unit* text, const Py_ssize_t* edge, Py_ssize_t n,
    Py_ssize_t roomy, uint64_t* word
) noexcept nogil:
    cdef Py_ssize_t i, begin, end
    for i in range(n):
        begin = edge[2 * i]
        end = edge[2 * i + 1]
        word[i] = keyed_polynomial(key, text + begin, end - begin, end >= roomy)


cdef inline uint64_t beyond_size(const Keyed* key, Py_ssize_t size, uint64_t h) noexcept nogil:
    # h * x^size
    if size <= 16:
        return h << size ^ key.beyond[7][h >> 56] ^ key.beyond[6][(h >> 48) & 0xFF]
    if size <= 32:
        return (
            h << size ^ key.beyond[7][h >> 56] ^ key.beyond[6][(h >> 48) & 0xFF]
            ^ key.beyond[5][(h >> 40) & 0xFF] ^ key.beyond[4][(h >> 32) & 0xFF]
        )
    return (
        key.beyond[0][h & 0xFF] ^ key.beyond[1][(h >> 8) & 0xFF]
        ^ key.beyond[2][(h >> 16) & 0xFF] ^ key.beyond[3][(h >> 24) & 0xFF]
        ^ key.beyond[4][(h >> 32) & 0xFF] ^ key.beyond[5][(h >> 40) & 0xFF]
        ^ key.beyond[6][(h >> 48) & 0xFF] ^ key.beyond[7][h >> 56]
    )


cdef noinline_void roll_on_twos(
    const Keyed* key, Py_ssize_t size, const uint64_t* word, Py_ssize_t n, uint64_t* state,
    uint64_t* block,
) noexcept nogil:
    # As roll_on_keyed, for sizes below 64 and an even n.
    cdef uint64_t modulus = key.modulus
    cdef uint64_t quotient = key.quotient
    cdef uint64_t change[2]
    cdef uint64_t h = state[0]
    cdef Py_ssize_t i
    for i in range(0, n, 2):
        two_changes(word + i - size, word + i, size, quotient, modulus, change)
        h = (h << 1 ^ change[0]) ^ carried(h, modulus)
        block[i] = h
        h = (h << 1 ^ change[1]) ^ carried(h, modulus)
        block[i + 1] = h
    state[0] = h


cdef noinline_void roll_on_keyed(
    const Keyed* key, Py_ssize_t size, const uint64_t* word, Py_ssize_t n, uint64_t* state,
    uint64_t* block,
) noexcept nogil:
    # n > 0 words more. What each changes is looked up a step ahead: within one step, compilers
    # make all these terms part of the chain that leads from a shingle to the next.
    cdef uint64_t modulus = key.modulus
    cdef uint64_t h = state[0]
    cdef uint64_t change = word[0] ^ beyond_size(key, size, word[-size])
    cdef Py_ssize_t i
    for i in range(n - 1):
        h = (h << 1 ^ change) ^ carried(h, modulus)
        block[i] = h
        change = word[i + 1] ^ beyond_size(key, size, word[i + 1 - size])
    h = (h << 1 ^ change) ^ carried(h, modulus)
    block[n - 1] = h
    state[0] = h


cdef Py_ssize_t roll_words_keyed(
    Source* s, const uint64_t* word, Py_ssize_t n, uint64_t* block
) noexcept nogil:
    # Makes the shingles that end with these words; those before them lie in front.
    cdef const Keyed* key = s.plan.keyed
    cdef Py_ssize_t size = s.plan.size
    cdef uint64_t h = s.state[0]
    cdef Py_ssize_t made = 0
    cdef Py_ssize_t missing = size - s.words        # for the first shingle
    cdef Py_ssize_t i = 0
    cdef Py_ssize_t even
    while i < min(missing, n):
        h = times_x(h, key.modulus) ^ word[i]
        i += 1
    if 0 < missing <= n:
        block[0] = h
        made = 1
    s.state[0] = h
    if CARRYLESS and i + 1 < n and size < 64:
        even = (n - i) & ~<Py_ssize_t> 1
        roll_on_twos(key, size, word + i, even, &s.state[0], block + made)
        made += even
        i += even
    if i < n:
        roll_on_keyed(key, size, word + i, n - i, &s.state[0], block + made)
        made += n - i
    s.words = min(s.words + n, size)
    return made
