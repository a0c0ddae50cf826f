# Ready element hashes as a source, and hashes of whole texts.

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from fastlsh._kernels.common.mixing cimport fmix64
from fastlsh._kernels.text._texts cimport Span
from fastlsh._kernels.text.ids cimport id_at
from fastlsh._kernels.text.source cimport BLOCK, Source


cdef Py_ssize_t next_hashes_64(Source* s, uint64_t* block) noexcept nogil:
    cdef Py_ssize_t n = min(s.length - s.position, <Py_ssize_t> BLOCK)
    if n:
        memcpy(block, (<const uint64_t*> s.text) + s.position, n * sizeof(uint64_t))
    s.position += n
    return n


cdef Py_ssize_t next_hashes_32(Source* s, uint64_t* block) noexcept nogil:
    cdef const uint32_t* hashes = <const uint32_t*> s.text
    cdef Py_ssize_t n = min(s.length - s.position, <Py_ssize_t> BLOCK)
    cdef Py_ssize_t i
    for i in range(n):
        block[i] = hashes[s.position + i]
    s.position += n
    return n


cdef void open_hashes(Source* s, const void* hashes, bint wide, Py_ssize_t n) noexcept nogil:
    memset(s, 0, sizeof(Source))
    s.text = hashes
    s.length = n
    s.next = next_hashes_64 if wide else next_hashes_32


cdef void hash_texts(const Span* at, Py_ssize_t n, bint tokens, uint64_t* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if tokens:
            out[i] = hash_of_ids(at + i)
            continue
        out[i] = memory_hash(<const uint8_t*> at[i].text, at[i].length * at[i].kind)


cdef uint64_t hash_of_ids(const Span* span) noexcept nogil:
    # The same for the same numbers, however wide they are.
    cdef uint64_t h = <uint64_t> span.length + 1
    cdef Py_ssize_t i
    for i in range(span.length):
        h = (h ^ id_at(span.text, span.kind, i)) * <uint64_t> 0xD6E8FEB86659FD93
        h ^= h >> 32
    h = fmix64(h)
    return h if h != 0 else 1


cdef uint64_t memory_hash(const uint8_t* data, Py_ssize_t n) noexcept nogil:
    cdef uint64_t h = <uint64_t> n + 1
    cdef uint64_t word
    while n > 0:
        word = 0
        memcpy(&word, data, min(n, <Py_ssize_t> 8))
        h = (h ^ word) * <uint64_t> 0xD6E8FEB86659FD93
        h ^= h >> 32
        data += 8
        n -= 8
    h = fmix64(h)
    return h if h != 0 else 1
