"""Deduplication of files of any size: the same answer in memory and on disk."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_choice
from fastlsh.arrays import unique
from fastlsh.files.annotations import RowAnnotations
from fastlsh.files.answers import (
    Deduplicated,
    Proof,
    Removals,
    left_out,
    rows_of,
    short_documents,
)
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
from fastlsh.files.disk.staged import Search, execute, search_stages
from fastlsh.files.disk.write import reread_kept, writing_tables
from fastlsh.files.held import grouped, read_both, summary_of, threads_and_progress
from fastlsh.files.plan import (
    EngineChoice,
    OutputPlan,
    RemovalRules,
    RequestedOutputs,
    plan_removal,
    prepared,
)
from fastlsh.files.requests import (
    SHARED,
    Path,
    ReadBudget,
    Request,
    search_params,
)
from fastlsh.files.results import (
    FileDeduplication,
    counts_of,
    shared_fields,
    warn_if_none_left,
)
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
from fastlsh.io import (
    Added,
    Collection,
    Ids,
    Paths,
    Replacements,
    replacing_together,
    take,
    write_rows,
    write_text,
)
from fastlsh.keywords import Prepared, checkable, shares
from fastlsh.parallel import Stopwatch, plural
from fastlsh.reporting import RunCounts, largest_clusters_page, report_page
from fastlsh.results import (
    Deduplication,
)
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
        tokens=tokens, counts=removal.counts, labels=removal.labels,
    )  # fmt: skip
    check_choice(index_texts, "index_texts")
    index = None
    if save_index is not None:
        if within is not None:
            raise ValueError(
                "within= and save_index= cannot be given together: an index compares all documents"
            )
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
    clock = Stopwatch()
    if choice.run is None:
        counts = run_in_memory(request, choice.read_budget, targets, removal, notes, clock)
    else:
        counts = _run_on_disk(choice.run, targets, removal, notes=notes, clock=clock)
    return result_of(request, choice, targets, removal, counts, clock)


def result_of(
    request: Request,
    choice: EngineChoice,
    targets: OutputPlan,
    removal: RemovalRules,
    counts: Deduplicated,
    clock: Stopwatch,
) -> FileDeduplication:
    """Return what a run has found, with the counts, times and paths."""
    summary = counts.summary
    documents = summary.documents - summary.n_against
    return FileDeduplication(
        documents=documents, n_kept=documents - counts.removed, empty=summary.empty,
        limited=counts.limited, further_copies=counts.further_copies,
        missing_priorities=summary.missing_priorities, **counts_of(summary),
        **shared_fields(request, choice, clock, **removal.description),
        outputs=targets.outputs(summary.files),
    )  # fmt: skip


def run_in_memory(
    request: Request,
    budget: ReadBudget,
    targets: OutputPlan,
    removal: RemovalRules,
    notes: Mapping[str, str],
    clock: Stopwatch,
    index: Index | None = None,
) -> Deduplicated:
    """Read the files, remove the near-duplicates, and write what is asked for.

    Parameters
    ----------
    request
        The files, and what is searched for.
    budget
        What reading may take.
    targets
        What is written.
    removal
        Which documents stay, and with which columns.
    notes
        For the page.
    clock
        Takes the time of each stage.
    index
        Its documents are those of `against`, and the kept documents are inserted into it, together
        with the outputs.
    """
    how, n_against = threads_and_progress(request.run), None
    if index is not None:
        n_against = len(index)
        has_table = removal.annotate or targets.clusters is not None
        counted = check_counted(index, removal.counted, is_required=not has_table)
    with clock("reading"):
        collection, others = read_both(request, budget)
        if request.saves_ids:
            collection.ids.check(refusal_of_id)
        if targets.index is not None:
            collection.ids.check_different(DIFFERENT)
        if index is not None:
            collection.ids.check_different(DIFFERENT_ADDED)
    rows, of_row = collection, np.arange(len(collection))
    if request.group is not None:
        collection, of_row = grouped(collection, request.group, request.read.join_with)
        others, _ = grouped(others, request.group, request.read.join_with)
    priority = collection.numbers.get(request.read.priority or "")
    signatures: list[NDArray[np.uint32]] = []
    result = deduplicate_texts(
        collection.texts, request.search, request.run,
        against=others.texts if index is None else index, keep=removal.keep, priority=priority,
        max_candidates=removal.max_candidates, within=request.groups(collection.labels),
        against_within=request.groups(others.labels) if request.against else None,
        on_signed=None if targets.index is None else signatures.append,
    )  # fmt: skip
    if index is not None:
        others = _of_index(index, result, with_texts=targets.report is not None)
    before = len(others)
    proofs = _proofs(result, before, with_copies=not removal.keeps_one)
    inputs = range(before, before + len(collection))
    removals = Removals(proofs, inputs, removal, collection.labels, collection.numbers)
    stays = np.ones(len(collection), np.bool_)
    stays[removals.left_out["left"] - before] = False
    ids = others.ids + collection.ids
    annotations = removals.annotations(request.search, ids)
    change = None if index is None else _counted(index, removals, ids, collection, counted)
    with _appearing(index, change) as together:
        with clock("writing"):
            removals.write_tables(
                targets, request.search, ids, together,
                has_against=bool(request.against) or index is not None,
            )  # fmt: skip
            kept = stays
            added: Added | None = annotations
            if annotations is not None:
                kept = np.ones_like(stays)
                if request.group is not None:
                    added = RowAnnotations(annotations, of_row)
            if targets.output is not None:
                write_rows(
                    rows, kept[of_row], targets.output, convert=targets.convert, added=added,
                    together=together, **how,
                )  # fmt: skip
        if targets.index is not None:
            with clock("saving the index"):
                documents = kept_of(collection, result.kept, *signatures)
                save_index(
                    targets.index, request.search, request.run.threads, documents, together,
                    removals.count_in,
                )  # fmt: skip
        if targets.report is not None:
            seconds = {"reading": clock["reading"], **result.seconds, "writing": clock["writing"]}
            page = _page(result, collection, others, notes, seconds)
            write_text(targets.report, page, together)
    clock.update(result.seconds)
    summary = summary_of(
        collection, others, n_against, empty=result.empty,
        missing_priorities=result.missing_priorities,
    )  # fmt: skip
    removed = len(removals.left_out)
    return Deduplicated(summary, removed, result.limited, len(proofs) - removed)


def _appearing(
    index: Index | None, change: Callable[[], None] | None
) -> AbstractContextManager[Replacements]:
    """Let outputs appear together, and with a change of the index if there is one."""
    if index is None or change is None:
        return replacing_together()
    return published(index, change)


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
    return rows_of(Proof, before + gone, kept, result.similarity[gone], copy)


def _page(
    result: Deduplication,
    collection: Collection,
    against: Collection,
    lines: Mapping[str, str],
    seconds: Mapping[str, float],
) -> str:
    bad = left_out(collection.skipped + against.skipped)
    before = {
        name: lines[name] for name in ("input", "limit", "reference collection") if name in lines
    }
    return report_page(
        result,
        collection.texts,
        against.texts,
        collection.ids,
        against.ids,
        f"Deduplication of {plural(len(collection), 'document')}",
        {**before, **bad, **lines},
        seconds,
    )


MOST = 5_000
"""Documents that the page is about."""


def _run_on_disk(
    run: Run,
    targets: OutputPlan,
    removal: RemovalRules,
    *,
    notes: Mapping[str, str],
    clock: Stopwatch,
) -> Deduplicated:
    """Remove the near-duplicates, or go on where a run before was ended.

    Parameters
    ----------
    targets
        What is written.
    removal
        Which documents stay, and with which columns.
    notes
        For the page.
    clock
        Takes the time of each stage.
    """
    keep = None if run.request.read.priority else removal.keep
    decided = {
        **removal.description, "keep": keep or "priority", "against_files": run.first_input,
    }  # fmt: skip

    def stages(run: Run) -> list[Stage]:
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
                        run, summary, removals().proofs, texts(), limited, order, notes, clock
                    )
                    write_text(targets.report, page, together)
            removed = len(removals().left_out)
            further_copies = len(removals().proofs) - removed
            found = Deduplicated(summary, removed, limited, further_copies)
            return Ended(found, targets.all_outputs(summary.files))

        return search_stages(run, clock, decide, finish, targets, merge, left)

    search = Search("dedup", decided, targets.all_paths, stages)
    return execute(run, search, clock, Deduplicated, 0, 0, 0)


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
    index = np.searchsorted(shown, kept)[:n_removed]
    numbers = np.where(shown < documents, shown + summary.n_against, shown - documents)
    shown_texts = texts.texts(run.work.load(PARTS)[numbers], numbers)
    names = texts.take(numbers)
    params = run.params
    result = Deduplication(
        np.where(index < n_removed, index, -1),
        np.where(index < n_removed, -1, index - n_removed),
        similarity[:n_removed],
        threshold=params.threshold,
        rule=params.rule,
        containment=params.containment,
        params=None if params.finds_equal else params.lsh,
        options={
            **decided,
            **params.removal_keywords,
        },
    )
    counts = RunCounts(
        documents, int((right < summary.n_against).sum()), np.array(proofs["similarity"]),
        np.unique(right, return_counts=True)[1], limited, summary.empty,
    )  # fmt: skip
    which = f"of the largest clusters ({len(numbers):,} documents); the counts are of all documents"
    return largest_clusters_page(
        result,
        shown_texts[:n_removed],
        shown_texts[n_removed:],
        counts,
        ids=names[:n_removed],
        against_ids=names[n_removed:],
        title=f"Deduplication of {plural(documents, 'document')}",
        notes={
            "texts shown": which,
            **notes,
            **short_documents(summary.short, summary.not_empty, params.shingler),
        },
        seconds=dict(seconds),
    )


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
