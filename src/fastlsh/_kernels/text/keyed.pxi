# The hot loops of hashing with a key: keyed.pxd says how. What is around them does not know.
# With polynomials.pxi.

from libc.stdint cimport uint8_t, uint32_t, uint64_t

from fastlsh._kernels.common.compiler cimport noinline_void
from fastlsh._kernels.common.mixing cimport UNITS
from fastlsh._kernels.text._texts cimport code_unit
from fastlsh._kernels.text.carryless cimport CARRYLESS, two_changes
from fastlsh._kernels.text.keyed cimport (
    BASIC_POINTS, BASIC_TABLE, SHORT, Keyed, carried, keyed_points, of_leaving, of_point,
    times_few, times_x,
)
from fastlsh._kernels.text.source cimport Plan, Source

# Of SHORT masks in a row, the last of them at SHORT - 1 + m, the last m keep what they mask.
cdef uint32_t kept_points[2 * SHORT]


cdef void fill_masks() noexcept nogil:
    cdef int i
    for i in range(SHORT, 2 * SHORT):
        kept_points[i] = BASIC_POINTS - 1


fill_masks()


cdef void roll_four_keyed(
    const Plan* plan, const code_unit* text, Source* s, Py_ssize_t n, uint64_t* out
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


cdef inline uint64_t keyed_eight(const Keyed* key, uint64_t bytes) noexcept nogil:
    return (
        key.placed[0][bytes >> 56] ^ key.placed[1][(bytes >> 48) & 0xFF]
        ^ key.placed[2][(bytes >> 40) & 0xFF] ^ key.placed[3][(bytes >> 32) & 0xFF]
        ^ key.placed[4][(bytes >> 24) & 0xFF] ^ key.placed[5][(bytes >> 16) & 0xFF]
        ^ key.placed[6][(bytes >> 8) & 0xFF] ^ key.placed[7][bytes & 0xFF]
    )


cdef inline uint64_t keyed_short(
    const Keyed* key, const uint8_t* end, Py_ssize_t m
) noexcept nogil:
    # Of the m <= SHORT bytes before `end`. Reads SHORT bytes, branches never.
    cdef const Keep* kept = &keep[m]
    return (
        keyed_eight(key, load_bytes(end - 8) & kept.eight)
        ^ key.placed[8][(end - 9)[0] & kept.ninth] ^ key.placed[9][(end - 10)[0] & kept.tenth]
        ^ key.cleared[m]
    )


cdef uint64_t keyed_long(const Keyed* key, const uint8_t* text, Py_ssize_t n) noexcept nogil:
    # More than SHORT bytes.
    cdef uint64_t h = keyed_eight(key, load_bytes(text))
    n -= 8
    while n > 8:
        text += 8
        n -= 8
        h = times_few(key, h, 8) ^ keyed_eight(key, load_bytes(text))
    h = times_few(key, h, n) ^ keyed_eight(key, load_bytes(text + n) & keep[n].eight)
    return h ^ key.cleared[n] ^ key.cleared[8]


cdef inline uint64_t basic(
    const Keyed* key, const code_unit* end, const uint32_t* mask, Py_ssize_t place
) noexcept nogil:
    return key.basic[place * BASIC_TABLE + <Py_ssize_t> (end[-1 - place] & mask[-place])]


cdef inline uint64_t keyed_basic(
    const Keyed* key, const code_unit* end, Py_ssize_t m
) noexcept nogil:
    # As keyed_short, of code points below BASIC_POINTS.
    cdef const uint32_t* mask = &kept_points[SHORT - 1 + m]
    return (
        basic(key, end, mask, 0) ^ basic(key, end, mask, 1) ^ basic(key, end, mask, 2)
        ^ basic(key, end, mask, 3) ^ basic(key, end, mask, 4) ^ basic(key, end, mask, 5)
        ^ basic(key, end, mask, 6) ^ basic(key, end, mask, 7) ^ basic(key, end, mask, 8)
        ^ basic(key, end, mask, 9) ^ key.cleared[m]
    )


cdef inline bint are_basic(const code_unit* end) noexcept nogil:
    # Whether the SHORT code points before `end` are below BASIC_POINTS.
    cdef uint32_t seen = 0
    cdef Py_ssize_t i
    if code_unit is uint32_t:
        for i in range(1, SHORT + 1):
            seen |= end[-i]
    return seen < BASIC_POINTS


cdef inline uint64_t keyed_polynomial(
    const Keyed* key, const code_unit* text, Py_ssize_t n, bint roomy
) noexcept nogil:
    # As `polynomial`, for the mixer of the key.
    if code_unit is uint8_t:
        if n > SHORT:
            return keyed_long(key, text, n) + <uint64_t> n * UNITS
        if roomy:
            return keyed_short(key, text + n, n) + <uint64_t> n * UNITS
    elif n <= SHORT and roomy and are_basic(text + n):
        return keyed_basic(key, text + n, n) + <uint64_t> n * UNITS
    return keyed_points(key, text, n)


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
