"""Documents for the tables of an index: signatures, and the contents for exact verification."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import offsets_of, ranges_of


class IndexDocuments(NamedTuple):
    """Signatures and contents of some documents."""

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

    def part(self, first: int, last: int) -> "IndexDocuments":
        """Return the documents first ... last - 1, without a copy."""
        signatures = self.signatures[first:last]
        if self.contents is None or self.offsets is None:
            return IndexDocuments(signatures)
        offsets = self.offsets[first : last + 1]
        contents = self.contents[offsets[0] : offsets[-1]]
        return IndexDocuments(signatures, contents, offsets - offsets[0])

    def take(self, chosen: NDArray[np.int64]) -> "IndexDocuments":
        """Return some of the documents, in the order of `chosen`."""
        some = IndexDocuments(self.signatures[chosen], self.contents, self.offsets)
        return some.with_contents_of(chosen)

    def with_contents_of(self, chosen: NDArray[np.int64]) -> "IndexDocuments":
        """Return these documents with the contents of some documents of an index."""
        if self.contents is None or self.offsets is None:
            return self
        size = np.diff(self.offsets)[chosen]
        contents = self.contents[ranges_of(self.offsets[:-1][chosen], size)]
        return IndexDocuments(self.signatures, contents, offsets_of(size))


def joined_documents(some: list[IndexDocuments]) -> IndexDocuments:
    """Return some documents, one after the other; at least one of `some` is given."""
    if len(some) == 1:
        return some[0]
    signatures = np.concatenate([documents.signatures for documents in some])
    if any(documents.offsets is None for documents in some):
        return IndexDocuments(signatures)
    contents = [documents.contents for documents in some if documents.contents is not None]
    size = [np.diff(documents.offsets) for documents in some if documents.offsets is not None]
    offsets = offsets_of(np.concatenate(size))
    return IndexDocuments(signatures, np.concatenate(contents), offsets)


def check_contents(
    contents: NDArray[np.uint64] | None, offsets: NDArray[np.int64] | None, n: int
) -> None:
    """Check the offsets of n contents from a file, before memory is allocated for them."""
    if contents is not None and offsets is not None:
        inside = offsets[0] == 0 and offsets[n] <= len(contents)
        if not inside or (offsets[1 : n + 1] < offsets[:n]).any():
            raise ValueError("the tables are damaged: contents lie outside")
