"""Similarities of given pairs: estimated from signatures, or exact."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh import _kernels
from fastlsh.buckets import check_signatures
from fastlsh.parallel import batches, run, thread_count
from fastlsh.results import Pairs
from fastlsh.shingling import Shingler
from fastlsh.texts import Texts, as_texts

ROOM = 1 << 22
"""Shingle hashes that are held at a time: 32 MB, more only if two documents need it."""

PAIRS_AT_A_TIME = 1 << 16


def jaccard(a: str | bytes, b: str | bytes, shingler: Shingler | None = None) -> float:
    """Return the exact Jaccard similarity |A n B| / |A u B| of two texts' shingle sets.

    Parameters
    ----------
    a, b
        Texts. One without a shingle has similarity 0, also to itself.
    shingler
        Default ``Shingler()``, 9 characters.
    """
    return float(exact_jaccard([a, b], ([0], [1]), shingler)[0])


def estimate_jaccard(signatures: NDArray[np.uint32], pairs: Any) -> NDArray[np.float64]:
    """Return the share of equal minima of each pair: an unbiased estimate of their similarity.

    Parameters
    ----------
    signatures
        uint32 (n, num_perm), all of one MinHasher.
    pairs
        `Pairs`, or a tuple (left, right) of integer arrays, or an array (m, 2).

    Returns
    -------
    ndarray of float64, shape (m,)
        With standard error sqrt(J (1 - J) / num_perm). Empty documents: 0.
    """
    signatures = check_signatures(signatures)
    left, right = pair_arrays(pairs, len(signatures))
    out = np.empty(len(left))
    _kernels.agreement(signatures, left, right, out)
    empty = np.flatnonzero(signatures[left, 0] == 0xFFFFFFFF)
    out[empty[(signatures[left[empty]] == 0xFFFFFFFF).all(axis=1)]] = 0.0
    return out


def exact_jaccard(
    texts: Iterable[Any],
    pairs: Any,
    shingler: Shingler | None = None,
    *,
    threads: int | None = None,
) -> NDArray[np.float64]:
    """Return the exact Jaccard similarity of each pair of texts.

    Exact up to accidental collisions of 64-bit hashes, of which a pair of documents with n
    shingles meets one with probability about n**2 / 2**65.

    Parameters
    ----------
    texts
        Anything that `near_duplicates` takes.
    pairs
        `Pairs`, or a tuple (left, right) of integer arrays, or an array (m, 2).
    shingler
        Default ``Shingler()``, 9 characters.
    threads
        How many; default: the processors this process may use.

    Returns
    -------
    ndarray of float64, shape (m,)
        0 where one of the two has no shingle.
    """
    collection = as_texts(texts)
    left, right = pair_arrays(pairs, len(collection))
    shingler = shingler or Shingler()
    documents = np.unique(np.concatenate([left, right]))
    lengths = np.zeros(len(collection), np.int64)
    for start, stop in batches(len(documents), 4096):
        chosen = documents[start:stop]
        lengths[chosen] = shingler.take(collection, chosen).lengths()
    sets = ShingleSets(collection, shingler, lengths, thread_count(threads))
    return sets.similarities(left, right, 0.0)


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
        if array.size and not (0 <= int(array.min()) and int(array.max()) < n):
            raise IndexError(f"pairs point outside the {n} documents")
        arrays.append(np.require(array, np.int64, ["C", "A"]))
    left, right = arrays
    if len(left) != len(right):
        raise ValueError(f"pairs have {len(left)} left and {len(right)} right documents")
    return left, right


class ShingleSets:
    """The shingle sets of some documents of a collection, made when they are needed.

    Parameters
    ----------
    texts, shingler
        The collection and what its sets are made of.
    lengths
        int64 (n,): code points (bytes, tokens) of each document.
    threads
        How many make sets and compare them.

    Attributes
    ----------
    hashes, start, count
        The sets, for the kernels: uint64 values; int64 place and size of each document's.
    """

    def __init__(
        self, texts: Texts, shingler: Shingler, lengths: NDArray[np.int64], threads: int
    ) -> None:
        self._texts = texts
        self._shingler = shingler
        self._threads = threads
        self._most = self._at_most(lengths)
        self._end = 0
        self.hashes = np.empty(0, np.uint64)
        self.start = np.zeros(len(texts), np.int64)
        self.count = np.full(len(texts), -1, np.int64)

    def _at_most(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        # A document of n characters has no more words than (n + 1) / 2.
        if self._shingler.unit == "word" and self._shingler.tokenizer is None:
            lengths = (lengths + 1) // 2
        return np.maximum(lengths - self._shingler.size + 1, np.minimum(lengths, 1))

    def release(self) -> None:
        """Forget all sets and give their memory back."""
        self.hashes = np.empty(0, np.uint64)
        self.count.fill(-1)
        self._end = 0

    def fits(self, documents: NDArray[np.int64]) -> bool:
        """Whether the sets of these documents can be held together."""
        return int(self._most[documents].sum()) <= ROOM

    def ensure(self, documents: NDArray[np.int64]) -> None:
        """Make the sets of these documents (distinct numbers) that are not there."""
        missing = documents[self.count[documents] < 0]
        needed = int(self._most[missing].sum())
        if self._end + needed > len(self.hashes):
            if self._end:
                self.count.fill(-1)     # forget all: the next ones are mostly others
                self._end = 0
                missing = documents
                needed = int(self._most[missing].sum())
            if needed > len(self.hashes):
                self.hashes = np.empty(0, np.uint64)
                self.hashes = np.empty(max(needed, ROOM), np.uint64)
        if not len(missing):
            return
        places = np.empty(len(missing) + 1, np.int64)
        places[0] = self._end
        np.cumsum(self._most[missing], out=places[1:])
        places[1:] += self._end
        self._end = int(places[-1])
        counts = np.empty(len(missing), np.int64)

        def work(first: int, last: int) -> None:
            gathered = self._shingler.take(self._texts, missing[first:last])
            _kernels.shingle_sets(
                gathered.spans,
                gathered.offsets,
                self._shingler.kernel_unit,
                self._shingler.size,
                self.hashes,
                places[first : last + 1],
                counts[first:last],
            )

        size = 1 + len(missing) * (1 << 17) // (needed + 1)     # 2^17 hashes a batch
        run(work, batches(len(missing), min(size, 4096)), self._threads)
        self.start[missing] = places[:-1]
        self.count[missing] = counts

    def similarities(
        self, left: NDArray[Any], right: NDArray[Any], threshold: float
    ) -> NDArray[np.float64]:
        """Return the exact similarity of each pair, float64 (m,); -1 where below `threshold`."""
        out = np.empty(len(left))
        order = _by_family(left, right)
        first = 0
        while first < len(order):
            chosen, documents = self._next_block(left, right, order, first)
            self.ensure(documents)
            self._compare(left, right, chosen, threshold, out)
            first += len(chosen)
        return out

    def _next_block(
        self, left: NDArray[Any], right: NDArray[Any], order: NDArray[np.int64], first: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return as many pairs as fit, and their documents."""
        size = PAIRS_AT_A_TIME
        mark = np.zeros(len(self.count), np.bool_)
        while True:
            chosen = order[first : first + size]
            mark[left[chosen]] = True
            mark[right[chosen]] = True
            documents = np.flatnonzero(mark)
            if len(chosen) == 1 or self.fits(documents):
                return chosen, documents
            size = len(chosen) // 2
            mark[documents] = False

    def _compare(
        self,
        left: NDArray[Any],
        right: NDArray[Any],
        chosen: NDArray[np.int64],
        threshold: float,
        out: NDArray[np.float64],
    ) -> None:
        a = left[chosen].astype(np.int64, copy=False)
        b = right[chosen].astype(np.int64, copy=False)
        found = np.empty(len(chosen))

        def work(first: int, last: int) -> None:
            _kernels.set_jaccard(
                self.hashes, self.start, self.count, a[first:last], b[first:last], threshold,
                found[first:last],
            )  # fmt: skip

        run(work, batches(len(chosen), 4096), self._threads)
        out[chosen] = found


def _by_family(left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.int64]:
    """Return an order of the pairs in which those of the same documents lie together."""
    low = np.minimum(left, right).astype(np.int32)
    high = np.maximum(left, right).astype(np.int32)
    label = np.empty(len(left), np.int32)
    _kernels.families(low, high, label)
    return np.argsort(label, kind="stable")
