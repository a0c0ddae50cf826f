"""Deduplication of the lines or paragraphs of files: the same answer in memory and on disk."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_choice, check_integer
from fastlsh.files.answers import (
    LinesFound,
    removal_page,
    write_spans,
)
from fastlsh.files.answers import notes as notes_of
from fastlsh.files.cutting import Cutting, WithoutPieces
from fastlsh.files.disk.decide import (
    answer_of_all_parts,
    decide_parts,
    kept_documents,
    limited_documents,
)
from fastlsh.files.disk.gathered import GatheredTexts, gathered_texts
from fastlsh.files.disk.link import PARTS, first_pieces
from fastlsh.files.disk.staged import Search, execute, search_stages
from fastlsh.files.disk.write import writing_tables
from fastlsh.files.held import read_both, summary_of, threads_and_progress
from fastlsh.files.plan import EngineChoice, OutputPlan, RequestedOutputs, plan_removal, prepared
from fastlsh.files.requests import SHARED, Path, ReadBudget, Request
from fastlsh.files.results import (
    FileLineDeduplication,
    counts_of,
    shared_fields,
    warn_if_none_left,
)
from fastlsh.files.run.records import Segment, Summary
from fastlsh.files.run.run import Run
from fastlsh.files.run.stages import Ended, Stage
from fastlsh.io import Paths, replacing_together, write_rows, write_text
from fastlsh.keywords import Prepared, checkable, shares, taken
from fastlsh.parallel import Stopwatch
from fastlsh.parameters import SearchParams
from fastlsh.reporting import LineRun, Passage, line_run, removed_passages
from fastlsh.search import CutCollections, deduplicate_lines_of_texts
from fastlsh.stages import (
    piece_params,
)

if TYPE_CHECKING:
    from fastlsh.files.requests import FilePairKeywords
    from fastlsh.keywords import Unpack


@shares(*SHARED, command="dedup", refused="lines first")
@checkable
def deduplicate_line_files(
    inputs: Paths,
    output: Path | None = None,
    by: str = "line",
    *,
    against: Paths = (),
    threshold: float = 1.0,
    min_length: int = 0,
    drop_empty: bool = False,
    convert_to: str | None = None,
    removed: Path | None = None,
    report: Path | None = None,
    max_candidates: int = 1000,
    **keywords: "Unpack[FilePairKeywords]",
) -> Prepared[FileLineDeduplication]:
    r"""Remove the lines or paragraphs that repeat an earlier one from files of any size.

    The answer is that of `fastlsh.deduplicate_lines` for the documents of all inputs, to the bit,
    with either engine.

    Parameters
    ----------
    inputs, output, convert_to
        As in `deduplicate_files`. Every row is written, with all that it has besides its text.
    against
        Files of a reference collection: lines that occur in them are removed, too. They count as
        earlier than all inputs, and nothing of them is written.
    by, threshold, min_length, max_candidates
        As in `deduplicate_lines`, also for the parameters of a search by similarity.
    drop_empty
        Whether to leave out rows whose text has become empty.
    removed
        A table of the removed spans: id, start, end (in code points of the original text),
        kept_id and jaccard; if `against` is given, also against: whether kept_id is the id of a
        document there.
    report
        A page about the run (.html): what was removed most often, and how much of each document.

    Returns
    -------
    FileLineDeduplication
        Counts, times and paths.

    Raises
    ------
    InputError, TypeError, ValueError
        As in `deduplicate_files`.

    Notes
    -----
    Work directory: 12 bytes per line, and the text of each line that has a duplicate, with 64
    bytes; for a threshold below 1, 8 * (bands + 1) + 4 bytes per line. Memory on disk: about 20
    bytes per line, besides what `memory` allows.

    Examples
    --------
    >>> import json
    >>> with open("pages.jsonl", "w") as file:
    ...     for text in ("Menu\nA page", "Menu\nAnother page"):
    ...         print(json.dumps({"text": text}), file=file)
    >>> done = deduplicate_line_files("pages.jsonl", "clean.jsonl", removed="spans.tsv")
    >>> done.n_removed, done.changed
    (1, 1)
    """
    check_choice(by, "by")
    cutting = Cutting(by, check_integer(min_length, "min_length"))
    max_candidates = check_integer(max_candidates, "max_candidates")
    params = piece_params(threshold, **taken(SearchParams.of, keywords))
    request = Request.of(inputs, against, params, keywords, cutting=cutting)
    requested = RequestedOutputs(output, convert_to, removed, report=report)
    return prepared(
        request, output, lambda request: plan_removal(request, requested),
        lambda request, planned: _deduplicated(
            request, *planned, cutting, drop_empty, max_candidates
        ),
        ended=lambda result: warn_if_none_left(request, result.spans, result.n_kept, by),
    )  # fmt: skip


def _deduplicated(
    request: Request,
    targets: OutputPlan,
    choice: EngineChoice,
    cutting: Cutting,
    drop_empty: bool,
    max_candidates: int,
) -> FileLineDeduplication:
    clock = Stopwatch()
    more = {"min_length": cutting.min_length, "max_candidates": max_candidates}
    shared = {"by": cutting.by, **shared_fields(request, choice, clock, **more)}
    notes = notes_of(request, targets)
    if choice.run is None:
        counts = _run_in_memory(
            request, choice.read_budget, targets, cutting, drop_empty, max_candidates, notes, clock
        )
    else:
        counts = _run_on_disk(
            choice.run, targets, drop_empty=drop_empty, max_candidates=max_candidates, notes=notes,
            clock=clock,
        )  # fmt: skip
    return FileLineDeduplication(
        documents=counts.documents, spans=counts.spans, n_removed=counts.removed,
        written=counts.documents - (counts.emptied if drop_empty else 0), changed=counts.changed,
        emptied=counts.emptied, characters=counts.characters, limited=counts.limited,
        **{**counts_of(counts.summary), "against_documents": counts.against}, **shared,
        outputs=targets.outputs(counts.summary.files),
    )  # fmt: skip


def _run_in_memory(
    request: Request,
    budget: ReadBudget,
    targets: OutputPlan,
    cutting: Cutting,
    drop_empty: bool,
    max_candidates: int,
    notes: Mapping[str, str],
    clock: Stopwatch,
) -> LinesFound:
    """Read the files, remove repeated pieces, and write the outputs; `notes` are for the page."""
    with clock("reading"):
        collection, others = read_both(request, budget)
    with clock("search"):
        texts = collection.texts
        result = deduplicate_lines_of_texts(
            CutCollections.of(texts, others.texts), cutting.by, request.search, request.run,
            min_length=cutting.min_length, max_candidates=max_candidates,
        )  # fmt: skip
    before, outside = len(others), result.against_document
    stays = np.where(outside < 0, before + result.kept_document, outside)
    kept = np.ones(len(collection), np.bool_)
    if drop_empty:
        kept[result.emptied] = False
    with replacing_together() as together:
        with clock("writing"):
            write_spans(
                targets, others.ids + collection.ids,
                (before + result.document, result.start, result.end, stays),
                {"jaccard": result.similarity}, together,
                n_against=before if request.against else None,
            )  # fmt: skip
            changed = {number: result.texts[number] or "" for number in result.changed.tolist()}
            if targets.output is not None:
                write_rows(
                    collection, kept, targets.output, convert=targets.convert, texts=changed,
                    together=together, **threads_and_progress(request.run),
                )  # fmt: skip
        if targets.report is not None:
            run = line_run(result, texts, others.texts, collection.ids, others.ids)
            skipped = collection.skipped + others.skipped
            write_text(targets.report, removal_page(run, skipped, notes, clock), together)
    return LinesFound(
        summary_of(collection, others), len(collection), result.spans, len(result),
        result.characters, len(result.changed), len(result.emptied), result.limited, len(others),
    )  # fmt: skip


def _run_on_disk(
    run: Run,
    targets: OutputPlan,
    *,
    drop_empty: bool,
    max_candidates: int,
    notes: Mapping[str, str],
    clock: Stopwatch,
) -> LinesFound:
    """Remove what repeats, or go on where a run before was ended."""
    cutting = run.cutting
    assert cutting is not None
    decided = {"by": cutting.by, "min_length": cutting.min_length, "max_candidates": max_candidates}
    decided |= {"drop_empty": drop_empty, "against_files": run.first_input}

    def stages(run: Run) -> list[Stage]:
        @cache
        def left() -> WithoutPieces:
            kept = kept_documents(run, answer_of_all_parts(run))
            return WithoutPieces(
                kept, first_pieces(run), run.summary.n_against, cutting, drop_empty
            )

        @clock("decisions")
        def decide() -> None:
            decide_parts(run, gathered_texts(run), "first", max_candidates)

        merge = clock("decisions")(left)

        @clock("writing")
        def finish() -> Ended:
            summary, texts, proofs = run.summary, gathered_texts(run), answer_of_all_parts(run)
            counts = counts_of_pieces(run, run.segments_of_inputs)
            all_counts, limited = counts_of_pieces(run, run.segments), limited_documents(run)
            with writing_tables(run, targets, left()) as together:
                begin, end = texts.bounds(proofs["left"]).T
                lengths = end - begin
                characters = int(lengths.sum())
                write_spans(
                    targets, texts, (proofs["left"], begin, end, proofs["right"]),
                    {"jaccard": proofs["similarity"]}, together,
                    n_against=summary.n_against if run.first_input else None,
                )  # fmt: skip
                if targets.report is not None:
                    outcome = {"limited": limited, "max_candidates": max_candidates}
                    shown = _line_run(
                        run, summary, proofs, texts, all_counts, len(counts), lengths, outcome
                    )
                    page = removal_page(shown, summary.skipped, notes, clock)
                    write_text(targets.report, page, together)
                del begin, end, lengths  # a single output, which is written next, needs the memory
            found = LinesFound(
                summary, len(counts), summary.documents - summary.n_against, len(proofs),
                characters, *_changed_documents(counts, left().kept), limited,
                len(all_counts) - len(counts),
            )  # fmt: skip
            return Ended(found, targets.all_outputs(summary.files))

        return search_stages(run, clock, decide, finish, targets, merge, left)

    search = Search("lines", decided, targets.all_paths, stages)
    return execute(run, search, clock, LinesFound, *[0] * 8)


def _line_run(
    run: Run,
    summary: Summary,
    proofs: NDArray[Any],
    gathered: GatheredTexts,
    pieces: NDArray[np.int32],
    n_documents: int,
    lengths: NDArray[np.int64],
    counts: Mapping[str, int],
) -> LineRun:
    """Return what a page is about, from a run on disk: the same as in memory.

    Parameters
    ----------
    proofs, gathered
        Of all removed pieces, and of the documents in families.
    pieces
        How many pieces each document has, those of `against` first.
    n_documents
        How many documents there are behind those.
    lengths
        How many characters each removal has.
    counts
        ``limited`` and ``max_candidates``.
    """
    params, cutting = run.params, run.cutting
    assert cutting is not None
    left, right = proofs["left"], proofs["right"]
    before = len(pieces) - n_documents
    ends = np.cumsum(pieces, dtype=np.int64)
    documents, kept = (np.searchsorted(ends, side, "right") - before for side in (left, right))
    pieces_of_inputs = pieces[before:].astype(np.int64)

    def passages(rows: NDArray[np.int64]) -> tuple[list[Passage], list[Passage]]:
        both = np.concatenate([right[rows], left[rows]])
        numbers, where = np.unique(both, return_inverse=True)
        texts = gathered.texts(run.work.load(PARTS)[numbers], numbers)
        names = gathered.take(numbers)
        passages_of_rows = [
            Passage(texts[i], str(names[i]), outside=bool(numbers[i] < summary.n_against))
            for i in where.tolist()
        ]
        return passages_of_rows[: len(rows)], passages_of_rows[len(rows) :]

    return LineRun(
        cutting.by,
        params.threshold,
        None if params.finds_equal else params.lsh,
        {
            "min_length": cutting.min_length, "max_candidates": counts["max_candidates"],
            **params.keywords,
        },
        pieces_of_inputs,
        np.bincount(documents, minlength=len(pieces_of_inputs)),
        int(lengths.sum()),
        int((right < summary.n_against).sum()),
        counts["limited"],
        removed_passages(right, documents, kept, lengths, proofs["similarity"], passages),
    )  # fmt: skip


def counts_of_pieces(run: Run, segments: list[Segment]) -> NDArray[np.int32]:
    """Return how many pieces each document of some runs has."""
    return np.concatenate([np.empty(0, np.int32), *run.arrays("pieces", segments)])


def _changed_documents(counts: NDArray[np.int32], kept: NDArray[np.bool_]) -> tuple[int, int]:
    """Return how many documents lose something, and how many everything."""
    filled = counts[counts > 0]
    if not len(filled):
        return 0, 0
    starts = np.cumsum(filled, dtype=np.int64) - filled
    left = np.add.reduceat(kept, starts, dtype=np.int64)
    return int((left < filled).sum()), int((left == 0).sum())
