"""A new index in a file, filled part by part: it exists when it has all its documents."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_choice
from fastlsh.index import redis, sqlite
from fastlsh.index.arguments import names_of, read_documents
from fastlsh.index.identity import check_ids_for_database
from fastlsh.index.memory import IndexDocuments, joined_documents
from fastlsh.index.settings import Settings
from fastlsh.index.stored_counts import Arrivals, Counted, count_arrivals
from fastlsh.parameters import SearchParams

if TYPE_CHECKING:
    from fastlsh.io import Replacements

TOGETHER = 1 << 14
"""Documents that are written together at most, which make a run."""
WORDS = 1 << 20
"""Words of 8 bytes of their texts at most."""


class NewIndex:
    """The documents of an index that does not exist yet."""

    def __init__(self, store: sqlite.SqliteStore) -> None:
        self._store = store
        self._is_empty = True
        self._waiting: list[tuple[list[Any], IndexDocuments]] = []

    def add(
        self, ids: Iterable[Any], texts: Any, signatures: NDArray[np.uint32] | None = None
    ) -> None:
        """Add documents in order; their signatures save signing them.

        Raises
        ------
        ValueError
            An id has a document already.
        """
        settings = self._store.settings
        given = texts if signatures is None or settings.keeps else None
        documents = read_documents(settings, given, signatures)
        names = names_of(ids, documents)
        check_ids_for_database(names)
        self._waiting.append((names, documents))
        if (
            sum(some.n for _, some in self._waiting) >= TOGETHER
            or sum(some.words for _, some in self._waiting) >= WORDS
        ):
            self.flush()

    def count(
        self, what: Counted, heads: NDArray[np.int64], is_new: NDArray[np.bool_], came: Arrivals
    ) -> None:
        """Count what has come, after the last document was added.

        Parameters
        ----------
        what, is_new, came
            As for `count_arrivals`.
        heads
            int64 (h,): the documents whose counts are written, as numbered in the order of `add`.
        """
        self.flush()
        with self._store.writing():
            count_arrivals(self._store, what, heads, is_new, came)

    def flush(self) -> None:
        """Write the documents that wait."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        names = [name for some, _ in waiting for name in some]
        documents = joined_documents([some for _, some in waiting])
        with self._store.writing():
            known: set[Any] = {*self._store.find(names)}
            for name in names:
                if name in known:
                    raise ValueError(f"id {name!r} is given twice: an index needs different ids")
                known.add(name)
            if self._is_empty:
                self._store.set_dictionary(documents)
                self._is_empty = False
            self._store.insert(names, documents)


def check_new_index(location: str | os.PathLike[str]) -> None:
    """Raise ValueError if an index cannot be made there as a file."""
    path = os.fspath(location)
    if redis.is_address(path):
        raise ValueError(
            f"{redis.address_of(path)}: a new index of a run is a file, from which `copy_to` makes"
            " one on a server"
        )
    try:
        sqlite.check_free(path)
    except FileExistsError as error:
        raise ValueError(f"{error.filename}: {error.strerror}") from None


def check_kept_texts(search: SearchParams, texts: str) -> None:
    """Raise ValueError unless an index can keep its texts in this way, "full" or "compressed"."""
    check_choice(texts, "index_texts")
    if texts == sqlite.COMPRESSED and (search.verify != "exact" or search.shingler.tokenizer):
        raise ValueError(
            'index_texts="compressed" is for an index that keeps texts: with verify="exact", and'
            " without a tokenizer"
        )


@contextmanager
def new_index(
    path: str,
    search: SearchParams,
    threads: int | None,
    together: "Replacements",
    texts: str = sqlite.FULL,
) -> Iterator[NewIndex]:
    """Make an index in a file that appears with other outputs, or not at all."""
    settings = Settings.over(search, threads)
    with together.file(path) as temporary, sqlite.filling(temporary, settings, texts) as store:
        made = NewIndex(store)
        yield made
        made.flush()
