"""What changes an index: documents come, are replaced and go."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_ids, check_integer
from fastlsh.index.asking import Asking
from fastlsh.index.memory import Documents, Tables, read_documents


class Changing(Asking):
    """Every change of an index; it happens in full or, if there is an error, not at all."""

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
            Any hashable value; only str, bytes and int can be saved.
        text, signature
            As in `query`.
        on_known
            What to do if the id is there already. "raise": ValueError. "replace": the old document
            is removed, the new one counts as inserted now.
        """
        _check_on_known(on_known)
        documents = read_documents(self._settings, text, signature, one=True)
        with self._guard.change():
            self._insert([id], documents, on_known)

    def insert_many(
        self,
        ids: Iterable[Hashable],
        texts: Iterable[Any] | None = None,
        *,
        signatures: NDArray[np.uint32] | None = None,
        on_known: str = "raise",
    ) -> None:
        """Insert documents one after the other, all of them or, if there is an error, none.

        Parameters
        ----------
        ids
            One for each document.
        texts, signatures
            As in `query_many`.
        on_known
            As in `insert`; also for an id that is given twice.
        """
        _check_on_known(on_known)
        documents = read_documents(self._settings, texts, signatures)
        names = _names_of(ids, documents)
        with self._guard.change():
            self._insert(names, documents, on_known)

    def insert_unique(
        self,
        ids: Iterable[Hashable],
        texts: Iterable[Any] | None = None,
        *,
        signatures: NDArray[np.uint32] | None = None,
        max_candidates: int = 1000,
    ) -> NDArray[np.bool_]:
        """Insert only what is new: in order, each document that is like none in the index.

        That includes the earlier ones of the call: a stream is deduplicated part by part. It is
        decided as in `deduplicate`, and as fast, however many are alike: a document is compared
        with the first 64 of each of its buckets, at most `max_candidates`.

        Parameters
        ----------
        ids, texts, signatures
            As in `insert_many`.
        max_candidates
            At most so many documents are compared with one: those with the most shared bands, then
            the most equal minima, then the earliest. `limited` counts how often this, or a bucket
            with more than 64 documents, left some out.

        Returns
        -------
        ndarray of bool, shape (n,)
            True: was new, and is in the index now. A document without a shingle always is.

        Raises
        ------
        ValueError
            An id is in the index or given twice; nothing is inserted.

        Notes
        -----
        With the same parameters, a stream that begins with an empty index gives the answer of
        ``deduplicate(keep="first")``, in as many calls as you like. One thing differs: a copy is
        not recognised before its buckets are searched. If one of the limits cuts its candidates,
        it may be inserted, which `deduplicate` removes.
        """
        max_candidates = check_integer(max_candidates, "max_candidates")
        documents = read_documents(self._settings, texts, signatures)
        names = _names_of(ids, documents)
        with self._guard.change():
            tables = self._changeable()
            _check_new(tables, names, "insert_many replaces it if asked to")
            fresh = tables.insert_unique(names, documents, max_candidates)
            self._tidy()
        return fresh.astype(np.bool_)

    def remove(self, id: Hashable) -> None:  # noqa: A002
        """Remove a document; KeyError if it is not there.

        In the middle of another call of the same thread (from a `__del__` method, or a handler of
        signals) the document is gone once that call has ended.
        """
        if not self.discard(id):
            raise KeyError(id)

    def discard(self, id: Hashable) -> bool:  # noqa: A002
        """Remove a document if it is there; return whether it was. See `remove`."""
        guard = self._guard
        nested = guard.held()
        with guard.lock:
            tables = self._changeable(nested)
            if nested:
                found = tables.find(id) >= 0
                if found:
                    self._later.append(id)
                return found
            found = tables.remove(id)
            if tables.crowded:
                self._tidy()
            return found

    def merge(self, other: "Changing", on_known: str = "raise") -> None:
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
        if not isinstance(other, Changing):
            raise TypeError(f"other must be an Index, got {type(other).__name__}")
        hasher, its = self._settings.hasher, other._settings.hasher
        for name in ("num_perm", "seed", "scheme", "shingler"):
            mine, his = getattr(hasher, name), getattr(its, name)
            if mine != his:
                raise ValueError(f"the other index has {name}={his!r}, this one {mine!r}")
        keeps, has = self._settings.keeps, other._settings.keeps
        if keeps and keeps != has:
            raise ValueError(
                f"the other index keeps {has or 'neither texts nor sets'}, this one {keeps}, which "
                'verify="exact" compares'
            )
        nested = other._guard.held()
        with other._guard.lock:  # never both locks at once
            tables = other._settled(nested)
            names = list(tables.names())
            documents = tables.documents() if keeps else Documents(tables.documents().signatures)
        with self._guard.change():
            self._insert(names, documents, on_known)

    def _changeable(self, nested: bool = False) -> Tables:
        if self._tables.read_only:
            raise ValueError("a memory-mapped index is read-only: copy() can be changed")
        return self._settled(nested)

    def _insert(self, names: list[Any], documents: Documents, on_known: str) -> None:
        tables = self._changeable()
        replaced: dict[Any, int] = {}
        if on_known == "raise":
            _check_new(tables, names, 'on_known="replace" replaces it')
        else:
            last = {name: place for place, name in enumerate(names)}
            numbers = {name: tables.find(name) for name in last}
            replaced = {name: number for name, number in numbers.items() if number >= 0}
            if len(last) < len(names):  # of those given twice the last stays
                chosen = sorted(last.values())
                names = [names[place] for place in chosen]
                documents = documents.take(np.array(chosen, np.int64))
        tables.insert(names, documents, replaced)
        self._tidy()


def _check_on_known(on_known: str) -> None:
    if on_known not in ("raise", "replace"):
        raise ValueError(f'on_known must be "raise" or "replace", got {on_known!r}')


def _names_of(ids: Any, documents: Documents) -> list[Any]:
    if ids is None or isinstance(ids, (str, bytes)):
        raise TypeError(f"ids must be a collection of ids, got {type(ids).__name__}")
    return list(check_ids(ids, documents.n) or ())


def _check_new(tables: Tables, names: list[Any], otherwise: str) -> None:
    seen = set(names)
    if len(seen) < len(names) or tables.maybe_known(seen):
        seen = set()
        for name in names:
            if name in seen:
                raise ValueError(f"id {name!r} is given twice")
            if tables.find(name) >= 0:
                raise ValueError(f"id {name!r} is in the index already: {otherwise}")
            seen.add(name)
