"""What is put into an index or asked of it: signatures, and sets where they are compared."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.candidates import check_signatures
from fastlsh.parallel import RunOptions
from fastlsh.sets import all_sets, offsets_of, places_of
from fastlsh.signatures import MinHasher
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
        return Documents(self.signatures[chosen], self.hashes, self.offsets).with_sets_of(chosen)

    def with_sets_of(self, chosen: NDArray[np.int64]) -> "Documents":
        """Return these signatures with some of the sets."""
        if self.hashes is None or self.offsets is None:
            return self
        size = np.diff(self.offsets)[chosen]
        hashes = self.hashes[places_of(self.offsets[:-1][chosen], size)]
        return Documents(self.signatures, hashes, offsets_of(size))


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
    hashes, size = all_sets(texts, hasher.shingler, RunOptions.of(hasher.threads))
    return Documents(signatures, hashes, offsets_of(size))


def check_sets(
    hashes: NDArray[np.uint64] | None, offsets: NDArray[np.int64] | None, n: int
) -> None:
    """Check what a file says of n sets, before memory is taken for them."""
    if hashes is not None and offsets is not None:
        inside = offsets[0] == 0 and offsets[n] <= len(hashes)
        if not inside or (offsets[1 : n + 1] < offsets[:n]).any():
            raise ValueError("the tables are damaged: sets lie outside the hashes")
