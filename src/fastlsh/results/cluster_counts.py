"""Counts over clusters: a kept document, and the documents that were removed because of it."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastlsh.arguments import check_ordered, values_of
from fastlsh.arrays import cumcount, float_sum

Numbers = NDArray[np.int64]


class RemovedDocuments(NamedTuple):
    """Which documents were removed, in any numbering."""

    removed: Numbers
    """int64 (m,), ascending."""
    kept: Numbers
    """int64 (m,): the kept document that each duplicates."""
    inputs: range
    """The numbers of the documents of the inputs; all others are of `against`."""


class ClusterCounts:
    """The size of each cluster, the number of its sources, and sums over its documents.

    The size counts a document of `against`; the other columns count documents of the inputs only.

    Parameters
    ----------
    removals
        The removed documents.
    sources
        uint64 (n,): a number for the source of each document of the inputs; None: not counted.
    counts
        By name, int64 or float64 (n,): the numbers that are summed, in the order of the documents.

    Attributes
    ----------
    types : dict of str to str
        The names of the columns, and their types in Arrow.
    """

    def __init__(
        self,
        removals: RemovedDocuments,
        sources: NDArray[np.uint64] | None = None,
        counts: Mapping[str, NDArray[Any]] | None = None,
    ) -> None:
        kept, self._first = np.sort(removals.kept), removals.inputs.start
        starts = np.flatnonzero(np.diff(kept, prepend=-1))
        self._kept = kept[starts]
        self._of_clusters: dict[str, NDArray[Any]] = {
            "cluster_size": np.diff(starts, append=len(kept)) + 1
        }
        self._counts: dict[str, NDArray[Any]] = {}
        if sources is not None or counts:
            number, cluster = _members(removals, self._kept)
        if sources is not None:
            source_counts = _distinct(cluster, sources[number], len(self._kept))
            self._of_clusters["cluster_sources"] = source_counts
        for name, column in (counts or {}).items():
            sums = _sums(column[number], cluster, len(self._kept), name)
            self._of_clusters[f"cluster_{name}"] = sums
            self._counts[f"cluster_{name}"] = column
        self.types = {
            name: "double" if values.dtype == np.float64 else "int64"
            for name, values in self._of_clusters.items()
        }

    def columns(self, documents: Numbers, clusters: Numbers) -> dict[str, NDArray[Any]]:
        """Return the columns of some documents of the inputs.

        Parameters
        ----------
        documents, clusters
            int64 (k,): the documents, and the kept document of the cluster of each.
        """
        at = np.searchsorted(self._kept, clusters)
        clustered = np.flatnonzero(at < np.searchsorted(self._kept, clusters, "right"))
        columns = {}
        for name, values in self._of_clusters.items():
            column = np.ones(len(documents), values.dtype)
            if name in self._counts:
                column[:] = self._counts[name][documents - self._first]
            column[clustered] = values[at[clustered]]
            columns[name] = column
        return columns


def stays(
    removals: RemovedDocuments,
    copy: Numbers,
    max_copies: int | None,
    labels: NDArray[np.uint64] | None = None,
    per_label: int = 1,
) -> NDArray[np.bool_]:
    """Return which of the removed documents stay as further copies, bool (m,).

    In order of priority, a document stays if fewer than `per_label` documents of its cluster with
    its label have stayed, and fewer than `max_copies` documents in all. The kept document has
    stayed before; one of `against` counts for every label.

    Parameters
    ----------
    removals
        The removed documents.
    copy
        int64 (m,): their order of priority in each cluster, from 1.
    max_copies
        None: any number.
    labels
        uint64 (n,): a label for each document of the inputs; None: no document has one.
    per_label
        The number of documents with one label.
    """
    if labels is None and max_copies is not None:
        return copy < max_copies
    staying = np.ones(len(copy), np.bool_)
    if labels is not None:
        staying = _number_per_label(removals, copy, labels) < per_label
    if max_copies is not None:
        numbers = np.flatnonzero(staying)
        order = numbers[np.argsort(copy[numbers], kind="stable")]
        staying[order] = 1 + cumcount(removals.kept[order]) < max_copies
    return staying


def _number_per_label(
    removals: RemovedDocuments, copy: Numbers, labels: NDArray[np.uint64]
) -> NDArray[np.int64]:
    """Return how many documents with the same label each removed document has before it."""
    first = removals.inputs.start
    inside = _is_inside(removals.kept, removals.inputs)
    heads = np.unique(removals.kept[inside])
    cluster = np.concatenate([heads, removals.kept])
    label = labels[np.concatenate([heads, removals.removed]) - first]
    rank = np.concatenate([np.zeros(len(heads), np.int64), copy])
    order = np.lexsort([rank, label, cluster])
    starts = np.flatnonzero(_differ(cluster[order], label[order]))
    del cluster, label, rank
    sizes = np.diff(starts, append=len(order))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order)) - np.repeat(starts, sizes)
    return number[len(heads) :] + ~inside


def check_labels(values: Any, n: int, name: str = "labels") -> NDArray[np.uint64]:
    """Return a number for the value of each of n documents, or raise.

    Parameters
    ----------
    values
        In a list, an array, or a column of Arrow, pandas or polars.
    n
        The number of documents.
    name
        What messages call the argument.
    """
    from fastlsh.io import label_hashes  # the readers, which programs without files do not need

    values = check_ordered(values, name)
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        kind = type(values).__name__
        raise TypeError(f"{name} must be a value for each document, got one {kind}")
    are_integers = isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.ndim == 1
    fit_int64 = are_integers and values.dtype != np.uint64
    # Otherwise a copy, in which missing values become None.
    labels: Any = values if fit_int64 else list(values_of(values))
    if len(labels) != n:
        raise ValueError(f"{name} must be a value for each of the {n} documents, got {len(labels)}")
    for number, value in enumerate(() if fit_int64 else labels):
        if isinstance(value, (list, dict, np.ndarray)):
            kind = type(value).__name__
            raise TypeError(f"{name} must be texts or numbers, got {kind} for document {number}")
        if type(value).__name__ == "NAType":
            labels[number] = None
        elif value != value:
            raise ValueError(f"{name} has no value for document {number}")
    return label_hashes(labels)


def check_numbers(values: ArrayLike, n: int, name: str) -> NDArray[Any]:
    """Return a number for each of n documents as int64 or float64, or raise."""
    values = check_ordered(values, name)
    numbers = np.asarray(values)
    if (
        not isinstance(values, np.ndarray)
        and numbers.dtype.kind in ("f", "O")
        and numbers.ndim == 1
    ):
        for value in values:  # type: ignore[union-attr]
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise ValueError(f"{name} holds {value}, which does not fit in int64")
    if numbers.shape != (n,) or numbers.dtype.kind not in "iufb":
        raise ValueError(
            f"{name} must hold one number for each of the {n} documents, got {numbers.dtype} of"
            f" shape {numbers.shape}"
        )
    if numbers.dtype.kind == "f" and np.isnan(numbers).any():
        raise ValueError(f"{name} holds NaN, at document {int(np.isnan(numbers).argmax())}")
    if numbers.dtype == np.uint64 and n and int(numbers.max()) >= 2**63:
        raise ValueError(f"{name} holds {int(numbers.max())}, which does not fit in int64")
    return numbers.astype(np.int64 if numbers.dtype.kind in "iub" else np.float64)


def _sums(values: NDArray[Any], cluster: Numbers, n: int, name: str) -> NDArray[Any]:
    """Return the sum of each cluster; one of integers is exact, or too large: ValueError."""
    if values.dtype == np.float64:
        order = np.argsort(cluster, kind="stable")
        ends = np.searchsorted(cluster[order], np.arange(n + 1)).tolist()
        return np.array([float_sum(values[order[a:b]].tolist()) for a, b in pairwise(ends)])
    high, low = np.zeros((2, n), np.int64)
    np.add.at(high, cluster, values >> 32)
    np.add.at(low, cluster, values & 0xFFFFFFFF)
    high += low >> 32
    too_large = (high < -(1 << 31)) | (high >= 1 << 31)
    if too_large.any():
        first = int(too_large.argmax())
        value = (int(high[first]) << 32) + (int(low[first]) & 0xFFFFFFFF)
        raise ValueError(
            f"cluster_{name}: the sum {value} of a cluster does not fit in 64 bits: give smaller"
            " integers, or floats"
        )
    return (high << 32) + (low & 0xFFFFFFFF)


def _members(removals: RemovedDocuments, kept: Numbers) -> tuple[Numbers, Numbers]:
    """Return the documents of the inputs that are in clusters, ascending, and the row of each.

    Documents are counted from the first one of the inputs; `kept` has the rows of the clusters.
    """
    rows = np.flatnonzero(_is_inside(kept, removals.inputs))
    number = np.concatenate([kept[rows], removals.removed])
    cluster = np.concatenate([rows, np.searchsorted(kept, removals.kept)])
    order = np.argsort(number, kind="stable")
    return number[order] - removals.inputs.start, cluster[order]


def _is_inside(numbers: Numbers, inputs: range) -> NDArray[np.bool_]:
    return (numbers >= inputs.start) & (numbers < inputs.stop)


def _distinct(cluster: Numbers, values: NDArray[np.uint64], clusters: int) -> Numbers:
    """Return how many different values each cluster has."""
    order = np.lexsort([values, cluster])
    cluster = cluster[order]
    return np.bincount(cluster[_differ(cluster, values[order])], minlength=clusters)


def _differ(cluster: Numbers, values: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return whether each pair differs from the one before."""
    differ = np.ones(len(cluster), np.bool_)
    differ[1:] = (cluster[1:] != cluster[:-1]) | (values[1:] != values[:-1])
    return differ
