# What Python calls: every argument is checked here, then the loops run without the GIL.

import numpy as np


cdef int check_plan(int unit, Py_ssize_t size) except -1:
    if unit != CHARACTERS and unit != WORDS:
        raise ValueError(f"unit must be {CHARACTERS} (characters) or {WORDS} (words), got {unit}")
    if size < 1:
        raise ValueError(f"size must be at least 1, got {size}")
    return 0


cdef int check_aligned(const void* address, Py_ssize_t width, str name) except -1:
    if <size_t> address % width:
        raise ValueError(f"{name} must be aligned to {width} bytes")
    return 0


cdef int check_offsets(const int64_t[::1] offsets, Py_ssize_t n, Py_ssize_t total, str name) except -1:
    cdef Py_ssize_t i
    if offsets.shape[0] != n + 1:
        raise ValueError(f"{name} has {offsets.shape[0]} elements, expected {n + 1}")
    if offsets[0] < 0 or offsets[n] > total:
        raise ValueError(f"{name} must lie between 0 and {total}")
    for i in range(n):
        if offsets[i + 1] < offsets[i]:
            raise ValueError(f"{name} must not decrease, but does at {i + 1}")
    return 0


cdef int check_minima(
    const uint32_t[::1] a, const uint32_t[::1] b, uint32_t[:, ::1] out, Py_ssize_t n
) except -1:
    if a.shape[0] != b.shape[0] or a.shape[0] < 1:
        raise ValueError("a and b need the same length, at least 1")
    if out.shape[0] != n or out.shape[1] != a.shape[0]:
        raise ValueError(
            f"out has shape ({out.shape[0]}, {out.shape[1]}), expected ({n}, {a.shape[0]})"
        )
    if n:
        check_aligned(&out[0, 0], 4, "out")
        check_aligned(&a[0], 4, "a")
        check_aligned(&b[0], 4, "b")
    return 0


cdef uint64_t[::1] new_ring(Py_ssize_t size, Py_ssize_t longest):
    return np.empty(min(size, longest + 1), np.uint64)


cdef Py_ssize_t longest_of(Spans spans) noexcept:
    cdef Py_ssize_t i
    cdef Py_ssize_t longest = 0
    for i in range(spans.n):
        longest = max(longest, spans.at[i].length)
    return longest


def signatures(
    Spans spans not None, int unit, Py_ssize_t size,
    const uint32_t[::1] a not None, const uint32_t[::1] b not None, uint32_t[:, ::1] out not None,
):
    """Write the minima of each text's shingles into `out`, uint32 (n, k); empty text: all ones.

    Parameters
    ----------
    spans
        The texts.
    unit, size
        `CHARACTERS` or `WORDS`, and how many make a shingle.
    a, b
        uint32 (k,): the coefficients of the k functions a * x + b mod 2^32.
    """
    cdef Plan plan
    cdef Source source
    cdef Py_ssize_t i
    check_plan(unit, size)
    check_minima(a, b, out, spans.n)
    cdef uint64_t[::1] ring = new_ring(size, longest_of(spans) if unit == WORDS else 0)
    if spans.n == 0:
        return
    with nogil:
        make_plan(&plan, unit, size)
        for i in range(spans.n):
            open_text(&source, &plan, &spans.at[i], &ring[0])
            sign_source(&source, &a[0], &b[0], a.shape[0], &out[i, 0])


def token_signatures(
    Spans tokens not None, const int64_t[::1] offsets not None, Py_ssize_t size,
    const uint32_t[::1] a not None, const uint32_t[::1] b not None, uint32_t[:, ::1] out not None,
):
    """Write the minima of token shingles: document d has the tokens offsets[d] ... offsets[d + 1].

    Parameters and result as in `signatures`; offsets int64 (n + 1,).
    """
    cdef Plan plan
    cdef Source source
    cdef Py_ssize_t i
    cdef Py_ssize_t n = offsets.shape[0] - 1
    check_plan(WORDS, size)
    check_offsets(offsets, n, tokens.n, "offsets")
    check_minima(a, b, out, n)
    cdef uint64_t[::1] ring = new_ring(size, tokens.n)
    if n == 0:
        return
    with nogil:
        make_plan(&plan, WORDS, size)
        for i in range(n):
            open_tokens(
                &source, &plan, tokens.at + offsets[i], offsets[i + 1] - offsets[i], &ring[0]
            )
            sign_source(&source, &a[0], &b[0], a.shape[0], &out[i, 0])


ctypedef fused element:
    uint32_t
    uint64_t


def hash_signatures(
    const element[::1] hashes not None, const int64_t[::1] offsets not None,
    const uint32_t[::1] a not None, const uint32_t[::1] b not None, uint32_t[:, ::1] out not None,
):
    """Write the minima of ready hashes: document d has hashes[offsets[d]:offsets[d + 1]].

    Parameters
    ----------
    hashes
        uint32 or uint64 (total,).
    offsets
        int64 (n + 1,), not decreasing.
    a, b, out
        As in `signatures`.
    """
    cdef Py_ssize_t i
    cdef Py_ssize_t n = offsets.shape[0] - 1
    cdef const element* values = NULL
    check_offsets(offsets, n, hashes.shape[0], "offsets")
    check_minima(a, b, out, n)
    if n == 0:
        return
    if hashes.shape[0]:
        values = &hashes[0]
        check_aligned(values, sizeof(element), "hashes")
    with nogil:
        for i in range(n):
            sign_hashes(
                values + offsets[i], element is uint64_t, offsets[i + 1] - offsets[i],
                &a[0], &b[0], a.shape[0], &out[i, 0],
            )


def shingle_sets(
    Spans spans not None, const int64_t[::1] offsets, int unit, Py_ssize_t size,
    uint64_t[::1] out not None, const int64_t[::1] start not None, int64_t[::1] count not None,
    bint unique=True, bint sketched=False,
):
    """Write the 64-bit hashes of each document's shingles, sorted and without repetitions.

    Parameters
    ----------
    spans, offsets
        The texts and None; or tokens and int64 (n + 1,) with each document's part of them.
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
    cdef Py_ssize_t n = spans.n
    cdef Workbench* bench = NULL
    cdef uint64_t* base = NULL
    cdef bint short = False
    check_plan(unit, size)
    if offsets is not None:
        n = offsets.shape[0] - 1
        check_offsets(offsets, n, spans.n, "offsets")
        longest = spans.n
    else:
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
                    &source, &plan, spans.at + offsets[i], offsets[i + 1] - offsets[i], &ring[0]
                )
            else:
                open_text(&source, &plan, &spans.at[i], &ring[0])
            count[i] = collect(&source, base + start[i], start[i + 1] - start[i])
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


def band_keys(
    const uint32_t[:, ::1] signatures not None, Py_ssize_t first, Py_ssize_t rows,
    uint64_t[:, ::1] out not None,
):
    """Write the keys of the bands first, first + 1, ... into `out`, uint64 (bands, n).

    An empty document (all ones) has the key 0, every other one a key that is not 0.
    """
    cdef Py_ssize_t n = signatures.shape[0]
    cdef Py_ssize_t bands = out.shape[0]
    if rows < 1 or first < 0 or (first + bands) * rows > signatures.shape[1]:
        raise ValueError(
            f"bands {first} to {first + bands} of {rows} rows do not lie in "
            f"{signatures.shape[1]} values"
        )
    if out.shape[1] != n:
        raise ValueError(f"out has {out.shape[1]} columns, expected {n}")
    if n == 0 or bands == 0:
        return
    check_aligned(&signatures[0, 0], 4, "signatures")
    check_aligned(&out[0, 0], 8, "out")
    with nogil:
        keys_of_bands(
            &signatures[0, 0], n, signatures.shape[1], first, bands, rows, &out[0, 0]
        )


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
    """Write the share of equal minima of each pair into `out`, float64 (m,).

    Parameters
    ----------
    signatures
        uint32 (n, k).
    left, right
        int64 (m,).
    """
    cdef Py_ssize_t k = signatures.shape[1]
    cdef Py_ssize_t i, equal
    check_pairs(left, right, out, signatures.shape[0])
    if k < 1:
        raise ValueError("signatures have no columns")
    with nogil:
        for i in range(left.shape[0]):
            count_equal(&signatures[left[i], 0], &signatures[right[i], 0], k, &equal)
            out[i] = <double> equal / <double> k


cdef inline int check_set(
    int64_t d, const int64_t[::1] start, const int64_t[::1] count, Py_ssize_t total, bint sketched
) except -1:
    if start[d] < 0 or count[d] < 0 or start[d] + count[d] > total or (
        sketched and start[d] + count[d] + sketch_words(count[d]) > total
    ):
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
