# Ready element hashes as a source.

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset

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
