"""What a search has found, in documents of `against` and the inputs: its rows, tables and page."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._version import __version__
from fastlsh.files.annotations import Annotations, Reread, columns_of_both
from fastlsh.files.cutting import SpanCutting
from fastlsh.files.plan import OutputPlan, RemovalRules
from fastlsh.files.requests import PairSearch, Request
from fastlsh.files.run.records import NOTHING, Summary
from fastlsh.files.saved_index import count_run
from fastlsh.index import NewIndex
from fastlsh.io import Lookup, Replacements, Values, pair_columns, write_table
from fastlsh.parallel import batches, plural
from fastlsh.parameters import SearchParams
from fastlsh.reporting import About, Excerpt, LineRun, PassageRun, lines_page, passages_page
from fastlsh.results import ClusterCounts, RemovedDocuments
from fastlsh.search import long_shingles
from fastlsh.stages import CutRules
from fastlsh.texts import Shingler

BATCH = 1 << 18
"""Removed passages that are counted at a time."""

FoundPair = np.dtype([("left", np.int64), ("right", np.int64), ("similarity", np.float64)])
"""A pair and its similarity."""

EstimatedPair = np.dtype([*FoundPair.descr, ("estimate", np.float64)])
"""A pair, its similarity, and what the signatures estimate."""

Proof = np.dtype([*FoundPair.descr, ("copy", np.int64)])
"""(removed document, kept one, similarity), and the number that `PartDecisions.copy_number` has."""


def with_also(kind: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of the same rows with the similarity of second texts behind."""
    return np.dtype([*kind.descr, ("also", np.float64)])


def rows_of(kind: np.dtype[Any], *columns: Any, also: Any = None) -> NDArray[Any]:
    """Return columns as an array of rows; `also` is the column of `with_also`, if there is one."""
    if also is not None:
        kind, columns = with_also(kind), (*columns, also)
    rows = np.empty(len(columns[0]), kind)
    for name, column in zip(kind.names or (), columns, strict=True):
        rows[name] = column
    return rows


class Clusters(NamedTuple):
    """Documents that belong together: each kept one, followed by those removed for it."""

    number: NDArray[np.int64]
    """int64 (m,): the document."""
    cluster: NDArray[np.int64]
    """int64 (m,): of which cluster, counted from 0 in order of the kept documents."""


def clusters_of(proofs: NDArray[Any], n_against: int) -> Clusters:
    """Return the clusters, as `Deduplication.clusters` has them.

    Parameters
    ----------
    proofs
        Of all removed documents, which ascend.
    n_against
        Documents below this number are of `against` and make no cluster.

    Notes
    -----
    Memory: 80 bytes for each removed document.
    """
    inside = proofs["right"] >= n_against
    kept = proofs["right"][inside]
    order = np.argsort(kept, kind="stable")
    kept = kept[order]
    new = np.diff(kept, prepend=-1) != 0
    cluster = np.cumsum(new)
    # Each kept document stands before those removed for it, which are in order.
    position = np.arange(len(kept)) + cluster
    heads = position[new] - 1
    number = np.empty(len(kept) + len(heads), np.int64)
    number[heads] = kept[new]
    del kept
    number[position] = proofs["left"][inside][order]
    of = np.empty(len(number), np.int64)
    of[heads], of[position] = np.arange(len(heads)), cluster - 1
    return Clusters(number, of)


@dataclass(frozen=True)
class Removals:
    """Which documents are near-duplicates of kept ones, and what the outputs have of them."""

    proofs: NDArray[Any]
    """Rows of `Proof`, ascending."""
    inputs: range
    """The numbers of the documents of the inputs."""
    rules: RemovalRules
    labels: Mapping[str, NDArray[np.uint64]]
    numbers: Mapping[str, NDArray[Any]]
    """The columns of the documents of the inputs."""

    @cached_property
    def documents(self) -> RemovedDocuments:
        """The removed documents and their kept ones."""
        return RemovedDocuments(self.proofs["left"], self.proofs["right"], self.inputs)

    @cached_property
    def left_out(self) -> NDArray[Any]:
        """The proofs of the documents that are not written: all but further copies."""
        if self.rules.keeps_one:
            return self.proofs
        further = self.rules.further_copies(self.documents, self.proofs["copy"], self.labels)
        return self.proofs[~further]

    @cached_property
    def counts(self) -> ClusterCounts:
        """The counts of all clusters."""
        return self.rules.counts_of(self.documents, self.labels, self.numbers)

    def count_in(self, index: NewIndex) -> None:
        """Count all documents in the new index of the kept ones."""
        start = self.inputs.start
        head = np.arange(len(self.inputs))
        head[self.proofs["left"] - start] = np.maximum(self.proofs["right"] - start, -1)
        count_run(index, self.rules.counted, head, self.labels, self.numbers)

    def annotations(self, params: SearchParams, ids: Values) -> Annotations | None:
        """Return the columns that the rows get, if they are annotated."""
        if not self.rules.annotate:
            return None
        measure = "containment" if params.rule == "contained" else "similarity"
        similarity = self.proofs["similarity"]
        return Annotations(self.documents, self.counts, similarity, measure, ids)

    def write_tables(
        self,
        targets: OutputPlan,
        params: SearchParams,
        ids: Values,
        together: Replacements,
        *,
        has_against: bool,
    ) -> None:
        """Write the tables of removed documents and of clusters that were asked for."""
        n_against = self.inputs.start
        if targets.removed is not None:
            rows = self.left_out
            kept_id = Lookup(ids, rows["right"])
            columns: dict[str, Any] = {"id": Lookup(ids, rows["left"]), "kept_id": kept_id}
            columns[params.measure] = rows["similarity"]
            if "also" in (rows.dtype.names or ()):
                columns[f"also_{params.measure}"] = rows["also"]
            if has_against:
                columns["against"] = rows["right"] < n_against
            write_table(targets.removed, columns, together)
        if targets.clusters is not None:
            number, cluster = clusters_of(self.proofs, n_against)
            heads = number[np.flatnonzero(np.diff(cluster, prepend=-1))][cluster]
            columns = {"id": Lookup(ids, number), "cluster": cluster}
            columns |= self.counts.columns(number, heads)
            write_table(targets.clusters, columns, together)


def write_spans(
    targets: OutputPlan,
    ids: Values,
    spans: Sequence[NDArray[np.int64]],
    last: dict[str, NDArray[Any]],
    together: Replacements,
    *,
    n_against: int | None,
) -> None:
    """Write the table of removed spans, if it was asked for.

    Parameters
    ----------
    targets, together
        What is written, and what the table appears with.
    ids
        Of all documents.
    spans
        The document, begin and end of each span, and the document where it stays.
    last
        The column that follows: how similar the spans are, or where the kept one begins.
    n_against
        How many documents, the first ones, are of the reference collection; None: there is none.
    """
    if targets.removed is not None:
        document, start, end, kept = spans
        columns = {"id": Lookup(ids, document), "start": start, "end": end}
        columns |= {"kept_id": Lookup(ids, kept), **last}
        if n_against is not None:
            columns["against"] = kept < n_against
        write_table(targets.removed, columns, together)


@dataclass(frozen=True)
class CutPassages:
    """The passages that a run cuts out, and where they stay."""

    rows: NDArray[np.int64]
    """int64 (m, 6): document, begin and end of each, and the same of where it stays."""
    n_against: int
    """Documents of `against`, which have the first numbers."""
    common: int
    """Passages that stay because they occur in many documents."""
    dropped: int
    """Documents of which too little is left."""
    rules: CutRules
    ids: Values
    """Of all documents."""

    def write_table(
        self, targets: OutputPlan, together: Replacements, *, has_against: bool
    ) -> None:
        """Write the table of removed spans, if it was asked for."""
        write_spans(
            targets, self.ids, [*self.rows.T[:4]], {"kept_start": self.rows[:, 4]}, together,
            n_against=self.n_against if has_against else None,
        )  # fmt: skip

    def page(
        self,
        cutting: SpanCutting,
        sources: Sequence[tuple[str, int]],
        excerpts: Callable[[NDArray[np.int64]], list[Excerpt]],
        notes: Mapping[str, str],
        seconds: Mapping[str, float],
    ) -> str:
        """Return the page; `sources` and `excerpts` are those of `PassageRun`."""
        run = PassageRun(
            self.rows, self.n_against, sources, self.common, self.dropped,
            cutting.min_length, cutting.shingler, self.rules.given, excerpts,
            lambda documents: Lookup(self.ids, documents)[:],
        )  # fmt: skip
        return passages_page(run, notes, seconds)

    def counts(self, summary: Summary, documents: int) -> "SpansFound":
        """Return what the run has found in so many documents of the inputs."""
        units = changed = 0
        last = -1
        for start, stop in batches(len(self.rows), BATCH):
            document, begin, end = self.rows[start:stop, :3].T
            units += int((end - begin).sum())
            changed += int(np.count_nonzero(np.diff(document, prepend=last)))
            last = document[-1]
        return SpansFound(
            summary, documents, len(self.rows), units, changed, self.dropped, self.common,
            self.n_against,
        )  # fmt: skip


def write_components(
    path: str, ids: Values, component: NDArray[np.int64], together: Replacements
) -> None:
    """Write the table of the connected component of each document."""
    numbers = np.arange(len(component))
    table = {"id": Lookup(ids, numbers), "component": Lookup(ids, component)}
    write_table(path, table, together)


class PairTables(NamedTuple):
    """The pairs of a search, for its tables."""

    ids: Values
    """Of all documents in pairs."""
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    similarity: NDArray[np.float64]
    estimate: NDArray[np.float64] | None
    read: Callable[[NDArray[np.int64]], Iterable[Reread]]
    """Reads the blocks with some documents, as `columns_of_both` says."""
    also: NDArray[np.float64] | None
    """The similarity of the second texts; None: there are none."""

    def write(
        self, search: PairSearch, params: SearchParams, max_row: int, together: Replacements
    ) -> None:
        """Write the table of pairs; a row may have `max_row` bytes."""
        columns = pair_columns(
            self.ids, self.left, self.right, self.similarity, self.estimate,
            measure=params.pair_measure,
        )  # fmt: skip
        columns |= {} if self.also is None else {"also_jaccard": self.also}
        columns |= columns_of_both(search.columns, self.left, self.right, max_row, self.read)
        write_table(search.output, columns, together)


class Deduplicated(NamedTuple):
    """What a deduplication has found."""

    summary: Summary = NOTHING
    removed: int = 0
    limited: int = 0
    further_copies: int = 0


class PairsFound(NamedTuple):
    """What a search for pairs has found."""

    summary: Summary = NOTHING
    pairs: int = 0
    documents_in_pairs: int = 0
    """Of the inputs."""


class LinesFound(NamedTuple):
    """What a removal of lines, paragraphs or sentences has found."""

    summary: Summary = NOTHING
    documents: int = 0
    spans: int = 0
    removed: int = 0
    characters: int = 0
    changed: int = 0
    emptied: int = 0
    limited: int = 0
    against: int = 0
    """Documents of `against`."""


class SpansFound(NamedTuple):
    """What a removal of passages has found."""

    summary: Summary = NOTHING
    documents: int = 0
    removed: int = 0
    characters: int = 0
    changed: int = 0
    dropped: int = 0
    common: int = 0
    against: int = 0
    """Documents of `against`."""


def notes(request: Request, targets: OutputPlan) -> dict[str, str]:
    """Return the notes of a report about the files, by their names."""
    outputs = {} if targets.output is None else {"kept rows": targets.output}
    if targets.removed is not None:
        outputs["proofs"] = targets.removed
    return named_files(request, "reference collection", outputs)


def named_files(request: Request, others: str, outputs: Mapping[str, str]) -> dict[str, str]:
    """Return the notes of a report about the files that are read, called `others` if against."""
    lines = {"input": ", ".join(request.inputs)}
    if request.read.limit is not None:
        lines["limit"] = f"the first {request.read.limit:,} documents"
    if request.against:
        lines[others] = ", ".join(request.against)
    lines |= outputs
    lines["made"] = f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z} by fastlsh {__version__}"
    return lines


def short_documents(short: int, documents: int, shingler: Shingler) -> dict[str, str]:
    """Return what a page tells if many documents are shorter than a shingle."""
    message = long_shingles(short, documents, shingler)
    return {"short documents": message} if message else {}


def left_out(skipped: int) -> dict[str, str]:
    """Return what a page tells of bad rows."""
    return {"rows left out": f"{skipped:,}"} if skipped else {}


def removal_page(
    run: LineRun, skipped: int, notes: Mapping[str, str], seconds: Mapping[str, float]
) -> str:
    """Return the page; `skipped` rows were left out."""
    title = f"Repeated {run.by}s of {plural(len(run.pieces), 'document')}"
    return lines_page(run, About(title, {**notes, **left_out(skipped)}, seconds))
