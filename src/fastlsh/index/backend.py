"""What every form of an index can do; `Index` checks arguments and holds the lock."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastlsh.index.memory import Documents
from fastlsh.index.settings import Settings


class Backend(Protocol):
    """Documents by number, in the order of insertion, and their ids: `memory`, `sqlite`, `redis`.

    One thread at a time calls it. Each change happens in full or, if there is an error, not at
    all; with a database it lasts once the call has returned.
    """

    settings: Settings

    @property
    def read_only(self) -> bool:
        """Whether nothing can be changed."""

    @property
    def changing(self) -> bool:
        """Whether this is no time to fork."""

    @property
    def nbytes(self) -> int:
        """Bytes in memory, or in the database."""

    @property
    def limited(self) -> int:
        """How many documents came in that were not compared with every candidate."""

    def __len__(self) -> int:
        """Return how many documents there are."""

    def find(self, name: Hashable) -> int:
        """Return the number of an id, -1 if it has no document."""

    def names(self) -> Iterator[Any]:
        """Iterate over the ids in the order of insertion."""

    def signature(self, number: int) -> NDArray[np.uint32]:
        """Return the signature of a document."""

    def blocks(self) -> Iterator[tuple[list[Any], Documents]]:
        """Iterate over all documents, with their ids, some at a time."""

    def candidates(self, signatures: NDArray[np.uint32]) -> tuple[list[Any], Documents]:
        """Return at least all that documents with these signatures are compared with, and ids.

        In the order of insertion. In memory that is everything.
        """

    def answer(
        self, documents: Documents, limit: int
    ) -> tuple[list[Any], NDArray[np.float64], NDArray[np.int64]]:
        """Find what is like each document.

        Returns
        -------
        names
            The ids of all answers, document by document, best first.
        found
            float64 (total, 2): similarity and number of each.
        counts
            int64 (m,): answers of each document.
        """

    def add(self, names: list[Any], documents: Documents, on_known: str) -> None:
        """Add documents; "raise" or "replace" those whose ids are there."""

    def add_unique(
        self, names: list[Any], documents: Documents, max_candidates: int
    ) -> NDArray[np.bool_]:
        """Add the documents that are like none, in order; return which."""

    def discard(self, name: Hashable) -> bool:
        """Remove a document; return whether it was there."""

    def settle(self) -> None:
        """End what an earlier call could not end."""

    def tidy(self) -> None:
        """Drop what removed documents left behind if it costs too much; never fails."""

    def pack(self) -> None:
        """Give back spare room, and that of removed documents."""

    def batch(self) -> AbstractContextManager[None]:
        """Make one change of many; with a database they last, and are seen, together."""

    def close(self) -> None:
        """Let go of files and connections."""


Find = Callable[[list[Any]], dict[Any, int]]
"""The numbers of those ids that have a document."""


def check_new(find: Find, names: list[Any], otherwise: str) -> None:
    """Raise ValueError if an id is there already, or given twice."""
    seen = set(names)
    known = find(names)
    if len(seen) < len(names) or known:
        seen = set()
        for name in names:
            if name in seen:
                raise ValueError(f"id {name!r} is given twice")
            if name in known:
                raise ValueError(f"id {name!r} is in the index already: {otherwise}")
            seen.add(name)


def chosen(
    find: Find, names: list[Any], documents: Documents, on_known: str
) -> tuple[list[Any], Documents, dict[Any, int]]:
    """Return which documents are to be added, and the ids and numbers of those they replace."""
    if on_known == "raise":
        check_new(find, names, 'on_known="replace" replaces it')
        return names, documents, {}
    last = {name: place for place, name in enumerate(names)}
    replaced = find(list(last))
    if len(last) < len(names):  # of those given twice the last stays
        places = sorted(last.values())
        names = [names[place] for place in places]
        documents = documents.take(np.array(places, np.int64))
    return names, documents, replaced


UNIQUE_OTHERWISE = "insert_many replaces it if asked to"
