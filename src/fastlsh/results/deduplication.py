"""Which documents are kept, and why the others are not."""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastlsh.arguments import check_integer
from fastlsh.arrays import cumcount
from fastlsh.banding import LSHParams
from fastlsh.parallel import plural
from fastlsh.results.cluster_counts import (
    ClusterCounts,
    RemovedDocuments,
    check_labels,
    check_numbers,
    stays,
)
from fastlsh.results.table import Column, CountedResult, ResultTable, RowSequence, kept_names, named


@dataclass(eq=False, repr=False)
class Proofs(RowSequence):
    """One row for each removed document: the kept one that it duplicates, and their similarity.

    Also a table for everything that reads Arrow, and a sequence of (id, kept_id, similarity).

    Attributes
    ----------
    document : ndarray of int64, shape (m,)
        The numbers of the removed documents, ascending.
    kept_document : ndarray of int64, shape (m,)
        The number of the kept one, in `against` if `against` says so, else in the collection.
    against : ndarray of bool, shape (m,)
        Whether the kept document is one of `against`.
    similarity, also_similarity : ndarray of float64, shape (m,)
        As in `Deduplication`.
    ids, against_ids : sequence or None
        The ids, if they were given.
    measure : str
        What tables call `similarity`: "containment" if the rule of removal was "contained".

    Examples
    --------
    >>> import fastlsh
    >>> proofs = fastlsh.deduplicate(["known"], against=["known"], ids=["a"]).proofs()
    >>> for removed, kept, similarity in proofs:
    ...     print(removed, kept, similarity)
    a against:0 1.0
    """

    COLUMNS = ("document", "kept_document", "against", "similarity", "also_similarity")
    ID_COLUMNS = (("id", "ids", "against_ids"), ("kept_id", "ids", "against_ids"))
    ROW = ("id", "kept_id", "similarity")

    document: NDArray[np.int64]
    kept_document: NDArray[np.int64]
    against: NDArray[np.bool_]
    similarity: NDArray[np.float64]
    _: KW_ONLY
    also_similarity: NDArray[np.float64] | None = None
    ids: Sequence[Any] | None = None
    against_ids: Sequence[Any] | None = None
    measure: str = "similarity"

    @property
    def id(self) -> list[Any]:
        """The ids of the removed documents; their numbers if no ids were given."""
        return named(self.document, self.ids)

    @property
    def kept_id(self) -> list[Any]:
        """The ids of the kept documents; their numbers if no ids were given.

        A document of `against` without an id is called "against:3", by its number there.
        """
        against = np.where(self.against, self.kept_document, -1)
        return kept_names(self.kept_document, against, self.ids, self.against_ids)

    def __repr__(self) -> str:
        return f"<Proofs: {plural(len(self), 'removed document')}>"


@dataclass(eq=False, repr=False)
class Deduplication(CountedResult, ResultTable):
    """Tells which documents are kept and, for every other one, the kept one that proves it.

    It is an Arrow table with one row per document; `proofs` has one row for each removed document.
    Arrays and attributes number the documents from 0. Where single documents are listed, they are
    named by their ids if any were given, and otherwise by these numbers.

    Attributes
    ----------
    kept : ndarray of bool, shape (n,)
        In the order of the input: ``table.filter(result.kept)``.
    kept_index : ndarray of int64, shape (n,)
        For a removed document the kept one that it duplicates, for a kept one itself; -1 if it
        was removed because of a document of `against`.
    against_index : ndarray of int64, shape (n,)
        The number of that document in `against`; -1 for all others.
    similarity : ndarray of float64, shape (n,)
        Similarity to that document, at least `threshold`; 1 for kept documents. It is the exact
        Jaccard similarity, unless `verify` chose another (NaN with ``verify="none"``).
        With the rule "contained", it is the share of the document's shingles that the kept one
        has, at least `containment`; tables then call the column "containment".
    also_similarity : ndarray of float64, shape (n,), or None
        The exact similarity of the second texts, as `similarity`, if there are any.
    threshold : float
        The similarity from which a document is a duplicate.
    rule, containment
        The rule of removal, as in `deduplicate`.
    limited : int
        How many documents were kept without being compared with every candidate,
        because a bucket holds more than 64 kept documents or `max_candidates` was reached.
    limited_documents : ndarray of int64, shape (limited,)
        Their numbers, ascending.
    ids, against_ids : sequence or None
        The ids, if they were given.
    missing_priorities : int
        How many documents have no priority, though others have one.
    params : LSHParams or None
        The bands and rows that found the candidates.
    documents, empty : int
        How many documents were read, and how many of them have no shingle (always kept).
    options : dict
        The keyword arguments that the result came from, apart from the collections, their ids,
        `against_within` and `against_also`: ``deduplicate(texts, result.threshold,
        **result.options)`` gives the same. After `rethreshold`, it gives a fresh run with the
        higher threshold.
    order : ndarray of int64, shape (n,), or None
        The documents, those of the highest priority first; None: in the order of the input.
    seconds : dict of str to float
        How long each stage took.

    Examples
    --------
    >>> import fastlsh
    >>> result = fastlsh.deduplicate(["some text", "another text", "some text"])
    >>> result
    <Deduplication: 2 of 3 documents kept, 33.3% duplicates>
    >>> result.selected.tolist(), result.kept.tolist()
    ([0, 1], [True, True, False])
    """

    COLUMNS = ("kept", "kept_index", "against_index", "similarity", "also_similarity")

    kept_index: NDArray[np.int64]
    against_index: NDArray[np.int64]
    similarity: NDArray[np.float64]
    _: KW_ONLY
    also_similarity: NDArray[np.float64] | None = None
    threshold: float
    rule: str = "jaccard"
    containment: float = 1.0
    limited_documents: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    ids: Sequence[Any] | None = None
    against_ids: Sequence[Any] | None = None
    params: LSHParams | None = None
    empty: int = 0
    missing_priorities: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    order: NDArray[np.int64] | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.kept: NDArray[np.bool_] = self.kept_index == np.arange(len(self.kept_index))
        self.limited = len(self.limited_documents)
        self.documents = len(self.kept_index)
        self.options = dict(self.options)
        self.seconds = dict(self.seconds)

    @property
    def selected(self) -> NDArray[np.int64]:
        """The numbers of the kept documents, int64, ascending."""
        return np.flatnonzero(self.kept)

    @property
    def removed(self) -> NDArray[np.int64]:
        """The numbers of the removed documents, int64, ascending."""
        return np.flatnonzero(~self.kept)

    @property
    def n_kept(self) -> int:
        """How many documents are kept."""
        return int(self.kept.sum())

    @property
    def n_removed(self) -> int:
        """How many documents are removed."""
        return self.documents - self.n_kept

    @property
    def cluster_size(self) -> NDArray[np.int64]:
        """How many documents the cluster of each document has, int64 (n,).

        A cluster is a kept document, also one of `against`, and the documents that were removed
        because of it.
        """
        cluster = self._cluster()
        return np.asarray(np.bincount(cluster)[cluster] + (self.against_index >= 0))

    @property
    def copy_number(self) -> NDArray[np.int64]:
        """The number of each document among the removed ones of its cluster, int64 (n,).

        Numbers go by priority, from 1; that of a kept document is 0. So ``copy_number < 3`` is true
        for three documents of each cluster, if it has as many.
        """
        cluster = self._cluster()
        removed = self.removed if self.order is None else self.order[~self.kept[self.order]]
        number = np.zeros(self.documents, np.int64)
        number[removed] = 1 + cumcount(cluster[removed])
        return number

    def cluster_sources(self, sources: Iterable[Any]) -> NDArray[np.int64]:
        """Return how many different sources the cluster of each document has, int64 (n,).

        Documents of `against` have no source and are not counted.

        Parameters
        ----------
        sources
            The source of each document: a text, a number or another value, not None.

        Examples
        --------
        >>> import fastlsh
        >>> result = fastlsh.deduplicate(["some text", "another text", "some text"])
        >>> result.cluster_sources(["a.org", "a.org", "b.org"]).tolist()
        [2, 1, 2]
        """
        labels = check_labels(sources, self.documents, "sources")
        return self._counted(ClusterCounts(self._removals(), labels), "cluster_sources")

    def cluster_sum(self, values: ArrayLike) -> NDArray[Any]:
        """Return the sum of a number of each document over its cluster, (n,).

        Documents of `against` have no number. Integers give int64, exact; other numbers give
        the float64 that is nearest to the exact sum, whatever the order of the documents.

        Parameters
        ----------
        values
            A number for each document.

        Raises
        ------
        ValueError
            An integer, or the sum of a cluster, does not fit in int64.

        Examples
        --------
        >>> import fastlsh
        >>> result = fastlsh.deduplicate(["some text", "another text", "some text"])
        >>> result.cluster_sum([10, 20, 30]).tolist()
        [40, 20, 40]
        """
        numbers = check_numbers(values, self.documents, "values")
        return self._counted(ClusterCounts(self._removals(), None, {"sum": numbers}), "cluster_sum")

    def further_copies(
        self,
        labels: Iterable[Any] | None = None,
        per_label: int = 1,
        max_copies: int | None = None,
    ) -> NDArray[np.bool_]:
        """Return which documents stay if clusters may keep more than one, bool (n,).

        In order of priority, a document stays if fewer than `per_label` documents of its cluster
        with its label have stayed before it, and fewer than `max_copies` documents in all. The
        clusters are those of this result. A document of `against` counts for every label.

        Parameters
        ----------
        labels
            A value for each document, for example its source or its language; None: all have one.
        per_label
            The number of documents with one label, at least 1.
        max_copies
            The number of documents of a cluster, at least 1; None: any number.

        Examples
        --------
        >>> import fastlsh
        >>> result = fastlsh.deduplicate(["some text"] * 3)
        >>> result.further_copies(["a.org", "a.org", "b.org"]).tolist()
        [True, False, True]
        """
        per_label = check_integer(per_label, "per_label")
        if max_copies is not None:
            max_copies = check_integer(max_copies, "max_copies")
        values = check_labels([0] * self.documents if labels is None else labels, self.documents)
        kept, gone = self.kept.copy(), self.removed
        copy = self.copy_number[gone]
        kept[gone] = stays(self._removals(), copy, max_copies, values, per_label)
        return kept

    def _removals(self) -> RemovedDocuments:
        gone = self.removed
        return RemovedDocuments(gone, self._cluster()[gone], range(self.documents))

    def _counted(self, counts: ClusterCounts, name: str) -> NDArray[Any]:
        return counts.columns(np.arange(self.documents), self._cluster())[name]

    def _cluster(self) -> NDArray[np.int64]:
        """Return a number for the cluster of each document: that of the kept one."""
        outside = self.against_index >= 0
        return np.where(outside, self.documents + self.against_index, self.kept_index)

    @property
    def least(self) -> float:
        """What the `similarity` of each removed document reaches."""
        return self.containment if self.rule == "contained" else self.threshold

    @property
    def measure(self) -> str:
        """What tables call `similarity`: "similarity", or "containment" with that rule."""
        return "containment" if self.rule == "contained" else "similarity"

    def __repr__(self) -> str:
        return (
            f"<Deduplication: {self.n_kept:,} of {plural(self.documents, 'document')} kept, "
            f"{self.duplicate_ratio:.1%} duplicates>"
        )

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the first removals."""
        return f"<p>{escape(repr(self))}</p>{self.proofs().first_rows()}"

    def proofs(self) -> Proofs:
        """Return the table of all removed documents, each with the kept one that it duplicates.

        Examples
        --------
        >>> import fastlsh
        >>> result = fastlsh.deduplicate(["some text", "some text"], ids=["a", "b"])
        >>> list(result.proofs())
        [('b', 'a', 1.0)]
        """
        removed = self.removed
        outside = self.against_index[removed]
        return Proofs(
            removed,
            np.where(outside >= 0, outside, self.kept_index[removed]),
            outside >= 0,
            self.similarity[removed],
            also_similarity=None if self.also_similarity is None else self.also_similarity[removed],
            ids=self.ids,
            against_ids=self.against_ids,
            measure=self.measure,
        )

    def clusters(self, *, singletons: bool = False) -> list[list[Any]]:
        """Return each kept document, followed by those that were removed because of it.

        The clusters are stars: each removed document is near the kept one, and may also be near a
        document of another cluster. To divide documents so that no two near-duplicates are apart,
        use `Pairs.components`.

        Parameters
        ----------
        singletons
            Also return kept documents that have no duplicates, so that every document is in one
            cluster, apart from those that were removed because of a document of `against`.

        Returns
        -------
        list of list
            Ids, or numbers if no ids were given; in the order of the kept documents, and those
            of each cluster in the order of the input.

        Examples
        --------
        >>> import fastlsh
        >>> result = fastlsh.deduplicate(["some text", "another text", "some text"])
        >>> result.clusters()
        [[0, 2]]
        >>> result.clusters(singletons=True)
        [[0, 2], [1]]
        """
        inside = np.flatnonzero(self.kept_index >= 0)
        heads = self.kept_index[inside]
        order = np.lexsort([inside, inside != heads, heads])
        names = named(inside[order], self.ids)
        starts = np.flatnonzero(np.diff(heads[order], prepend=-1)).tolist()
        return [
            names[start:stop]
            for start, stop in pairwise([*starts, len(names)])
            if singletons or stop - start > 1
        ]

    def rethreshold(self, threshold: float) -> "Deduplication":
        """Return the result with the documents released whose proof is below a higher threshold.

        Costs no new comparison. Two released documents may be duplicates of each other, which a
        fresh run would find. With the rule "contained" it is the containment that is raised.

        Raises
        ------
        ValueError
            `threshold` is lower than that of this result, or above 1, or nothing was verified.

        Examples
        --------
        >>> import fastlsh
        >>> result = fastlsh.deduplicate(["some text, twice", "some text, twice!"], 0.8)
        >>> result.n_kept, result.rethreshold(0.95).n_kept
        (1, 2)
        """
        if not self.least <= threshold <= 1.0:
            raise ValueError(
                f"threshold must be between {self.least} (of this result) and 1, "
                f"got {threshold}: run deduplicate again for a lower one"
            )
        if np.isnan(self.similarity).any():
            raise ValueError("the result was not verified: run deduplicate again")
        released, also = self.similarity < threshold, self.also_similarity
        contained = self.rule == "contained"
        raised = {"containment": threshold} if contained and self.options else {}
        return replace(
            self,
            kept_index=np.where(released, np.arange(self.documents), self.kept_index),
            against_index=np.where(released, -1, self.against_index),
            similarity=np.where(released, 1.0, self.similarity),
            also_similarity=None if also is None else np.where(released, 1.0, also),
            threshold=self.threshold if contained else threshold,
            containment=threshold if contained else 1.0,
            options=self.options | raised,
        )

    def _columns(self, rows: slice = slice(None)) -> dict[str, Column]:
        columns = super()._columns(rows)
        if self.ids is None:
            return columns
        part = self._part(rows)
        kept_id = kept_names(part.kept_index, part.against_index, self.ids, self.against_ids)
        return {"id": self.ids[rows], **columns, "kept_id": kept_id}
