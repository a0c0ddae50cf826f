"""The changes of an index: documents are inserted, replaced and removed."""

from collections.abc import Hashable, Iterable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import Transaction
from fastlsh.arguments import check_ids, check_integer
from fastlsh.index.backend import Backend
from fastlsh.index.identity import plain_id, plain_ids
from fastlsh.index.in_memory import Memory
from fastlsh.index.memory import Documents, joined_documents, read_documents
from fastlsh.index.queries import IndexQueries
from fastlsh.index.store import retry_until_consistent


class IndexUpdates(IndexQueries):
    """The changes of an index. Each happens in full or, if there is an error, not at all."""

    def insert(
        self,
        id: Hashable,  # noqa: A002
        text: str | bytes | None = None,
        *,
        signature: NDArray[np.uint32] | None = None,
        on_known: str = "raise",
    ) -> None:
        """Insert a document.

        Parameters
        ----------
        id
            Any hashable value; only str, bytes and int can be saved. An instance of a subclass of
            these, such as a member of a str enumeration, counts as its value.
        text, signature
            As in `query`.
        on_known
            What to do if the id exists already. "raise": raise ValueError. "replace": remove the
            old document, and insert the new one as the latest.
        """
        _check_on_known(on_known)
        documents = read_documents(self._settings, text, signature, one=True)
        with self._guard.change():
            self._changeable().add([plain_id(id)], documents, on_known)

    def insert_many(
        self,
        ids: Iterable[Hashable],
        texts: Iterable[Any] | None = None,
        *,
        signatures: NDArray[np.uint32] | None = None,
        on_known: str = "raise",
    ) -> None:
        """Insert documents in order: all of them or, if there is an error, none.

        Parameters
        ----------
        ids
            An id for each document.
        texts, signatures
            As in `query_many`.
        on_known
            As in `insert`; it also applies to an id that is given twice.
        """
        _check_on_known(on_known)
        documents = read_documents(self._settings, texts, signatures)
        names = _names_of(ids, documents)
        with self._guard.change():
            self._changeable().add(names, documents, on_known)

    def insert_unique(
        self,
        ids: Iterable[Hashable],
        texts: Iterable[Any] | None = None,
        *,
        signatures: NDArray[np.uint32] | None = None,
        max_candidates: int = 1000,
    ) -> NDArray[np.bool_]:
        """Insert, in order, each document that resembles no document in the index.

        A document is also compared with the earlier ones of the same call, so a stream can be
        deduplicated in parts. The decision is that of `deduplicate`, and just as fast, however many
        documents are similar: a document is compared with the first 64 documents of each of its
        buckets, and with at most `max_candidates`.

        Parameters
        ----------
        ids, texts, signatures
            As in `insert_many`.
        max_candidates
            The most documents that one is compared with: those with the most shared bands, then
            the most equal minima, then the earliest. `limited` counts the documents for which this
            limit, or a bucket with more than 64 documents, left out a comparison.

        Returns
        -------
        ndarray of bool, shape (n,)
            True for a document that was new and has been inserted, as is every one without a
            shingle.

        Raises
        ------
        ValueError
            An id is in the index already or given twice; nothing is inserted.

        Notes
        -----
        With the same parameters, a stream that begins with an empty index gives the answer of
        ``deduplicate(keep="first")``, in any number of calls, with one difference: an identical
        document is not recognised before its buckets are searched. If a limit leaves out its
        comparisons, it may be inserted here, whereas `deduplicate` would remove it.
        """
        max_candidates = check_integer(max_candidates, "max_candidates")
        documents = read_documents(self._settings, texts, signatures)
        names = _names_of(ids, documents)
        with self._guard.change():
            return self._changeable().add_unique(names, documents, max_candidates)

    def remove(self, id: Hashable) -> None:  # noqa: A002
        """Remove a document.

        If this is called during another call of the same thread (from a `__del__` method or a
        signal handler), the document is removed when that other call has ended.

        Raises
        ------
        KeyError
            No document has this id.
        """
        if not self.discard(id):
            raise KeyError(id)

    def discard(self, id: Hashable) -> bool:  # noqa: A002
        """Remove a document if it exists, and return whether it did. See also `remove`."""
        name = plain_id(id)
        with self._guard.hold() as nested:
            backend = self._changeable(nested)
            if nested:
                found = backend.find(name) >= 0
                if found:
                    self._later.append(name)
                return found
            return backend.discard(name)

    def merge(self, other: "IndexUpdates", on_known: str = "raise") -> None:
        """Insert all documents of another index, all of them or, if there is an error, none.

        Parameters
        ----------
        other
            An index with the same num_perm, seed, scheme and shingler, which keeps texts if this
            one does. Bands, rows and threshold may differ.
        on_known
            As in `insert`.
        """
        _check_on_known(on_known)
        if not isinstance(other, IndexUpdates):
            raise TypeError(f"other must be an Index, got {type(other).__name__}")
        hasher, its = self._settings.hasher, other._settings.hasher
        for name in ("num_perm", "seed", "scheme", "shingler"):
            mine, his = getattr(hasher, name), getattr(its, name)
            if mine != his:
                raise ValueError(f"the other index has {name}={his!r}, this one {mine!r}")
        keeps = self._settings.keeps
        if keeps and not other._settings.keeps:
            raise ValueError(
                f"the other index keeps neither texts nor sets, this one {keeps}, which "
                'verify="exact" compares'
            )
        with other._guard.hold() as nested:  # never both locks at once
            its_backend = other._settled(nested)
            blocks = retry_until_consistent(lambda: list(its_backend.blocks()))
        names = [name for some, _ in blocks for name in some]
        documents = joined_documents([some for _, some in blocks])
        if not keeps:
            documents = Documents(documents.signatures)
        with self._guard.change():
            self._changeable().add(names, documents, on_known)

    def batch(self) -> AbstractContextManager[None]:
        """Combine many changes into one: ``with index.batch(): ...``.

        An index on disk or on a server writes all changes at the end, or none of them if there is
        an error. Other processes see all changes or none, while this index sees those made so far.
        What other threads do with this index meanwhile belongs to the batch, too. For an index in
        memory, `batch` has no effect.
        """
        return Transaction(_Batch(self))

    def _changeable(self, nested: bool = False) -> Backend:
        if self._backend.read_only:
            raise ValueError(
                "a memory-mapped index is read-only: copy() can be changed"
                if isinstance(self._backend, Memory)
                else "the index was opened with read_only=True"
            )
        return self._settled(nested)


class _Batch:
    """Begins and ends a batch under the lock of the index, but lets other calls in."""

    def __init__(self, index: IndexUpdates) -> None:
        self._index = index
        self._batch: AbstractContextManager[None] | None = None

    def begin(self) -> None:
        """Begin the batch."""
        with self._index._guard.change():
            batch = self._index._changeable().batch()
            self._batch = batch
            batch.__enter__()

    def commit(self) -> None:
        """Make all changes."""
        assert self._batch is not None
        with self._index._guard.change():
            self._batch.__exit__(None, None, None)

    def rollback(self, error: BaseException) -> None:
        """Undo all changes, unless that is done."""
        if self._batch is not None:
            with self._index._guard.hold():
                self._batch.__exit__(type(error), error, None)


def _check_on_known(on_known: str) -> None:
    if on_known not in ("raise", "replace"):
        raise ValueError(f'on_known must be "raise" or "replace", got {on_known!r}')


def _names_of(ids: Any, documents: Documents) -> list[Any]:
    if ids is None or isinstance(ids, (str, bytes)):
        raise TypeError(f"ids must be a collection of ids, got {type(ids).__name__}")
    return plain_ids(list(check_ids(ids, documents.n) or ()))
