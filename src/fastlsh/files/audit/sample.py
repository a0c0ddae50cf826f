"""The removed documents of a run, a sample of them, and both texts of each."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import InputError
from fastlsh.evaluation import Removals
from fastlsh.io import ReadOptions, expand, read_blocks, table_rows
from fastlsh.texts import as_texts

COLUMNS = (("id",), ("kept_id",), ("jaccard", "containment"), ("against", ""))


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
        sample: int,
        seed: int,
    ) -> "Audit":
        """Read the table of removals, draw a sample, and read its texts.

        Parameters
        ----------
        inputs, against
            The files of the run; each input is a source.
        removed
            What the run has written with `removed`.
        read
            How the files are read.
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
        removals = _removals(removed, inputs, read)
        rows = removals.sample(sample, seed)
        wanted = {row: number for number, row in enumerate(rows.tolist())}
        pairs: list[Any] = [None] * len(rows)
        for row, found in enumerate(table_rows(removed, COLUMNS)):
            if row in wanted:
                pairs[wanted[row]] = row, *found
        own = {str(name) for _, name, *_ in pairs}
        outside = {str(kept) for _, _, kept, _, is_against in pairs if _true(is_against)}
        own |= {str(kept) for _, _, kept, _, is_against in pairs if not _true(is_against)}
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
            for row, name, kept, value, is_against in pairs
        ])  # fmt: skip


def _removals(removed: str, inputs: Sequence[str], read: ReadOptions) -> Removals:
    """Read the numbers of all removals; no string of any is kept."""
    similarity, kept, own = array("d"), array("q"), array("q")
    for row, (name, kept_id, value, _) in enumerate(table_rows(removed, COLUMNS), 1):
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
    source = _sources(np.frombuffer(own, np.int64), inputs, read)
    return Removals(np.array(similarity), 1 + sizes[cluster], source, list(inputs))


def _sources(ids: NDArray[np.int64], inputs: Sequence[str], read: ReadOptions) -> NDArray[np.int64]:
    """Return which input each document is from; the first one of several with its id."""
    source = np.zeros(len(ids), np.int64)
    if len(inputs) == 1:
        return source
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    for number in range(len(inputs) - 1, -1, -1):
        for found in _documents([inputs[number]], read):
            hashes = np.fromiter((hash(str(each)) for each in found.ids), np.int64, len(found))
            first, last = (np.searchsorted(ordered, hashes, side) for side in ("left", "right"))
            for start, stop in {*zip(first.tolist(), last.tolist(), strict=True)}:
                source[order[start:stop]] = number
    return source


def _documents(inputs: Sequence[str], read: ReadOptions) -> Iterator[Any]:
    if not inputs:
        return
    for source in expand(inputs, read.format, read, recursive=read.recursive, mixed=True):
        for block in read_blocks(source):
            documents = block.documents()
            if documents.bad and read.on_error != "skip":
                raise documents.bad[0]
            yield documents


def _texts(inputs: Sequence[str], read: ReadOptions, wanted: set[str]) -> Mapping[str, str]:
    """Return the first text with each id."""
    texts: dict[str, str] = {}
    for documents in _documents(inputs, read):
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
