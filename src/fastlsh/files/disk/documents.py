"""The engine on disk: the stages of a run, one after the other, each done once; and its pages."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import unique
from fastlsh.errors import InputError
from fastlsh.files.annotations import Cells, Reread
from fastlsh.files.answers import (
    Deduplicated,
    EstimatedPair,
    FoundPair,
    PairsFound,
    PairTables,
    Removals,
    short_documents,
    write_components,
)
from fastlsh.files.disk import grouped
from fastlsh.files.disk.decide import (
    answer_of_all_parts,
    answer_rows,
    check_pairs,
    decide_parts,
    find_pairs,
    kept_documents,
    limited_documents,
)
from fastlsh.files.disk.gather import bytes_gathered, gather_inputs
from fastlsh.files.disk.gathered import GatheredTexts, as_json
from fastlsh.files.disk.link import PARTS, link_inputs
from fastlsh.files.disk.segments import saved_columns
from fastlsh.files.disk.sign import sign_inputs
from fastlsh.files.disk.staged import (
    ENDED,
    early_stage,
    end_of_stage,
    ended,
    planned,
    sharing,
    staged_run,
    write_stage,
)
from fastlsh.files.disk.write import Remainder, check_different_ids, reread_kept, writing_outputs
from fastlsh.files.plan import OutputPlan, RemovalRules
from fastlsh.files.requests import PairSearch
from fastlsh.files.run.manifest import OUTPUT_PATH, RESULT, begin, check_unchanged, described
from fastlsh.files.run.records import ANSWER, GATHERED, LINKED, SIGNED, Summary
from fastlsh.files.run.run import Run, accept_mended, forget_unless_resumable
from fastlsh.files.run.workdir import recording
from fastlsh.files.saved_index import save_index
from fastlsh.io import replacing_together, write_text
from fastlsh.parallel import Stopwatch, amount, plural
from fastlsh.reporting import RunCounts, largest_clusters_page
from fastlsh.results import Deduplication, components_of, count_in_pairs

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


@staged_run(Deduplicated)
def run_deduplication(
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
    more = {
        **removal.description,
        "keep": keep or "priority",
        "against_files": run.first_input,
    }
    with begun(run, "dedup", more, targets.all_paths, clock) as run:
        summary, texts = prepared(run, clock, different_ids=targets.index is not None)
        with clock("decisions"):
            decide_parts(run, texts, keep, removal.max_candidates)
            end_of_stage(run, "decide")
            proofs = answer_of_all_parts(run)
            inputs = range(summary.n_against, summary.documents)
            removals = Removals(proofs, inputs, removal, *saved_columns(run))
            kept = kept_documents(run, removals.left_out)
            end_of_stage(run, "merge")
        with clock("writing"):
            rows = run.rows or run
            check_unchanged(rows.work, rows.sources[: rows.first_input + summary.files])
            added = removals.annotations(run.params, texts)
            if added is not None:
                kept = np.ones_like(kept)
            left = Remainder(kept, summary.n_against, added=added)
            if run.rows is not None:
                left = grouped.remainder_of_rows(run.rows, left)
            write_stage(rows, targets, left)
            with writing_outputs(rows, targets, left) as together:
                removals.write_tables(
                    targets, run.params, texts, together, has_against=run.first_input > 0
                )
                if targets.index is not None and not targets.index.is_in_record_of(run.work):
                    documents = reread_kept(run, proofs)
                    threads = run.options.threads
                    with recording(together, run.work, *targets.index.record):
                        save_index(
                            targets.index, run.params, threads, documents, together,
                            removals.count_in,
                        )  # fmt: skip
                limited = limited_documents(run)
                if targets.report is not None:
                    decided: dict[str, Any] = {"max_candidates": removal.max_candidates}
                    if keep is not None:
                        decided["keep"] = keep
                    page = largest_page(
                        run, summary, proofs, texts, limited, decided, notes, clock
                    )  # fmt: skip
                    write_text(targets.report, page, together)
        outputs = targets.all_outputs(summary.files)
        removed = len(removals.left_out)
        further_copies = len(proofs) - removed
        return ended(run, Deduplicated(summary, removed, limited, further_copies), outputs)


@staged_run(PairsFound)
def run_pairs(run: Run, *, search: PairSearch, clock: Stopwatch) -> PairsFound:
    """Find all pairs and write them, or go on where a run before was ended."""
    estimates = search.estimates
    more: dict[str, Any] = {"max_pairs": search.max_pairs, "estimates": estimates}
    if run.first_input:
        more |= {"against_files": run.first_input, "best": search.best}
        more |= {"one_to_one": search.one_to_one}
    targets = {OUTPUT_PATH: search.output, "components": search.components}
    with begun(run, "pairs", more, targets, clock) as run:
        summary, texts = prepared(run, clock)
        with clock("decisions"):
            find_pairs(run, texts, search)
            end_of_stage(run, "decide")
            check_pairs(answer_rows(run), search.max_pairs)
            pairs = answer_of_all_parts(run, EstimatedPair if estimates else FoundPair)
        with clock("writing"):
            left, right = pairs["left"], pairs["right"]
            tables = PairTables(
                texts, left, right, pairs["similarity"], pairs["estimate"] if estimates else None,
                partial(_reread, run),
            )  # fmt: skip
            with replacing_together() as together:
                if search.components is not None:
                    numbers = np.arange(summary.documents)
                    ids = Cells(numbers, _ids(run), integers=summary.integers)
                    component = components_of(left, right, summary.documents)
                    write_components(search.components, ids, component, together)
                tables.write(search, run.params, run.budget.row, together)
            inside = count_in_pairs(left, right, range(summary.n_against, summary.documents))
        return ended(run, PairsFound(summary, len(pairs), inside), search.tables)


def _reread(run: Run, numbers: NDArray[np.int64]) -> Iterator[Reread]:
    """Read the blocks again that have some documents."""
    records = [
        record for record in run.blocks
        if np.diff(np.searchsorted(numbers, (record.first, record.stop)))
    ]  # fmt: skip
    for record, block in run.reread(records, all_columns=True):
        yield Reread(record.first, record.documents, run.sources[record.source], block)


def _ids(run: Run) -> Iterator[list[bytes]]:
    """Read the ids of all documents again, as JSON."""
    tell = run.byte_progress("writing")
    for record, block in run.reread(run.blocks):
        documents, source = block.documents(), run.sources[record.source]
        yield as_json(documents.ids, source.path, documents.rows)
        tell(source, record.extent)
    tell.end()


def prepared(
    run: Run, clock: Stopwatch, *, different_ids: bool = False
) -> tuple[Summary, GatheredTexts]:
    """Sign, link and gather: what all answers need; `different_ids`: no id may be repeated."""
    early_stage(run, different_ids=different_ids)
    with clock("signing"):
        summary = sign_inputs(run)
        if different_ids and not run.work.has(LINKED):
            check_different_ids(run, summary)
    with clock("linking"):
        link_inputs(run)
    with clock("gathering"):
        if run.stage is None and not run.work.has(GATHERED):
            _check_room(run)
        gather_inputs(run)
        texts = GatheredTexts(run, summary.integers)
        return run.summary, texts


@contextmanager
def begun(
    run: Run,
    kind: str,
    more: Mapping[str, Any],
    outputs: Mapping[str, str | None],
    clock: Stopwatch | None = None,
) -> Iterator[Run]:
    """Hold the work directory of a run, or take part in it with others.

    Parameters
    ----------
    kind, more
        What the run is, and all that its answer depends on.
    outputs
        Where it is written.
    clock
        Takes the time in which rows are put together.
    """
    more = {**more, "limit": run.limit, "within": run.request.within}
    if run.request.group is not None:
        more = {**more, "group": run.request.group, "join_with": run.request.read.join_with}
    restart = run.request.engine.restart
    if run.stage is not None:
        more = {**more, **outputs}
        description = described(kind, run.params, run.sources, more, run.surely_read)
        with run.work.resumable(), sharing(run, kind, description) as joined:
            if joined.request.group is None:
                yield joined
            else:
                early_stage(joined)
                joined = grouped.search_in_documents(joined)
                more = _of_documents(joined, more)
                search = described(kind, joined.params, joined.sources, more, joined.surely_read)
                with sharing(joined, kind, search) as joined:
                    yield joined
            # The stages before "finish" do not come here.
            run.work.finish({**description, RESULT: joined.work.read(ENDED)})
        return
    with run.work.locked():
        description = described(kind, run.params, run.sources, more, run.surely_read)
        if not restart:
            accept_mended(run, description)
        fixed = {**planned(run, description), **outputs}
        if begin(run.work, description, fixed, restart=restart):
            run.tell(f"continuing the run in {run.work.path}: {_finished(run)}")
        try:
            if run.request.group is None:
                yield run
            else:
                with (clock or Stopwatch())("grouping"):
                    documents = grouped.documents_of_rows(run)
                with begun(documents, kind, _of_documents(documents, more), {}) as documents:
                    yield documents
        except InputError:
            forget_unless_resumable(run.work)
            raise
        except KeyboardInterrupt as error:
            again = "the same command again" + (", without restart=True" if restart else "")
            error.args = (f"run {again}, which goes on with the finished work in {run.work.path}",)
            raise
        if not run.request.engine.keep_work:
            run.work.empty(run.options.threads)


def _of_documents(run: Run, more: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the answer depends on, of a search in documents that were made of rows."""
    return {**more, "against_files": run.first_input} if "against_files" in more else dict(more)


def _finished(run: Run) -> str:
    """Return what a run before has done."""
    stages = {
        "signing": SIGNED, "linking": LINKED, "gathering": GATHERED,
        "decisions": ANSWER,
    }  # fmt: skip
    if run.request.group is not None:
        if run.work.has(grouped.DONE):
            return "its documents have been made of their rows"
        return (
            f"{sum(segment.documents for segment in run.segments_so_far()):,} rows have been read"
        )
    finished = [stage for stage, name in stages.items() if run.work.has(name)]
    if not finished:
        return (
            f"{sum(segment.documents for segment in run.segments_so_far()):,} documents are signed"
        )
    following = [*stages, "writing"][len(finished)]
    return f"finished are {', '.join(finished)}; {following} follows"


def _check_room(run: Run) -> None:
    """Raise InputError if the texts of the documents in families will not fit onto the disk."""
    summary, linked = run.summary, run.linked
    if not summary.documents:
        return
    needed = summary.text * linked.n_linked // summary.documents - bytes_gathered(run)
    free = shutil.disk_usage(run.work.path).free
    if needed > free:
        raise InputError(
            run.work.path,
            f"{linked.n_linked:,} of {summary.documents:,} documents share a bucket, and their"
            f" texts take about {amount(needed)}, but only {amount(free)} are free: free some space"
            " and run the same command again",
        )
