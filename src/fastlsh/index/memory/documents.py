"""What is put into an index or asked of it: signatures, and what exact verification needs."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.candidates import check_signatures
from fastlsh.index.memory.packed_texts import packed
from fastlsh.index.settings import SETS, TEXTS, Settings
from fastlsh.parallel import RunOptions
from fastlsh.sets import all_sets, offsets_of, places_of
from fastlsh.signatures import MinHasher
from fastlsh.texts import Texts, as_texts


class Documents(NamedTuple):
    """Some documents, ready for the tables."""

    signatures: NDArray[np.uint32]
    """uint32 (m, num_perm)."""
    contents: NDArray[np.uint64] | None = None
    """uint64: packed texts, or sets of shingle hashes, one after the other; None: neither."""
    offsets: NDArray[np.int64] | None = None
    """int64 (m + 1,): where each begins."""

    @property
    def n(self) -> int:
        """How many documents there are."""
        return len(self.signatures)

    @property
    def words(self) -> int:
        """How many words the contents have."""
        return 0 if self.contents is None else len(self.contents)

    def words_of(self, first: int, last: int) -> int:
        """How many words the documents first ... last - 1 have."""
        return 0 if self.offsets is None else int(self.offsets[last] - self.offsets[first])

    def part(self, first: int, last: int) -> "Documents":
        """Return the documents first ... last - 1, without a copy."""
        if self.contents is None or self.offsets is None:
            return Documents(self.signatures[first:last])
        offsets = self.offsets[first : last + 1]
        contents = self.contents[offsets[0] : offsets[-1]]
        return Documents(self.signatures[first:last], contents, offsets - offsets[0])

    def take(self, chosen: NDArray[np.int64]) -> "Documents":
        """Return some of the documents, in the order of `chosen`."""
        return Documents(self.signatures[chosen], self.contents, self.offsets).with_contents_of(
            chosen
        )

    def with_contents_of(self, chosen: NDArray[np.int64]) -> "Documents":
        """Return these signatures with some of the contents."""
        if self.contents is None or self.offsets is None:
            return self
        size = np.diff(self.offsets)[chosen]
        contents = self.contents[places_of(self.offsets[:-1][chosen], size)]
        return Documents(self.signatures, contents, offsets_of(size))


def joined_documents(some: list[Documents]) -> Documents:
    """Return some documents, one after the other; at least one of `some` is given."""
    if len(some) == 1:
        return some[0]
    signatures = np.concatenate([documents.signatures for documents in some])
    if any(documents.offsets is None for documents in some):
        return Documents(signatures)
    contents = [documents.contents for documents in some if documents.contents is not None]
    size = [np.diff(documents.offsets) for documents in some if documents.offsets is not None]
    return Documents(signatures, np.concatenate(contents), offsets_of(np.concatenate(size)))


def read_documents(
    settings: Settings, texts: Any, signatures: Any, *, one: bool = False
) -> Documents:
    """Check and prepare what a caller gave: texts or signatures, or both.

    Parameters
    ----------
    settings
        How texts are signed, which num_perm signatures must have, and whether texts are needed.
    texts, signatures
        A collection of texts, or uint32 (n, num_perm); both for exact verification without
        signing again.
    one
        The caller takes a single text, or one signature, uint32 (num_perm,).

    Raises
    ------
    TypeError, ValueError
        None is given, or what is given does not suit.
    """
    text, signature = ("text", "signature") if one else ("texts", "signatures")
    if texts is None and signatures is None:
        raise TypeError(f"give either {text} or {signature}, got neither")
    if texts is None and settings.keeps:
        raise ValueError(
            f'verify="exact" compares texts: give {text}, too, not {signature} alone, or make the '
            'index with verify="signature"'
        )
    if texts is not None and signatures is not None and not settings.keeps:
        raise TypeError(f"give either {text} or {signature}, got both")
    ready = None if signatures is None else _checked(settings.hasher, signatures, signature, one)
    if texts is None:
        assert ready is not None
        return Documents(ready)
    return _from_texts(settings, as_texts([texts] if one else texts), ready, text)


def _checked(hasher: MinHasher, signatures: Any, name: str, one: bool) -> NDArray[np.uint32]:
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
            f"{name} must have num_perm={hasher.num_perm} values, got {signatures.shape[1]}"
        )
    return signatures  # type: ignore[no-any-return]


def _described(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} of shape {value.shape}"
    return type(value).__name__


def _from_texts(
    settings: Settings, texts: Texts, ready: NDArray[np.uint32] | None, name: str
) -> Documents:
    hasher = settings.hasher
    if ready is not None and len(ready) != len(texts):
        raise ValueError(f"{len(ready)} signatures for {len(texts)} {name}")
    signatures = hasher.sign(texts) if ready is None else ready
    if settings.keeps == TEXTS:
        return Documents(signatures, *packed(texts, hasher.shingler, hasher.threads))
    if settings.keeps == SETS:
        hashes, size = all_sets(texts, hasher.shingler, RunOptions.of(hasher.threads))
        return Documents(signatures, hashes, offsets_of(size))
    return Documents(signatures)


def check_contents(
    contents: NDArray[np.uint64] | None, offsets: NDArray[np.int64] | None, n: int
) -> None:
    """Check what a file says of n contents, before memory is taken for them."""
    if contents is not None and offsets is not None:
        inside = offsets[0] == 0 and offsets[n] <= len(contents)
        if not inside or (offsets[1 : n + 1] < offsets[:n]).any():
            raise ValueError("the tables are damaged: contents lie outside")
