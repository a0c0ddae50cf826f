"""What runs in the Python workers of Spark: functions from Arrow batches to Arrow batches."""

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh import stages
from fastlsh.candidates import keys_apart
from fastlsh.errors import TooManyPairsError
from fastlsh.files import RemovalRules
from fastlsh.integrations.spark.families import whole_families
from fastlsh.integrations.spark.search_columns import (
    BAD_PRIORITY,
    BAD_TEXT,
    NOT_EMPTY,
    REPEATED,
    SHORT,
    SearchColumns,
)
from fastlsh.io import label_hashes
from fastlsh.parameters import SearchParams
from fastlsh.priorities import read_priorities
from fastlsh.results import RemovedDocuments


def check_workers(df: Any) -> None:
    """Raise ImportError if workers on this machine run a Python without fastlsh.

    They run ``PYSPARK_PYTHON``, or else the first ``python3`` of their ``PATH``, as the session was
    created. On a cluster, and over Spark Connect, this machine cannot tell.
    """
    try:
        context = df.sparkSession.sparkContext
        local, python = context.master.startswith("local"), context.pythonExec
    except Exception:  # Spark Connect has no context, and says so by an error of its own
        return
    if local and python != sys.executable and not _has_fastlsh(python):
        raise ImportError(
            f"the workers of Spark run {python}, which cannot import fastlsh: set"
            f" PYSPARK_PYTHON={sys.executable} before the session is created"
        )


@cache
def _has_fastlsh(python: str) -> bool:
    command = [python, "-c", "import fastlsh"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


Worker = Callable[[Iterable[Any]], Iterator[Any]]

ROWS = 10_000
"""Of a batch that goes back to Spark."""

UNITED = 1 << 22
"""So many documents of a task are united before their families leave it; up to 0.5 GB."""


def signer(params: SearchParams) -> Worker:
    """Return a worker from (number, problem, text[, within][, priority]) to (key, number).

    It gives a row for each band.

    One more row has the number as its key, so that documents with the same number meet. What is
    wrong with a document becomes a row with its number as the key, and a code below 0. Two more
    rows of each batch have a count as the key: `NOT_EMPTY` and `SHORT`.
    """

    def sign(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            number = np.asarray(batch.column(0))
            problem = np.array(batch.column(1), np.int64)
            text = batch.column(2)
            try:
                signed = stages.sign_batch(text, params, threads=1)
                keys = signed.keys.view(np.int64)
                short = 0 if signed.short is None else int(signed.short.sum())
                counts = np.array([int((keys[0] != 0).sum()), short])
            except (TypeError, ValueError):
                wrong = _not_utf8(text)
                if not wrong.any():
                    raise  # from a function of the user's
                problem = np.where(wrong & (problem == 0), BAD_TEXT, problem)
                keys, counts = np.zeros((0, len(number)), np.int64), np.zeros(2, np.int64)
            names = batch.schema.names
            if "within" in names:
                groups = label_hashes(batch.column("within"))
                keys = keys_apart(keys.view(np.uint64), groups).view(np.int64)
            if "priority" in names:
                ranked = batch.column("priority")
                if str(ranked.type) in ("string", "large_string"):
                    unreadable = [*read_priorities(ranked.to_pylist()).unreadable]
                    problem[unreadable] = np.minimum(problem[unreadable], BAD_PRIORITY)
            band, row = np.nonzero(keys)
            yield batch_of(
                key=np.concatenate([keys[band, row], number, number[problem < 0], counts]),
                number=np.concatenate(
                    [number[row], number, problem[problem < 0], [NOT_EMPTY, SHORT]]
                ),
            )

    return sign


def _not_utf8(column: Any) -> NDArray[np.bool_]:
    """Return which texts of an Arrow column are not UTF-8."""

    def wrong(text: bytes | None) -> bool:
        try:
            (text or b"").decode()
        except UnicodeDecodeError:
            return True
        return False

    texts = column.cast("binary").to_pylist()
    return np.fromiter(map(wrong, texts), np.bool_, len(texts))


def link(batches: Iterable[Any]) -> Iterator[Any]:
    """Turn (key, number), sorted, into links (later, earlier); few of them say the same twice.

    A row (number, code) passes on what is wrong with a document: also that its number occurs
    twice, which mostly means that its id does.
    """
    state, union, seen = None, stages.UnionFind(), 0
    last: tuple[int, int] | None = None
    for batch in batches:
        key, number = np.asarray(batch.column(0)), np.asarray(batch.column(1))
        if not len(key):
            continue
        repeated = np.zeros(len(key), np.bool_)
        repeated[1:] = (key[1:] == key[:-1]) & (number[1:] == number[:-1])
        repeated[0] = last == (int(key[0]), int(number[0]))
        last = int(key[-1]), int(number[-1])
        problem = number < 0
        reported = np.unique(number[repeated & ~problem])
        if problem.any() or len(reported):
            yield batch_of(
                later=np.concatenate([key[problem], reported]),
                earlier=np.concatenate([number[problem], np.full(len(reported), REPEATED)]),
            )
        good = ~(problem | repeated)
        links, state = stages.link_sorted(key[good], number[good], state)
        union.unite(*links)
        seen += len(links.later)
        if seen > UNITED:
            yield from _family_links(union)
            union, seen = stages.UnionFind(), 0
    yield from _family_links(union)


def _family_links(union: stages.UnionFind) -> Iterator[Any]:
    """Yield the links that are enough for the same families."""
    number, family = union.families()
    apart = number != family
    for start in range(0, len(number), ROWS):
        part = slice(start, start + ROWS)
        yield batch_of(later=number[part][apart[part]], earlier=family[part][apart[part]])


@dataclass(frozen=True)
class Answers:
    """What workers make of the rows of whole families: each method takes and yields Arrow batches.

    The rows are sorted by family, then with `fixed` first, then by id.

    Attributes
    ----------
    params
        Of the search.
    keep
        A word; None: the priorities are in the column "priority".
    removal
        What stays of a cluster, and what is counted of it.
    columns
        Which columns the rows have.
    max_pairs
        How many pairs a part may have.
    part, spill
        As in `whole_families`.
    """

    params: SearchParams
    keep: str | None
    removal: RemovalRules
    columns: SearchColumns
    max_pairs: int
    part: int
    spill: int

    def proofs(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield (id, kept_id, similarity, against, limited) of removed and limited documents."""
        for rows, fixed, answer in self._decided(batches):
            gone = answer.kept_number != answer.number
            if not self.removal.keeps_one:
                cluster = self._cluster(rows, fixed, answer)
                removed = cluster.removals.removed
                stays = self.removal.further_copies(
                    cluster.removals, answer.copy_number[cluster.order[removed]], cluster.labels
                )
                gone[cluster.order[removed[stays]]] = False
            reported = np.flatnonzero(gone | answer.limited)
            for start in range(0, len(reported), ROWS):
                chosen = reported[start : start + ROWS]
                kept = answer.kept_number[chosen]
                yield batch_of(
                    id=_taken(rows["id"], chosen),
                    kept_id=_taken(rows["id"], kept),
                    similarity=answer.similarity[chosen],
                    against=fixed[kept],
                    limited=answer.limited[chosen],
                    **({} if answer.also is None else {"also_similarity": answer.also[chosen]}),
                )

    def annotations(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield (id, duplicate_of, similarity) and counts of the documents of all clusters."""
        import pyarrow

        for rows, fixed, answer in self._decided(batches):
            cluster = self._cluster(rows, fixed, answer)
            removals = cluster.removals
            kept = np.unique(removals.kept[removals.kept < removals.inputs.stop])
            kept = kept[kept >= removals.inputs.start]
            documents = np.concatenate([kept, removals.removed])
            clusters = np.concatenate([kept, removals.kept])
            counts = self.removal.counts_of(removals, cluster.labels, cluster.numbers)
            for name, values in cluster.numbers.items():
                if values.dtype == np.int64 and counts.types[f"cluster_{name}"] == "double":
                    raise ValueError(
                        f"a sum of column {name!r} may exceed 64 bits: cast it to double"
                    )
            for start in range(0, len(documents), ROWS):
                part = slice(start, start + ROWS)
                chosen = cluster.order[documents[part]]
                is_kept = documents[part] == clusters[part]
                similarity = np.where(is_kept, np.nan, answer.similarity[chosen])
                of = pyarrow.array(cluster.order[clusters[part]], mask=is_kept)
                yield batch_of(
                    id=_taken(rows["id"], chosen),
                    duplicate_of=_taken(rows["id"], of),
                    similarity=pyarrow.array(similarity, from_pandas=True),
                    **counts.columns(documents[part], clusters[part]),
                )

    def pairs(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield (left_id, right_id, similarity) of all pairs."""
        for rows in whole_families(batches, self.part, self.spill):
            try:
                pairs = stages.find_pairs_of_part(
                    rows["text"], np.arange(len(rows)), self.params, max_pairs=self.max_pairs,
                    within=_groups(rows), also=_second(rows), threads=1,
                )  # fmt: skip
            except TooManyPairsError as error:
                first = rows["id"][0].as_py()
                raise TooManyPairsError(f"{error} (in the part from id {first!r} on)") from None
            for start in range(0, len(pairs.left), ROWS):
                chosen = slice(start, start + ROWS)
                yield batch_of(
                    left_id=_taken(rows["id"], pairs.left[chosen]),
                    right_id=_taken(rows["id"], pairs.right[chosen]),
                    similarity=pairs.similarity[chosen],
                    **({} if pairs.also is None else {"also_similarity": pairs.also[chosen]}),
                )

    def _decided(
        self, batches: Iterable[Any]
    ) -> Iterator[tuple[Any, NDArray[np.bool_], stages.PartDecisions]]:
        for rows in whole_families(batches, self.part, self.spill):
            fixed = rows["fixed"].to_numpy()
            order: dict[str, Any] = {"keep": self.keep}
            if self.keep is None:
                order = {"priority": rows["priority"]}
            yield rows, fixed, stages.decide_part(
                rows["text"], np.arange(len(rows)), self.params, against=fixed, **order,
                max_candidates=self.removal.max_candidates, within=_groups(rows),
                also=_second(rows), threads=1,
            )  # fmt: skip

    def _cluster(
        self, rows: Any, fixed: NDArray[np.bool_], answer: stages.PartDecisions
    ) -> "_Clusters":
        """Return the clusters of a part, whose documents of `against` are numbered first."""
        import pyarrow

        order = np.argsort(~fixed, kind="stable")
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(len(order))
        gone = order[answer.kept_number[order] != order]
        inputs = range(int(fixed.sum()), len(order))
        is_input = pyarrow.array(~fixed)
        labels, numbers = {}, {}
        for name, column in self.columns.values.items():
            values = rows[name].filter(is_input).combine_chunks() if name != "within" else None
            if name.startswith("label_"):
                labels[column] = label_hashes(values)
            elif name.startswith("count_"):
                numbers[column] = np.asarray(values)
        removals = RemovedDocuments(number[gone], number[answer.kept_number[gone]], inputs)
        return _Clusters(order, removals, labels, numbers)


class _Clusters(NamedTuple):
    order: NDArray[np.int64]
    """The row of each document."""
    removals: RemovedDocuments
    labels: dict[str, NDArray[np.uint64]]
    numbers: dict[str, NDArray[Any]]


def _groups(rows: Any) -> NDArray[np.int64] | None:
    """Return the group of each row, if there are any."""
    if "within" not in rows.column_names:
        return None
    return label_hashes(rows["within"].combine_chunks()).view(np.int64)


def _second(rows: Any) -> Any:
    """Return the second text of each row, if there are any."""
    return rows["also"] if "also" in rows.column_names else None


def _taken(column: Any, rows: Any) -> Any:
    """Return some values of an Arrow column as one array."""
    import pyarrow

    taken = column.take(pyarrow.array(rows))
    return taken.combine_chunks() if isinstance(taken, pyarrow.ChunkedArray) else taken


def batch_of(**columns: Any) -> Any:
    """Return an Arrow batch of arrays."""
    import pyarrow

    arrays = [
        pyarrow.array(column) if isinstance(column, np.ndarray) else column
        for column in columns.values()
    ]
    return pyarrow.record_batch(arrays, names=list(columns))
