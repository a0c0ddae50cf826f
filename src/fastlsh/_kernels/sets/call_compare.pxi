# Called from Python: shingle sets and similarities. The loops run without the GIL.
# With numbered.pxi and pairs.pxi.

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from fastlsh._kernels.common.checks cimport (
    Memory, check_apart, check_offsets, check_threshold, memory_of, memory_of_rows,
)
from fastlsh._kernels.loops._chosen cimport loops
from fastlsh._kernels.sets.checks cimport check_pairs, sets_of
from fastlsh._kernels.sets.modes cimport (
    BY_CONTAINMENT, BY_SETS, BY_SIGNATURE, BY_TEXTS, NOT_VERIFIED,
)
from fastlsh._kernels.sets.sets cimport Sets, Workbench
from fastlsh._kernels.text._plans cimport (
    ShinglePlan, check_documents, longest_of, new_window, plan_of,
)
from fastlsh._kernels.text._texts cimport Spans
from fastlsh._kernels.text.source cimport CHARACTERS, Plan


globals().update(       # for callers
    BY_CONTAINMENT=BY_CONTAINMENT, BY_SETS=BY_SETS, BY_SIGNATURE=BY_SIGNATURE, BY_TEXTS=BY_TEXTS,
    NOT_VERIFIED=NOT_VERIFIED,
)


def shingle_sets(
    units, const int64_t[::1] offsets, int unit, Py_ssize_t size,
    uint64_t[::1] out not None, const int64_t[::1] start not None, int64_t[::1] count not None,
    bint unique=True, bint thinned=False, ShinglePlan prepared=None,
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
    thinned
        Leave them as they come, but most of those that repeat out.
    prepared
        Hashes with a key, or without some words; for this unit and size.

    Raises
    ------
    ValueError
        A document has more windows than there is room for in `out`.
    """
    cdef Plan own
    cdef const Plan* plan = plan_of(&own, unit, size, prepared)
    cdef Py_ssize_t n, done
    cdef Py_ssize_t longest = 0
    cdef Spans spans = None
    cdef const uint64_t[::1] tokens = None
    cdef Memory parts[5]
    cdef Workbench* bench = NULL
    cdef uint64_t* base = NULL
    if units is None:
        raise TypeError("units must be Spans, or an array with offsets")
    if offsets is None:
        spans = units
        check_documents(spans, unit)
        n = spans.n
        longest = longest_of(spans) if unit != CHARACTERS else 0
    else:
        tokens = units
        n = offsets.shape[0] - 1
        longest = tokens.shape[0]
        check_offsets(offsets, n, longest, "offsets")
    check_offsets(start, n, out.shape[0], "start")
    if count.shape[0] != n:
        raise ValueError(f"count has {count.shape[0]} elements, expected {n}")
    parts[0] = memory_of(out, "out")
    parts[1] = memory_of(count, "count")
    parts[2] = memory_of(start, "start")
    parts[3] = memory_of(offsets, "offsets")
    parts[4] = memory_of(tokens, "units")
    check_apart(parts, 5, 2, "out, count and what is read")
    cdef uint64_t[::1] window = new_window(size, longest)
    if n == 0:
        return
    if unique or thinned:
        bench = <Workbench*> malloc(sizeof(Workbench))
        if bench == NULL:
            raise MemoryError()
    if out.shape[0]:
        base = &out[0]
    with nogil:
        if spans is not None:
            done = loops.sets_of_texts(
                spans.at, n, plan, &window[0], base, &start[0], &count[0], thinned, bench
            )
        else:
            done = loops.sets_of_tokens(
                &tokens[0] if longest else NULL, &offsets[0], n, plan, &window[0], base,
                &start[0], &count[0], thinned, bench,
            )
    free(bench)
    if done < n:
        raise ValueError(
            f"document {done} of the batch has more shingles than its room of"
            f" {start[done + 1] - start[done]}: the functions of a shingler must return the same"
            " whenever they are called with the same text"
        )


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
    check_pairs(left, right, out, signatures.shape[0])
    memory_of_rows(signatures, "signatures")
    if k < 1:
        raise ValueError("signatures have no columns")
    if left.shape[0]:
        with nogil:
            loops.agree_pairs(&signatures[0, 0], k, &left[0], &right[0], left.shape[0], &out[0])


def set_jaccard(
    const uint64_t[::1] hashes not None, const int64_t[::1] start not None,
    const int64_t[::1] count not None, const int64_t[::1] left not None,
    const int64_t[::1] right not None, double threshold, double[::1] out not None,
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
    """
    cdef Memory parts[4]
    cdef Py_ssize_t n = left.shape[0]
    cdef Py_ssize_t done
    cdef Sets sets = sets_of(hashes, start, count, start.shape[0])
    check_threshold(threshold)
    check_pairs(left, right, out, start.shape[0])
    parts[0] = memory_of(out, "out")
    parts[1] = memory_of(start, "start")
    parts[2] = memory_of(count, "count")
    parts[3] = memory_of(hashes, "hashes")
    check_apart(parts, 4, 1, "out, hashes, start and count")
    if n == 0:
        return
    with nogil:
        done = compare_pairs(&sets, &left[0], &right[0], n, threshold, &out[0])
    if done < n:
        raise IndexError(
            f"a set of pair {done} ({left[done]}, {right[done]}) lies outside the hashes"
        )


def number_jaccard(
    const uint64_t[::1] words not None, const int64_t[::1] start not None,
    const int64_t[::1] count not None, const int64_t[::1] left not None,
    const int64_t[::1] right not None, double threshold, double[::1] out not None,
):
    """Write |A n B| / |A u B| of each pair of sets into `out`, float64 (m,); -1 below `threshold`.

    Parameters
    ----------
    words
        uint64: sets of numbers, as `pack_numbers` writes them.
    start, count
        int64 (n,): place and size of each set; the size -1 stands for a set that is not there.
    left, right
        int64 (m,): the pairs.
    """
    cdef Memory parts[4]
    cdef Py_ssize_t n = left.shape[0]
    cdef Py_ssize_t done
    cdef Sets sets = sets_of(words, start, count, start.shape[0])
    check_threshold(threshold)
    check_pairs(left, right, out, start.shape[0])
    parts[0] = memory_of(out, "out")
    parts[1] = memory_of(start, "start")
    parts[2] = memory_of(count, "count")
    parts[3] = memory_of(words, "words")
    check_apart(parts, 4, 1, "out, words, start and count")
    if n == 0:
        return
    with nogil:
        done = compare_numbers(&sets, &left[0], &right[0], n, threshold, &out[0])
    if done < n:
        raise IndexError(
            f"a set of pair {done} ({left[done]}, {right[done]}) is not there, or lies outside"
        )
