"""Opening an index in a database, filling an empty one, and pickles."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from fastlsh.arguments import check_choice, check_recall
from fastlsh.index.backend import Backend
from fastlsh.index.checks import Guard, names_of, read_documents
from fastlsh.index.database import DatabaseBackend
from fastlsh.index.documents import IndexDocuments, joined_blocks
from fastlsh.index.in_memory import Memory
from fastlsh.index.redis import store as on_server
from fastlsh.index.redis.server import address_of, is_address
from fastlsh.index.settings import Bools, Int64s, Settings, UInt32s, check_ids_for_database
from fastlsh.index.sqlite import files as on_disk
from fastlsh.index.sqlite.records import COMPRESSED
from fastlsh.index.sqlite.store import SqliteStore
from fastlsh.index.storage import Expected, map_index, parameters_of
from fastlsh.index.store import Batch, Store, retry_until_consistent, when_free
from fastlsh.index.stored_counts import Arrivals, Counted, copy_counts, count_arrivals
from fastlsh.parameters import SearchParams

if TYPE_CHECKING:
    from fastlsh.io import Replacements

TOGETHER = 1 << 14
"""Documents that are written together at most, which make a run."""
WORDS = 1 << 20
"""Words of 8 bytes of their texts at most."""


class NewIndex:
    """The documents of an index that does not exist yet."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._is_empty = True
        self._waiting: list[tuple[list[Any], IndexDocuments]] = []

    def add(self, ids: Iterable[Any], texts: Any, signatures: UInt32s | None = None) -> None:
        """Add documents in order; their signatures save signing them.

        Raises
        ------
        ValueError
            An id has a document already.
        """
        settings = self._store.settings
        kept_texts = texts if signatures is None or settings.keeps else None
        documents = read_documents(settings, kept_texts, signatures)
        names = names_of(ids, documents)
        check_ids_for_database(names)
        self._waiting.append((names, documents))
        if (
            sum(block.n for _, block in self._waiting) >= TOGETHER
            or sum(block.words for _, block in self._waiting) >= WORDS
        ):
            self.flush()

    def count(self, what: Counted, heads: Int64s, is_new: Bools, came: Arrivals) -> None:
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
        names, documents = joined_blocks(waiting)
        with self._store.writing():
            known: set[Any] = {*self._store.find(names)}
            for name in names:
                if name in known:
                    raise ValueError(f"id {name!r} is given twice: an index needs different ids")
                known.add(name)
            if self._is_empty:
                self._store.set_dictionary(documents)
                self._is_empty = False
            self._store.write(Batch(names=names, documents=documents))


def check_new_index(location: str | os.PathLike[str]) -> None:
    """Raise ValueError if an index cannot be made there as a file."""
    path = os.fspath(location)
    if is_address(path):
        raise ValueError(
            f"{address_of(path)}: a new index of a run is a file, from which `copy_to` makes"
            " one on a server"
        )
    try:
        on_disk.check_free(path)
    except FileExistsError as error:
        raise ValueError(f"{error.filename}: {error.strerror}") from None


def check_kept_texts(search: SearchParams, texts: str) -> None:
    """Raise ValueError unless an index can keep its texts in this way, "full" or "compressed"."""
    check_choice(texts, "index_texts")
    if texts == COMPRESSED and (search.verify != "exact" or search.shingler.tokenizer):
        raise ValueError(
            'index_texts="compressed" is for an index that keeps texts: with verify="exact", and'
            " without a tokenizer"
        )


@contextmanager
def new_index(
    path: str, search: SearchParams, threads: int | None, together: "Replacements", texts: str
) -> Iterator[NewIndex]:
    """Make an index in a file that appears with other outputs, or not at all."""
    settings = Settings.over(search, threads)
    with together.file(path) as temporary, on_disk.filling(temporary, settings, texts) as store:
        made = NewIndex(store)
        yield made
        made.flush()


_OPENING = Guard(cast("Any", SimpleNamespace(outside=True, changing=False, forked=bool)))
"""For connections that are being opened: no index has them yet, but a fork waits for them."""


def open_store(location: str, expected: Expected) -> Store:
    """Open an index, or create it if there is none and a threshold is given: `Index.open`.

    A search by containment has a containment instead of the threshold.
    """
    parameters = {name: v for name, v in expected.parameters.items() if v is not None}
    required = expected._replace(parameters={**parameters, "recall": None})
    if "recall" in parameters:
        check_recall(parameters["recall"])  # it has chosen the bands of an index that exists
    try:
        return open_known(location, required)
    except FileNotFoundError as error:
        if expected.read_only:
            raise
        least = "containment" if parameters.get("search") == "containment" else "threshold"
        if least not in parameters:
            reason = f"there is no index: give a {least} to create one"
            raise FileNotFoundError(2, reason, error.filename) from None
    settings = Settings.of(threads=expected.threads, **parameters)
    if is_address(location):
        on_server.create(location, settings, expected.wait)
    else:
        on_disk.create(location, settings)
    return open_known(location, required)


def open_known(location: str, expected: Expected) -> Store:
    """Open an index that must exist, with the expected parameters."""
    return when_free(lambda: _opened(location, expected), expected.wait)


def _opened(location: str, expected: Expected) -> Store:
    if is_address(location):
        return on_server.open_existing(location, expected)
    if not on_disk.is_index(location):
        raise FileNotFoundError(2, "there is no index", location)
    with _OPENING.hold():
        return on_disk.open_existing(location, expected)


def copy_to(backend: Backend, location: str) -> None:
    """Copy an index to a location where there is none; it appears there with its documents."""
    place = on_server if is_address(location) else on_disk
    with place.appearing(location, backend.settings) as store:
        copy = DatabaseBackend(store)

        def fill() -> None:
            with copy.batch():
                for names, documents in backend.blocks():
                    copy.add(names, documents, "raise")
                    if isinstance(backend, DatabaseBackend):
                        copy_counts(backend.store, store, names)

        when_free(lambda: retry_until_consistent(fill), store.wait)


Recipe = tuple[Callable[..., Backend], tuple[Any, ...]]
"""A function, and the arguments with which it makes a backend again."""


def recipe_of(backend: Backend) -> Recipe:
    """Return how to make a backend again: from its documents, or by opening its file or server.

    Nothing in it depends on how tables are linked, so that a later version can read it.
    """
    settings = backend.settings
    threads = settings.hasher.threads
    expected = {**parameters_of(settings), "shingler": settings.search.shingler}
    if isinstance(backend, DatabaseBackend):
        store = backend.store
        return _unpickled, (store.location, expected, threads, store.read_only, store.wait)
    assert isinstance(backend, Memory)
    if backend.file is not None:
        return _mapped, (backend.file, expected, threads)
    ((names, documents),) = backend.blocks()
    return _filled, (settings.search, threads, names, tuple(documents))


def _filled(
    search: SearchParams, threads: int, names: list[Any], documents: tuple[Any, ...]
) -> Memory:
    tables = Memory(Settings.over(search, threads))
    tables.insert(names, IndexDocuments(*documents), {})
    return tables


def _mapped(path: str, parameters: dict[str, Any], threads: int) -> Memory:
    return map_index(path, Expected(parameters, threads), check=False)


def _unpickled(location: str, *expected: Any) -> DatabaseBackend:
    """Open what must be there: an index that is gone is not created anew."""
    return DatabaseBackend(open_known(location, Expected(*expected)))
