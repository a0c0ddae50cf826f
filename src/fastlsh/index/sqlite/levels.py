"""The runs of an index, from the largest and oldest to the smallest and latest."""

import sqlite3

import numpy as np
from numpy.typing import NDArray

from fastlsh.index.settings import Settings
from fastlsh.index.sqlite.rows import numbers_of, refuse
from fastlsh.index.sqlite.runs import (
    TagQuery,
    TagRun,
    delete_pages_of,
    entries_of,
    find_in_runs,
    merged_band,
    read_run,
    write_run,
)

TOGETHER = 8
"""Runs of about the same size that are merged: an entry is written anew each time the index has
become eight times as large."""
LARGEST = 1 << 22
"""Documents of a run that is merged no more: 34 MB for a band, which is held while it is sorted."""


class Levels:
    """The runs of one state of the database, and its removed documents."""

    def __init__(self, bands: int, *, packed: bool) -> None:
        self.bands = bands
        self._packed = packed
        self.version = 0
        self.removals = 0
        self.page = 0
        """The next page of a new run."""
        self.runs: list[TagRun] = []
        self.removed: set[int] = set()
        """Numbers of removed documents that are in a run."""
        self.gone_sum = 0
        """The sum of these numbers, each plus 1."""
        self._gone: NDArray[np.uint64] | None = None

    def read(self, sql: sqlite3.Connection, version: int, removals: int, gone: int) -> None:
        """Read the runs and removed documents again, because another process changed them."""
        runs = "SELECT * FROM runs ORDER BY first"
        self.runs = [read_run(row, self.bands) for row in sql.execute(runs).fetchall()]
        removed = sql.execute("SELECT number FROM removed").fetchall()
        self.removed = set(numbers_of(number for (number,) in removed))
        if sum(self.removed) + len(self.removed) != gone:
            refuse("the removed documents are others")
        self.gone_sum = gone
        self.version, self.removals = version, removals
        self._gone = None

    @property
    def gone(self) -> NDArray[np.uint64]:
        """The removed documents, ascending."""
        if self._gone is None:
            self._gone = np.array(sorted(self.removed), np.uint64)
        return self._gone

    def gather(
        self, sql: sqlite3.Connection, wanted: NDArray[np.uint64], max_entries: int | None
    ) -> tuple[NDArray[np.int64], int]:
        """Return the documents with one of these tags, ascending, and where they are cut."""
        return find_in_runs(sql, self.runs, TagQuery(wanted, self.gone, max_entries))

    def remove(self, sql: sqlite3.Connection, numbers: NDArray[np.int64]) -> None:
        """Note the removal of documents, which may be in a run."""
        gone = numbers.tolist()
        sql.executemany("INSERT INTO removed VALUES (?)", [(number,) for number in gone])
        self.removed.update(gone)
        self.gone_sum += sum(gone) + len(gone)
        self.removals += 1
        self._gone = None

    def append(
        self,
        sql: sqlite3.Connection,
        first: int,
        last: int,
        numbers: NDArray[np.int64],
        signatures: NDArray[np.uint32],
        settings: Settings,
    ) -> None:
        """Write a run of the documents first ... last - 1; `numbers` are those not yet removed."""
        keys = settings.keys(signatures, asked=False, threads=settings.hasher.threads)
        self._write(sql, first, last, entries_of(keys, numbers))
        while True:
            last_ones = self.runs[-TOGETHER:]
            sizes = [run.last - run.first for run in last_ones]
            alike = len(last_ones) == TOGETHER and max(sizes) < TOGETHER * min(sizes)
            if not alike or sum(sizes) > LARGEST:
                return
            self._merge(sql, last_ones)

    def merge_all(self, sql: sqlite3.Connection) -> None:
        """Merge as many runs as may be one, and drop removed documents."""
        group: list[TagRun] = []
        for run in [*self.runs]:
            if group and run.last - group[0].first > LARGEST:
                self._merge(sql, group)
                group = []
            group.append(run)
        if group:
            self._merge(sql, group)

    def _write(
        self, sql: sqlite3.Connection, first: int, last: int, bands: list[NDArray[np.uint64]]
    ) -> None:
        run = write_run(sql, first, last, self.page, bands, packed=self._packed)
        self.page += int(run.pages[-1])
        self.version += 1
        self.runs = sorted([*self.runs, run], key=lambda run: run.first)

    def _merge(self, sql: sqlite3.Connection, some: list[TagRun]) -> None:
        first, last = some[0].first, some[-1].last
        gone = {number for number in self.removed if first <= number < last}
        removed = np.array(sorted(gone), np.uint64)
        bands = (merged_band(sql, some, band, removed) for band in range(self.bands))
        for run in some:
            sql.execute("DELETE FROM runs WHERE first = ?", (run.first,))
        merged = write_run(sql, first, last, self.page, bands, packed=self._packed)
        for run in some:
            delete_pages_of(sql, run)
        self.page += int(merged.pages[-1])
        self.version += 1
        others = [run for run in self.runs if not first <= run.first < last]
        self.runs = sorted([*others, merged], key=lambda run: run.first)
        sql.execute("DELETE FROM removed WHERE number >= ? AND number < ?", (first, last))
        self.removed -= gone
        self.gone_sum -= sum(gone) + len(gone)
        self._gone = None
