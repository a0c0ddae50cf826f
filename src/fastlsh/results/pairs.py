"""Pairs of documents, in one collection or between two, with their similarity."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.candidates import _candidates
from fastlsh.banding import LSHParams
from fastlsh.parallel import batches, plural
from fastlsh.results.table import RowSequence, named


@dataclass(eq=False, repr=False)
class Pairs(RowSequence):
    """Pairs of documents, sorted by (left, right), each pair once.

    It is also a table for every library that reads Arrow (``pyarrow.table(pairs)``,
    ``polars.DataFrame(pairs)``, DuckDB), and a sequence of (left_id, right_id, similarity).

    Attributes
    ----------
    left, right : ndarray of int64, shape (n,)
        Numbers of the documents, from 0; left < right.
    similarity : ndarray of float64, shape (n,)
        Exact Jaccard similarity of the shingle sets; or the share of equal minima with
        ``verify="signature"``; NaN if not verified.
    estimate : ndarray of float64, shape (n,), or None
        The share of equal minima, an estimate of the similarity, if it was asked for.
    also_similarity : ndarray of float64, shape (n,), or None
        The exact similarity of the second texts, if there are any.
    ids : sequence or None
        The documents' ids, if they were given.
    params : LSHParams or None
        The bands and rows that found the pairs.
    documents, empty : int
        How many documents were read, and how many of them have no shingle.

    Examples
    --------
    >>> import fastlsh
    >>> texts = ["one text here", "another one", "one text here!"]
    >>> pairs = fastlsh.near_duplicates(texts, 0.8, ids=["a", "b", "c"])
    >>> list(pairs)
    [('a', 'c', 0.8333333333333334)]
    >>> pairs.left.tolist(), pairs.right.tolist()
    ([0], [2])
    """

    COLUMNS = ("left", "right", "similarity", "estimate", "also_similarity")
    ID_COLUMNS = (("left_id", "ids"), ("right_id", "ids"))
    ROW = ("left_id", "right_id", "similarity")

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    similarity: NDArray[np.float64]
    _: KW_ONLY
    estimate: NDArray[np.float64] | None = None
    also_similarity: NDArray[np.float64] | None = None
    ids: Sequence[Any] | None = None
    params: LSHParams | None = None
    documents: int = 0
    empty: int = 0

    @property
    def left_id(self) -> list[Any]:
        """The ids of the left documents; their numbers if no ids were given."""
        return named(self.left, self.ids)

    @property
    def right_id(self) -> list[Any]:
        """The ids of the right documents; their numbers if no ids were given."""
        return named(self.right, self.ids)

    def components(self) -> NDArray[np.int64]:
        """Return the connected component of each document.

        Documents that pairs connect, directly or through others, are one component: if no component
        is divided, both documents of each pair are on the same side of a split.

        Returns
        -------
        ndarray of int64, shape (documents,)
            The number of the first document of its component: of a document without pairs, its own.

        Examples
        --------
        >>> import fastlsh
        >>> texts = ["one text here", "another one", "one text here!"]
        >>> fastlsh.near_duplicates(texts).components().tolist()
        [0, 1, 0]
        """
        return components_of(self.left, self.right, self.documents)

    def __repr__(self) -> str:
        return f"<Pairs: {plural(len(self), 'pair')} among {plural(self.documents, 'document')}>"


STEP = 1 << 20
"""Pairs that are worked on at a time."""


def components_of(
    left: NDArray[np.int64], right: NDArray[np.int64], documents: int
) -> NDArray[np.int64]:
    """Return the first document of the connected component of each document; see `Pairs`."""
    first = np.arange(documents, dtype=np.int32)
    for start, stop in batches(len(left), STEP):
        _candidates.unite(first, *(side[start:stop].astype(np.int32) for side in (left, right)))
    _candidates.families(first)
    return first.astype(np.int64)


def count_in_pairs(left: NDArray[np.int64], right: NDArray[np.int64], inputs: range) -> int:
    """Return how many of some documents are in a pair."""
    is_in_pair = np.zeros(inputs.stop, np.bool_)
    is_in_pair[left] = is_in_pair[right] = True
    return int(is_in_pair[inputs.start :].sum())


@dataclass(eq=False, repr=False)
class Matches(RowSequence):
    """Pairs of a document and one of another collection, sorted by (document, against).

    It is also a table for every library that reads Arrow, and a sequence of
    (id, against_id, similarity).

    Attributes
    ----------
    document : ndarray of int64, shape (n,)
        Numbers of documents of `texts`, from 0.
    against : ndarray of int64, shape (n,)
        Numbers of documents of `against`, from 0.
    similarity, estimate, also_similarity : ndarray of float64, shape (n,)
        As in `Pairs`.
    ids, against_ids : sequence or None
        The ids of both collections, if they were given.
    params : LSHParams or None
        The bands and rows that found the pairs.
    documents, empty : int
        How many documents `texts` has, and how many of them have no shingle.
    against_documents : int
        How many documents `against` has.
    """

    COLUMNS = ("document", "against", "similarity", "estimate", "also_similarity")
    ID_COLUMNS = (("id", "ids", "against_ids"), ("against_id", "ids", "against_ids"))
    ROW = ("id", "against_id", "similarity")

    document: NDArray[np.int64]
    against: NDArray[np.int64]
    similarity: NDArray[np.float64]
    _: KW_ONLY
    estimate: NDArray[np.float64] | None = None
    also_similarity: NDArray[np.float64] | None = None
    ids: Sequence[Any] | None = None
    against_ids: Sequence[Any] | None = None
    params: LSHParams | None = None
    documents: int = 0
    against_documents: int = 0
    empty: int = 0

    @property
    def id(self) -> list[Any]:
        """The ids of the documents; their numbers if no ids were given."""
        return named(self.document, self.ids)

    @property
    def against_id(self) -> list[Any]:
        """The ids of the documents of `against`; their numbers if no ids were given."""
        return named(self.against, self.against_ids)

    def __repr__(self) -> str:
        return (
            f"<Matches: {plural(len(self), 'pair')} of {plural(self.documents, 'document')} against"
            f" {self.against_documents:,}>"
        )
