"""Signatures: the minima of k hash functions over each document's shingles."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastlsh._kernels.text._plans import WORDS
from fastlsh.keyed import Key
from fastlsh.parallel import Progress, batches, run_batches, thread_count
from fastlsh.signatures.steps import BandKeys, Scheme, batch_size, draw_scheme, signing_steps
from fastlsh.texts import (
    Gathered,
    Hashing,
    Shingler,
    Texts,
    as_texts,
    gather_tokens,
    tokens_batch,
    with_key,
)


class MinHasher:
    """Computes MinHash signatures.

    ``S[d, j]`` is a minimum over the shingles of document d: two documents agree at j with the
    probability of their Jaccard similarity (Broder 1997), and the signature of a union is the
    elementwise minimum. The numbers for given parameters never change; docs/signature-spec.md
    defines them.

    Parameters
    ----------
    num_perm
        Length of a signature, 1 to 65,535. The estimate from two signatures has the standard
        error sqrt(J (1 - J) / num_perm), with "fss" less for sets smaller than num_perm.
    seed
        Seed of the hash functions, 0 to 2**32 - 1.
    shingler
        How texts are split into sets; by default ``Shingler()``, 9 characters.
    scheme
        "affine32": num_perm independent functions, datasketch 2.0's default; n shingles cost
        O(n * num_perm). "fss": fast similarity sketching (Dahlgaard, Knudsen, Thorup 2017,
        arXiv 1704.04370), O(n + num_perm log num_perm), several times faster from a few hundred
        shingles on. Signatures from different schemes cannot be compared.
    threads
        Number of threads; by default all usable processors. It never changes a result.
    key
        A `Key`, as ``Shingler(key=)``: all hashes and functions then depend on its secret.

    Examples
    --------
    >>> hasher = MinHasher(num_perm=128)
    >>> hasher.signatures(["a short text", "a short test", ""]).shape
    (3, 128)
    """

    def __init__(
        self,
        num_perm: int = 128,
        *,
        seed: int = 1,
        shingler: Shingler | None = None,
        scheme: str = "affine32",
        threads: int | None = None,
        key: Key | None = None,
    ) -> None:
        self.shingler = with_key(shingler, key)
        if self.key is None or not self.key.locked:
            self._functions = draw_scheme(scheme, num_perm, seed, self.key)
        self.num_perm = int(num_perm)
        self.seed = int(seed)
        self.scheme = scheme
        self.threads = thread_count(threads)

    def __repr__(self) -> str:
        return (
            f"MinHasher(num_perm={self.num_perm}, seed={self.seed}, shingler={self.shingler}, "
            f"scheme={self.scheme!r})"
        )

    def __getstate__(self) -> dict[str, Any]:
        left_out = "_functions" if self.key else ""
        return {name: value for name, value in self.__dict__.items() if name != left_out}

    @cached_property
    def _functions(self) -> Scheme:
        # No pickle has those that would tell of the key.
        return draw_scheme(self.scheme, self.num_perm, self.seed, self.key)

    @property
    def key(self) -> Key | None:
        """The key of the shingler."""
        return self.shingler.key

    def signatures(
        self, texts: Iterable[Any], out: NDArray[np.uint32] | None = None
    ) -> NDArray[np.uint32]:
        """Compute the signatures of raw texts.

        Parameters
        ----------
        texts
            A sequence or iterable of str, bytes (UTF-8) or None (empty); or a column that speaks
            the Arrow PyCapsule protocol.
        out
            An array to fill instead of a new one: uint32, C-contiguous, (n, num_perm). It must not
            share memory with the texts.

        Returns
        -------
        ndarray of uint32, shape (n, num_perm)
            A row of all ones is a document without a shingle.

        Raises
        ------
        TypeError, ValueError
            A document has an unsupported type or is not UTF-8 (the message names it), or
            `out` is unsuitable.

        Examples
        --------
        >>> hasher = MinHasher(num_perm=64)
        >>> hasher.signatures(["some text", b"some text", None]).shape
        (3, 64)
        """
        return self.sign(as_texts(texts), out)

    def from_tokens(
        self,
        token_lists: Iterable[Sequence[str | bytes]],
        out: NDArray[np.uint32] | None = None,
    ) -> NDArray[np.uint32]:
        """Compute the signatures of token sets, without the shingler.

        The numbers are those of ``Shingler(unit="word", size=1)`` for texts of these words.

        Parameters
        ----------
        token_lists
            For each document, a sequence of str or bytes (UTF-8), the elements of its set.
        out
            As in `signatures`.

        Examples
        --------
        >>> hasher = MinHasher(num_perm=64)
        >>> signatures = hasher.from_tokens([["a", "few", "tokens"], ["tokens", "few", "a"]])
        >>> bool((signatures[0] == signatures[1]).all())
        True
        """
        if not isinstance(token_lists, Iterable):
            raise TypeError(f"token_lists must be a collection of lists, got {token_lists!r}")
        documents = list(token_lists)
        prepared = self.key.plan(WORDS, 1) if self.key else None
        hashing = Hashing(WORDS, 1, prepared)
        result = self._result(out, len(documents))

        def work(start: int, stop: int) -> Iterator[None]:
            batch = gather_tokens(documents[start:stop], start, prepared=prepared)
            return signing_steps(
                hashing, batch, batch.lengths(), self._functions, result[start:stop]
            )

        run_batches(work, batches(len(documents), tokens_batch(documents)), self.threads)
        return result

    def from_hashes(
        self, hashes: ArrayLike, offsets: ArrayLike, out: NDArray[np.uint32] | None = None
    ) -> NDArray[np.uint32]:
        """Compute the signatures of precomputed element hashes.

        Parameters
        ----------
        hashes
            uint64 or uint32, one dimension; a uint32 counts as the uint64 of the same value.
            Elements below 2**32 give the numbers of datasketch 2.0, unless there is a key. They
            are taken as they are: with a key, they must come from a function that is keyed, too,
            as `Shingler.hashes` is.
        offsets
            Integers (n + 1,), not decreasing: document d has hashes[offsets[d]:offsets[d + 1]].
        out
            As in `signatures`.

        Examples
        --------
        >>> hasher = MinHasher(num_perm=64)
        >>> hashes = np.array([5, 7, 9, 7], np.uint64)
        >>> hasher.from_hashes(hashes, np.array([0, 3, 4])).shape
        (2, 64)
        """
        values = np.asarray(hashes)
        if values.dtype not in (np.uint64, np.uint32) or values.ndim != 1:
            raise TypeError(
                f"hashes must be uint64 or uint32 of one dimension, got {values.dtype} "
                f"of {values.ndim}"
            )
        values = np.require(values, requirements=["C", "A"])
        bounds = np.asarray(offsets)
        if bounds.dtype.kind not in "iu" or bounds.ndim != 1 or len(bounds) < 1:
            raise TypeError(
                f"offsets must be integers (n + 1,), got {bounds.dtype} of shape {bounds.shape}"
            )
        bounds = np.array(bounds, np.int64)  # a copy, which no other thread changes
        result = self._result(out, len(bounds) - 1)
        if np.may_share_memory(result, values):
            raise ValueError("out must not share memory with hashes")

        def work(start: int, stop: int) -> Iterator[None]:
            gathered = Gathered(values, bounds[start : stop + 1])
            return signing_steps(
                None, gathered, gathered.lengths(), self._functions, result[start:stop]
            )

        run_batches(work, batches(len(bounds) - 1, 1024), self.threads)
        return result

    # ---- for the floors above

    def sign(
        self,
        texts: Texts,
        out: NDArray[np.uint32] | None = None,
        *,
        lengths: NDArray[np.int64] | None = None,
        short: NDArray[np.bool_] | None = None,
        progress: Progress | None = None,
    ) -> NDArray[np.uint32]:
        """Compute the signatures.

        `lengths`, int64 (n,), gets the code points (bytes, tokens), and `short`, bool (n,), whether
        a document has fewer units than a shingle.
        """
        n = len(texts)
        result = self._result(out, n)

        def work(start: int, stop: int) -> Iterator[None]:
            gathered = self.shingler.gather(texts, start, stop)
            counted = gathered.lengths()
            if lengths is not None:
                lengths[start:stop] = counted
            if short is not None:
                short[start:stop] = self.shingler.are_short(gathered, counted)
            return self.sign_gathered(gathered, counted, result[start:stop])

        advance = progress.stage("signatures", n) if progress else None
        run_batches(work, batches(n, batch_size(texts)), self.threads, advance)
        return result

    def sign_gathered(
        self,
        gathered: Gathered,
        lengths: NDArray[np.int64],
        out: NDArray[np.uint32],
        keys: BandKeys | None = None,
    ) -> Iterator[None]:
        """Write the signatures of a batch that the shingler has gathered, and its keys, in steps.

        `lengths` are those of the batch.
        """
        hashing, functions = self.shingler.hashing, self._functions
        return signing_steps(hashing, gathered, lengths, functions, out, *(keys or ()))

    def _result(self, out: NDArray[np.uint32] | None, n: int) -> NDArray[np.uint32]:
        if out is None:
            return np.empty((n, self.num_perm), np.uint32)
        if not isinstance(out, np.ndarray) or out.dtype != np.uint32:
            raise TypeError(f"out must be an array of uint32, got {getattr(out, 'dtype', out)}")
        if out.shape != (n, self.num_perm):
            raise ValueError(f"out must have shape {(n, self.num_perm)}, got {out.shape}")
        if not (out.flags.c_contiguous and out.flags.aligned and out.flags.writeable):
            raise ValueError("out must be C-contiguous, aligned and writeable")
        return out
