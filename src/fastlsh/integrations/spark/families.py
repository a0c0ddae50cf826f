"""Groups of families as the parts of the work, and the number of these."""

import logging
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np

from fastlsh import stages

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


LINKS = 512 << 20
"""Bytes of links, 16 for each, up to which the driver finds the families by itself."""

BROADCAST = 1 << 22
"""Documents in families that every executor may hold: 16 bytes each, about 0.2 GB in Spark."""


def on_driver(links: Any) -> Any:
    """Return (number, family) of all documents in families, found by one union-find.

    Parameters
    ----------
    links
        DataFrame (later, earlier); it is collected, 16 bytes a row.
    """
    import pyarrow
    from pyspark.sql import functions

    union = stages.UnionFind()
    for batch in links.toArrow().to_batches():
        union.unite(batch.column(0), batch.column(1))
    families = union.families()
    table = pyarrow.table({"number": families.number, "family": families.family})
    frame = links.sparkSession.createDataFrame(table)
    return functions.broadcast(frame) if table.num_rows <= BROADCAST else frame


def by_rounds(links: Any) -> Any:
    """Return the same families, found by rounds of large-star and small-star.

    Kiveris et al., Connected Components in MapReduce and Beyond, SoCC 2014. Each round is two
    joins, and is written into Spark's checkpoint directory. Rounds grow with the logarithm of
    the number of documents; usually there are three to six.

    Parameters
    ----------
    links
        DataFrame (later, earlier).
    """
    from pyspark.sql import functions

    col = functions.col
    edges = links.select(
        functions.greatest("later", "earlier").alias("big"),
        functions.least("later", "earlier").alias("small"),
    ).where("big != small")
    before = None
    while True:
        edges = _checkpoint(_small_star(_large_star(edges)).distinct())
        state = edges.select(
            functions.count("*"), functions.bit_xor(functions.xxhash64("big", "small"))
        ).first()
        if state == before:  # stars around the smallest number of each family
            break
        before = state
    members = edges.select(col("big").alias("number"), col("small").alias("family"))
    centres = edges.select(col("small").alias("number"), col("small").alias("family"))
    return members.unionAll(centres.distinct())


def _large_star(edges: Any) -> Any:
    """Link each greater neighbour of a document to the least of all its neighbours and itself."""
    from pyspark.sql import functions

    both = edges.unionAll(edges.selectExpr("small AS big", "big AS small"))
    both = both.toDF("number", "neighbour")
    least = both.groupBy("number").agg(
        functions.least(functions.min("neighbour"), functions.col("number")).alias("least")
    )
    joined = both.where("neighbour > number").join(least, "number")
    return joined.selectExpr("neighbour AS big", "least AS small")


def _small_star(edges: Any) -> Any:
    """Link each document and its lesser neighbours to the least of them."""
    from pyspark.sql import functions

    least = edges.groupBy("big").agg(functions.min("small").alias("least"))
    neighbours = edges.join(least, "big").selectExpr("small AS big", "least AS small")
    least_edges = least.selectExpr("big", "least AS small")
    return neighbours.unionAll(least_edges).where("big != small")


def _checkpoint(frame: Any) -> Any:
    """Write a DataFrame into the checkpoint directory, and return it as read from there."""
    try:
        return frame.checkpoint()
    except Exception as error:
        if "checkpoint directory" not in str(error).lower():
            raise
        raise ValueError(
            "families are found in rounds, which need a checkpoint directory: set "
            "spark.checkpoint.dir, to a folder that all executors reach"
        ) from None
