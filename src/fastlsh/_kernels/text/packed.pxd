# A text in words of 8 bytes: length << 8 | width of a code unit, then the code units.

from libc.stdint cimport uint64_t

from fastlsh._kernels.text._texts cimport Span


cdef inline Py_ssize_t words_for(const Span* span) noexcept nogil:
    return 1 + (span.length * span.kind + 7) // 8 if span.length else 0


cdef inline bint read_head(
    const uint64_t* words, Py_ssize_t n, bint tokens, Span* span
) noexcept nogil:
    # Of n > 0 words. False: they are no text.
    cdef uint64_t length = words[0] >> 8
    cdef int kind = <int> (words[0] & 0xFF)
    if kind != 1 and kind != 2 and kind != 4 and not (tokens and kind == 8):
        return False
    if length == 0 or length > <uint64_t> (8 * (n - 1)) // kind:
        return False
    span.text = words + 1
    span.length = <Py_ssize_t> length
    span.kind = kind
    span.before = 8                     # the first word
    return True
