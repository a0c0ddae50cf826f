"""Parts of a task: whole families from sorted rows, in files where they are too large."""

import logging
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np

PART = 64 << 20
"""Bytes of rows that are decided on together, if they are whole families."""

SPILL = 256 << 20
"""Bytes of rows that are held in memory. A family with more is worked on from a mapped file."""

LOG = logging.getLogger("fastlsh.integrations.spark")


def whole_families(batches: Iterable[Any], part: int = PART, spill: int = SPILL) -> Iterator[Any]:
    """Gather batches of rows into tables of whole families.

    Parameters
    ----------
    batches
        Arrow batches, in which the column "family" ascends or at least stays together.
    part
        A table has about so many bytes, and more only where one family has.
    spill
        Of larger ones the rows are in a file that is mapped into memory, and gone as soon as the
        next table is asked for.

    Yields
    ------
    pyarrow.Table
    """
    with ExitStack() as files:
        held = _Rows(spill, files)
        last = None
        for batch in batches:
            if not batch.num_rows:
                continue
            family = np.asarray(batch.column("family"))
            starts = np.flatnonzero(family[1:] != family[:-1]) + 1
            if last is not None and family[0] != last:
                starts = np.concatenate([[0], starts])
            last = family[-1]
            if len(starts) and held.bytes + batch.nbytes > part:
                held.add(batch.slice(0, int(starts[-1])))
                if held.rows:
                    yield held.table()
                files.close()
                held = _Rows(spill, files)
                batch = batch.slice(int(starts[-1]))
            held.add(batch)
        if held.rows:
            yield held.table()


class _Rows:
    """Batches in memory, or in a file once they are many."""

    def __init__(self, max_bytes: int, files: ExitStack) -> None:
        self.rows = self.bytes = 0
        self._max_bytes = max_bytes
        self._files = files
        self._batches: list[Any] = []
        self._path = ""
        self._writer: Any = None

    def add(self, batch: Any) -> None:
        """Take further rows."""
        import pyarrow

        if not batch.num_rows:
            return
        self.rows += batch.num_rows
        self.bytes += batch.nbytes
        self._batches.append(batch)
        if self._writer is None and self.bytes > self._max_bytes:
            folder = tempfile.TemporaryDirectory(dir=_local(), ignore_cleanup_errors=True)
            self._path = os.path.join(self._files.enter_context(folder), "rows.arrow")
            self._writer = pyarrow.ipc.new_file(self._path, batch.schema)
        if self._writer is not None:
            for waiting in self._batches:
                self._writer.write_batch(waiting)
            self._batches.clear()

    def table(self) -> Any:
        """Return all rows."""
        import pyarrow

        if self._writer is None:
            return pyarrow.Table.from_batches(self._batches)
        self._writer.close()
        table = pyarrow.ipc.open_file(pyarrow.memory_map(self._path)).read_all()
        _, counts = np.unique(np.asarray(table["family"]), return_counts=True)
        LOG.warning(
            "one family of %s documents and part of %.0f MB: worked on from a file in one task; a "
            "higher threshold, longer shingles or more num_perm would divide it",
            f"{int(counts.max()):,}", self.bytes / 1e6,
        )  # fmt: skip
        return table


def _local() -> str | None:
    """Return the folder that Spark gives an executor for such files; None: that of the system."""
    first = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    return first if os.path.isdir(first) else None
