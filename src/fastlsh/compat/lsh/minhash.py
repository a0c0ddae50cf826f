"""Fingerprints: the minima of k MurmurHash3 functions over the bytes of a text."""

from collections.abc import Iterator, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastlsh._kernels.compat._compat import murmur_minima
from fastlsh._kernels.text._texts import spans_of_list
from fastlsh.parallel import batches, batches_by_work, run_batches, thread_count

__all__ = ["MinHasher"]

Fingerprint = NDArray[Any]
"""uint32 or uint64 (num_seeds,)."""

DEFAULT_STATE = 1
"""The state that draws the seeds by default."""

BATCH = 256

STEP = 1 << 27
"""Hashes in one call, about a tenth of a second, so that Ctrl-C is answered soon."""


class MinHasher:
    """Computes fingerprints of texts, the same as ``lsh.minhash.MinHasher``.

    A shingle is `char_ngram` consecutive **bytes** of the text in UTF-8. With ``hashbytes=8`` an
    element is the least first half of MurmurHash3_x64_128, with 4 the least MurmurHash3_x86_32 in
    the order of signed numbers.

    Parameters
    ----------
    seeds
        How many hash functions; or their seeds, integers from 0 to 2**32 - 1 of one dimension.
    char_ngram
        Bytes of a shingle. A text of fewer bytes is one shingle, itself.
    random_state
        Draws the seeds: what ``numpy.random.RandomState`` takes, or such a generator. The same
        state gives the seeds that lsh gives (below one million, repetitions included). None: the
        same seeds each time.
    hashbytes
        4 or 8.
    strict
        Also do what is wrong in lsh 0.3.0: None draws other seeds in each run; all texts shorter
        than a shingle have one fingerprint; elements start at -1 (4 bytes) or 2**63 - 1, which
        wins where no hash lies below; `jaccard` compares the sets of values, and is 1.0 for any
        two arrays. A `Cache` of this hasher follows.

    Raises
    ------
    ValueError
        `hashbytes` is not 4 or 8, `char_ngram` or the number of seeds less than 1.
    NotImplementedError
        ``hashbytes=16``, as in lsh.

    Examples
    --------
    >>> hasher = MinHasher(seeds=100, char_ngram=5, random_state=1)
    >>> one = hasher.fingerprint("Lorem Ipsum dolor sit amet")
    >>> one.shape, one.dtype
    ((100,), dtype('uint64'))
    >>> hasher.jaccard("Lorem Ipsum dolor sit amet", one)
    1.0
    """

    strict = False  # pickles of lsh do not say

    def __init__(
        self,
        seeds: int | ArrayLike,
        char_ngram: int = 8,
        random_state: Any = None,
        hashbytes: int = 8,
        *,
        strict: bool = False,
    ) -> None:
        generator = _generator(random_state, strict)
        if hashbytes not in (4, 8, 16):
            raise ValueError(f"hashbytes must be 4, 8 or 16, got {hashbytes}")
        if hashbytes == 16:
            raise NotImplementedError("hashbytes=16: use 4 or 8")
        if char_ngram < 1:
            raise ValueError(f"char_ngram must be at least 1, got {char_ngram}")
        self.char_ngram = char_ngram
        self.hashbytes = hashbytes
        self.strict = strict
        self._seeds = _draw(seeds, generator)

    def __repr__(self) -> str:
        return (
            f"MinHasher(seeds={self.num_seeds}, char_ngram={self.char_ngram}, "
            f"hashbytes={self.hashbytes}{', strict=True' if self.strict else ''})"
        )

    @property
    def num_seeds(self) -> int:
        """The length of a fingerprint."""
        return len(self._seeds)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of a fingerprint's elements: uint32 or uint64."""
        return np.dtype(np.uint32 if self.hashbytes == 4 else np.uint64)

    def fingerprint(self, text: str | bytes) -> Fingerprint:
        """Return the fingerprint of a text, uint32 or uint64 (num_seeds,).

        An empty text has all ones. Nothing is remembered: unlike lsh's, which keeps the last
        10,000 texts of all hashers alive, each call hashes, O(len(text) * num_seeds).
        """
        if not isinstance(text, (str, bytes)):
            raise TypeError(f"text must be str or bytes, got {type(text).__name__}")
        result = np.empty((1, self.num_seeds), self.dtype)
        for _ in self._minima([text], 0, result):
            pass
        fingerprint: Fingerprint = result[0]
        return fingerprint

    def fingerprints(
        self, texts: Sequence[str | bytes | None], threads: int | None = None
    ) -> Fingerprint:
        """Return the fingerprints of many texts, (n, num_seeds), made on `threads` threads.

        Parameters
        ----------
        texts
            A sequence of str, bytes or None (empty).
        threads
            Number of threads; by default all usable processors. It never changes a result.
        """
        documents = list(texts)
        result = np.empty((len(documents), self.num_seeds), self.dtype)

        def work(start: int, stop: int) -> Iterator[None]:
            return self._minima(documents[start:stop], start, result[start:stop])

        run_batches(work, batches(len(documents), BATCH), thread_count(threads))
        return result

    def jaccard(self, doc1: Any, doc2: Any) -> float:
        """Estimate the Jaccard similarity: the share of equal elements of two fingerprints.

        Parameters
        ----------
        doc1, doc2
            Texts (str or bytes) or fingerprints (arrays). Two sets of elements are compared as
            sets, as in lsh; that estimates J / (2 - J).

        Returns
        -------
        float
            Standard error sqrt(J (1 - J) / num_seeds). 0.0 where a text is empty.
        """
        if self.strict:
            return self._jaccard_of_values(doc1, doc2)
        if isinstance(doc1, Set) and isinstance(doc2, Set):
            return len(doc1 & doc2) / max(len(doc1 | doc2), 1)
        a, b = (self._as_fingerprint(doc) for doc in (doc1, doc2))
        return float(agreement(a[None], b[None])[0])

    def _as_fingerprint(self, doc: Any) -> Fingerprint:
        if isinstance(doc, (str, bytes)):
            return self.fingerprint(doc)
        return self.check_fingerprint(doc)

    def check_fingerprint(self, fingerprint: Any) -> Fingerprint:
        """Return a fingerprint as an array of this hasher's type and length, or raise."""
        result = np.asarray(fingerprint)
        if result.shape != (self.num_seeds,) or result.dtype.kind not in "iu":
            raise ValueError(
                f"a fingerprint has {self.num_seeds} integers here, got {result.dtype} "
                f"of shape {result.shape}"
            )
        return np.ascontiguousarray(result, self.dtype)

    def _jaccard_of_values(self, doc1: Any, doc2: Any) -> float:
        if isinstance(doc1, str):  # nobody asks what doc2 is
            doc1, doc2 = (set(self.fingerprint(doc).tolist()) for doc in (doc1, doc2))
        return len(doc1 & doc2) / len(doc1 | doc2)

    def _minima(self, texts: list[Any], first: int, result: Fingerprint) -> Iterator[None]:
        """Write fingerprints, some texts and some seeds at a time."""
        spans = spans_of_list(texts, first, True)
        lengths = np.empty(len(texts), np.int64)
        spans.lengths(lengths)
        for start, stop in batches_by_work(lengths * self.num_seeds, STEP, len(texts)):
            part = spans.part(start, stop)
            width = max(STEP // (int(lengths[start:stop].sum()) + 1), 16)
            for low, high in batches(self.num_seeds, width):
                minima = np.empty((stop - start, high - low), self.dtype)
                murmur_minima(part, self.char_ngram, self._seeds[low:high], minima, self.strict)
                result[start:stop, low:high] = minima
                yield


# In lsh, the method is a functools.lru_cache, which users may empty.
setattr(MinHasher.fingerprint, "cache_clear", lambda: None)  # noqa: B010


def agreement(a: Fingerprint, b: Fingerprint) -> NDArray[np.float64]:
    """Return the share of equal elements, row by row; 0 where a row is empty (all ones)."""
    share: NDArray[np.float64] = (a == b).mean(axis=1)
    share[(share == 1.0) & is_empty(a)] = 0.0
    return share


def is_empty(fingerprints: Fingerprint) -> NDArray[np.bool_]:
    """Return which rows are fingerprints of empty texts: all ones."""
    result: NDArray[np.bool_] = (fingerprints == np.iinfo(fingerprints.dtype).max).all(axis=-1)
    return result


def _generator(random_state: Any, strict: bool) -> np.random.RandomState:
    """Return the generator that draws the seeds. Its stream is frozen (NEP 19)."""
    if isinstance(random_state, np.random.RandomState):
        return random_state
    if random_state is None and not strict:
        random_state = DEFAULT_STATE
    return np.random.RandomState(random_state)


def _draw(seeds: Any, generator: np.random.RandomState) -> NDArray[np.uint32]:
    """Return the seeds, given or drawn as in lsh."""
    if not isinstance(seeds, (int, np.integer)):
        values = np.asarray(seeds)
        if values.ndim != 1 or values.dtype.kind not in "iu" or not len(values):
            raise ValueError(
                f"seeds must be a number or integers of one dimension, got {values.dtype} "
                f"of shape {values.shape}"
            )
        if values.min() < 0 or values.max() > 0xFFFFFFFF:
            raise ValueError("seeds must lie between 0 and 2**32 - 1")
        return np.ascontiguousarray(values, np.uint32)
    if seeds < 1:
        raise ValueError(f"seeds must be at least 1, got {seeds}")
    drawn: NDArray[np.int64] = generator.randint(0, 10**6, int(seeds), np.int64)
    return drawn.astype(np.uint32)
