"""Shingle hashes of texts and token ids, with a key and without, against the obvious way."""

include "fuzz/native/drive.pxi"
include "fuzz/native/sources.pxi"
include "fuzz/native/texts.pxi"

from fastlsh._kernels.text._plans cimport ShinglePlan
from fastlsh._kernels.text.source cimport WORDS, make_plan, room_for_window
from fastlsh._kernels.text.unicode_data cimport IS_ANY_MARK, IS_APART, IS_SPACE

import numpy as np

cdef enum:
    LONGEST = 1200
    N_UNITS = 8
    N_SIZES = 10
    N_KEYED_SIZES = 5

cdef int[N_UNITS] UNIT = [
    CHARACTERS, WORDS, ALPHANUMERIC, ASCII_ALPHANUMERIC, ALPHANUMERIC | WITH_EMPTY,
    ASCII_ALPHANUMERIC | WITH_EMPTY, UNICODE_WORDS, TOKEN_IDS,
]
cdef int[N_SIZES] SIZE = [1, 3, 9, 17, 5, 2, 4, 8, 16, 1000]     # the first ones with a key, too
cdef Hashing plain[N_UNITS * N_SIZES]
cdef const Hashing* secret_plan[N_UNITS * N_KEYED_SIZES]
cdef list owners = []

cdef struct Sums:
    # Of hashes in any order.
    Py_ssize_t n
    uint64_t sum
    uint64_t squares


cdef inline obvious_void add(Sums* sums, uint64_t h) noexcept nogil:
    sums.n += 1
    sums.sum += h
    sums.squares += h * h


def prepare():
    cdef Py_ssize_t u, s
    cdef ShinglePlan keyed
    numbers = np.random.default_rng(1).integers(0, 2**64, 531, np.uint64) | np.uint64(1)
    for s in range(531):
        secret[s] = numbers[s]
    for u in range(N_UNITS):
        for s in range(N_SIZES):
            make_plan(&plain[u * N_SIZES + s], UNIT[u], SIZE[s])
        for s in range(N_KEYED_SIZES):
            keyed = ShinglePlan(UNIT[u], SIZE[s], numbers)
            owners.append(keyed)
            secret_plan[u * N_KEYED_SIZES + s] = &keyed.plan


# ---- the obvious way


cdef extern from *:
    """
    static uint64_t fuzz_secret[531];   /* modulus, mixer, summands of a code point's bytes */

    FUZZ_OBVIOUS static inline uint64_t fuzz_summand(uint32_t c)
    {
        return fuzz_secret[4 + (c & 255)] ^ (c >> 8 & 255 ? fuzz_secret[259 + (c >> 8 & 255)] : 0)
            ^ (c >> 16 ? fuzz_secret[514 + (c >> 16)] : 0);
    }

    FUZZ_OBVIOUS static inline uint64_t fuzz_next(
        int keyed, uint64_t h, uint64_t base, uint64_t unit)
    {
        if (keyed)
            return ((h << 1) ^ (h >> 63 ? fuzz_secret[0] : 0)) ^ unit;
        return h * base + unit;
    }

    FUZZ_OBVIOUS static inline uint64_t fuzz_end(int keyed, uint64_t h, uint64_t units)
    {
        h += units * 0x6A09E667F3BCC909u + (keyed ? fuzz_secret[1] : 0);
        h = (h ^ h >> 33) * (keyed ? fuzz_secret[2] : 0xFF51AFD7ED558CCDu);
        h = (h ^ h >> 33) * (keyed ? fuzz_secret[3] : 0xC4CEB9FE1A85EC53u);
        return h ^ h >> 33;
    }
    """
    uint64_t* secret "fuzz_secret"
    uint64_t summand "fuzz_summand"(uint32_t c) noexcept nogil
    uint64_t next_h "fuzz_next"(bint keyed, uint64_t h, uint64_t base, uint64_t unit) noexcept nogil
    uint64_t end_h "fuzz_end"(bint keyed, uint64_t h, uint64_t units) noexcept nogil


cdef bint parts(int unit, uint32_t c) noexcept nogil:
    # Whether words end here.
    if unit == UNICODE_WORDS:
        return properties_of(c) & (IS_WORD | IS_ANY_MARK) == 0
    if unit & 3 == WORDS:
        return properties_of(c) & IS_SPACE != 0
    if unit & 3 == ALPHANUMERIC:
        return properties_of(c) & IS_WORD == 0
    return not (48 <= c <= 57 or 65 <= c <= 90 or 97 <= c <= 122 or c == 95)


cdef bint adjoins(const Span* span, Py_ssize_t begin, Py_ssize_t i) noexcept nogil:
    # Whether a new word begins at i, without a separator, behind one that began before.
    cdef uint32_t c = properties_of(<uint32_t> unit_of(span, i))
    cdef uint32_t first = properties_of(<uint32_t> unit_of(span, begin))
    return c & IS_APART != 0 or (first & IS_APART and c & (IS_WORD | IS_ANY_MARK) == IS_WORD)


cdef uint64_t digits_of(bint keyed, uint64_t value) noexcept nogil:
    cdef uint64_t power = 1
    cdef uint64_t h = 0
    cdef Py_ssize_t n = 0
    while value // power > 9:
        power *= 10
    while power:
        n += 1
        h = next_character(keyed, h, 48 + value // power % 10)
        power //= 10
    return end_h(keyed, h, n)


cdef inline uint64_t next_character(bint keyed, uint64_t h, uint32_t c) noexcept nogil:
    return next_h(keyed, h, CHARACTER_BASE, summand(c) if keyed else mix_code_point(c))


cdef Py_ssize_t units_of(const Span* span, int unit, bint keyed, uint64_t* out) noexcept nogil:
    # What the shingles are made of; returns how many.
    cdef Py_ssize_t i
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t begin = 0
    cdef uint64_t h = 0
    cdef uint32_t c
    if unit == CHARACTERS or unit == TOKEN_IDS:
        for i in range(span.length):
            if unit == TOKEN_IDS:
                out[i] = digits_of(keyed, unit_of(span, i))
            else:
                c = <uint32_t> unit_of(span, i)
                out[i] = summand(c) if keyed else mix_code_point(c)
        return span.length
    for i in range(span.length + 1):
        if unit == UNICODE_WORDS and begin < i < span.length and adjoins(span, begin, i):
            out[n] = end_h(keyed, h, i - begin)
            n += 1
            begin = i
            h = 0
        if i < span.length and not parts(unit, <uint32_t> unit_of(span, i)):
            h = next_character(keyed, h, <uint32_t> unit_of(span, i))
            continue
        if i > begin or (unit & WITH_EMPTY and span.length):
            out[n] = end_h(keyed, h, i - begin)
            n += 1
        begin = i + 1
        h = 0
    return n


cdef obvious_void expected(
    const uint64_t* units, Py_ssize_t n, const Hashing* plan, bint keyed, Sums* sums
) noexcept nogil:
    cdef uint64_t base = CHARACTER_BASE if plan.unit == CHARACTERS else WORD_BASE
    cdef Py_ssize_t size = min(plan.size, n)
    cdef uint64_t before = 0
    cdef uint64_t h
    cdef Py_ssize_t i, j
    if n == 0:
        return
    for i in range(n - size + 1):
        h = 0
        for j in range(size):
            h = next_h(keyed, h, base, units[i + j])
        if i and h == before and plan.unit & WITH_EMPTY:
            continue
        before = h
        add(sums, end_h(keyed, h, size))


cdef int one_input(const uint8_t* data, size_t size) noexcept nogil:
    cdef Given given = Given(data, <Py_ssize_t> size)
    cdef Py_ssize_t which = number(&given, N_UNITS)
    cdef bint keyed = number(&given, 2)
    cdef const Hashing* plan
    cdef int kind = 1 << number(&given, 4 if UNIT[which] == TOKEN_IDS else 3)
    cdef Span span
    cdef Source source
    cdef Sums found, right
    cdef uint64_t block[BLOCK]
    cdef uint64_t* window
    cdef uint64_t* units
    cdef Py_ssize_t i, n
    if keyed:
        plan = secret_plan[which * N_KEYED_SIZES + number(&given, N_KEYED_SIZES)]
    else:
        plan = &plain[which * N_SIZES + number(&given, N_SIZES)]
    memset(&found, 0, sizeof(found))
    memset(&right, 0, sizeof(right))
    if plan.unit == TOKEN_IDS:
        make_ids(&given, kind, &span)
    else:
        make_text(&given, kind, &span, LONGEST)
    window = <uint64_t*> room(
        8 * room_for_window(plan.size, span.length if plan.unit != CHARACTERS else 0)
    )
    open_text(&source, plan, &span, window)
    n = source.next(&source, block)
    while n:
        must(n <= BLOCK, "a block")
        for i in range(n):
            add(&found, block[i])
        n = source.next(&source, block)
    must(source.next(&source, block) == 0, "more behind the end")
    units = <uint64_t*> room(8 * (span.length + 1))
    n = units_of(&span, plan.unit, keyed, units)
    expected(units, n, plan, keyed, &right)
    must(memcmp(&found, &right, sizeof(found)) == 0, "shingle hashes")
    return 0


cdef void make_ids(Given* given, int width, Span* span) noexcept nogil:
    # Ids of up to as many bytes as a byte says, repeated now and then.
    cdef uint64_t ids[512]
    cdef Py_ssize_t times = max(number(given, 256) - 240, 1)
    cdef Py_ssize_t n = 0
    cdef Py_ssize_t i, k, more
    cdef char* memory
    while given.left > 0 and n < 512:
        ids[n] = byte(given)
        more = ids[n] >> 5 if ids[n] >= 192 else 0
        while more > 0:
            ids[n] = ids[n] << 8 | byte(given)
            more -= 1
        n += 1
    memory = <char*> room(times * n * width)
    for k in range(times):
        for i in range(n):
            put_unit(memory, width, k * n + i, ids[i])
    span.text = memory
    span.length = times * n
    span.kind = width
    span.before = 0
