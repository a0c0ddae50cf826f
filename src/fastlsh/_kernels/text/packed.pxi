# Texts in words of 8 bytes, as an index keeps them: docs/index-format.md. With spans.pxi.

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from fastlsh._kernels.common.checks cimport Memory, check_apart, check_offsets, memory_of
from fastlsh._kernels.text._texts cimport Span, Spans
from fastlsh._kernels.text.packed cimport read_head, words_for


def packed_sizes(Spans spans not None, int64_t[::1] out not None):
    """Write into `out`, int64 (n,), how many words each text takes: 0 if it is empty."""
    if out.shape[0] != spans.n:
        raise ValueError(f"out has {out.shape[0]} elements, expected {spans.n}")
    memory_of(out, "out")
    if spans.n:
        write_sizes(spans.at, spans.n, &out[0])


def pack_texts(
    Spans spans not None, const int64_t[::1] offsets not None, uint64_t[::1] words not None
):
    """Pack texts: a word with length and width, then the code units, filled up with zeros.

    Parameters
    ----------
    spans
        The texts, or ids of tokens.
    offsets
        int64 (n + 1,): where each begins, as far apart as `packed_sizes` says.
    words
        uint64, written.
    """
    cdef Memory parts[2]
    cdef bint fits
    check_offsets(offsets, spans.n, words.shape[0], "offsets")
    parts[0] = memory_of(words, "words")
    parts[1] = memory_of(offsets, "offsets")
    check_apart(parts, 2, 1, "words and offsets")
    if not spans.n or not words.shape[0]:
        fits = spans.n == 0 or all_empty(spans.at, spans.n)
    else:
        with nogil:
            fits = pack_all(spans.at, spans.n, &offsets[0], &words[0])
    if not fits:
        raise ValueError("offsets do not suit the texts")


def spans_of_packed(
    const uint64_t[::1] words not None, const int64_t[::1] offsets not None,
    const int64_t[::1] documents not None, bint tokens=False,
):
    """Return packed texts of some numbers, read in place; ValueError if they are damaged.

    Parameters
    ----------
    words, offsets
        As `pack_texts` writes them.
    documents
        int64: which.
    tokens
        These are ids of tokens.
    """
    cdef Py_ssize_t n = offsets.shape[0] - 1
    cdef Py_ssize_t i
    cdef int64_t first, last
    check_offsets(offsets, n, words.shape[0], "offsets")
    memory_of(words, "words")
    memory_of(documents, "documents")
    cdef Spans spans = new_spans(documents.shape[0])
    spans.owners.append(words)
    spans.tokens = tokens
    for i in range(documents.shape[0]):
        if not 0 <= documents[i] < n:
            raise IndexError(f"document {documents[i]} of {n}")
        put(spans, i, NULL, 0, 1, 0)
        first = offsets[documents[i]]
        last = offsets[documents[i] + 1]
        if first < last and not read_head(&words[first], last - first, tokens, spans.at + i):
            raise ValueError(f"the text of document {documents[i]} is damaged")
    return spans


cdef void write_sizes(const Span* at, Py_ssize_t n, int64_t* out) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = words_for(at + i)


cdef bint all_empty(const Span* at, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if at[i].length:
            return False
    return True


cdef bint pack_all(
    const Span* at, Py_ssize_t n, const int64_t* offsets, uint64_t* words
) noexcept nogil:
    # False: they need more or less room.
    cdef Py_ssize_t i
    cdef uint64_t* to
    for i in range(n):
        if words_for(at + i) != offsets[i + 1] - offsets[i]:
            return False
        if at[i].length:
            to = words + offsets[i]
            words[offsets[i + 1] - 1] = 0
            to[0] = <uint64_t> at[i].length << 8 | <uint64_t> at[i].kind
            memcpy(to + 1, at[i].text, at[i].length * at[i].kind)
    return True
