"""The methods that every kind of index has. `Index` checks the arguments and holds the lock."""

from collections.abc import Callable, Hashable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, nullcontext
from itertools import compress
from typing import Any, Protocol

import numpy as np

from fastlsh.index.documents import IndexDocuments
from fastlsh.index.settings import Bools, Float64s, Int64s, Settings


class Backend(Protocol):
    """Documents by number, in the order of insertion, and their ids: `memory`, `sqlite`, `redis`.

    One thread at a time calls it. Each change happens in full or, if there is an error, not at
    all; in a database, it is durable once the call has returned.
    """

    settings: Settings
    outside: bool = False
    """Whether the documents are in a database, whose connection no call may use during a fork."""
    read_only: bool
    """Whether nothing can be changed."""
    wait: float = 0.0
    """How many seconds to wait while another process writes."""

    @property
    def ended(self) -> str:
        """Why the index cannot be used any more; empty if it can."""
        return ""

    @property
    def changing(self) -> bool:
        """Whether a child process that is forked now would get a half-changed index."""
        return False

    def forked(self, at_rest: bool) -> None:
        """Forget what belongs to the parent process; `at_rest`: no call was under way."""
        return

    @property
    def nbytes(self) -> int:
        """Bytes in memory, or in the database."""

    @property
    def limited(self) -> int:
        """How many documents were added without being compared with every candidate."""

    def __len__(self) -> int:
        """Return how many documents there are."""

    def find(self, name: Hashable) -> int:
        """Return the number of the document with this id, or -1 if there is none."""

    def names(self) -> Iterator[Any]:
        """Iterate over the ids in the order of insertion."""

    def fetch(self, names: list[Any]) -> tuple[list[Any], IndexDocuments]:
        """Return the documents of those ids that have one, and these ids, in one order."""

    def blocks(self) -> Iterator[tuple[list[Any], IndexDocuments]]:
        """Iterate over all documents, with their ids, in blocks."""

    def candidates(self, documents: IndexDocuments) -> tuple[list[Any], IndexDocuments]:
        """Return the ids and documents that decide which of the given ones are kept.

        They are in the order of insertion. In memory, these are all documents. In a database, these
        are the first of each bucket; if the given documents have texts, copies count once, and the
        first copy of each given document is among them.
        """

    def answer(self, documents: IndexDocuments, limit: int) -> tuple[list[Any], Float64s, Int64s]:
        """Find the documents that are similar to each given one.

        Returns
        -------
        names
            The ids of all answers, document by document, the most similar first.
        found
            float64 (total, 2): similarity and number of each answer.
        counts
            int64 (m,): the number of answers for each document.
        """

    def add(self, names: list[Any], documents: IndexDocuments, on_known: str) -> None:
        """Add documents; if an id exists already, "raise" or "replace" the old document."""

    def add_unique(
        self, names: list[Any], documents: IndexDocuments, max_candidates: int, with_matches: bool
    ) -> tuple[Bools, list[Any]]:
        """Add, in order, the documents that are similar to none; return which ones.

        If they are asked for, also the ids of the first documents that the others are similar to.
        """

    def discard(self, name: Hashable) -> bool:
        """Remove a document if it exists, and return whether it did."""

    def settle(self) -> None:
        """Complete a change that was interrupted."""
        return

    def tidy(self) -> None:
        """Drop the entries of removed documents if they slow down queries; never fail."""
        return

    def pack(self) -> None:
        """Free unused space, and that of removed documents."""

    def batch(self) -> AbstractContextManager[None]:
        """Make many changes one: a database commits them together."""
        return nullcontext()

    def close(self) -> None:
        """Close files and connections."""
        return


Find = Callable[[AbstractSet[Any]], dict[Any, int]]
"""Returns the number of each id that has a document."""


def check_new(find: Find, names: list[Any], otherwise: str) -> None:
    """Raise ValueError if an id is there already, or given twice."""
    seen = set(names)
    present = find(seen)
    if len(seen) < len(names) or present:
        seen = set()
        for name in names:
            if name in seen:
                raise ValueError(f"id {name!r} is given twice")
            if name in present:
                raise ValueError(f"id {name!r} is in the index already: {otherwise}")
            seen.add(name)


def chosen(
    find: Find, names: list[Any], documents: IndexDocuments, on_known: str
) -> tuple[list[Any], IndexDocuments, dict[Any, int]]:
    """Return which documents are to be added, and the ids and numbers of those they replace."""
    if on_known == "raise":
        check_new(find, names, 'on_known="replace" replaces it')
        return names, documents, {}
    last = {name: position for position, name in enumerate(names)}
    replaced = find(last.keys())
    if len(last) < len(names):  # the last of several documents with the same id stays
        positions = sorted(last.values())
        names = [names[position] for position in positions]
        documents = documents.take(np.array(positions, np.int64))
    return names, documents, replaced


def at_least(
    least: float, names: list[Any], answers: Float64s, counts: Int64s
) -> tuple[list[Any], Float64s, Int64s]:
    """Return those answers of `Backend.answer` whose similarity is high enough."""
    passes = answers[:, 0] >= least
    of = np.repeat(np.arange(len(counts)), counts)[passes]
    kept = list(compress(names, passes.tolist()))
    return kept, answers[passes], np.bincount(of, minlength=len(counts))


UNIQUE_OTHERWISE = "insert_many replaces it if asked to"
