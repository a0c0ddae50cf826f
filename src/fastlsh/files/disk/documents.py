"""The engine on disk: deduplication and pairs, by the stages of a run; and its pages."""

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import unique
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
from fastlsh.files.cutting import WholeRows
from fastlsh.files.disk import grouped
from fastlsh.files.disk.decide import (
    answer_of_all_parts,
    answer_rows,
    check_pairs,
    decide_parts,
    kept_documents,
    limited_documents,
    pairs_of_parts,
)
from fastlsh.files.disk.gathered import GatheredTexts, as_json
from fastlsh.files.disk.link import PARTS
from fastlsh.files.disk.segments import saved_columns
from fastlsh.files.disk.staged import Search, execute, search_stages
from fastlsh.files.disk.write import reread_kept, writing_tables
from fastlsh.files.plan import OutputPlan, RemovalRules
from fastlsh.files.requests import PairSearch
from fastlsh.files.run.manifest import OUTPUT_PATH
from fastlsh.files.run.records import Summary
from fastlsh.files.run.run import Run
from fastlsh.files.run.stages import Ended, Stage
from fastlsh.files.run.workdir import recording
from fastlsh.files.saved_index import save_index
from fastlsh.io import replacing_together, write_text
from fastlsh.parallel import Stopwatch, plural
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
            return left if run.rows is None else grouped.rows_left(run.rows, left)

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


def run_pairs(run: Run, *, search: PairSearch, clock: Stopwatch) -> PairsFound:
    """Find all pairs and write them, or go on where a run before was ended."""
    estimates = search.estimates
    decided: dict[str, Any] = {"max_pairs": search.max_pairs, "estimates": estimates}
    if run.first_input:
        decided |= {"against_files": run.first_input, "best": search.best}
        decided |= {"one_to_one": search.one_to_one}
    outputs = {OUTPUT_PATH: search.output, "components": search.components}

    def stages(run: Run) -> list[Stage]:
        @clock("decisions")
        def decide() -> None:
            pairs_of_parts(run, gathered_texts(run), search)

        @clock("writing")
        def finish() -> Ended:
            check_pairs(answer_rows(run), search.max_pairs)
            pairs = answer_of_all_parts(run, EstimatedPair if estimates else FoundPair)
            return Ended(_written_pairs(run, search, pairs), search.tables)

        return search_stages(run, clock, decide, finish)

    return execute(run, Search("pairs", decided, outputs, stages), clock, PairsFound, 0, 0)


def _written_pairs(run: Run, search: PairSearch, pairs: NDArray[Any]) -> PairsFound:
    """Write the tables of pairs; return what was found."""
    left, right, summary = pairs["left"], pairs["right"], run.summary
    tables = PairTables(
        gathered_texts(run), left, right, pairs["similarity"],
        pairs["estimate"] if search.estimates else None, partial(_reread, run),
    )  # fmt: skip
    with replacing_together() as together:
        if search.components is not None:
            numbers = np.arange(summary.documents)
            ids = Cells(numbers, _ids(run), integers=summary.integers)
            component = components_of(left, right, summary.documents)
            write_components(search.components, ids, component, together)
        tables.write(search, run.params, run.budget.row, together)
    inside = count_in_pairs(left, right, range(summary.n_against, summary.documents))
    return PairsFound(summary, len(pairs), inside)


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


def gathered_texts(run: Run) -> GatheredTexts:
    """Return the texts of the documents in families."""
    return GatheredTexts(run, run.summary.integers)
