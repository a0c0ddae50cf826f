"""An index in SQLite: its documents and its transactions."""

import errno
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from fastlsh._kernels.common._common import Transaction
from fastlsh.index.documents import IndexDocuments
from fastlsh.index.in_memory import Memory
from fastlsh.index.settings import Int64s, UInt64s, ids_in_database
from fastlsh.index.sqlite import rows
from fastlsh.index.sqlite.connection import Connection, is_of_sqlite, named_error, named_errors
from fastlsh.index.sqlite.records import FULL, Records
from fastlsh.index.sqlite.runs import Levels, entries_of
from fastlsh.index.store import Batch, Count, Sources, State, Store

RECENT = 1 << 13
"""Recent documents that are in no run yet: each process links them in memory."""
BLOCK = 1 << 16
"""Documents of a large insert that become one run."""
MOST = 2**32 - 1
"""The number of document numbers."""


class SqliteStore(Store):
    """A `Store` in a file of SQLite.

    A transaction sees one state of the database. The recent documents and the lists of pages, which
    are in memory, belong to a state, too, and are read again if another process has changed them.
    All rows of a statement are fetched at once: after Ctrl-C between two rows, the traceback would
    keep the statement open, and with it an old state of the database.
    """

    def __init__(self, connection: Connection, records: Records) -> None:
        self.settings = records.settings
        self._records = records
        self.location = connection.location
        self.address = connection.path
        self.read_only = connection.read_only
        self.wait = connection.wait
        self._connection = connection
        self._sql = connection.get()
        self._forget()

    def _forget(self) -> None:
        """Forget the state of the database."""
        self.state = State()
        self._flushed = 0
        self.recent = Memory(self.settings.unverified)
        self._linked = 0  # documents before this one are in a run or among the recent ones
        self._levels = Levels(self.settings.bands, packed=self._records.kind != FULL)

    def forked(self, at_rest: bool) -> bool:
        """Forget what belongs to the parent process: see `Store`."""
        self.depth = 0
        self._forget()
        return self._connection.forked(at_rest)

    # ---- transactions

    def reading(self) -> Transaction:
        """See one state of the database meanwhile."""
        if self.depth:
            return self.transaction(self._check_inside)
        if self._connection.in_transaction:
            # This call interrupts another one that has just begun a transaction, or is ending it.
            return self.transaction(self._refresh)
        return self._transaction("BEGIN", "COMMIT", ["ROLLBACK"], is_change=False)

    def writing(self) -> Transaction:
        """Make one change; nothing remains of it if there is an error."""
        if not self.depth:
            return self._transaction("BEGIN IMMEDIATE", "COMMIT", ["ROLLBACK"])
        name = f"change{self.depth}"
        undo = [f"ROLLBACK TO {name}", f"RELEASE {name}"]
        return self._transaction(f"SAVEPOINT {name}", f"RELEASE {name}", undo)

    def _transaction(
        self, begin: str, commit: str, undo: Iterable[str], *, is_change: bool = True
    ) -> Transaction:
        """Return a transaction that these statements begin, commit and undo."""
        outer = self.depth
        return self.transaction(
            lambda: self._begin(begin, outer, is_change),
            lambda: self._commit(commit, outer, is_change),
            lambda _: self._roll_back(undo, outer),
        )

    def _begin(self, statement: str, outer: int, is_change: bool) -> None:
        """Begin a transaction, and read the state of the database."""
        if outer:
            self._check_inside()
        else:
            self._connection.check_file()
        self._sql = self._connection.get()
        if is_change and not outer:
            self._connection.execute_at_once(statement)
            self._connection.mark()
        else:
            self._sql.execute(statement)
        self.depth = outer + 1
        self._refresh()

    def _commit(self, statement: str, outer: int, is_change: bool) -> None:
        """Save the changed state, and commit."""
        self._check_inside()
        if is_change:
            if not outer:
                self._connection.check_file()
            self._save()
        self.depth = outer  # first, as a call right after COMMIT must see that it has ended
        self._sql.execute(statement)

    def _roll_back(self, statements: Iterable[str], outer: int) -> None:
        """Undo a transaction, perhaps one that has begun in part."""
        self.depth = outer
        self._connection.undo(statements)
        self._forget()
        if outer and self._connection.in_transaction:
            self._refresh()  # the batch continues with its earlier changes

    def _check_inside(self) -> None:
        """Raise OSError if SQLite has undone the batch after an error."""
        if not self._connection.in_transaction:
            raise OSError(errno.EIO, "an error has undone the batch", self.address)

    def failed(self, error: BaseException) -> None:
        """Name the file in the error."""
        if is_of_sqlite(error):
            raise named_error(error, self._connection.path, self.wait) from error

    def _refresh(self) -> None:
        """Read the state of the database, if it has changed."""
        row = self._sql.execute("SELECT * FROM state").fetchone()
        *state, checksum = row or (None, None)
        after, flushed, documents, runs, removals, page, gone = rows.state_of(state)
        rows.check_row(state, checksum)
        levels = self._levels
        if flushed != self._flushed or removals != levels.removals:
            self.recent = Memory(self.settings.unverified)
            self._linked = flushed
        if runs != levels.version or removals != levels.removals:
            levels.read(self._sql, runs, removals, gone)
        levels.page = page
        self._flushed, self.state = flushed, State(after, documents)
        if after > self._linked:
            signed_by = self._records.signed_by
            added = self._sql.execute(
                f"SELECT number, seal, signature, {signed_by or 'NULL'} FROM documents"
                " WHERE number >= ?",
                (self._linked,),
            ).fetchall()
            parts = (rows.SIGNATURE, rows.CONTENT) if signed_by else (rows.SIGNATURE,)
            numbers = rows.check_documents(added, *parts)
            signatures = self._records.signatures([row[2:] for row in added])
            self.recent.insert(numbers, IndexDocuments(signatures), {})
            self._linked = after

    def _save(self) -> None:
        levels = self._levels
        state = (
            self.state.upcoming, self._flushed, self.state.documents, levels.version,
            levels.removals, levels.page, levels.gone_sum,
        )  # fmt: skip
        self._sql.execute(
            "UPDATE state SET next = ?, flushed = ?, documents = ?, runs = ?, removals = ?, "
            "page = ?, gone = ?, checksum = ?",
            (*state, rows.checksum_of(state)),
        )

    # ---- queries

    def nbytes(self) -> int:
        """Return how many bytes the file has."""
        size = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
        return int(self._sql.execute(size).fetchall()[0][0])

    def find(self, names: Iterable[Any]) -> dict[Any, int]:
        """Return the numbers of those ids that have a document."""
        return rows.numbers_of_ids(self._sql, ids_in_database(names))

    def ids_after(self, number: int, count: int) -> dict[int, Any]:
        """Return the ids of the next documents after this one, by their numbers."""
        following = self._sql.execute(
            "SELECT number, seal, id FROM documents WHERE number > ? ORDER BY number LIMIT ?",
            (number, count),
        ).fetchall()
        numbers = rows.check_documents(following, rows.NAME)
        return dict(zip(numbers, (row[2] for row in following), strict=True))

    @property
    def has_postings(self) -> bool:  # type: ignore[override]
        """Whether there are runs."""
        return bool(self._levels.runs)

    def postings(self, tags: UInt64s, max_entries: int | None) -> tuple[Int64s, int]:
        """Return the documents with these tags that are in runs: see `Store`."""
        return self._levels.postings(self._sql, tags, max_entries)

    def fetch(self, numbers: Int64s) -> tuple[list[Any], IndexDocuments]:
        """Return the ids and the documents of numbers, all of which must exist."""
        held = rows.documents_of(self._sql, numbers)
        return [row[0] for row in held], self._records.decoded([row[1:] for row in held])

    # ---- changes

    def write(self, batch: Batch) -> None:
        """Make changes: see `Store`."""
        if len(batch.deleted):
            self._delete(batch.deleted)
        for first in range(0, len(batch.names), BLOCK):
            last = min(first + BLOCK, len(batch.names))
            self._insert(batch.names[first:last], batch.documents.part(first, last))
        if batch.counted is not None:
            row = batch.counted, rows.checksum_of([batch.counted])
            self._sql.execute("UPDATE counted SET json = ?, checksum = ?", row)
        if batch.counts or batch.sources:
            rows.write_counts(self._sql, batch.counts, batch.sources)
        for statement, journals in (
            ("INSERT INTO outputs VALUES (?, ?)", batch.noted),
            ("DELETE FROM outputs WHERE folder = ? AND run = ?", batch.appeared),
        ):
            if journals:  # not to execute a statement for nothing in each insertion
                self._sql.executemany(statement, journals)

    def _delete(self, numbers: Sequence[int]) -> None:
        for table in ("documents", "counts", "sources"):
            statement = f"DELETE FROM {table} WHERE number = ?"
            self._sql.executemany(statement, [(number,) for number in numbers])
        self.state = State(self.state.upcoming, self.state.documents - len(numbers))
        for number in numbers:
            if number >= self._flushed:
                self.recent.discard(number)  # which forgets those that were removed
        # This counts as a removal even if none is in a run: other processes have linked them.
        self._levels.remove(self._sql, [n for n in numbers if n < self._flushed])

    def _insert(self, names: Sequence[Any], documents: IndexDocuments) -> None:
        n, first = documents.n, self.state.upcoming
        if first + n > MOST:
            raise ValueError(
                f"{self._connection.path}: at most {MOST:,} documents can be inserted, including"
                " those that were removed; a copy by copy_to() counts anew"
            )
        numbers = range(first, first + n)
        columns = numbers, names, *self._records.encoded(documents)
        rows.insert_documents(self._sql, zip(*columns, strict=True))
        self._linked = first + n
        self.state = State(first + n, self.state.documents + n)
        if len(self.recent) + n < RECENT:
            self.recent.insert(list(numbers), IndexDocuments(documents.signatures), {})
            return
        signatures = np.concatenate([self.recent.documents().signatures, documents.signatures])
        threads = self.settings.hasher.threads
        keys = self.settings.keys(signatures, asked=False, threads=threads)
        bands = entries_of(keys, np.array([*self.recent.names(), *numbers], np.int64))
        self._levels.append(self._sql, self._flushed, self.state.upcoming, bands)
        self.recent = Memory(self.settings.unverified)
        self._flushed = self.state.upcoming

    def set_dictionary(self, documents: IndexDocuments) -> None:
        """Choose, before the first insertion, how texts like these are compressed best."""
        dictionary = self._records.dictionary_of(documents)
        checksum = rows.checksum_of([self._records.kind, dictionary])
        self._sql.execute("UPDATE texts SET dictionary = ?, checksum = ?", [dictionary, checksum])

    def counted(self) -> str:
        """Return what is counted of documents, as JSON; empty if nothing was set."""
        return str(rows.only_row(self._sql, "counted", "what it counts is")[0])

    def counts(self, numbers: list[int]) -> dict[int, Count]:
        """Return the counts of those documents that have some."""
        counts = rows.selected(self._sql, "SELECT * FROM counts WHERE number IN", numbers)
        return {number: self.count_of(code) for number, code in rows.checked_rows(counts)}

    def sources(self, asked: Sources) -> Sources:
        """Return which of the given sources documents have: see `Store`."""
        select = "SELECT * FROM sources WHERE number"
        sources: Sources = {number: [] for number in asked}
        checked = rows.checked_rows(
            rows.selected(
                self._sql, f"{select} IN", [n for n, given in asked.items() if not given]
            ),
            *(
                rows.selected(self._sql, f"{select} = ? AND source IN", given, before=(number,))
                for number, given in asked.items()
            ),
        )
        for number, source in checked:
            sources[number].append(source)
        return sources

    def outputs(self) -> list[tuple[str, str]]:
        """Return the journals of outputs that are to appear: (folder, run)."""
        return self._sql.execute("SELECT folder, run FROM outputs").fetchall()

    def pack(self) -> None:
        """Give back the room of removed documents."""
        with self.batch():
            self._levels.merge_all(self._sql)
        with named_errors(self._connection.path, self._connection.wait):
            self._connection.execute_at_once("VACUUM")

    def forget(self) -> None:
        """Close and delete the file of an index that nothing has come into."""
        self._connection.delete()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
