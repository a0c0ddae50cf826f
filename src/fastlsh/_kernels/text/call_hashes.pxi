# Called from Python: hashes of whole texts. The loops run without the GIL.

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memcpy

from fastlsh._kernels.common.checks cimport memory_of
from fastlsh._kernels.common.mixing cimport fmix64
from fastlsh._kernels.text._texts cimport Span, Spans
from fastlsh._kernels.text.ids cimport id_at


def text_hashes(Spans spans not None, uint64_t[::1] out not None):
    """Write a 64-bit hash of each whole text into `out`, uint64 (n,): equal texts, equal hashes.

    Of the bytes in memory, so good for one run on one machine only. Never 0.
    """
    if out.shape[0] != spans.n:
        raise ValueError(f"out has {out.shape[0]} elements, expected {spans.n}")
    memory_of(out, "out")
    if spans.n:
        with nogil:
            hash_texts(spans.at, spans.n, spans.tokens, &out[0])


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
