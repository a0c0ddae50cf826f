"""Deduplication of files: the same answer in memory and on disk."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fastlsh.arguments import check_choice
from fastlsh.files.answers import Deduplicated
from fastlsh.files.answers import notes as notes_of
from fastlsh.files.disk import documents as on_disk
from fastlsh.files.memory import documents as in_memory
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
    Request,
    search_params,
)
from fastlsh.files.results import (
    FileDeduplication,
    counts_of,
    shared_fields,
    warn_if_none_left,
)
from fastlsh.files.saved_index import IndexOutput, check_saved
from fastlsh.io import Paths
from fastlsh.keywords import Prepared, checkable, shares
from fastlsh.parallel import Stopwatch
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
        counts = in_memory.run_deduplication(
            request, choice.read_budget, targets, removal, notes, clock
        )
    else:
        counts = on_disk.run_deduplication(choice.run, targets, removal, notes=notes, clock=clock)
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
