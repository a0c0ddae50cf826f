# Called from Python: minima of MurmurHash3. The loop runs without the GIL.

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from fastlsh._kernels.common.checks cimport memory_of, memory_of_rows
from fastlsh._kernels.compat.murmur cimport Murmur, arrays32, arrays64
from fastlsh._kernels.loops._chosen cimport loops
from fastlsh._kernels.text._plans cimport longest_of
from fastlsh._kernels.text._texts cimport Span, Spans
from fastlsh._kernels.text.source cimport element

cdef enum:
    PIECE = 1 << 9          # windows at a time, at most: their words stay in the first cache,
    ROOM = 1 << 16          # unless the windows are long,
    LANES = 16              # and at least


def murmur_minima(
    Spans spans not None, Py_ssize_t size, const uint32_t[::1] seeds not None,
    element[:, ::1] out not None, bint sentinel=False,
):
    """Write each text's minimum of MurmurHash3 over its windows, for each seed, into `out`.

    Parameters
    ----------
    spans
        The texts, gathered as bytes.
    size
        Bytes of a window. A text of fewer bytes is one window, itself.
    seeds
        uint32 (k,).
    out
        uint32 (n, k): x86_32, least in the order of signed numbers. uint64 (n, k): the first half
        of x64_128, least in the order of unsigned ones. Empty text: all ones.
    sentinel
        Start at -1 (uint32) or 2^63 - 1 (uint64) instead of the greatest number, and leave a text
        of fewer bytes than `size` there, as lsh 0.3.0 does.
    """
    cdef Py_ssize_t k = seeds.shape[0]
    cdef Py_ssize_t i
    cdef Py_ssize_t arrays
    cdef Murmur m
    cdef element start
    if size < 1:
        raise ValueError(f"size must be at least 1, got {size}")
    if k < 1 or out.shape[0] != spans.n or out.shape[1] != k:
        raise ValueError(
            f"out has shape ({out.shape[0]}, {out.shape[1]}), expected ({spans.n}, {k}), "
            "and at least one seed"
        )
    for i in range(spans.n):
        if spans.at[i].kind != 1:
            raise ValueError(f"text {i} is not gathered as bytes")
    if spans.n == 0:
        return
    memory_of(seeds, "seeds")
    memory_of_rows(out, "out")
    if element is uint32_t:
        start = 0xFFFFFFFF if sentinel else 0x7FFFFFFF
    else:
        start = <uint64_t> 0x7FFFFFFFFFFFFFFF if sentinel else <uint64_t> 0xFFFFFFFFFFFFFFFF
    arrays = min(size, max(longest_of(spans), <Py_ssize_t> 1))  # of no longer windows
    arrays = arrays32(arrays) if element is uint32_t else arrays64(arrays)
    m.k = k
    m.seeds = &seeds[0]
    m.piece = max(min(ROOM // arrays, <Py_ssize_t> PIECE), <Py_ssize_t> LANES)
    m.words = malloc(arrays * m.piece * sizeof(element))
    if m.words == NULL:
        raise MemoryError()
    with nogil:
        minima_of_texts(&m, spans.at, spans.n, size, start, sentinel, &out[0, 0])
    free(m.words)


cdef void minima_of_texts(
    Murmur* m, const Span* at, Py_ssize_t n, Py_ssize_t size, element start, bint sentinel,
    element* row
) noexcept nogil:
    cdef Py_ssize_t i, j, length
    for i in range(n):
        length = at[i].length
        for j in range(m.k):
            row[j] = start
        if length >= size or length and not sentinel:
            if element is uint32_t:
                loops.murmur_32(m, <const uint8_t*> at[i].text, length, min(size, length), row)
            else:
                loops.murmur_64(m, <const uint8_t*> at[i].text, length, min(size, length), row)
        elif not sentinel:
            memset(row, 0xFF, m.k * sizeof(element))
        row += m.k
