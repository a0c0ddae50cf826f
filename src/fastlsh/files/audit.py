"""An audit: a sample of the removals of a run, both texts of each, and the answers of people."""

import os
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_integer
from fastlsh.errors import InputError
from fastlsh.evaluation import Precision, Removals
from fastlsh.files.data_sets import DataSets, each_block
from fastlsh.files.requests import AgainstOptions, Path, paths
from fastlsh.html import shortened
from fastlsh.io import BlockDocuments, Ids, Paths, ReadOptions, expand_one, read_objects, table_rows
from fastlsh.keywords import made, shares
from fastlsh.texts import as_texts

if TYPE_CHECKING:
    from fastlsh.files.requests import AgainstKeywords
    from fastlsh.keywords import Unpack

COLUMNS = (("id",), ("kept_id",), ("jaccard", "containment"), ("against", ""), ("start", ""))

MOST_VALUE = 80
"""Characters of a value in a message."""


class AuditPair(NamedTuple):
    """A removed document of the sample, and the kept one."""

    row: int
    """Of the table of removals, from 0."""
    id: str
    kept_id: str
    similarity: float
    """NaN if it was not verified."""
    text: str
    kept_text: str


@dataclass(frozen=True)
class Audit:
    """A sample of removals to be judged; `precisions` tells what the judgements mean for all.

    Attributes
    ----------
    pairs : list of AuditPair
        The sample, in random order: `id`, `kept_id`, `similarity`, `text` and `kept_text` of each.
    removals : Removals
        What is known of all removals.
    """

    pairs: list[AuditPair]
    removals: Removals

    def read_answers(self, path: Path) -> list[bool | None]:
        """Return the answers of a file, as the page of ``fastlsh audit --page`` downloads it.

        Parameters
        ----------
        path
            The file, which is only read: a JSON object with ``id``, ``kept_id`` and ``duplicate``
            on each line. Answers for other pairs are left out; of two answers for a pair, the later
            one counts.

        Returns
        -------
        list of bool or None
            None for a pair that was not judged.

        Raises
        ------
        InputError
            The file cannot be read, a line of it is no answer, or none is for a pair of the sample.

        Examples
        --------
        >>> audit = Audit([AuditPair(0, "b", "a", 0.9, "text b", "text a")], removals=None)
        >>> with open("answers.jsonl", "w") as file:
        ...     print('{"id": "b", "kept_id": "a", "duplicate": true}', file=file)
        >>> audit.read_answers("answers.jsonl")
        [True]
        """
        return answers_of(self.pairs, path)[0]

    def precisions(self, duplicate: Sequence[bool | None]) -> list[Precision]:
        """Estimate from judgements how many of all removals are right.

        The share of duplicates in each stratum (step of similarity, class of cluster sizes and
        source) counts by the number of its removals. A stratum without a judgement does not count.

        Parameters
        ----------
        duplicate
            For each pair whether it is a duplicate, so that the removal is right; None: not judged.

        Returns
        -------
        list of Precision
            The first one is that of all removals. The others are those of each step of similarity,
            class of cluster sizes and source, and of the removals that a higher threshold leaves.

        Raises
        ------
        TypeError
            A judgement is not True, False or None.
        ValueError
            There are more or fewer judgements than pairs.

        Examples
        --------
        >>> removals = Removals(np.full(10, 0.9), np.full(10, 2), np.zeros(10, int), ["a.jsonl"])
        >>> pair = AuditPair(0, "b", "a", 0.9, "text b", "text a")
        >>> audit = Audit([pair, pair._replace(row=1), pair._replace(row=2)], removals)
        >>> whole, *_ = audit.precisions([True, False, None])
        >>> whole.removed, whole.judged, whole.precision, round(whole.low, 2), round(whole.high, 2)
        (10, 2, 0.5, 0.09, 0.91)
        """
        answers = list(duplicate)
        if len(answers) != len(self.pairs):
            raise ValueError(f"{len(answers)} judgements for {len(self.pairs)} pairs")
        for number, answer in enumerate(answers):
            if answer is not None and not isinstance(answer, (bool, np.bool_)):
                raise TypeError(f"judgement {number} must be True, False or None, got {answer!r}")
        judged = [(pair.row, bool(answer)) for pair, answer in zip(self.pairs, answers, strict=True)
                  if answer is not None]  # fmt: skip
        rows = np.array([row for row, _ in judged], np.int64)
        return self.removals.precisions(rows, np.array([answer for _, answer in judged], np.bool_))


def answers_of(pairs: Sequence[AuditPair], path: Path) -> tuple[list[bool | None], int]:
    """Return what `Audit.read_answers` does, and how many removals of other samples have answers.

    Parameters
    ----------
    pairs
        The sample.
    path
        The file.
    """
    answers: dict[tuple[str, str], bool] = {}
    source = expand_one(path, "jsonl")
    for row, answer in read_objects(source):
        pair, is_duplicate = (answer.get("id"), answer.get("kept_id")), answer.get("duplicate")
        is_named = all(isinstance(name, (str, int)) for name in pair)
        if not is_named or not isinstance(is_duplicate, bool):
            raise source.error("is no answer with id, kept_id and duplicate", row)
        answers[str(pair[0]), str(pair[1])] = is_duplicate
    if not answers:
        raise source.error("has no answers")
    sample = [(pair.id, pair.kept_id) for pair in pairs]
    others = len(answers.keys() - set(sample))
    if others == len(answers):
        raise source.error(
            "has no answer for a pair of this sample: give the table, sample and seed of its page"
        )
    return [answers.get(pair) for pair in sample], others


@shares(ReadOptions, AgainstOptions, command="dedup", without={"priority"})
def audit_files(
    inputs: Paths,
    removed: Path,
    *,
    against: Paths = (),
    source: str | None = None,
    sample: int = 400,
    seed: int = 1,
    **keywords: "Unpack[AgainstKeywords]",
) -> Audit:
    """Draw a sample of the removals of a run, with both texts of each, to be judged.

    All strata (steps of similarity, classes of cluster sizes, sources) have equally many pairs in
    the sample, as far as they have that many, so that rare kinds of removals are seen, too.

    Parameters
    ----------
    inputs, against
        The files of the run and its reference collection, with the same paths.
    removed
        The table that `deduplicate_files` or ``fastlsh dedup`` has written as `removed`.
    source
        The column of the sources; None: each input is one.
    sample
        How many removals, at least 1; if there are fewer, all are drawn.
    seed
        Which of the possible samples.

    Returns
    -------
    Audit
        Its `pairs` are the sample, and its method `precisions` takes the judgements.

    Raises
    ------
    InputError
        A file cannot be read, or does not have the documents of the table.
    TypeError, ValueError
        An argument is invalid.

    Notes
    -----
    The table and the inputs are read once, with `source` the inputs twice, with several inputs and
    without it up to twice. Memory: 40 bytes for each removal, and the texts of the sample.

    Examples
    --------
    >>> import json
    >>> from fastlsh import deduplicate_files
    >>> with open("texts.jsonl", "w") as file:
    ...     for text in ["an old story of two towns", "an old story of two towns!", "other"]:
    ...         print(json.dumps({"text": text}), file=file)
    >>> done = deduplicate_files("texts.jsonl", "kept.jsonl", removed="removed.tsv")
    >>> audit = audit_files("texts.jsonl", "removed.tsv")
    >>> [(pair.kept_text, pair.text) for pair in audit.pairs]
    [('an old story of two towns', 'an old story of two towns!')]
    >>> whole, *_ = audit.precisions([True])
    >>> whole.precision, round(whole.low, 2)
    (1.0, 0.21)
    """
    count, number = check_integer(sample, "sample"), check_integer(seed, "seed")
    read, table = made(ReadOptions, keywords), os.fspath(removed)
    files, others = paths(inputs), paths(against)
    removals = _removals(table, files, read, source)
    rows = removals.sample(count, number)
    places = {row: place for place, row in enumerate(rows.tolist())}
    draws: list[Any] = [None] * len(rows)
    for row, values in enumerate(table_rows(table, COLUMNS)):
        if row in places:
            draws[places[row]] = row, *values
    input_ids = {str(name) for _, name, *_ in draws}
    against_ids = {str(kept) for _, _, kept, _, is_against, _ in draws if _true(is_against)}
    input_ids |= {str(kept) for _, _, kept, _, is_against, _ in draws if not _true(is_against)}
    if against_ids and not others:
        raise InputError(
            table, "names documents of a reference collection: give it, too (against=)"
        )
    read_against = made(AgainstOptions, keywords).reading(read)
    texts = [_texts(files, read, input_ids), _texts(others, read_against, against_ids)]
    pairs = [
        AuditPair(
            row, str(name), str(kept), _number(value), _text(table, texts[0], name),
            _text(table, texts[_true(is_against)], kept),
        )
        for row, name, kept, value, is_against, _ in draws
    ]  # fmt: skip
    return Audit(pairs, removals)


def _removals(
    removed: str, inputs: Sequence[str], read: ReadOptions, source: str | None
) -> Removals:
    """Read the numbers of all removals; no string of any is kept."""
    similarity, kept_ids, removed_ids = array("d"), array("q"), array("q")
    for row, (name, kept, value, _, start) in enumerate(table_rows(removed, COLUMNS), 1):
        if start is not None:
            raise InputError(removed, "has parts of documents: an audit judges whole documents")
        try:
            similarity.append(_number(value))
        except ValueError:
            shown = shortened(repr(value), MOST_VALUE)
            reason = f"has a similarity that is no number from 0 to 1: {shown}"
            raise InputError(removed, reason, row) from None
        kept_ids.append(hash(str(kept)))
        removed_ids.append(hash(str(name)))
    if not kept_ids:
        raise InputError(removed, "has no removals")
    _, cluster, sizes = np.unique(
        np.frombuffer(kept_ids, np.int64), return_inverse=True, return_counts=True
    )
    of_source, names = _sources(np.frombuffer(removed_ids, np.int64), inputs, read, source)
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

    def note_sources(path: str, documents: BlockDocuments, data_set: NDArray[np.int64]) -> None:
        hashes = np.fromiter(map(hash, _ids(path, documents)), np.int64, len(documents))
        first, last = (np.searchsorted(ordered, hashes, side) for side in ("left", "right"))
        for row in np.flatnonzero(first < last).tolist():
            matching = order[first[row] : last[row]]
            matching = matching[~known[matching]]
            source[matching], known[matching] = data_set[row], True

    known = np.zeros(len(ids), np.bool_)
    if column is None:
        for number, name in enumerate(inputs):
            for path, documents in each_block([name], read):
                note_sources(path, documents, np.full(len(documents), number))
        return source, list(inputs)
    data_sets = DataSets.of_column(inputs, read, column)
    for path, documents in each_block(inputs, replace(read, labels=(column,))):
        note_sources(path, documents, data_sets.of_labels(documents.labels[column]))
    return source, data_sets.names


def _texts(inputs: Sequence[str], read: ReadOptions, names: set[str]) -> Mapping[str, str]:
    """Return the first text with each id."""
    texts: dict[str, str] = {}
    for path, documents in each_block(inputs, read):
        ids = _ids(path, documents)
        rows = [row for row, name in enumerate(ids) if name in names and name not in texts]
        if rows:
            taken = as_texts(documents.texts).take(np.array(rows)).strings()
            for row, text in zip(reversed(rows), reversed(taken), strict=True):
                texts[ids[row]] = text
        if len(texts) == len(names):
            break
    return texts


def _ids(path: str, documents: BlockDocuments) -> list[str]:
    ids = Ids()
    ids.add(path, documents.ids, documents.rows)
    return [str(name) for name in ids]


def _text(removed: str, texts: Mapping[str, str], name: Any) -> str:
    if str(name) not in texts:
        raise InputError(
            removed, f"names the document {name}, which the inputs do not have: give those of"
            " the run, with the same paths and options"
        )  # fmt: skip
    return texts[str(name)]


def _number(value: Any) -> float:
    # As text, a list or True is no number, and a number of any length is one.
    number = float("nan" if value is None else str(value))
    if not (0 <= number <= 1 or np.isnan(number)):
        raise ValueError(value)
    return number


def _true(value: Any) -> bool:
    return value is True or value == "true"
