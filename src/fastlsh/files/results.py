"""What the functions on files return: counts, times and paths, not millions of rows."""

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from fastlsh.banding import LSHParams
from fastlsh.errors import InputError, warn_caller
from fastlsh.files.plan import EngineChoice
from fastlsh.files.requests import Request
from fastlsh.files.run.manifest import plain_shingler
from fastlsh.files.run.records import Summary
from fastlsh.parallel import Stopwatch
from fastlsh.results import Boilerplate, CountedResult, NotSearched, Overlap


def warn_if_none_left(request: Request, count: int, left: int, name: str = "document") -> None:
    """Warn if all documents, lines or passages of a run are removed.

    No document of the inputs can have removed the first of them, so `against` has.
    """
    if request.against and count and not left:
        warn_caller(
            f"every {name} of the inputs is removed because of against=: check that these files"
            " are not a copy of the inputs",
            UserWarning,
        )


def shared_fields(
    request: Request, choice: EngineChoice, clock: Stopwatch, **more: Any
) -> dict[str, Any]:
    """Return the fields of every result that describe the search, the engine and the times.

    `more` are the parameters besides those of the search.
    """
    search = request.search
    if request.read.also is not None:
        more |= {"also": request.read.also, "also_threshold": search.also_least}
    parameters = {"threshold": search.threshold, **search.removal_keywords, **more}
    return {
        "threshold": search.threshold, "params": search.lsh, "seconds": clock,
        "engine": "memory" if choice.run is None else "disk", "reason": choice.reason,
        "parameters": {**parameters, "shingler": plain_shingler(search.shingler)},
        "recall_at_threshold": search.recall_at_threshold,
    }  # fmt: skip


def counts_of(summary: Summary) -> dict[str, Any]:
    """Return what results tell of the rows that were read."""
    return {
        "skipped": summary.skipped,
        "skipped_reasons": [str(InputError(*reason)) for reason in summary.reasons],
        "repeated_ids": summary.repeated,
        "repeated_example": summary.repeated_example,
        "slow_rows": summary.slow,
        "against_documents": summary.n_against,
    }


class Gated:
    """A result that tells how much of all was found."""

    GATE: ClassVar = ("n_removed", "documents", "of the documents are removed")
    """The names of both numbers, and what the first one is a share of."""

    @property
    def share(self) -> float:
        """How much was found, 0 to 1: what `fastlsh --fail-above` asks for."""
        part, whole, _ = self.GATE
        return float(getattr(self, part) / max(getattr(self, whole), 1))


@dataclass(kw_only=True)
class FileResult(Gated):
    """The counts and times that every function on files returns.

    Attributes
    ----------
    documents : int
        The number of documents in the inputs.
    skipped : int
        How many bad rows were left out.
    skipped_reasons : list of str
        A line for each of the first ten of them.
    repeated_ids : int
        How many documents have the id of an earlier one.
    repeated_example : str
        One of these ids, and the files that have it, for messages.
    slow_rows : int
        How many rows of JSON lines the json module had to read, because they are unusual: this
        takes far longer than the reader for all others.
    engine : str
        "memory" or "disk".
    reason : str
        Why this engine was chosen.
    seconds : dict
        How long each stage took.
    against_documents : int
        The number of documents of the reference collection.
    parameters : dict
        What the answer depends on, as JSON has it.
    recall_at_threshold : float or None
        The probability that a pair at the threshold is found; None: it is not known.
    """

    documents: int
    skipped: int
    skipped_reasons: list[str]
    repeated_ids: int
    repeated_example: str
    slow_rows: int
    engine: str
    reason: str
    seconds: dict[str, Any] = field(default_factory=dict)
    against_documents: int = 0
    parameters: dict[str, Any] = field(default_factory=dict)
    recall_at_threshold: float | None = None


@dataclass(kw_only=True)
class FileDeduplication(CountedResult, FileResult):
    """The counts, files and times of a deduplication of files.

    Attributes
    ----------
    documents, n_kept, empty : int
        The number of documents in the inputs, of those kept, and of those without a shingle.
    limited : int
        How many documents were kept without being compared with every candidate.
    further_copies : int
        How many near-duplicates of a kept document were kept, too, by `max_copies` and
        `copies_per`.
    missing_priorities : int
        How many documents have no priority, and are so the last choice.
    outputs : list of str
        The files with the kept rows.
    threshold : float
    params : LSHParams
        Bands and rows; ``params.probability(threshold)`` is the recall at the threshold, unless
        documents are removed by containment or by estimates.
    skipped, skipped_reasons : int, list of str
        How many bad rows were left out, and a line for each of the first ten of them.
    repeated_ids, slow_rows : int
        How many documents have the id of an earlier one, and how many rows of JSON lines are so
        unusual that the json module had to read them.
    engine, reason : str
        "memory" or "disk", and why this engine was chosen.
    seconds : dict
        How long each stage took.
    against_documents, parameters, recall_at_threshold
        As in `FileResult`.
    """

    n_kept: int
    empty: int
    limited: int
    further_copies: int
    missing_priorities: int
    outputs: list[str]
    threshold: float
    params: LSHParams

    @property
    def n_removed(self) -> int:
        """The number of removed documents."""
        return self.documents - self.n_kept


@dataclass(kw_only=True)
class FileLineDeduplication(CountedResult, FileResult):
    """The counts, files and times of a removal of lines, paragraphs or sentences from files.

    Attributes
    ----------
    documents, written : int
        The number of documents in the inputs, and of rows written.
    changed, emptied : int
        How many documents lost some of their text, and how many all of it.
    spans, n_removed : int
        How many lines, paragraphs or sentences there are, and how many of them were removed.
    characters : int
        How many code points were removed.
    by : str
        "line", "paragraph" or "sentence".
    limited, skipped, skipped_reasons, repeated_ids, slow_rows, outputs, threshold, params, engine,
    reason, seconds
        As in `FileDeduplication`.
    """

    written: int
    changed: int
    emptied: int
    spans: int
    n_removed: int
    characters: int
    limited: int
    outputs: list[str]
    by: str
    threshold: float
    params: LSHParams

    GATE = ("n_removed", "spans", "of the lines, paragraphs or sentences are removed")

    @property
    def n_kept(self) -> int:
        """The number of lines, paragraphs or sentences that were kept."""
        return self.spans - self.n_removed


@dataclass(kw_only=True)
class FileSpanDeduplication(FileResult):
    """The counts, files and times of a removal of repeated passages from files.

    Attributes
    ----------
    documents, written : int
        The number of documents in the inputs, and of rows written.
    changed, dropped : int
        How many documents lost some of their text, and of how many too little remained.
    n_removed, characters, characters_read : int
        How many spans were removed, how many code points they have, and all documents.
    common : int
        How many passages stay because they occur in more than `max_share` of the documents.
    min_length : int
        The least length of a passage.
    skipped, skipped_reasons, repeated_ids, slow_rows, outputs, engine, reason, seconds
        As in `FileDeduplication`.
    """

    written: int
    changed: int
    dropped: int
    n_removed: int
    characters: int
    characters_read: int
    common: int
    min_length: int
    outputs: list[str]

    GATE = ("characters", "characters_read", "of the characters are removed")


@dataclass(kw_only=True)
class FileDecontamination(Gated):
    """The counts, files and times of a decontamination of files.

    Attributes
    ----------
    documents, contaminated, written : int
        The number of documents in the inputs, of those that contain an item, and of rows written.
    dropped, changed : int
        How many documents were left out, and how many lost some of their text.
    n_hits : int
        How many places in documents have text in common with an item that is found there.
    items, items_found : int
        The number of items, and of those that some document contains.
    not_searched : list of NotSearched
        The items that cannot be found: (item, reason).
    boilerplate : list of Boilerplate
        The n-grams that do not count: (text, documents of the sample that contain it).
    rule : str
        "document", "span" or "annotate".
    skipped, skipped_reasons, seconds, parameters
        As in `FileResult`.
    outputs : list of str
        The files with the rows that are left.
    """

    documents: int
    contaminated: int
    written: int
    dropped: int
    changed: int
    n_hits: int
    items: int
    items_found: int
    not_searched: list[NotSearched]
    boilerplate: list[Boilerplate]
    rule: str
    skipped: int
    skipped_reasons: list[str]
    outputs: list[str]
    seconds: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)

    GATE = ("contaminated", "documents", "of the documents contain an item")


@dataclass(kw_only=True)
class FilePairs(FileResult):
    """The counts and times of a search for pairs in files.

    Attributes
    ----------
    n_pairs, documents_in_pairs : int
        How many pairs were found, and how many documents of the inputs are in one.
    params : LSHParams or None
        Bands and rows; None after an exact search.
    documents, empty, skipped, skipped_reasons, repeated_ids, slow_rows, threshold, engine, reason,
    seconds
        As in `FileDeduplication`.
    """

    n_pairs: int
    documents_in_pairs: int
    empty: int
    threshold: float
    params: LSHParams | None

    GATE = ("documents_in_pairs", "documents", "of the documents are in a pair")


@dataclass(kw_only=True)
class FileOverlap(FileResult):
    """The overlap of data sets in files, counts and times.

    Attributes
    ----------
    overlap : Overlap
        Which shares of the data sets are in each other.
    documents, empty, skipped, skipped_reasons, repeated_ids, threshold, params, engine, reason,
    seconds
        As in `FileDeduplication`.
    """

    overlap: Overlap
    empty: int
    threshold: float
    params: LSHParams

    GATE = ("", "", "of the documents of a data set are in another one")

    @property
    def data_sets(self) -> list[str]:
        """The names of the data sets."""
        return self.overlap.names

    @property
    def share(self) -> float:
        """The largest share of the documents of a data set that are in another one."""
        shared = self.overlap.shared_documents.copy()
        np.fill_diagonal(shared, 0)
        return float((shared.max(1, initial=0) / self.overlap.documents.clip(1)).max(initial=0))


COUNTED = ("n_kept", "n_removed", "duplicate_ratio", "data_sets", "share")
"""What a record has besides the fields of a result, where it has them."""

LEFT_OUT = ("threshold", "params", "overlap")
"""Fields of results that are among the parameters, or are no counts."""


def record_of(result: FileResult | FileDecontamination) -> dict[str, Any]:
    """Return what a run has found, as JSON values by name: counts, parameters and seconds.

    All fields of the result are there, so that a new one is, too.
    """
    names = [entry.name for entry in fields(result) if entry.name not in LEFT_OUT]
    names += [name for name in COUNTED if name not in names and hasattr(result, name)]
    return {name.removeprefix("n_"): _plain(getattr(result, name)) for name in names}


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [item._asdict() if hasattr(item, "_asdict") else item for item in value]
    return value
