"""Deduplication of files of any size: the same answer in memory and on disk."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_choice
from fastlsh.arrays import unique
from fastlsh.files.answers import Deduplicated, Proof, Removals, left_out, rows_of, short_documents
from fastlsh.files.answers import notes as notes_of
from fastlsh.files.cutting import WholeRows
from fastlsh.files.disk.decide import (
    answer_of_all_parts,
    decide_parts,
    kept_documents,
    limited_documents,
)
from fastlsh.files.disk.gathered import GatheredTexts, gathered_texts
from fastlsh.files.disk.grouped import rows_left
from fastlsh.files.disk.link import PARTS
from fastlsh.files.disk.segments import saved_columns
from fastlsh.files.disk.write import reread_kept, writing_tables
from fastlsh.files.execution import Search, search_stages
from fastlsh.files.held import Held
from fastlsh.files.plan import (
    EngineChoice,
    OutputPlan,
    RemovalRules,
    RequestedOutputs,
    plan_removal,
    prepared,
)
from fastlsh.files.requests import SHARED, Path, Request, search_params
from fastlsh.files.results import FileDeduplication, counts_of, shared_fields, warn_if_none_left
from fastlsh.files.run.records import Summary
from fastlsh.files.run.run import Run
from fastlsh.files.run.stages import Ended, Stage
from fastlsh.files.run.workdir import recording
from fastlsh.files.saved_index import (
    DIFFERENT,
    DIFFERENT_ADDED,
    IndexOutput,
    check_saved,
    kept_of,
    save_index,
)
from fastlsh.index import (
    Arrivals,
    Counted,
    Index,
    check_counted,
    count_of_names,
    found_texts,
    published,
    refusal_of_id,
)
from fastlsh.io import Collection, Ids, Paths, replacing_together, take, write_text
from fastlsh.keywords import Prepared, checkable, shares
from fastlsh.parallel import Stopwatch, plural
from fastlsh.reporting import (
    About,
    Collections,
    ReportedDocuments,
    RunCounts,
    largest_clusters_page,
    report_page,
)
from fastlsh.results import Deduplication
from fastlsh.search import deduplicate_texts
from fastlsh.stages import check_keep

if TYPE_CHECKING:
    from fastlsh.files.requests import FileRemovalKeywords
    from fastlsh.keywords import Unpack


@shares(*SHARED, command="dedup")
@checkable
def deduplicate_files(
    inputs: Paths,
    output: Path | None = None,
    threshold: float = 0.8,
    *,
    against: Paths = (),
    keep: str = "first",
    priority: str | None = None,
    within: str | None = None,
    group: str | None = None,
    also: str | None = None,
    convert_to: str | None = None,
    removed: Path | None = None,
    clusters: Path | None = None,
    report: Path | None = None,
    save_index: Path | None = None,
    index_texts: str = "full",
    annotate: bool = False,
    source: str | None = None,
    count: str | Sequence[str] = (),
    max_copies: int | None = None,
    copies_per: tuple[str, int] | None = None,
    max_candidates: int = 1000,
    **keywords: "Unpack[FileRemovalKeywords]",
) -> Prepared[FileDeduplication]:
    """Remove the near-duplicates from files of any size.

    The answer is that of `fastlsh.deduplicate` for the documents of all inputs, to the bit, with
    either engine. On disk, memory stays bounded, and an interrupted run continues when it is
    started again.

    Parameters
    ----------
    inputs
        Files, patterns and directories, which together form one collection, in this order.
    output
        A file for the kept rows, whose suffix tells the format; or a directory, which gets one file
        for each input. Rows of this format are unchanged. In one file, different columns of the
        inputs are joined by name. None: no rows are written, only counted. A run on disk then works
        in `work`, or in a temporary directory.
    threshold
        As in `deduplicate`.
    against
        Files of a reference collection, whose documents have the highest priority.
    keep
        "first", "last" or "longest".
    priority
        A column of numbers or dates, instead of `keep`: the document with the highest number or
        the latest date is kept, and ties go to the earlier one. Numbers are not rounded, and dates
        are exact instants, in UTC where they have no time zone. A row without a value is lower than
        all others.
    within
        A column, as of languages or repositories: only documents with the same value are compared.
        The files of `against` must have it, too; null is a value, and NaN makes a bad row. The
        answer is that for the documents of each value by themselves.
    group
        A column, as of repositories: rows with the same value are one document, whose text is that
        of its rows in their order, with `join_with` between them, and whose id is the value. All
        rows of a document are kept or removed. In memory, this needs three times the text; on disk,
        twice the text in the work directory, and a document may be as long as a row.
    also
        A column of a second text of each document, such as the answer to a question: a document is
        removed only if its second text is similar to that of the same kept document, too, as for
        `fastlsh.deduplicate`. Null is an empty text, which is similar to none. The files of
        `against` must have it, too. The table of removed documents has its similarity as
        also_jaccard, or also_containment.
    convert_to
        "parquet", "arrow", "jsonl", "json" (an array), "csv" or "tsv", the last four with a
        compression (jsonl.zst): the format of outputs in a directory, or without a suffix. None:
        rows are unchanged there.
    removed
        A table of the removed documents: id, kept_id and jaccard, or containment by that rule; if
        `against` is given, also against: whether kept_id is the id of a document there.
    clusters
        A table of the documents that belong together: id, cluster, which is a number for each
        kept document that has duplicates, and cluster_size.
    report
        A page about the run (.html); on disk, it shows texts of the largest clusters only.
    save_index
        A new file, which becomes an `Index` of the kept documents (not of those of `against`) with
        the parameters of this run, for `Index.open` and `deduplicate_with_index`. All
        ids must differ: a repeated one is refused before the search. A run in memory does not sign
        again; a run on disk reads and signs the kept documents once more.
    index_texts
        How that index keeps the texts: "full"; or "compressed", which takes about a quarter of the
        space, and more time for each document that is compared.
    annotate
        Write all rows, with columns more: duplicate_of, the id of the kept document that the
        row's document duplicates, and similarity (containment by that rule), which are null for a
        kept document; and cluster_size, the number of documents in its cluster: the kept document
        (also one of `against`) and those removed because of it. The counts of the result are those
        of the same run without it.
    source
        A column, whose different values in each cluster are counted: `annotate` and `clusters` get
        the column cluster_sources, and the index of `save_index` counts them, too. Null is a
        source, and a row with NaN is a bad row. The documents of `against` have no source.
    count
        A column of numbers, or several: `annotate` and `clusters` get the column cluster_NAME, the
        sum over the documents of the inputs in the cluster, as has the index of `save_index`. A
        row without a number is a bad row.
    max_copies
        How many documents of each cluster are written, at least 1: those with the highest
        priority. The clusters are those of the same run without it, and the documents of `against`
        count as well. By default 1, and any number with `copies_per`.
    copies_per
        (column, n): of each cluster, the first n documents by priority are written for each value
        of this column. So no source loses all of its documents because of another one, but any may
        because of `against`: a document there counts for every value. With `max_copies`, a document
        is written if both allow it: fewer than n with its value, and fewer than `max_copies` in
        all, were written before it.
    max_candidates
        As in `deduplicate`.

    Returns
    -------
    FileDeduplication
        Counts, times and paths.

    Raises
    ------
    InputError
        A file or row cannot be used, an output cannot be written, or the work directory belongs to
        another run.
    TypeError, ValueError
        An argument is invalid.

    Notes
    -----
    Work directory: 8 * (bands + 1) + 4 bytes per document, and the texts of the documents that
    share a bucket with another one.

    Examples
    --------
    >>> import json
    >>> with open("pages.jsonl", "w") as file:
    ...     for text in ("some text", "another text", "some text"):
    ...         print(json.dumps({"text": text}), file=file)
    >>> done = deduplicate_files("pages.jsonl", "kept.jsonl", removed="removed.tsv")
    >>> done.n_kept, done.documents
    (2, 3)
    >>> done.engine
    'memory'
    """
    check_keep(keep, with_priority=priority is not None)
    params, tokens = search_params(threshold, keywords)
    if tokens and keep == "longest":
        raise ValueError(
            'keep="longest" counts characters, which token ids do not have: give a column of'
            " numbers as the priority"
        )
    removal = RemovalRules.of(
        keep, max_candidates, annotate, max_copies, copies_per, source, count,
        has_clusters=clusters is not None or save_index is not None,
    )  # fmt: skip
    if group is not None and (save_index is not None or removal.labels or removal.counts):
        raise ValueError(
            "group= makes documents of several rows, for which there is no save_index=, source=,"
            " count= or copies_per="
        )
    request = Request.of(
        inputs, against, params, keywords, within=within, group=group, priority=priority,
        tokens=tokens, counts=removal.counts, labels=removal.labels, also=also,
    )  # fmt: skip
    check_choice(index_texts, "index_texts")
    index = None
    if save_index is not None:
        if within is not None:
            raise ValueError(
                "within= and save_index= cannot be given together: an index compares all documents"
            )
        if also is not None:
            raise ValueError("an index has one text for a document: leave out also= or save_index=")
        check_saved(params, index_texts, tokens=tokens)
        index = IndexOutput(os.fspath(save_index), index_texts)
        request = replace(request, saves_ids=True)
    requested = RequestedOutputs(output, convert_to, removed, clusters, report, index)
    return prepared(
        request, output,
        lambda request: plan_removal(request, requested, annotate=annotate),
        lambda request, planned: _deduplicated(request, *planned, removal),
        ended=lambda result: warn_if_none_left(request, result.documents, result.n_kept),
    )  # fmt: skip


def _deduplicated(
    request: Request, targets: OutputPlan, choice: EngineChoice, removal: RemovalRules
) -> FileDeduplication:
    notes = notes_of(request, targets)
    if removal.note:
        notes["copies"] = removal.note
    return Dedup(targets, removal, notes, Stopwatch()).result(request, choice)


@dataclass(frozen=True)
class Dedup(Search[Deduplicated]):
    """A removal of near-duplicates."""

    targets: OutputPlan
    """What is written."""
    removal: RemovalRules
    """Which documents stay, and with which columns."""
    notes: Mapping[str, str]
    """For the page."""
    clock: Stopwatch
    index: tuple[Index, Counted] | None = None
    """Its documents are those of `against`, and the kept documents are inserted into it, together
    with the outputs; and what it counts. In memory only."""

    kind = "dedup"
    found = Deduplicated

    def result(self, request: Request, choice: EngineChoice) -> FileDeduplication:
        """Search and write; return what was found, with the counts, times and paths."""
        counts = self.find(request, choice)
        summary = counts.summary
        documents = summary.documents - summary.n_against
        return FileDeduplication(
            documents=documents, n_kept=documents - counts.removed, empty=summary.empty,
            limited=counts.limited, further_copies=counts.further_copies,
            missing_priorities=summary.missing_priorities, **counts_of(summary),
            **shared_fields(request, choice, self.clock, **self.removal.description),
            outputs=self.targets.outputs(summary.files),
        )  # fmt: skip

    def in_memory(self, held: Held) -> Deduplicated:
        """Search in the documents in memory, and write."""
        request, targets, removal = held.request, self.targets, self.removal
        index, counted = (None, None) if self.index is None else self.index
        collection, n_against = held.collection, None
        if request.saves_ids:
            collection.ids.check(refusal_of_id)
        if targets.index is not None:
            collection.ids.check_different(DIFFERENT)
        if index is not None:
            n_against = len(index)
            collection.ids.check_different(DIFFERENT_ADDED)
        signatures: list[NDArray[np.uint32]] = []
        result = deduplicate_texts(
            collection.texts, request.search, request.run,
            against=held.others.texts if index is None else index, keep=removal.keep,
            priority=collection.numbers.get(request.read.priority or ""),
            max_candidates=removal.max_candidates, within=held.within,
            against_within=held.against_within, also=collection.also,
            against_also=held.others.also,
            on_signed=None if targets.index is None else signatures.append,
        )  # fmt: skip
        if index is not None:
            held.others = _of_index(index, result, with_texts=targets.report is not None)
        inputs, ids = held.inputs, held.ids
        proofs = _proofs(result, inputs.start, with_copies=not removal.keeps_one)
        removals = Removals(proofs, inputs, removal, collection.labels, collection.numbers)
        kept = np.ones(len(collection), np.bool_)
        annotations = removals.annotations(request.search, ids)
        if annotations is None:
            kept[removals.left_out["left"] - inputs.start] = False
        appearing = replacing_together()
        if index is not None and counted is not None:
            appearing = published(index, _counted(index, removals, ids, collection, counted))
        with appearing as together:
            with self.clock("writing"):
                removals.write_tables(
                    targets, request.search, ids, together,
                    has_against=bool(request.against) or index is not None,
                )  # fmt: skip
                held.write_rows(targets, kept, together, added=annotations)
            if targets.index is not None:
                with self.clock("saving the index"):
                    documents = kept_of(collection, result.kept, *signatures)
                    save_index(
                        targets.index, request.search, request.run.threads, documents, together,
                        removals.count_in,
                    )  # fmt: skip
            if targets.report is not None:
                seconds = {
                    "reading": self.clock["reading"], **result.seconds,
                    "writing": self.clock["writing"],
                }  # fmt: skip
                write_text(targets.report, self._page(held, result, seconds), together)
        self.clock.update(result.seconds)
        summary = held.summary(
            n_against, empty=result.empty, missing_priorities=result.missing_priorities
        )
        removed = len(removals.left_out)
        return Deduplicated(summary, removed, result.limited, len(proofs) - removed)

    def _page(self, held: Held, result: Deduplication, seconds: Mapping[str, float]) -> str:
        lines = self.notes
        first = [name for name in ("input", "limit", "reference collection") if name in lines]
        notes = {**{name: lines[name] for name in first}, **left_out(held.skipped), **lines}
        about = About(f"Deduplication of {plural(result.documents, 'document')}", notes, seconds)
        return report_page(result, held.reported, about)

    def decided(self, request: Request) -> dict[str, Any]:
        """Return all that the answer depends on, besides the request."""
        keep = "priority" if request.read.priority else self.removal.keep
        return {**self.removal.description, "keep": keep}

    @property
    def outputs(self) -> dict[str, str | None]:
        """Where everything is written, as it was given."""
        return self.targets.all_paths

    def stages(self, run: Run) -> list[Stage]:
        """Return the table of the stages of a run on disk."""
        targets, removal, clock = self.targets, self.removal, self.clock
        keep = None if run.request.read.priority else removal.keep
        texts = cache(lambda: gathered_texts(run))

        @cache
        def removals() -> Removals:
            inputs = range(run.summary.n_against, run.summary.documents)
            return Removals(answer_of_all_parts(run), inputs, removal, *saved_columns(run))

        @cache
        def left() -> WholeRows:
            kept = kept_documents(run, removals().left_out)
            added = removals().annotations(run.params, texts())
            if added is not None:
                kept = np.ones_like(kept)
            left = WholeRows(kept, run.summary.n_against, added)
            return left if run.rows is None else rows_left(run.rows, left)

        @clock("decisions")
        def decide() -> None:
            decide_parts(run, texts(), keep, removal.max_candidates)

        @clock("decisions")
        def merge() -> None:
            kept_documents(run, removals().left_out)

        @clock("writing")
        def finish() -> Ended:
            summary, limited = run.summary, limited_documents(run)
            with writing_tables(run, targets, left()) as together:
                removals().write_tables(
                    targets, run.params, texts(), together, has_against=run.first_input > 0
                )
                if targets.index is not None and not targets.index.is_in_record_of(run.work):
                    documents = reread_kept(run, removals().proofs)
                    with recording(together, run.work, *targets.index.record):
                        save_index(
                            targets.index, run.params, run.options.threads, documents, together,
                            removals().count_in,
                        )  # fmt: skip
                if targets.report is not None:
                    order: dict[str, Any] = {"max_candidates": removal.max_candidates}
                    order |= {} if keep is None else {"keep": keep}
                    page = largest_page(
                        run, summary, removals().proofs, texts(), limited, order, self.notes, clock
                    )
                    write_text(targets.report, page, together)
            removed = len(removals().left_out)
            further_copies = len(removals().proofs) - removed
            found = Deduplicated(summary, removed, limited, further_copies)
            return Ended(found, targets.all_outputs(summary.files))

        return search_stages(run, clock, decide, finish, targets, merge, left)


def _counted(
    index: Index, removals: Removals, ids: Ids, collection: Collection, what: Counted
) -> Callable[[], None]:
    """Return what inserts the kept documents, and counts for each what has come.

    `ids` are those of the documents of the index that decided, and of the inputs.
    """
    proofs, (start, stop) = removals.proofs, (removals.inputs.start, removals.inputs.stop)
    head = np.arange(start, stop)
    head[proofs["left"] - start] = proofs["right"]
    chosen = np.flatnonzero(head == np.arange(start, stop))
    new = collection.ids.take(chosen), take(collection.texts, chosen)
    came = np.arange(len(head)) if what else proofs["left"] - start
    heads, of = np.unique(head[came], return_inverse=True)
    names, is_new = ids.take(heads), (heads >= start) & bool(what)
    arrivals = Arrivals.of(what, came, of.reshape(-1), collection.labels, collection.numbers)

    def change() -> None:
        check_counted(index, what)
        index.insert_many(*new)
        count_of_names(index, what, names, is_new, arrivals)

    return change


def _of_index(index: Index, result: Deduplication, *, with_texts: bool) -> Collection:
    """Return the documents of the index that decided; texts only of those that were kept."""
    ids = list(result.against_ids or ())
    texts: list[Any] = [None] * len(ids)
    if with_texts:
        numbers = np.unique(result.against_index[result.against_index >= 0]).tolist()
        for number, text in zip(
            numbers, found_texts(index, [ids[n] for n in numbers]), strict=True
        ):
            texts[number] = text
    others = Collection(texts)
    others.ids.add("", ids, np.arange(len(ids)))
    return others


def _proofs(result: Deduplication, before: int, *, with_copies: bool) -> NDArray[Any]:
    """Return the rows of `Proof`, of documents that are numbered behind those of `against`."""
    gone = result.removed
    outside = result.against_index[gone]
    kept = np.where(outside < 0, before + result.kept_index[gone], outside)
    copy = result.copy_number[gone] if with_copies else 0
    also = None if result.also_similarity is None else result.also_similarity[gone]
    return rows_of(Proof, before + gone, kept, result.similarity[gone], copy, also=also)


MOST = 5_000
"""Documents that the page is about."""


def largest_page(
    run: Run,
    summary: Summary,
    proofs: NDArray[Any],
    texts: GatheredTexts,
    limited: int,
    decided: Mapping[str, Any],
    notes: Mapping[str, str],
    seconds: Mapping[str, float],
) -> str:
    """Return a page about as many of the largest clusters as have about 5,000 documents.

    Its counts are those of all documents. `decided` has the parameters of the decisions: ``keep``
    and ``max_candidates``.
    """
    documents = summary.documents - summary.n_against
    right = proofs["right"]
    heads = np.where(right < summary.n_against, documents + right, right - summary.n_against)
    removed = proofs["left"] - summary.n_against
    shown, kept, similarity = _largest(removed, heads, proofs["similarity"])
    n_removed = int(np.searchsorted(shown, documents))
    also = None
    if "also" in (proofs.dtype.names or ()):
        also = _largest(removed, heads, proofs["also"])[2][:n_removed]
    index = np.searchsorted(shown, kept)[:n_removed]
    numbers = np.where(shown < documents, shown + summary.n_against, shown - documents)
    shown_texts = texts.texts(run.work.load(PARTS)[numbers], numbers)
    names = texts.take(numbers)
    params = run.params
    result = Deduplication(
        np.where(index < n_removed, index, -1),
        np.where(index < n_removed, -1, index - n_removed),
        similarity[:n_removed],
        also_similarity=also,
        threshold=params.threshold,
        rule=params.rule,
        containment=params.containment,
        params=None if params.finds_equal else params.lsh,
        options={**decided, **params.removal_keywords},
    )
    counts = RunCounts(
        documents, int((right < summary.n_against).sum()), np.array(proofs["similarity"]),
        np.unique(right, return_counts=True)[1], limited, summary.empty,
    )  # fmt: skip
    which = f"of the largest clusters ({len(numbers):,} documents); the counts are of all documents"
    short = short_documents(summary.short, summary.not_empty, params.shingler)
    all_notes = {"texts shown": which, **notes, **short}
    about = About(f"Deduplication of {plural(documents, 'document')}", all_notes, dict(seconds))
    collections = Collections(
        shown_texts[:n_removed], shown_texts[n_removed:], names[:n_removed], names[n_removed:]
    )
    documents_shown = ReportedDocuments(collections, params.shingler)
    return largest_clusters_page(result, documents_shown, counts, about)


def _largest(
    removed: NDArray[np.int64], heads: NDArray[np.int64], similarity: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the documents of the largest clusters, their kept ones, and the similarities.

    Documents are numbered as on a page: those of the inputs, and behind them those of `against`.
    """
    clusters, sizes = np.unique(heads, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    # The largest is shown in part if it is larger than the page.
    count = max(int(np.searchsorted(np.cumsum(sizes[order] + 1), MOST, "right")), 1)
    rows = np.flatnonzero(np.isin(heads, clusters[order[:count]]))[:MOST]
    kept = unique(heads[rows])
    numbers = np.concatenate([kept, removed[rows]])
    kept = np.concatenate([kept, heads[rows]])
    similarity = np.concatenate([np.ones(len(numbers) - len(rows)), similarity[rows]])
    order = np.argsort(numbers)
    return numbers[order], kept[order], similarity[order]
