"""Similarities of given pairs: estimated from signatures, or exact."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.candidates import _candidates
from fastlsh._kernels.sets import _sets
from fastlsh.arrays import unique
from fastlsh.candidates import check_signatures
from fastlsh.parallel import batches, run_batches, thread_count
from fastlsh.results import Pairs
from fastlsh.sets.sorted_sets import SortedSets
from fastlsh.texts import Shingler, as_texts, check_shingler, joined_texts

ESTIMATES_BATCH = 1 << 18
"""At most so many pairs are compared at a time by their signatures ..."""

VALUES_BATCH = 1 << 28
"""... and so many values: a few hundredths of a second."""


def jaccard(a: str | bytes, b: str | bytes, shingler: Shingler | None = None) -> float:
    """Return the exact Jaccard similarity |A n B| / |A u B| of two texts' shingle sets.

    Parameters
    ----------
    a, b
        The texts. A text without a shingle has similarity 0, even to itself.
    shingler
        How texts are split into sets; by default ``Shingler()``, 9 characters.

    Examples
    --------
    >>> jaccard("a few words here", "a few words there", Shingler("word", 1))
    0.6
    """
    return float(exact_jaccard([a, b], ([0], [1]), shingler)[0])


def estimate_jaccard(
    signatures: NDArray[np.uint32], pairs: Any, *, threads: int | None = None
) -> NDArray[np.float64]:
    """Return the share of equal minima of each pair: an unbiased estimate of their similarity.

    Parameters
    ----------
    signatures
        uint32 (n, num_perm), all from the same MinHasher.
    pairs
        `Pairs`, or a tuple (left, right) of integer arrays, or an array (m, 2).
    threads
        Number of threads; by default all usable processors. It never changes the result.

    Returns
    -------
    ndarray of float64, shape (m,)
        The standard error is sqrt(J (1 - J) / num_perm). It is 0 for empty documents.

    Examples
    --------
    >>> import fastlsh
    >>> signatures = fastlsh.MinHasher().signatures(["some text", "some text", "another"])
    >>> estimate_jaccard(signatures, [(0, 1), (0, 2)]).tolist()
    [1.0, 0.0]
    """
    signatures = check_signatures(signatures)
    left, right = pair_arrays(pairs, len(signatures))
    out = np.empty(len(left))

    def work(start: int, stop: int) -> None:
        _sets.agreement(signatures, left[start:stop], right[start:stop], out[start:stop])

    batch = min(ESTIMATES_BATCH, max(VALUES_BATCH // signatures.shape[1], 1))
    run_batches(work, batches(len(left), batch), thread_count(threads))
    return out


def exact_jaccard(
    left: Iterable[Any], right: Any, shingler: Shingler | None = None, *, threads: int | None = None
) -> NDArray[np.float64]:
    """Return the exact Jaccard similarity of each pair of texts.

    They are exact up to accidental collisions of 64-bit hashes. For a pair of documents with n
    shingles, the probability of a collision is about n**2 / 2**65.

    Parameters
    ----------
    left
        Anything that `near_duplicates` takes.
    right
        As many texts, each of which is compared with the one at the same position. Or pairs of
        documents of `left`: `Pairs`, a tuple of two integer arrays, or an array (m, 2).
    shingler
        How texts are split into sets; by default ``Shingler()``, 9 characters.
    threads
        Number of threads; by default all usable processors.

    Returns
    -------
    ndarray of float64, shape (m,)
        0 where one of the two has no shingle.

    Raises
    ------
    TypeError, ValueError, IndexError
        Columns of different lengths, or pairs that point outside the documents.

    Examples
    --------
    >>> exact_jaccard(["abcd", "abcd"], ["abcde", "xyz"], Shingler(size=2)).tolist()
    [0.75, 0.0]
    """
    return _compared(left, right, shingler, threads, contained=False)


def containment(
    left: Iterable[Any], right: Any, shingler: Shingler | None = None, *, threads: int | None = None
) -> NDArray[np.float64]:
    """Return the exact share of each left text's shingles that the right one has: |A n B| / |A|.

    Parameters
    ----------
    left, right, shingler, threads
        As in `exact_jaccard`.

    Returns
    -------
    ndarray of float64, shape (m,)
        0 where one of the two has no shingle.

    Examples
    --------
    >>> containment(["abcd", "abcde"], ["abcde", "abcd"], Shingler(size=2)).tolist()
    [1.0, 0.75]
    """
    return _compared(left, right, shingler, threads, contained=True)


def _compared(
    left: Any, right: Any, shingler: Shingler | None, threads: int | None, *, contained: bool
) -> NDArray[np.float64]:
    collection = as_texts(left, "left")
    if _are_pairs(right):
        a, b = pair_arrays(right, len(collection))
    else:
        others = as_texts(right, "right")
        n = len(collection)
        if len(others) != n:
            raise ValueError(f"left has {n} documents, and right has {len(others)}")
        a, b = np.arange(n), np.arange(n, 2 * n)
        collection = joined_texts(collection, others)
    shingler = check_shingler(shingler)
    collection = shingler.prepared(collection)
    order, a, b = _by_family(a, b, len(collection))
    lengths = shingler.lengths(collection, order)
    sets = SortedSets(collection, shingler, order, lengths, thread_count(threads))
    return sets.similarities(a, b, contained=contained)


def _are_pairs(right: Any) -> bool:
    """Whether these are pairs of numbers, and no texts."""
    if isinstance(right, Pairs):
        return True
    if isinstance(right, (tuple, list)):
        return not any(element is None or isinstance(element, (str, bytes)) for element in right)
    shape: tuple[int, ...] = getattr(right, "shape", ())
    if isinstance(right, np.ndarray):
        return len(shape) == 2 or right.dtype.kind in "iufb"
    return len(shape) == 2 and shape[1] == 2  # a table of two columns


def _by_family(
    left: NDArray[np.int64], right: NDArray[np.int64], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the documents of the pairs, family by family, and the pairs by position in them."""
    family = np.arange(n, dtype=np.int32)
    _candidates.unite(family, left.astype(np.int32), right.astype(np.int32))
    _candidates.families(family)
    documents = unique(np.concatenate([left, right]))
    documents = documents[np.argsort(family[documents], kind="stable")]
    position = np.zeros(n, np.int64)
    position[documents] = np.arange(len(documents))
    return documents, position[left], position[right]


def pair_arrays(pairs: Any, n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (left, right) as int64 arrays from any form of pairs among n documents."""
    if isinstance(pairs, Pairs):
        return pairs.left, pairs.right
    if not isinstance(pairs, tuple):
        table = np.asarray(pairs)
        if table.size == 0:
            table = table.reshape(0, 2).astype(np.int64)
        if table.ndim != 2 or table.shape[1] != 2:
            raise ValueError(f"pairs must have shape (m, 2), got {table.shape}")
        pairs = table[:, 0], table[:, 1]
    arrays = []
    for side in pairs:
        array = np.asarray(side)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise TypeError(f"pairs must be integers, got {array.dtype} of {array.ndim} dimensions")
        if array.size and (int(array.min()) < 0 or int(array.max()) >= n):
            raise IndexError(f"pairs point outside the {n} documents")
        arrays.append(np.array(array, np.int64))  # copies, which no other thread changes
    left, right = arrays
    if len(left) != len(right):
        raise ValueError(f"pairs have {len(left)} left and {len(right)} right documents")
    return left, right
