# Called from Python: shingle sets and similarities. The loops run without the GIL.
# With checks.pxi, sets.pxi, compare.pxi, sketch.pxi and the sources.

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memmove

from fastlsh._kernels.candidates.bandkeys cimport is_empty_row
from fastlsh._kernels.common.checks cimport check_offsets
from fastlsh._kernels.common.mixing cimport fmix64
from fastlsh._kernels.sets.sets cimport Workbench
from fastlsh._kernels.text._texts cimport Spans
from fastlsh._kernels.text.source cimport WORDS, Plan, Source, make_plan


def shingle_sets(
    units, const int64_t[::1] offsets, int unit, Py_ssize_t size,
    uint64_t[::1] out not None, const int64_t[::1] start not None, int64_t[::1] count not None,
    bint unique=True, bint sketched=False,
):
    """Write the 64-bit hashes of each document's shingles, sorted and without repetitions.

    Parameters
    ----------
    units, offsets
        The texts, `Spans`, and None; or tokens and offsets as `token_hashes` makes them.
    unit, size
        As in `signatures`.
    out
        uint64: document d writes from start[d] and before start[d + 1].
    start
        int64 (n + 1,), not decreasing.
    count
        int64 (n,), written: how many hashes a document has.
    unique
        False leaves them as they come, one for each window.
    sketched
        Write the sketch of each set behind it; `sketch_room` tells the words to add.
    """
    cdef Plan plan
    cdef Source source
    cdef Py_ssize_t i, longest
    cdef Py_ssize_t n
    cdef Spans spans
    cdef const uint64_t[::1] tokens
    cdef const uint64_t* first = NULL
    cdef Workbench* bench = NULL
    cdef uint64_t* base = NULL
    cdef bint short = False
    check_plan(unit, size)
    if units is None:
        raise TypeError("units must be Spans, or an array with offsets")
    if offsets is not None:
        tokens = units
        n = offsets.shape[0] - 1
        longest = tokens.shape[0]
        check_offsets(offsets, n, longest, "offsets")
        if longest:
            first = &tokens[0]
    else:
        spans = units
        n = spans.n
        longest = longest_of(spans) if unit == WORDS else 0
    check_offsets(start, n, out.shape[0], "start")
    if count.shape[0] != n:
        raise ValueError(f"count has {count.shape[0]} elements, expected {n}")
    cdef uint64_t[::1] ring = new_ring(size, longest)
    if n == 0:
        return
    if unique:
        bench = <Workbench*> malloc(sizeof(Workbench))
        if bench == NULL:
            raise MemoryError()
    if out.shape[0]:
        base = &out[0]
    with nogil:
        make_plan(&plan, unit, size)
        for i in range(n):
            if offsets is not None:
                open_tokens(
                    &source, &plan, first + offsets[i], offsets[i + 1] - offsets[i], &ring[0]
                )
            else:
                open_text(&source, &plan, &spans.at[i], &ring[0])
            count[i] = collect(
                &source, base + start[i], start[i + 1] - start[i], bench.recent if unique else NULL
            )
            if unique:
                count[i] = sort_unique(base + start[i], count[i], 0, bench)
            if sketched and start[i + 1] - start[i] >= count[i] + sketch_words(count[i]):
                make_sketch(base + start[i], count[i], base + start[i] + count[i])
            elif sketched:
                short = True
    free(bench)
    if short:
        raise ValueError("start leaves no room for a sketch")


def sketch_room(const int64_t[::1] sizes not None, int64_t[::1] out not None):
    """Write how many words the sketch of a set of each size takes into `out`, int64 (n,)."""
    cdef Py_ssize_t i
    if out.shape[0] != sizes.shape[0]:
        raise ValueError("sizes and out need the same length")
    for i in range(sizes.shape[0]):
        if not 0 <= sizes[i] < <int64_t> 1 << 56:
            raise ValueError(f"size {sizes[i]} out of range")
        out[i] = sketch_words(sizes[i])


def pack_sets(
    uint64_t[::1] hashes not None, int64_t[::1] start not None, const int64_t[::1] count not None,
    const int64_t[::1] places not None, Py_ssize_t end,
):
    """Move sets and their sketches together in memory; return where the last one ends.

    Parameters
    ----------
    hashes, start, count
        As in `set_jaccard`; start is written.
    places
        int64 (m,): the sets to move, by ascending start; all begin at `end` or behind it.
    end
        Where the first one goes.
    """
    cdef Py_ssize_t i, p, words
    for i in range(places.shape[0]):
        p = places[i]
        if not 0 <= p < min(start.shape[0], count.shape[0]):
            raise IndexError(f"set {p} of {start.shape[0]}")
        check_set(p, start, count, hashes.shape[0], True)
        if start[p] < end:
            raise ValueError(f"set {p} would be moved backwards")
        words = count[p] + sketch_words(count[p])
        if words and start[p] != end:
            memmove(&hashes[end], &hashes[start[p]], words * sizeof(uint64_t))
        start[p] = end
        end += words
    return end


def text_hashes(Spans spans not None, uint64_t[::1] out not None):
    """Write a 64-bit hash of each whole text into `out`, uint64 (n,): equal texts, equal hashes.

    Of the bytes in memory, so good for one run on one machine only. Never 0.
    """
    cdef Py_ssize_t i
    if out.shape[0] != spans.n:
        raise ValueError(f"out has {out.shape[0]} elements, expected {spans.n}")
    with nogil:
        for i in range(spans.n):
            out[i] = memory_hash(
                <const uint8_t*> spans.at[i].text, spans.at[i].length * spans.at[i].kind
            )


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


cdef int check_pairs(
    const int64_t[::1] left, const int64_t[::1] right, double[::1] out, Py_ssize_t n
) except -1:
    cdef Py_ssize_t i
    if right.shape[0] != left.shape[0] or out.shape[0] != left.shape[0]:
        raise ValueError("left, right and out need the same length")
    for i in range(left.shape[0]):
        if not (0 <= left[i] < n and 0 <= right[i] < n):
            raise IndexError(f"pair {i} ({left[i]}, {right[i]}) points outside {n} documents")
    return 0


def agreement(
    const uint32_t[:, ::1] signatures not None, const int64_t[::1] left not None,
    const int64_t[::1] right not None, double[::1] out not None,
):
    """Write the share of equal minima of each pair into `out`, float64 (m,); 0 if one is empty.

    Parameters
    ----------
    signatures
        uint32 (n, k).
    left, right
        int64 (m,).
    """
    cdef Py_ssize_t k = signatures.shape[1]
    cdef Py_ssize_t i, equal
    cdef const uint32_t* a
    cdef const uint32_t* b
    check_pairs(left, right, out, signatures.shape[0])
    if k < 1:
        raise ValueError("signatures have no columns")
    with nogil:
        for i in range(left.shape[0]):
            a = &signatures[left[i], 0]
            b = &signatures[right[i], 0]
            count_equal(a, b, k, &equal)
            out[i] = <double> equal / <double> k
            if is_empty_row(a, k) or is_empty_row(b, k):
                out[i] = 0.0


cdef inline int check_set(
    int64_t d, const int64_t[::1] start, const int64_t[::1] count, Py_ssize_t total, bint sketched
) except -1:
    if not lies_within(start[d], count[d], total, sketched):
        raise IndexError(f"set {d} lies outside the hashes")
    return 0


def set_jaccard(
    const uint64_t[::1] hashes not None, const int64_t[::1] start not None,
    const int64_t[::1] count not None, const int64_t[::1] left not None,
    const int64_t[::1] right not None, double threshold, double[::1] out not None,
    bint sketched=False,
):
    """Write |A n B| / |A u B| of each pair of sets into `out`, float64 (m,); -1 below `threshold`.

    Parameters
    ----------
    hashes
        uint64: the sets, each sorted and without repetitions.
    start, count
        int64 (n,): place and size of each set.
    left, right
        int64 (m,): the pairs.
    sketched
        Behind each set lies its sketch.
    """
    cdef Py_ssize_t i, a, b
    cdef const uint64_t* base = NULL
    check_pairs(left, right, out, start.shape[0])
    if count.shape[0] != start.shape[0]:
        raise ValueError("start and count need the same length")
    for i in range(left.shape[0]):
        check_set(left[i], start, count, hashes.shape[0], sketched)
        check_set(right[i], start, count, hashes.shape[0], sketched)
    if hashes.shape[0]:
        base = &hashes[0]
    with nogil:
        for i in range(left.shape[0]):
            a = left[i]
            b = right[i]
            out[i] = jaccard_of_sets(
                base + start[a], count[a], base + start[b], count[b], threshold, sketched
            )
