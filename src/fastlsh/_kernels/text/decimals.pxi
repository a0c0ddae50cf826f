# Hashes of token ids: each is the word of its decimal digits. The table of the small ones is filled
# when the module is imported, and constant from then on.

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

from fastlsh._kernels.common.mixing cimport CHARACTER_BASE, UNITS, fmix64, mix_code_point
from fastlsh._kernels.text.source cimport BLOCK, Source

cdef enum:
    KNOWN_IDS = 1 << 17         # hashes that are kept: nearly all of most vocabularies

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
    cdef uint64_t number
    for number in range(KNOWN_IDS):
        hash_of_id[number] = word_of(number)


fill_ids()


cdef void hash_ids(const token_id* ids, Py_ssize_t n, uint64_t* word) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if token_id is uint8_t or token_id is uint16_t:
            word[i] = hash_of_id[ids[i]]
        else:
            word[i] = hash_of_id[ids[i]] if ids[i] < KNOWN_IDS else word_of(ids[i])


cdef Py_ssize_t read_ids(Source* s, uint64_t* word) noexcept nogil:
    cdef Py_ssize_t n = min(s.length - s.position, <Py_ssize_t> BLOCK)
    if s.kind == 1:
        hash_ids((<const uint8_t*> s.text) + s.position, n, word)
    elif s.kind == 2:
        hash_ids((<const uint16_t*> s.text) + s.position, n, word)
    elif s.kind == 4:
        hash_ids((<const uint32_t*> s.text) + s.position, n, word)
    else:
        hash_ids((<const uint64_t*> s.text) + s.position, n, word)
    s.position += n
    return n
