"""The removed documents of a run, a sample of them, and both texts of each."""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import InputError
from fastlsh.evaluation import Removals
from fastlsh.files.data_sets import DataSets, each_block
from fastlsh.io import BlockDocuments, ReadOptions, table_rows
from fastlsh.texts import as_texts

COLUMNS = (("id",), ("kept_id",), ("jaccard", "containment"), ("against", ""), ("start", ""))


class AuditPair(NamedTuple):
    """A removed document of the sample, and the kept one."""

    row: int
    """Of the table of removals."""
    id: str
    kept_id: str
    similarity: float
    text: str
    kept_text: str


@dataclass(frozen=True)
class Audit:
    """A sample of removals, with their texts.

    Attributes
    ----------
    removals : Removals
        Numbers of all of them.
    pairs : list of AuditPair
        The sample, in random order.
    """

    removals: Removals
    pairs: list[AuditPair]

    @classmethod
    def of(
        cls,
        inputs: Sequence[str],
        against: Sequence[str],
        removed: str,
        read: ReadOptions,
        *,
        source: str | None = None,
        sample: int,
        seed: int,
    ) -> "Audit":
        """Read the table of removals, draw a sample, and read its texts.

        Parameters
        ----------
        inputs, against
            The files of the run.
        removed
            What the run has written with `removed`.
        read
            How the files are read.
        source
            The column of the sources; None: each input is one.
        sample, seed
            How many removals, and which of the possible samples.

        Raises
        ------
        InputError
            A file cannot be read, or has not the documents of the table.

        Notes
        -----
        Memory: 40 bytes for each removal, and the texts of the sample.
        """
        removals = _removals(removed, inputs, read, source)
        rows = removals.sample(sample, seed)
        wanted = {row: number for number, row in enumerate(rows.tolist())}
        pairs: list[Any] = [None] * len(rows)
        for row, found in enumerate(table_rows(removed, COLUMNS)):
            if row in wanted:
                pairs[wanted[row]] = row, *found
        own = {str(name) for _, name, *_ in pairs}
        outside = {str(kept) for _, _, kept, _, is_against, _ in pairs if _true(is_against)}
        own |= {str(kept) for _, _, kept, _, is_against, _ in pairs if not _true(is_against)}
        if outside and not against:
            raise InputError(
                removed, "names documents of a reference collection: give it, too (against=)"
            )
        texts = [_texts(inputs, read, own), _texts(against, read, outside)]
        return cls(removals, [
            AuditPair(
                row, str(name), str(kept), _number(value), _text(removed, texts[0], name),
                _text(removed, texts[_true(is_against)], kept),
            )
            for row, name, kept, value, is_against, _ in pairs
        ])  # fmt: skip


def _removals(
    removed: str, inputs: Sequence[str], read: ReadOptions, source: str | None
) -> Removals:
    """Read the numbers of all removals; no string of any is kept."""
    similarity, kept, own = array("d"), array("q"), array("q")
    for row, (name, kept_id, value, _, start) in enumerate(table_rows(removed, COLUMNS), 1):
        if start is not None:
            raise InputError(removed, "has parts of documents: an audit judges whole documents")
        try:
            similarity.append(_number(value))
        except ValueError:
            reason = f"has a similarity that is no number from 0 to 1: {value!r}"
            raise InputError(removed, reason, row) from None
        kept.append(hash(str(kept_id)))
        own.append(hash(str(name)))
    if not kept:
        raise InputError(removed, "has no removals")
    _, cluster, sizes = np.unique(
        np.frombuffer(kept, np.int64), return_inverse=True, return_counts=True
    )
    of_source, names = _sources(np.frombuffer(own, np.int64), inputs, read, source)
    return Removals(np.array(similarity), 1 + sizes[cluster], of_source, names)


def _sources(
    ids: NDArray[np.int64], inputs: Sequence[str], read: ReadOptions, column: str | None
) -> tuple[NDArray[np.int64], list[str]]:
    """Return which source each document is of, the first one of several with its id; the names."""
    source = np.zeros(len(ids), np.int64)
    if column is None and len(inputs) == 1:
        return source, list(inputs)
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]

    def found(documents: BlockDocuments, data_set: NDArray[np.int64]) -> None:
        hashes = np.fromiter((hash(str(each)) for each in documents.ids), np.int64, len(documents))
        first, last = (np.searchsorted(ordered, hashes, side) for side in ("left", "right"))
        for row in np.flatnonzero(first < last).tolist():
            own = order[first[row] : last[row]]
            own = own[~known[own]]
            source[own], known[own] = data_set[row], True

    known = np.zeros(len(ids), np.bool_)
    if column is None:
        for number, name in enumerate(inputs):
            for documents in each_block([name], read):
                found(documents, np.full(len(documents), number))
        return source, list(inputs)
    data_sets = DataSets.of_column(inputs, read, column)
    for documents in each_block(inputs, replace(read, labels=(column,))):
        found(documents, data_sets.of_labels(documents.labels[column]))
    return source, data_sets.names


def _texts(inputs: Sequence[str], read: ReadOptions, wanted: set[str]) -> Mapping[str, str]:
    """Return the first text with each id."""
    texts: dict[str, str] = {}
    for documents in each_block(inputs, read):
        ids = [str(each) for each in documents.ids]
        rows = [row for row, name in enumerate(ids) if name in wanted and name not in texts]
        if rows:
            taken = as_texts(documents.texts).take(np.array(rows)).strings()
            for row, text in zip(reversed(rows), reversed(taken), strict=True):
                texts[ids[row]] = text
        if len(texts) == len(wanted):
            break
    return texts


def _text(removed: str, texts: Mapping[str, str], name: Any) -> str:
    if str(name) not in texts:
        raise InputError(
            removed, f"names the document {name}, which the inputs do not have: give those of"
            " the run, with the same paths and options"
        )  # fmt: skip
    return texts[str(name)]


def _number(value: Any) -> float:
    number = float("nan" if value is None else value)
    if not (0 <= number <= 1 or np.isnan(number)):
        raise ValueError(value)
    return number


def _true(value: Any) -> bool:
    return value is True or value == "true"
