"""What a database must do for an index."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import Transaction
from fastlsh.arrays import unique
from fastlsh.index.memory import IndexDocuments
from fastlsh.index.settings import Settings


class ChangedError(Exception):
    """What was asked for has changed meanwhile: it has to be asked again."""


class Store(Protocol):
    """What a database must do. Numbers ascend in the order of insertion, and none comes again."""

    settings: Settings
    location: str
    """An absolute path, or the whole address."""
    read_only: bool
    wait: float
    """Seconds to wait for another process that writes."""

    def reading(self) -> Transaction:
        """See one state of the database meanwhile; may raise `ChangedError` where it cannot."""

    def writing(self) -> Transaction:
        """Make one change; nothing remains of it if there is an error."""

    def batch(self) -> Transaction:
        """Make one change of all `writing` meanwhile."""

    def count(self) -> int:
        """Return how many documents there are."""

    def nbytes(self) -> int:
        """Return how many bytes the database takes."""

    def find(self, names: Iterable[Any]) -> dict[Any, int]:
        """Return the numbers of those ids that have a document."""

    def check(self, names: list[Any]) -> None:
        """Raise TypeError if an id cannot be stored."""

    def take(self, numbers: NDArray[np.int64]) -> list[Any]:
        """Return the ids of some documents."""

    def after(self, number: int, count: int) -> NDArray[np.int64]:
        """Return the numbers of the next documents after this one, ascending."""

    def gather(
        self, signatures: NDArray[np.uint32], max_entries: int | None, band: int | None = None
    ) -> tuple[NDArray[np.int64], bool]:
        """Return the documents that share a bucket with one of these, ascending.

        A bucket may be found by half of its key, its tag. If `max_entries` is given, at least the
        first `max_entries` documents with each tag are returned, and whether any may be left out.
        If `band` is given, the buckets of the other bands do not count. A few other documents may
        be added.
        """

    def fetch(self, numbers: NDArray[np.int64]) -> IndexDocuments:
        """Return documents that `gather` or `after` named in the same state."""

    def insert(self, names: list[Any], documents: IndexDocuments) -> None:
        """Add documents of new ids; KeyError if one is there, or given twice."""

    def delete(self, numbers: NDArray[np.int64]) -> None:
        """Remove documents that are there."""

    def outputs(self) -> list[tuple[str, str]]:
        """Return the journals of outputs on this machine that are to appear: (folder, run)."""

    def note_outputs(self, journals: list[tuple[str, str]]) -> None:
        """Note further journals."""

    def forget_outputs(self, journals: list[tuple[str, str]]) -> None:
        """Forget some of those that `outputs` has returned."""

    def pack(self) -> None:
        """Give back spare room."""

    def forget(self) -> None:
        """Delete an index that nothing has come into."""

    def close(self) -> None:
        """Let go of files and connections."""


def wanted_tags(keys: NDArray[np.uint64], band: int | None) -> NDArray[np.uint64]:
    """Return ``band << 32 | tag`` of the keys of all bands, or of one, ascending and distinct.

    The tag is the upper half of a key. Documents with key 0 are empty, and in no bucket.
    """
    half, bands = np.uint64(32), np.arange(len(keys), dtype=np.uint64)[:, None]
    tags = (keys >> half | bands << half)[:, keys[0] != 0]
    return unique(tags if band is None else tags[band])


T = TypeVar("T")


def retry_until_consistent(ask: Callable[[], T]) -> T:
    """Repeat a query until nothing changes meanwhile, but not forever."""
    for _ in range(100):
        try:
            return ask()
        except ChangedError:  # noqa: PERF203
            continue
    raise TimeoutError("the index changes faster than it can be read")
