"""The queries of an index; `Changing` adds the methods that change it."""

import math
import os
import sys
from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import NOT_VERIFIED, answer_lists
from fastlsh.banding import LSHParams
from fastlsh.index.backend import Backend
from fastlsh.index.guard import Guard
from fastlsh.index.identity import plain_id
from fastlsh.index.in_memory import Memory, in_memory
from fastlsh.index.memory import Documents, StoredIds, read_documents
from fastlsh.index.settings import Settings
from fastlsh.index.storage import write_index
from fastlsh.keyed import Key
from fastlsh.parameters import SearchParams

T = TypeVar("T", bound="IndexQueries")


class IndexQueries:
    """The state of an index, its lock, and every query."""

    _settings: Settings
    _guard: Guard
    _backend: Backend
    _later: deque[Hashable]
    """Ids to remove, as a call in the middle of another one wished."""

    def _hold(self, backend: Backend) -> None:
        self._settings = backend.settings
        self._guard = Guard(backend)
        self._backend = backend
        self._later = deque()

    @classmethod
    def _over(cls: type[T], backend: Backend) -> T:
        index = cls.__new__(cls)
        index._hold(backend)
        return index

    def __repr__(self) -> str:
        hasher, params = self._settings.hasher, self._settings.params
        return (
            f"<fastlsh.Index of {len(self)} documents, threshold={self.threshold}, "
            f"num_perm={hasher.num_perm}, bands={params.bands}, rows={params.rows}>"
        )

    def __len__(self) -> int:
        with self._guard.hold() as nested:
            return len(self._settled(nested))

    def __contains__(self, id: Hashable) -> bool:  # noqa: A002
        with self._guard.hold() as nested:
            return self._settled(nested).find(plain_id(id)) >= 0

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the ids that are in the index now, in the order of insertion."""
        with self._guard.hold() as nested:
            backend = self._settled(nested)
            names = backend.names()
        return names if isinstance(backend, Memory) else self._under_lock(names)

    def _under_lock(self, names: Iterator[Any]) -> Iterator[Any]:
        """Read some ids at a time, as other threads use the same connection."""
        while True:
            with self._guard.hold():
                some = list(islice(names, 1 << 14))
            if not some:
                return
            yield from some

    @property
    def params(self) -> LSHParams:
        """The numbers of bands and rows."""
        return self._settings.params

    @property
    def search_params(self) -> SearchParams:
        """All parameters."""
        return self._settings.search

    @property
    def key(self) -> Key | None:
        """The key; locked in an index that comes out of a pickle."""
        return self._settings.search.shingler.key

    @property
    def threshold(self) -> float:
        """The lowest similarity of documents that are found."""
        return self._settings.threshold

    @property
    def read_only(self) -> bool:
        """Whether the index cannot be changed (``mmap=True`` or ``read_only=True``)."""
        return self._backend.read_only

    @property
    def nbytes(self) -> int:
        """Bytes of the signatures, tables and texts, including unused space but not the ids.

        For an index in a database, all bytes that it takes there.
        """
        with self._guard.hold() as nested:
            return self._settled(nested).nbytes

    @property
    def limited(self) -> int:
        """How many documents `insert_unique` inserted without comparing all their candidates.

        This happens if a bucket holds more than 64 documents or `max_candidates` is reached. The
        count begins when the index is created, copied or loaded.
        """
        with self._guard.hold() as nested:
            return self._settled(nested).limited

    def signature(self, id: Hashable) -> NDArray[np.uint32]:  # noqa: A002
        """Return the signature of a document, uint32 (num_perm,).

        Raises
        ------
        KeyError
            No document has this id.
        """
        with self._guard.hold() as nested:
            signature = self._settled(nested).signature(plain_id(id))
        if signature is None:
            raise KeyError(id)
        return signature

    def query(
        self,
        text: str | bytes | None = None,
        *,
        signature: NDArray[np.uint32] | None = None,
        limit: int | None = None,
    ) -> list[tuple[Any, float]]:
        """Return the similar documents as (id, similarity), the most similar first.

        Among equally similar documents, the one inserted first comes first. A similar document is
        found with probability ``params.probability(similarity)``.

        Parameters
        ----------
        text
            A str, or bytes (UTF-8).
        signature
            The signature of the text, uint32 (num_perm,), from an equal `MinHasher`. Give it
            instead of the text or, with ``verify="exact"``, in addition, which saves computing it.
        limit
            The most documents to return. The search ends early once that many documents with
            similarity 1 are found.

        Raises
        ------
        TypeError, ValueError
            Neither is given, or the one given is unsuitable.
        """
        most = _check_limit(limit)
        documents = read_documents(self._settings, text, signature, one=True)
        return self._answer(documents, most)[0]

    def query_many(
        self,
        texts: Iterable[Any] | None = None,
        *,
        signatures: NDArray[np.uint32] | None = None,
        limit: int | None = None,
    ) -> list[list[tuple[Any, float]]]:
        """Return for each of many documents what `query` returns for one, using several threads.

        Parameters
        ----------
        texts
            Anything that `MinHasher.signatures` takes.
        signatures
            uint32 (n, num_perm), as in `query`.
        limit
            The most documents to return for each.
        """
        most = _check_limit(limit)
        documents = read_documents(self._settings, texts, signatures)
        return self._answer(documents, most)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index to one file, which appears complete or not at all.

        docs/index-format.md describes the format. Functions cannot be saved: to load an index
        whose shingler has some, give the shingler again.

        Raises
        ------
        TypeError
            The ids are not all str, all bytes or all int of 64 bits; the message names the first.
        """
        with self._guard.change():
            backend = self._settled()
            tables = backend if isinstance(backend, Memory) else in_memory(backend)
            if tables.dead:
                tables.compact()
            ids = tables.ids
            write_index(path, tables, ids if isinstance(ids, StoredIds) else StoredIds.of(ids))

    def _answer(self, documents: Documents, limit: int) -> list[list[tuple[Any, float]]]:
        with self._guard.hold() as nested:
            backend = self._settled(nested)
            names, found, counts = backend.answer(documents, limit)
            if not nested:
                backend.tidy()
        alike = math.nan if self._settings.verify == NOT_VERIFIED else None
        return answer_lists(names, found, counts, alike)

    def _settled(self, nested: bool = False) -> Backend:
        """Return the backend, after completing what an earlier call could not complete."""
        backend = self._backend
        backend.settle(nested)
        while self._later and not nested:
            backend.discard(self._later[0])
            self._later.popleft()
        return backend


def known_documents(index: IndexQueries, documents: Documents) -> tuple[list[Any], Documents]:
    """Return the ids and documents that decide which of the given documents are kept."""
    with index._guard.hold() as nested:
        return index._settled(nested).candidates(documents)


def _check_limit(limit: int | None) -> int:
    if limit is None:
        return sys.maxsize
    if not isinstance(limit, (int, np.integer)) or limit < 1:
        raise ValueError(f"limit must be an integer of at least 1, or None, got {limit!r}")
    return min(int(limit), sys.maxsize)
