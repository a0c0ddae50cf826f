# Hashes of token ids: each is the word of its decimal digits. The table of the small ones is filled
# when the module is imported, and constant from then on.

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from fastlsh._kernels.common.mixing cimport CHARACTER_BASE, UNITS, fmix64, mix_code_point
from fastlsh._kernels.text.keyed cimport KNOWN_IDS, keyed_id
from fastlsh._kernels.text.source cimport BLOCK, Hashing, Source

cdef uint64_t hash_of_id[KNOWN_IDS]

ctypedef fused token_id:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef uint64_t word_of(uint64_t number) noexcept nogil:
    # Computed from the last digit on.
    cdef uint64_t h = 0
    cdef uint64_t power = 1
    while True:
        h += mix_code_point(48 + number % 10) * power + UNITS
        power *= CHARACTER_BASE
        number //= 10
        if number == 0:
            return fmix64(h)


cdef void fill_ids() noexcept nogil:
    # Polynomials first: a number has one digit more than a tenth of it.
    cdef uint64_t number
    cdef uint64_t digits = 1
    cdef uint64_t longer = 10
    for number in range(KNOWN_IDS):
        hash_of_id[number] = mix_code_point(48 + number % 10)
        if number >= 10:
            hash_of_id[number] += hash_of_id[number // 10] * CHARACTER_BASE
    for number in range(KNOWN_IDS):
        if number == longer:
            digits += 1
            longer *= 10
        hash_of_id[number] = fmix64(hash_of_id[number] + digits * UNITS)


fill_ids()


cdef uint64_t hash_of_other(const Hashing* plan, uint64_t number) noexcept nogil:
    if plan.keyed != NULL:
        return keyed_id(plan.keyed, &plan.mixer, number)
    return word_of(number)


cdef void hash_ids(
    const Hashing* plan, const token_id* ids, Py_ssize_t n, uint64_t* word
) noexcept nogil:
    cdef const uint64_t* known = &hash_of_id[0]
    cdef Py_ssize_t i
    if plan.keyed != NULL:
        known = plan.keyed.ids
    for i in range(n):
        if token_id is uint8_t or token_id is uint16_t:
            word[i] = known[ids[i]]
        else:
            word[i] = known[ids[i]] if ids[i] < KNOWN_IDS else hash_of_other(plan, ids[i])


cdef Py_ssize_t read_ids(Source* s, uint64_t* word) noexcept nogil:
    cdef Py_ssize_t n = min(s.length - s.position, <Py_ssize_t> BLOCK)
    if s.kind == 1:
        hash_ids(s.plan, (<const uint8_t*> s.text) + s.position, n, word)
    elif s.kind == 2:
        hash_ids(s.plan, (<const uint16_t*> s.text) + s.position, n, word)
    elif s.kind == 4:
        hash_ids(s.plan, (<const uint32_t*> s.text) + s.position, n, word)
    else:
        hash_ids(s.plan, (<const uint64_t*> s.text) + s.position, n, word)
    s.position += n
    return n
