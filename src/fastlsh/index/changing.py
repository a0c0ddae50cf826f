"""What changes an index: documents come, are replaced and go."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_ids
from fastlsh.index.asking import Asking
from fastlsh.index.memory import Documents, Ids, read_documents

BLOCK = 4096
"""Documents that `insert_unique` makes room for at a time."""


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
            As in `query`. With ``verify="exact"`` it must be the text.
        on_known
            What to do if the id is there already. "raise": ValueError. "replace": the old document
            is removed, the new one counts as inserted now.
        """
        _check_on_known(on_known)
        documents = read_documents(
            self._settings.hasher, self._with_sets, text, signature, one=True
        )
        with self._lock:
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
            As in `query_many`. With ``verify="exact"`` they must be texts.
        on_known
            As in `insert`; also for an id that is given twice.
        """
        _check_on_known(on_known)
        documents = read_documents(self._settings.hasher, self._with_sets, texts, signatures)
        names = _names_of(ids, documents)
        with self._lock:
            self._insert(names, documents, on_known)

    def insert_unique(
        self,
        ids: Iterable[Hashable],
        texts: Iterable[Any] | None = None,
        *,
        signatures: NDArray[np.uint32] | None = None,
    ) -> NDArray[np.bool_]:
        """Insert only what is new: in order, each document that is like none in the index.

        That includes the earlier ones of the call: a stream is deduplicated part by part.

        Parameters
        ----------
        ids, texts, signatures
            As in `insert_many`.

        Returns
        -------
        ndarray of bool, shape (n,)
            True: was new, and is in the index now. A document without a shingle always is.

        Raises
        ------
        ValueError
            An id is in the index or given twice; nothing is inserted.
        """
        documents = read_documents(self._settings.hasher, self._with_sets, texts, signatures)
        names = _names_of(ids, documents)
        fresh = np.zeros(documents.n, np.uint8)
        with self._lock:
            own = self._changeable()
            _check_new(own, names, "insert_many replaces it if asked to")
            first = self._tables.n
            try:
                for start in range(0, documents.n, BLOCK):
                    stop = min(start + BLOCK, documents.n)
                    self._tables.reserve(stop - start, documents.words_of(start, stop))
                    self._tables.append_unique(documents, start, stop, fresh)
                own.extend([name for name, new in zip(names, fresh, strict=True) if new])
            except BaseException:
                self._take_back(first)
                raise
            self._tidy(self._tables.crowded)
        return fresh.astype(np.bool_)

    def remove(self, id: Hashable) -> None:  # noqa: A002
        """Remove a document; KeyError if it is not there."""
        with self._lock:
            self._tables.remove(self._changeable().remove(id))
            self._tidy(self._tables.crowded)

    def discard(self, id: Hashable) -> bool:  # noqa: A002
        """Remove a document if it is there; return whether it was."""
        with self._lock:
            own = self._changeable()
            found = own.find(id) >= 0
            if found:
                self._tables.remove(own.remove(id))
                self._tidy(self._tables.crowded)
            return found

    def merge(self, other: "Changing", on_known: str = "raise") -> None:
        """Insert all documents of another index, all of them or, if there is an error, none.

        Parameters
        ----------
        other
            An index with the same num_perm, seed, scheme and shingler, and with sets if this one
            has them. Bands, rows and threshold may differ.
        on_known
            As in `insert`.
        """
        _check_on_known(on_known)
        if not isinstance(other, Changing):
            raise TypeError(f"other must be an Index, got {type(other).__name__}")
        hasher, theirs = self._settings.hasher, other._settings.hasher
        for name in ("num_perm", "seed", "scheme", "shingler"):
            mine, his = getattr(hasher, name), getattr(theirs, name)
            if mine != his:
                raise ValueError(f"the other index has {name}={his!r}, this one {mine!r}")
        if self._with_sets and not other._with_sets:
            raise ValueError('the other index keeps no sets, which verify="exact" needs')
        with other._lock:  # never both locks at once
            names = list(other._ids)
            documents = other._tables.documents()
        with self._lock:
            self._insert(names, documents, on_known)

    def _changeable(self) -> Ids:
        if not isinstance(self._ids, Ids):
            raise ValueError("a memory-mapped index is read-only: copy() can be changed")
        return self._ids

    def _insert(self, names: list[Any], documents: Documents, on_known: str) -> None:
        own = self._changeable()
        known: list[Any] = []
        if on_known == "raise":
            _check_new(own, names, 'on_known="replace" replaces it')
        else:
            last = {name: place for place, name in enumerate(names)}
            known = [name for name in last if own.find(name) >= 0]
            if len(last) < len(names):  # of those given twice the last stays
                chosen = sorted(last.values())
                names = [names[place] for place in chosen]
                documents = documents.take(np.array(chosen, np.int64))
        self._tables.reserve(documents.n, documents.words)
        first = self._tables.n
        replaced = [(name, own.remove(name)) for name in known]
        try:
            self._tables.append(documents)
            own.extend(names)
        except BaseException:
            self._take_back(first)
            own.restore(replaced)
            raise
        for _, number in replaced:
            self._tables.remove(number)
        self._tidy(self._tables.crowded)

    def _take_back(self, first: int) -> None:
        self._tables.remove_from(first)
        self._changeable().remove_from(first, self._tables.n)


def _check_on_known(on_known: str) -> None:
    if on_known not in ("raise", "replace"):
        raise ValueError(f'on_known must be "raise" or "replace", got {on_known!r}')


def _names_of(ids: Any, documents: Documents) -> list[Any]:
    if ids is None or isinstance(ids, (str, bytes)):
        raise TypeError(f"ids must be a collection of ids, got {type(ids).__name__}")
    return list(check_ids(ids, documents.n) or ())


def _check_new(ids: Ids, names: list[Any], otherwise: str) -> None:
    seen = set(names)
    if len(seen) < len(names) or not seen.isdisjoint(ids.numbers):
        seen = set()
        for name in names:
            if name in seen:
                raise ValueError(f"id {name!r} is given twice")
            if ids.find(name) >= 0:
                raise ValueError(f"id {name!r} is in the index already: {otherwise}")
            seen.add(name)
