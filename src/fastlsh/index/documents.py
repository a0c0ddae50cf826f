"""What is put into an index or asked of it: signatures, and sets where they are compared."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh import _kernels
from fastlsh.buckets import check_signatures
from fastlsh.minhash import MinHasher, batch_size
from fastlsh.parallel import batches, run
from fastlsh.shingling import Shingler
from fastlsh.texts import Texts, as_texts


class Documents(NamedTuple):
    """Some documents, ready for the tables."""

    signatures: NDArray[np.uint32]
    """uint32 (m, num_perm)."""
    hashes: NDArray[np.uint64] | None = None
    """uint64: their sets of shingle hashes, one after the other, each ascending; None: no sets."""
    offsets: NDArray[np.int64] | None = None
    """int64 (m + 1,): where each set begins."""

    @property
    def n(self) -> int:
        """How many documents there are."""
        return len(self.signatures)

    @property
    def words(self) -> int:
        """How many hashes there are."""
        return 0 if self.hashes is None else len(self.hashes)

    def words_of(self, first: int, last: int) -> int:
        """How many hashes the documents first ... last - 1 have."""
        return 0 if self.offsets is None else int(self.offsets[last] - self.offsets[first])

    def take(self, chosen: NDArray[np.int64]) -> "Documents":
        """Return some of the documents, in the order of `chosen`."""
        if self.hashes is None or self.offsets is None:
            return Documents(self.signatures[chosen])
        counts = np.diff(self.offsets)[chosen]
        offsets = offsets_of(counts)
        places = np.repeat(self.offsets[:-1][chosen] - offsets[:-1], counts)
        places += np.arange(len(places))
        return Documents(self.signatures[chosen], self.hashes[places], offsets)


def read_documents(
    hasher: MinHasher, with_sets: bool, texts: Any, signatures: Any, *, one: bool = False
) -> Documents:
    """Check and prepare what a caller gave: texts or signatures.

    Parameters
    ----------
    hasher
        Signs the texts; its num_perm is what signatures must have.
    with_sets
        Whether sets are needed, which come from texts only.
    texts, signatures
        A collection of texts, or uint32 (n, num_perm); exactly one of them.
    one
        The caller takes a single text, or one signature, uint32 (num_perm,).

    Raises
    ------
    TypeError, ValueError
        None or both are given, or what is given does not suit.
    """
    text, signature = ("text", "signature") if one else ("texts", "signatures")
    if (texts is None) == (signatures is None):
        given = "neither" if texts is None else "both"
        raise TypeError(f"give either {text} or {signature}, got {given}")
    if signatures is None:
        return _from_texts(hasher, with_sets, as_texts([texts] if one else texts))
    if with_sets:
        raise TypeError(f'verify="exact" compares texts: give {text}, not {signature}')
    if one:
        if not isinstance(signatures, np.ndarray) or signatures.ndim != 1:
            raise TypeError(
                f"signature must be an array of uint32 of shape ({hasher.num_perm},), "
                f"got {_described(signatures)}"
            )
        signatures = signatures[None, :]
    signatures = check_signatures(signatures)
    if signatures.shape[1] != hasher.num_perm:
        raise ValueError(
            f"{signature} of {signatures.shape[1]} values do not suit num_perm={hasher.num_perm}"
        )
    return Documents(signatures)


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    return type(value).__name__


def _from_texts(hasher: MinHasher, with_sets: bool, texts: Texts) -> Documents:
    signatures = hasher.sign(texts)
    if not with_sets:
        return Documents(signatures)
    return Documents(signatures, *shingle_sets(texts, hasher.shingler, hasher.threads))


def shingle_sets(
    texts: Texts, shingler: Shingler, threads: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the sets of all texts: hashes, each set ascending, and offsets int64 (n + 1,)."""
    n = len(texts)
    counts = np.zeros(n, np.int64)
    parts: dict[int, NDArray[np.uint64]] = {}

    def work(first: int, last: int) -> None:
        gathered = shingler.gather(texts, first, last)
        room = offsets_of(np.maximum(gathered.lengths(), 1))
        out = np.empty(room[-1], np.uint64)
        count = counts[first:last]
        _kernels.shingle_sets(
            gathered.units, gathered.offsets, shingler.kernel_unit, shingler.size, out, room, count
        )
        place = np.arange(len(out)) - np.repeat(room[:-1], np.diff(room))
        parts[first] = out[place < np.repeat(count, np.diff(room))]

    run(work, batches(n, batch_size(texts)), threads)
    empty = np.empty(0, np.uint64)
    return np.concatenate([empty, *(parts[first] for first in sorted(parts))]), offsets_of(counts)


def check_sets(
    hashes: NDArray[np.uint64] | None, offsets: NDArray[np.int64] | None, n: int
) -> None:
    """Check what a file says of n sets, before memory is taken for them."""
    if hashes is not None and offsets is not None:
        inside = offsets[0] == 0 and offsets[n] <= len(hashes)
        if not inside or (offsets[1 : n + 1] < offsets[:n]).any():
            raise ValueError("the tables are damaged: sets lie outside the hashes")


def offsets_of(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each of some runs begins, int64 (n + 1,)."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets
