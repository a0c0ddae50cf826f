"""The documents of an index in SQLite."""

import os
import sqlite3
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.candidates import band_keys
from fastlsh.index.byte_order import swapped_contents
from fastlsh.index.identity import check_ids_for_database, ids_in_database
from fastlsh.index.in_memory import Memory
from fastlsh.index.memory import Documents
from fastlsh.index.sqlite.connection import named_errors
from fastlsh.index.sqlite.damage import bytes_of, numbers_of, refuse
from fastlsh.index.sqlite.runs import TOGETHER, padded
from fastlsh.index.sqlite.session import Session
from fastlsh.index.store import wanted_tags
from fastlsh.sets import offsets_of

RECENT = 1 << 13
"""Documents that are in no run: whoever opens the index links them in memory."""
BLOCK = 1 << 16
"""Documents of a run that is made of a large insert."""
MOST = 2**32 - 1
"""Numbers that there are."""


class SqliteStore(Session):
    """A `Store` in a file of SQLite."""

    # ---- questions

    def count(self) -> int:
        """Return how many documents there are."""
        return self._documents

    def nbytes(self) -> int:
        """Return how many bytes the file has."""
        ((size,),) = self._sql.execute(
            "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        ).fetchall()
        return int(size)

    def find(self, names: list[Any]) -> dict[Any, int]:
        """Return the numbers of those ids that have a document."""
        wanted = ids_in_database(names)
        found: dict[Any, int] = {}
        for start in range(0, len(wanted), TOGETHER):
            some = padded(wanted[start : start + TOGETHER])
            rows = self._sql.execute(
                f"SELECT id, number FROM documents WHERE id IN ({','.join('?' * len(some))})", some
            ).fetchall()
            found.update(rows)
        numbers_of(found.values())
        return found

    def check(self, names: list[Any]) -> None:
        """Raise TypeError if an id is no str, bytes or int of 64 bits."""
        check_ids_for_database(names)

    def take(self, numbers: NDArray[np.int64]) -> list[Any]:
        """Return the ids of some documents."""
        distinct = np.unique(numbers)
        names = dict(self._rows_of("number, id", distinct))
        if len(names) < len(distinct):
            refuse("it lacks documents")
        return [names[number] for number in numbers.tolist()]

    def _rows_of(self, columns: str, numbers: NDArray[np.int64]) -> Iterator[Any]:
        """Return rows of documents, ascending."""
        wanted = numbers.tolist()
        for start in range(0, len(wanted), TOGETHER):
            some = padded(wanted[start : start + TOGETHER])
            yield from self._sql.execute(
                f"SELECT {columns} FROM documents WHERE number IN ({','.join('?' * len(some))}) "
                "ORDER BY number",
                some,
            ).fetchall()

    def after(self, number: int, count: int) -> NDArray[np.int64]:
        """Return the numbers of the next documents after this one, ascending."""
        rows = self._sql.execute(
            "SELECT number FROM documents WHERE number > ? ORDER BY number LIMIT ?",
            (number, count),
        ).fetchall()
        return np.array(numbers_of(found for (found,) in rows), np.int64)

    def gather(
        self, signatures: NDArray[np.uint32], most: int | None, band: int | None = None
    ) -> tuple[NDArray[np.int64], bool]:
        """Return the documents that share a bucket with one of these, and if there are more."""
        found, _ = self._recent.query(Documents(signatures), sys.maxsize)
        recent = self._recent.take(np.unique(found[:, 1].astype(np.int64)))
        wanted = wanted_tags(band_keys(signatures, self.settings.params, threads=1), band)
        older, more = self._levels.gather(self._sql, wanted, most)
        return np.concatenate([older, np.array(recent, np.int64)]), more

    def fetch(self, numbers: NDArray[np.int64]) -> Documents:
        """Return documents that are there."""
        rows = list(self._rows_of("signature, content", numbers))
        signatures = self._rows(signature for signature, _ in rows)
        if len(signatures) != len(numbers):
            refuse("it lacks documents")
        if not self.settings.keeps:
            return Documents(signatures)
        contents = [bytes_of(content).view(np.uint64) for _, content in rows]
        offsets = offsets_of(np.array([len(content) for content in contents], np.int64))
        whole = np.concatenate([np.empty(0, np.uint64), *contents])
        whole = swapped_contents(whole, offsets, self.settings.keeps, stored=True)
        return Documents(signatures, whole, offsets)

    # ---- changes

    def insert(self, names: list[Any], documents: Documents) -> None:
        """Add documents of new ids."""
        for first in range(0, len(names), BLOCK):
            last = min(first + BLOCK, len(names))
            self._insert(names[first:last], documents.part(first, last))

    def _insert(self, names: list[Any], documents: Documents) -> None:
        n, first = documents.n, self._next
        if first + n > MOST:
            raise ValueError(
                f"{self._connection.path}: at most {MOST:,} documents can be inserted, including"
                " those that were removed; a copy by copy_to() counts anew"
            )
        numbers = range(first, first + n)
        width = 4 * self.settings.hasher.num_perm
        values = np.ascontiguousarray(documents.signatures, "<u4").reshape(-1).view(np.uint8).data
        rows = (values[at : at + width] for at in range(0, n * width, width))
        contents: Any = [b""] * n
        if documents.contents is not None and documents.offsets is not None:
            words = swapped_contents(
                documents.contents, documents.offsets, self.settings.keeps, stored=False
            )
            code = words.view(np.uint8).data
            ends = (8 * documents.offsets).tolist()
            contents = (code[ends[i] : ends[i + 1]] for i in range(n))
        try:
            self._sql.executemany(
                "INSERT INTO documents VALUES (?, ?, ?, ?)",
                zip(numbers, names, rows, contents, strict=False),
            )
        except sqlite3.IntegrityError as error:
            raise KeyError(str(error)) from error
        self._next = self._linked = first + n
        self._documents += n
        if len(self._recent) + n < RECENT:
            self._link(list(numbers), documents.signatures)
            return
        recent = self._recent.documents().signatures
        self._levels.append(
            self._sql,
            self._flushed,
            self._next,
            np.array([*self._recent.names(), *numbers], np.int64),
            np.concatenate([recent, documents.signatures]),
            self.settings,
        )
        self._recent = Memory(self._plain)
        self._flushed = self._next

    def outputs(self) -> list[tuple[str, str]]:
        """Return the journals of outputs that are to appear: (folder, run)."""
        return self._sql.execute("SELECT folder, run FROM outputs").fetchall()

    def note_outputs(self, journals: list[tuple[str, str]]) -> None:
        """Note further journals."""
        self._sql.executemany("INSERT INTO outputs VALUES (?, ?)", journals)

    def forget_outputs(self, journals: list[tuple[str, str]]) -> None:
        """Forget some of those that `outputs` has returned."""
        self._sql.executemany("DELETE FROM outputs WHERE folder = ? AND run = ?", journals)

    def delete(self, numbers: NDArray[np.int64]) -> None:
        """Remove documents that are there."""
        self._sql.executemany(
            "DELETE FROM documents WHERE number = ?", [(number,) for number in numbers.tolist()]
        )
        self._documents -= len(numbers)
        for number in numbers[numbers >= self._flushed].tolist():
            self._recent.remove(number)
        # Counts for those in no run, too: other processes have linked them.
        self._levels.remove(self._sql, numbers[numbers < self._flushed])

    def pack(self) -> None:
        """Give back the room of removed documents."""
        with self.batch():
            self._levels.merge_all(self._sql)
        with named_errors(self._connection.path, self._connection.wait):
            self._sql.execute("VACUUM")

    def forget(self) -> None:
        """Delete the file of an index that nothing has come into."""
        os.unlink(self.location)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
