# Documents of token ids: numbers that lie side by side, 1, 2, 4 or 8 bytes wide.
# With spans.pxi.

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t

from fastlsh._kernels.common.checks cimport check_aligned, memory_of
from fastlsh._kernels.text._texts cimport Span, Spans, new_spans
from fastlsh._kernels.text.ids cimport id_at

cdef list ids_of(const Span* span):
    cdef Py_ssize_t i
    return [id_at(span.text, span.kind, i) for i in range(span.length)]


cdef int check_alike(Spans a, Spans b) except -1:
    if a.n and b.n and a.tokens != b.tokens:
        raise TypeError("some documents are texts and some are ids of tokens: make them alike")
    return 0


cdef bint same_ids(const Span* a, const Span* b) noexcept nogil:
    cdef Py_ssize_t i
    if a.length != b.length:
        return False
    for i in range(a.length):
        if id_at(a.text, a.kind, i) != id_at(b.text, b.kind, i):
            return False
    return True


cdef bint is_negative(const Span* span) noexcept nogil:
    cdef int64_t seen = 0
    cdef Py_ssize_t i
    if span.kind == 1:
        for i in range(span.length):
            seen |= (<const int8_t*> span.text)[i]
    elif span.kind == 2:
        for i in range(span.length):
            seen |= (<const int16_t*> span.text)[i]
    elif span.kind == 4:
        for i in range(span.length):
            seen |= (<const int32_t*> span.text)[i]
    else:
        for i in range(span.length):
            seen |= (<const int64_t*> span.text)[i]
    return seen < 0


cdef Py_ssize_t first_negative(const Span* at, Py_ssize_t n) noexcept nogil:
    # Returns -1 if there is none.
    cdef Py_ssize_t i
    for i in range(n):
        if is_negative(at + i):
            return i
    return -1


def spans_of_ids(
    const uint8_t[::1] values not None, int width, bint signed,
    const int64_t[::1] offsets not None, const int64_t[::1] documents not None,
):
    """Gather documents of token ids, read in place.

    Parameters
    ----------
    values
        The ids as bytes; they must not change while the result is in use.
    width, signed
        How an id is stored: in 1, 2, 4 or 8 bytes; negative ones are refused.
    offsets
        int64 (n + 1,): document d has the ids offsets[d] ... offsets[d + 1] - 1.
    documents
        int64 (m,): which.
    """
    cdef Py_ssize_t i
    cdef int64_t begin, end
    cdef int64_t n = offsets.shape[0] - 1
    cdef Py_ssize_t bad = -1
    cdef Spans spans = new_spans(documents.shape[0])
    cdef const uint8_t* data = &values[0] if values.shape[0] else NULL
    if width != 1 and width != 2 and width != 4 and width != 8:
        raise ValueError(f"an id is 1, 2, 4 or 8 bytes wide, not {width}")
    memory_of(offsets, "offsets")
    memory_of(documents, "documents")
    check_aligned(data, width, "values")
    spans.owners.append(values)
    spans.tokens = True
    for i in range(spans.n):
        if not 0 <= documents[i] < n:
            raise IndexError(f"document {documents[i]} of {n}")
        begin = offsets[documents[i]]
        end = offsets[documents[i] + 1]
        if not 0 <= begin <= end <= values.shape[0] // width:
            raise ValueError(
                f"document {documents[i]} has the ids {begin} to {end} "
                f"of {values.shape[0] // width}"
            )
        put(spans, i, data + begin * width if begin < end else NULL, end - begin, width, 0)
    if signed:
        with nogil:
            bad = first_negative(spans.at, spans.n)
    if bad >= 0:
        raise ValueError(
            f"document {documents[bad]} has the token id {min(ids_of_signed(&spans.at[bad]))}: "
            "ids are not negative"
        )
    return spans


cdef list ids_of_signed(const Span* span):
    cdef object one = 1
    cdef object base = one << (8 * span.kind)
    return [value - base if 2 * value >= base else value for value in ids_of(span)]
