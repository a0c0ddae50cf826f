"""Lines, paragraphs or passages on disk: the stages of a run that numbers pieces of documents."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import sorted_range
from fastlsh.files.annotations import SpanColumns
from fastlsh.files.answers import (
    CutPassages,
    LinesFound,
    SpansFound,
    left_out,
    removal_page,
    write_spans,
)
from fastlsh.files.budget import BASE, per_passage
from fastlsh.files.cutting import SpanCutting, WithoutPieces, WithoutSpans
from fastlsh.files.disk.decide import (
    ECHOES,
    GatheredPart,
    Match,
    answer_of_all_parts,
    decide_parts,
    drop_answers,
    each_part,
    kept_documents,
    limited_documents,
    sorted_matches,
    united,
)
from fastlsh.files.disk.documents import gathered_texts
from fastlsh.files.disk.gathered import GatheredTexts, IdsOfPieces
from fastlsh.files.disk.link import PARTS, echoes_of, first_pieces
from fastlsh.files.disk.staged import Search, check_memory, execute, search_stages
from fastlsh.files.disk.write import writing_tables
from fastlsh.files.plan import OutputPlan
from fastlsh.files.run.records import KEPT, BlockRecord, Segment, Summary
from fastlsh.files.run.run import Run
from fastlsh.files.run.stages import Ended, Stage
from fastlsh.io import Block, write_text
from fastlsh.parallel import Stopwatch, batches, mapped_in, ordered_map
from fastlsh.reporting import Excerpt, LineRun, Passage, removed_passages
from fastlsh.search import warn_of_short_passages
from fastlsh.stages import (
    CutRules,
    cut_rows,
    kept_units,
    moved_rows,
    removed_spans,
    repeated_contexts,
    too_short,
    whole_matches,
    with_gaps,
    without_common,
)
from fastlsh.texts import (
    Texts,
    as_texts,
    counts_originals,
    original_spans,
    splits_characters,
)


def run_lines_on_disk(
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


BATCH = 1 << 18
"""Removed passages that are worked on at a time."""

CUT = "cut.npy"
TRACED = "traced.npy"
COMMON = "common.json"


def run_spans_on_disk(
    run: Run,
    targets: OutputPlan,
    *,
    rules: CutRules,
    annotate: bool,
    notes: Mapping[str, str],
    clock: Stopwatch,
) -> SpansFound:
    """Remove repeated passages, or go on where a run before was ended; `notes` are for the page."""
    cutting = run.cutting
    assert isinstance(cutting, SpanCutting)
    decided = {"min_length": cutting.min_length, **asdict(rules), "annotate": annotate}
    decided["against_files"] = run.first_input

    def stages(run: Run) -> list[Stage]:
        @cache
        def numbering() -> _Numbering:
            warn_of_short_passages(cutting.min_length, run.summary.text, cutting.shingler.unit)
            return _numbering(run)

        @cache
        def passages() -> CutPassages:
            rows = run.work.load(TRACED)
            _check_memory(run, len(rows), rules)
            common = run.work.read(COMMON)["common"]
            dropped = int(np.count_nonzero(~run.work.load(KEPT)))
            ids = IdsOfPieces(gathered_texts(run), numbering().pieces)
            return CutPassages(rows, numbering().n_against, common, dropped, rules, ids)

        @cache
        def left() -> WithoutSpans:
            rows, kept = passages().rows, run.work.load(KEPT)
            added = SpanColumns(rows[:, :3]) if annotate else None
            cut = rows[:0] if annotate else rows
            return WithoutSpans(np.flatnonzero(~kept), cut, rules.join, added)

        @clock("decisions")
        def decide() -> None:
            n_whole = rules.n_whole(numbering().n_against)
            _decide(run, gathered_texts(run), numbering(), n_whole)

        @clock("tracing")
        def merge() -> None:
            if not run.work.has(KEPT):
                rows = _cut(run, numbering(), rules)
                _trace(run, numbering(), rows, rules, cutting.min_length)

        @clock("writing")
        def finish() -> Ended:
            summary, documents = run.summary, numbering().documents - numbering().n_against
            with writing_tables(run, targets, left()) as together:
                passages().write_table(targets, together, has_against=run.first_input > 0)
                if targets.report is not None:
                    page = passages().page(
                        cutting, _documents_of_inputs(run), partial(_excerpts, run, numbering()),
                        {**notes, **left_out(summary.skipped)}, clock,
                    )  # fmt: skip
                    write_text(targets.report, page, together)
            return Ended(passages().counts(summary, documents), targets.all_outputs(summary.files))

        return search_stages(run, clock, decide, finish, targets, merge, left)

    search = Search("spans", decided, targets.all_paths, stages)
    return execute(run, search, clock, SpansFound, *[0] * 7)


class _Numbering(NamedTuple):
    """How documents are numbered, those of `against` first, beside the contexts."""

    pieces: NDArray[np.int64]
    """int64 (documents + 1,): the number of the first context of each."""
    n_against: int

    @property
    def documents(self) -> int:
        """How many there are."""
        return len(self.pieces) - 1


def _numbering(run: Run) -> _Numbering:
    of_against = (record for record in run.blocks if record.source < run.first_input)
    return _Numbering(first_pieces(run), sum(record.uncut for record in of_against))


def _decide(run: Run, texts: GatheredTexts, numbering: _Numbering, n_whole: int) -> None:
    """Compare the contexts of each part that has not been worked on yet.

    The first `n_whole` documents lose nothing.
    """
    assert run.cutting is not None
    length, nothing = run.cutting.min_length, np.empty(0, np.int64)

    def compare(part: GatheredPart) -> tuple[NDArray[Any], NDArray[np.int64]]:
        number = np.ascontiguousarray(part.rows["number"])
        document = np.searchsorted(numbering.pieces, number, "right") - 1
        begin = np.ascontiguousarray(part.rows["begin"])
        contexts = as_texts(part.texts).spans(0, len(number))
        shingler = run.params.shingler
        repeats = repeated_contexts(
            contexts, document, begin, length, run.options,
            words=shingler if shingler.unit == "word" else None,
        )  # fmt: skip
        return sorted_matches(repeats[repeats[:, 0] >= n_whole]), nothing

    each_part(run, texts, compare, "comparing")
    if not run.work.has(ECHOES):
        echoes = echoes_of(run)
        run.work.save(ECHOES, sorted_matches(echoes[echoes[:, 0] >= n_whole]))


def _trace(
    run: Run, numbering: _Numbering, rows: NDArray[np.int64], rules: CutRules, min_length: int
) -> None:
    """Find the places of what goes in the original texts, and the documents that go."""
    of_all = numbering.documents, numbering.n_against
    rows, common = without_common(rows, *of_all, rules.max_share, min_length)
    if rules.moves_ends(run.params.shingler):
        rows = _changed(run, numbering, rows, partial(moved_rows, rules))
    rows = with_gaps(rows, common, rules.merge_gap)
    rows, dropped = _traced(run, numbering, rows, rules.keep_least)
    kept = np.ones(numbering.documents, np.bool_)
    kept[dropped] = False
    run.work.save(TRACED, rows)
    run.work.write(COMMON, {"common": len(common)})
    run.work.save(KEPT, kept)  # the last one: nothing of this is done again


def _check_memory(run: Run, passages: int, rules: CutRules) -> None:
    """Raise ValueError if a stage that is a process of its own has too little memory for them."""
    if run.stage is not None:
        needed = BASE + per_passage(rules, run.params.shingler)[run.stage] * passages
        check_memory(run, needed, f"{run.stage} {passages:,} passages")


def _cut(run: Run, numbering: _Numbering, rules: CutRules) -> NDArray[np.int64]:
    """Return what goes from the normalised texts and where it stays, int64 (m, 5), mapped."""
    if not run.work.has(CUT):
        matches = answer_of_all_parts(run, Match, united)
        if run.stage is None:  # else late processes may still read them
            drop_answers(run)
        _check_memory(run, len(matches), rules)
        rows = np.ascontiguousarray(matches).view(np.int64).reshape(-1, 5)
        if splits_characters(run.params.shingler):
            rows = _changed(run, numbering, rows, whole_matches)
        run.work.save(CUT, cut_rows(rows, numbering.documents, mapped_in(run.work.path)))
    return run.work.load(CUT)


def _changed(
    run: Run, numbering: _Numbering, rows: NDArray[np.int64], change: Callable[..., Any]
) -> NDArray[np.int64]:
    """Return rows as `whole_matches` or `moved_rows` change those of each block, read once more."""

    def of_block(texts: Texts, start: int, chosen: slice) -> NDArray[np.int64]:
        changed: NDArray[np.int64] = change(texts, run.params.shingler, rows[chosen], start)
        return changed

    return np.concatenate([rows[:0], *_of_blocks(run, numbering, rows, rows[:, 0], of_block)])


def _traced(
    run: Run, numbering: _Numbering, rows: NDArray[np.int64], keep_least: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the same rows in the original texts, and the documents that go as a whole.

    Each row also has the end of where it stays. Reads the documents that lose something, and those
    where it stays, once more if it must.
    """
    shingler = run.params.shingler
    nothing = np.empty(0, np.int64)
    traced = mapped_in(run.work.path)((len(rows), 6), np.int64)
    for start, stop in batches(len(rows), BATCH):
        traced[start:stop, :5] = rows[start:stop]
        traced[start:stop, 5] = kept_units(rows[start:stop])[:, 1]
    if not len(rows) or (not keep_least and counts_originals(shingler)):
        return traced, nothing
    by_source = np.argsort(rows[:, 3], kind="stable")
    sources = rows[by_source, 3]

    def of_block(texts: Texts, start: int, chosen: slice) -> NDArray[np.int64]:
        traced[chosen, 1:3] = removed_spans(texts, shingler, rows[chosen], start)
        moved = by_source[slice(*np.searchsorted(sources, (start, start + len(texts))))]
        number, units = rows[moved, 3] - start, kept_units(rows[moved])
        traced[moved, 4:] = original_spans(texts, shingler, number, units)
        return start + too_short(texts, shingler, rows[chosen] - (start, 0, 0, 0, 0), keep_least)

    dropped = _of_blocks(run, numbering, rows, rows[:, (0, 3)], of_block)
    whole = traced[:, 1] < traced[:, 2]  # else the next row has the character
    return traced[whole], np.concatenate([nothing, *dropped])


def _of_blocks(
    run: Run,
    numbering: _Numbering,
    rows: NDArray[np.int64],
    documents: NDArray[np.int64],
    work: Callable[[Texts, int, slice], NDArray[np.int64]],
) -> list[NDArray[np.int64]]:
    """Read the blocks with wanted documents again, and return what a function returns of each.

    It takes their texts, the number of the first one, and which rows cut these texts.
    """
    many = np.zeros(numbering.documents + 1, np.int64)
    many[documents + 1] = 1
    np.cumsum(many, out=many)
    used = [
        record for record in run.blocks
        if many[record.stop_uncut] > many[record.first_uncut]
    ]  # fmt: skip

    def of_block(item: tuple[BlockRecord, Block]) -> NDArray[np.int64]:
        record, block = item
        texts, start = as_texts(block.documents().texts), record.first_uncut
        return work(texts, start, sorted_range(rows[:, 0], start, start + len(texts)))

    return list(ordered_map(run.reread(used), of_block, run.options.threads))


def _excerpts(run: Run, numbering: _Numbering, places: NDArray[np.int64]) -> list[Excerpt]:
    """Read stretches of documents, as `PassageRun` numbers these."""
    order = np.argsort(places[:, 0], kind="stable")
    chosen = places[order] + (numbering.n_against, 0, 0)
    excerpts: list[Any] = [None] * len(places)

    def of_block(texts: Texts, start: int, chosen_rows: slice) -> NDArray[np.int64]:
        for row in range(chosen_rows.start, chosen_rows.stop):
            number, begin, end = chosen[row].tolist()
            (text,) = texts.take(np.array([number - start])).strings()
            excerpts[order[row]] = Excerpt.of(text, begin, end)
        return chosen[:0, 0]

    _of_blocks(run, numbering, chosen, chosen[:, 0], of_block)
    return excerpts


def _documents_of_inputs(run: Run) -> list[tuple[str, int]]:
    """Return the name of each input, and how many documents it has."""
    of_files = np.zeros(len(run.sources), np.int64)
    for record in run.blocks:
        of_files[record.source] += record.uncut
    names = [source.path for source in run.sources]
    return [*zip(names, of_files.tolist(), strict=True)][run.first_input :]
