"""The interface of a database that can hold an index."""

import errno
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from fastlsh._kernels.common._common import Transaction
from fastlsh.arrays import unique
from fastlsh.index.documents import IndexDocuments
from fastlsh.index.in_memory import NOBODY, Memory
from fastlsh.index.settings import Int64s, Settings, UInt32s, UInt64s


class ChangedError(Exception):
    """The database has changed during a query, which must be repeated."""


class BusyError(TimeoutError):
    """Another process is writing to the database; nothing was changed."""

    def __init__(self, wait: float, address: str) -> None:
        reason = f"another process is writing to the index; waited {wait} s"
        super().__init__(errno.EAGAIN, reason, address)


POLLED = 0.005
"""Seconds between two attempts to write."""

ALL = 2**63 - 1
"""Above the number of every document."""

Sources = dict[int, list[int]]
"""Sources of documents, by the numbers of these."""


class Count(NamedTuple):
    """What has come for a document of an index: as JSON, the list of these values."""

    documents: int = 1
    sources: int = 0
    """How many different ones."""
    sums: Sequence[Any] = ()


FORKED = (
    "this process was forked in the middle of a batch or another call of its parent, and cannot use"
    " the index: fork before or after it"
)


Action = Callable[[], object]
Undo = Callable[[BaseException], object]


def _nothing(*_: object) -> None:
    """Do nothing."""


class _Work:
    """What a transaction does. Only the process that has begun it ends it, and no child of it."""

    _process_number = staticmethod(os.getpid)
    """A reference of its own, because Python clears the module `os` when it exits."""

    def __init__(self, store: "Store", begin: Action, commit: Action, undo: Undo) -> None:
        self.begin = begin
        self._store = store
        self._commit = commit
        self._undo = undo
        self._limited = store.limited
        self._process = self._process_number()

    def commit(self) -> None:
        """Make the changes, if the store was not closed meanwhile."""
        is_ours = self._process == self._process_number()
        if ended := self._store.ended if is_ours else FORKED:
            raise ValueError(f"{self._store.address}: {ended}")
        self._commit()

    def rollback(self, error: BaseException) -> None:
        """Undo the changes; may be called again."""
        if self._process == self._process_number():
            self._store.limited = self._limited
            self._undo(error)
            self._store.failed(error)


class State(NamedTuple):
    """What a database holds."""

    upcoming: int = 0
    """The number of the next document that is added."""
    documents: int = 0
    """How many documents there are."""
    changes: int = 0
    """On a server, how many changes have removed or counted something."""


class Batch(NamedTuple):
    """Changes of an index that are made in this order.

    Counts are set by themselves, not within one of the changes of a transaction: if that change
    fails, a server would keep them.
    """

    deleted: Sequence[int] = ()
    """The numbers of documents to remove, with their counts and sources; all of them exist."""
    names: Sequence[Any] = ()
    """The ids of new documents."""
    documents: IndexDocuments = IndexDocuments(np.empty((0, 0), np.uint32))
    """The new documents."""
    counted: str | None = None
    """What is counted of documents from now on, as JSON."""
    counts: Mapping[int, Count] = {}
    """New counts of documents."""
    sources: Mapping[int, list[int]] = {}
    """Further sources of documents."""
    noted: Sequence[tuple[str, str]] = ()
    """Further journals of outputs that are to appear: (folder, run)."""
    appeared: Sequence[tuple[str, str]] = ()
    """Journals that are done with."""


class Store(Protocol):
    """A database for an index. Numbers ascend in the order of insertion, and are not reused."""

    settings: Settings
    state: State
    """In a transaction, what it sees."""
    recent: Memory
    """The last documents, which are linked in memory, with their numbers as ids."""
    read_only: bool
    location: str
    """An absolute path, or an address with its password."""
    address: str
    """The location as errors name it."""
    wait: float
    """Seconds to wait for another process that writes."""
    ended: str = ""
    """Why the index cannot be used any more; empty if it can."""
    has_postings: bool = True
    """Whether there may be documents that are not among the recent ones."""
    limited: int = 0
    """How many documents were added without being compared with every candidate."""
    depth: int = 0
    """How many transactions are under way, each within the one before."""

    def forked(self, at_rest: bool) -> bool:
        """Forget what belongs to the parent process, and return whether the child can use it.

        `at_rest`: no other thread of the parent was using it.
        """

    def failed(self, error: BaseException) -> None:
        """Raise an error that names the database in the place of one of its library."""

    def reading(self) -> Transaction:
        """Let the queries of a block see one state; `ChangedError` if that cannot be granted."""

    def writing(self) -> Transaction:
        """Make the changes of a block in full or, if there is an error, not at all."""

    def batch(self) -> Transaction:
        """Commit all changes of a block together."""
        if self.depth:
            raise RuntimeError("a batch of this index is under way already")
        return self.writing()

    def transaction(
        self, begin: Action = _nothing, commit: Action = _nothing, undo: Undo = _nothing
    ) -> Transaction:
        """Return a transaction; `undo` may be called again, and after half of `begin`."""
        return Transaction(_Work(self, begin, commit, undo))

    def nbytes(self) -> int:
        """Return how many bytes the database takes."""

    def find(self, names: Iterable[Any]) -> dict[Any, int]:
        """Return the numbers of those ids that have a document."""

    def ids_after(self, number: int, count: int) -> dict[int, Any]:
        """Return the ids of the next documents after this one, by their numbers, which ascend."""

    def id_blocks(self, size: int) -> Iterator[dict[int, Any]]:
        """Yield the ids of all documents, by their numbers, which ascend."""
        ids = self.ids_after(-1, size)
        while ids:
            yield ids
            ids = self.ids_after(max(ids), size)

    def gather(
        self, signatures: UInt32s, max_entries: int | None, band: int | None = None
    ) -> tuple[Int64s, int]:
        """Return the documents that share a bucket with these, ascending.

        A bucket is found by a tag, the upper half of its key, so a few documents of other buckets
        may be included. If `max_entries` is given, at least the first `max_entries` documents with
        each tag are returned, and the number up to which none is left out: `ALL` if there are no
        more. If `band` is given, only the buckets of this band are searched.
        """
        recent = self.recent.sharing(signatures) if len(self.recent) else NOBODY
        if not self.has_postings:
            return recent, ALL
        tags = asked_tags(self.settings.keys(signatures, asked=True), band)
        older, complete = self.postings(tags, max_entries)
        return np.concatenate([older, recent]), complete

    def postings(self, tags: UInt64s, max_entries: int | None) -> tuple[Int64s, int]:
        """Return the documents with these tags that are not among the recent ones: see `gather`."""

    def fetch(self, numbers: Int64s) -> tuple[list[Any], IndexDocuments]:
        """Return the ids and the documents of different numbers, which ascend.

        All of them were named by `gather`, `find` or `ids_after` in the same state.
        """

    def write(self, batch: Batch) -> None:
        """Make changes, in a transaction; KeyError if an id exists, or is given twice."""

    def damaged(self, reason: str) -> ValueError:
        """Return the error for an index that holds what it cannot hold."""
        return ValueError(f"{self.address}: the index is damaged: {reason}")

    def counted(self) -> str:
        """Return what is counted of documents, as JSON; empty if nothing was set."""

    def counts(self, numbers: list[int]) -> dict[int, Count]:
        """Return the counts of those documents that have some."""

    def count_of(self, code: str | bytes) -> Count:
        """Return a count from JSON."""
        try:
            count = Count(*json.loads(code))
            if [*map(type, count)] != [int, int, list]:
                raise ValueError(f"{code!r}")
        except (ValueError, TypeError) as error:
            raise self.damaged(f"the counts of a document: {error}") from error
        return count

    def sources(self, asked: Sources) -> Sources:
        """Return which of the given sources documents have; where none is given, all they have.

        The time depends on the sources that are given, not on those that the documents have.
        """

    def outputs(self) -> list[tuple[str, str]]:
        """Return the journals of outputs on this machine that are to appear: (folder, run)."""

    def pack(self) -> None:
        """Give back unused space."""

    def forget(self) -> None:
        """Close and delete an index that has no documents."""

    def close(self) -> None:
        """Close files and connections."""


def asked_tags(keys: UInt64s, band: int | None) -> UInt64s:
    """Return ``band << 32 | tag`` of the keys of all bands, or of one, ascending and distinct.

    The tag is the upper half of a key. Documents with key 0 are empty and have no bucket.
    """
    half, bands = np.uint64(32), np.arange(len(keys), dtype=np.uint64)[:, None]
    tags = (keys >> half | bands << half)[:, keys[0] != 0]
    return unique(tags if band is None else tags[band])


T = TypeVar("T")


def when_free(ask: Callable[[], T], wait: float) -> T:
    """Repeat a change while another process is writing, at most `wait` seconds.

    In between, nothing is locked: other threads can use the index, and can fork.
    """
    until = time.monotonic() + wait
    while True:
        try:
            return ask()
        except BusyError:
            if time.monotonic() >= until:
                raise
        time.sleep(POLLED)


def retry_until_consistent(ask: Callable[[], T]) -> T:
    """Repeat a query until the database does not change during it, at most 100 times."""
    for _ in range(100):
        try:
            return ask()
        except ChangedError:  # noqa: PERF203
            continue
    raise TimeoutError("the index changes faster than it can be read")
