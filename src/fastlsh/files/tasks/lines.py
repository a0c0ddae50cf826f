"""Deduplication of lines, paragraphs or sentences of files: in memory and on disk alike."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_choice, check_integer
from fastlsh.arrays import covered_length
from fastlsh.files.answers import LinesFound, removal_page, write_spans
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
from fastlsh.files.disk.write import writing_tables
from fastlsh.files.execution import Search, search_stages
from fastlsh.files.held import Held
from fastlsh.files.plan import EngineChoice, OutputPlan, RequestedOutputs, plan_removal, prepared
from fastlsh.files.requests import SHARED, Path, Request
from fastlsh.files.results import FileLineDeduplication, counts_of, shared_fields, warn_if_none_left
from fastlsh.files.run.records import Segment, Summary
from fastlsh.files.run.run import Run
from fastlsh.files.run.stages import Ended, Stage
from fastlsh.io import Paths, replacing_together, write_text
from fastlsh.keywords import Prepared, checkable, shares, taken
from fastlsh.parallel import Stopwatch
from fastlsh.parameters import SearchParams
from fastlsh.reporting import LineRun, Passage, PieceRemovals, line_run
from fastlsh.search import CutCollections, deduplicate_lines_of_texts
from fastlsh.stages import check_window, piece_params

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
    window: int = 1,
    min_length: int = 0,
    drop_empty: bool = False,
    convert_to: str | None = None,
    removed: Path | None = None,
    report: Path | None = None,
    max_candidates: int = 1000,
    **keywords: "Unpack[FilePairKeywords]",
) -> Prepared[FileLineDeduplication]:
    r"""Remove lines, paragraphs or sentences that repeat an earlier one from files of any size.

    The answer is that of `fastlsh.deduplicate_lines` for the documents of all inputs, to the bit,
    with either engine.

    Parameters
    ----------
    inputs, output, convert_to
        As in `deduplicate_files`. Every row is written, with all that it has besides its text.
    against
        Files of a reference collection: lines that occur in them are removed, too. They count as
        earlier than all inputs, and nothing of them is written.
    by, threshold, window, min_length, max_candidates
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
    min_length = check_integer(min_length, "min_length")
    max_candidates = check_integer(max_candidates, "max_candidates")
    params = piece_params(threshold, **taken(SearchParams.of, keywords))
    cutting = Cutting(by, min_length, window=check_window(window, params))
    request = Request.of(inputs, against, params, keywords, cutting=cutting)
    requested = RequestedOutputs(output, convert_to, removed, report=report)

    def task(request: Request, targets: OutputPlan) -> Lines:
        notes = notes_of(request, targets)
        return Lines(targets, cutting, drop_empty, max_candidates, notes, Stopwatch())

    return prepared(
        request, output, lambda request: plan_removal(request, requested),
        lambda request, planned: task(request, planned[0]).result(request, planned[1]),
        ended=lambda result: warn_if_none_left(request, result.spans, result.n_kept, cutting.name),
    )  # fmt: skip


@dataclass(frozen=True)
class Lines(Search[LinesFound]):
    """A removal of repeated lines, paragraphs or sentences."""

    targets: OutputPlan
    """What is written."""
    cutting: Cutting
    drop_empty: bool
    """Whether rows go of which nothing is left."""
    max_candidates: int
    notes: Mapping[str, str]
    """For the page."""
    clock: Stopwatch

    kind = "lines"
    found = LinesFound

    def result(self, request: Request, choice: EngineChoice) -> FileLineDeduplication:
        """Search and write; return what was found, with the counts, times and paths."""
        cutting = self.cutting
        more = {**cutting.options, "max_candidates": self.max_candidates}
        shared = {"by": cutting.by, **shared_fields(request, choice, self.clock, **more)}
        counts = self.find(request, choice)
        return FileLineDeduplication(
            documents=counts.documents, spans=counts.spans, n_removed=counts.removed,
            written=counts.documents - (counts.emptied if self.drop_empty else 0),
            changed=counts.changed, emptied=counts.emptied, characters=counts.characters,
            limited=counts.limited,
            **{**counts_of(counts.summary), "against_documents": counts.against}, **shared,
            outputs=self.targets.outputs(counts.summary.files),
        )  # fmt: skip

    def in_memory(self, held: Held) -> LinesFound:
        """Search in the documents in memory, and write."""
        request, targets = held.request, self.targets
        collection, others = held.collection, held.others
        with self.clock("search"):
            result = deduplicate_lines_of_texts(
                CutCollections.of(collection.texts, others.texts), self.cutting.by,
                request.search, request.run, window=self.cutting.window,
                min_length=self.cutting.min_length, max_candidates=self.max_candidates,
            )  # fmt: skip
        before, outside = len(others), result.against_document
        stays = np.where(outside < 0, before + result.kept_document, outside)
        kept = np.ones(len(collection), np.bool_)
        if self.drop_empty:
            kept[result.emptied] = False
        changed = {number: result.texts[number] or "" for number in result.changed.tolist()}
        with replacing_together() as together:
            with self.clock("writing"):
                write_spans(
                    targets, held.ids,
                    (before + result.document, result.start, result.end, stays),
                    {"jaccard": result.similarity}, together,
                    n_against=before if request.against else None,
                )  # fmt: skip
                held.write_rows(targets, kept, together, texts=changed)
            if targets.report is not None:
                run = line_run(result, held.reported)
                page = removal_page(run, held.skipped, self.notes, self.clock)
                write_text(targets.report, page, together)
        return LinesFound(
            held.summary(), len(collection), result.spans, len(result), result.characters,
            len(result.changed), len(result.emptied), result.limited, before,
        )  # fmt: skip

    def decided(self, _: Request) -> dict[str, Any]:
        """Return all that the answer depends on, besides the request."""
        return {
            "by": self.cutting.by, **self.cutting.options,
            "max_candidates": self.max_candidates, "drop_empty": self.drop_empty,
        }  # fmt: skip

    @property
    def outputs(self) -> dict[str, str | None]:
        """Where everything is written, as it was given."""
        return self.targets.all_paths

    def stages(self, run: Run) -> list[Stage]:
        """Return the table of the stages of a run on disk."""
        targets = self.targets

        @cache
        def left() -> WithoutPieces:
            kept = kept_documents(run, answer_of_all_parts(run))
            return WithoutPieces(
                kept, first_pieces(run), run.summary.n_against, self.cutting, self.drop_empty
            )

        @self.clock("decisions")
        def decide() -> None:
            decide_parts(run, gathered_texts(run), "first", self.max_candidates)

        merge = self.clock("decisions")(left)

        @self.clock("writing")
        def finish() -> Ended:
            summary, texts, proofs = run.summary, gathered_texts(run), answer_of_all_parts(run)
            counts = counts_of_pieces(run, run.segments_of_inputs)
            all_counts, limited = counts_of_pieces(run, run.segments), limited_documents(run)
            with writing_tables(run, targets, left()) as together:
                begin, end = texts.bounds(proofs["left"]).T
                lengths = end - begin
                ends = np.cumsum(all_counts, dtype=np.int64)
                owners = np.searchsorted(ends, proofs["left"], "right")
                characters = covered_length(owners, begin, end)
                del ends, owners
                write_spans(
                    targets, texts, (proofs["left"], begin, end, proofs["right"]),
                    {"jaccard": proofs["similarity"]}, together,
                    n_against=summary.n_against if run.first_input else None,
                )  # fmt: skip
                changed, emptied = _changed_documents(left(), counts)
                if targets.report is not None:
                    outcome = {
                        "limited": limited, "max_candidates": self.max_candidates,
                        "emptied": emptied, "characters": characters,
                    }  # fmt: skip
                    shown = _line_run(
                        run, summary, proofs, texts, all_counts, len(counts), lengths, outcome
                    )
                    page = removal_page(shown, summary.skipped, self.notes, self.clock)
                    write_text(targets.report, page, together)
                del begin, end, lengths  # a single output, which is written next, needs the memory
            found = LinesFound(
                summary, len(counts), summary.documents - summary.n_against, len(proofs),
                characters, changed, emptied, limited, len(all_counts) - len(counts),
            )  # fmt: skip
            return Ended(found, targets.all_outputs(summary.files))

        return search_stages(run, self.clock, decide, finish, targets, merge, left)


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
        ``limited``, ``max_candidates``, ``emptied`` and ``characters``.
    """
    params, cutting = run.params, run.cutting
    assert cutting is not None
    left, right = proofs["left"], proofs["right"]
    before = len(pieces) - n_documents
    ends = np.cumsum(pieces, dtype=np.int64)
    documents, kept = (np.searchsorted(ends, side, "right") for side in (left, right))

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
        cutting.name,
        params.threshold,
        None if params.finds_equal else params.lsh,
        {**cutting.options, "max_candidates": counts["max_candidates"], **params.keywords},
        pieces[before:].astype(np.int64),
        before,
        counts["emptied"],
        counts["characters"],
        counts["limited"],
        PieceRemovals(right, documents, kept, lengths, proofs["similarity"], passages),
    )  # fmt: skip


def counts_of_pieces(run: Run, segments: list[Segment]) -> NDArray[np.int32]:
    """Return how many pieces each document of some runs has."""
    return np.concatenate([np.empty(0, np.int32), *run.arrays("pieces", segments)])


def _changed_documents(left: WithoutPieces, counts: NDArray[np.int32]) -> tuple[int, int]:
    """Return how many documents lose something, and how many everything."""
    lines, stay = left.lines_left(counts, left.kept)
    return int((stay < lines).sum()), int((stay == 0).sum())
