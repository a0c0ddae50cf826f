"""Lines, paragraphs or passages in memory: read everything, remove, write."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.files.annotations import SpanColumns
from fastlsh.files.answers import LinesFound, SpansFound
from fastlsh.files.cutting import Cutting, SpanCutting
from fastlsh.files.memory.documents import (
    left_out,
    read_both,
    span_table,
    summary_of,
    threads_and_progress,
)
from fastlsh.files.plan import OutputPlan
from fastlsh.files.requests import ReadBudget, Request
from fastlsh.io import Collection, replacing_together, write_rows, write_table, write_text
from fastlsh.parallel import Stopwatch, plural
from fastlsh.reporting import Excerpt, LineRun, PassageRun, line_run, lines_page, passages_page
from fastlsh.results import SpanDeduplication
from fastlsh.search import CutCollections, deduplicate_lines_of_texts, deduplicate_spans_of_texts
from fastlsh.stages import CutRules, characters_of
from fastlsh.texts import as_texts


def run_lines_in_memory(
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
    kept = np.ones(len(collection), np.bool_)
    if drop_empty:
        kept[result.emptied] = False
    with replacing_together() as together:
        with clock("writing"):
            if targets.removed is not None:
                measure = {"jaccard": result.similarity}
                spans = span_table(request, result, collection, others, measure)
                write_table(targets.removed, spans, together)
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


def removal_page(
    run: LineRun, skipped: int, notes: Mapping[str, str], seconds: Mapping[str, float]
) -> str:
    """Return the page; `skipped` rows were left out."""
    title = f"Repeated {run.by}s of {plural(len(run.pieces), 'document')}"
    return lines_page(run, title, {**notes, **left_out(skipped)}, seconds)


def _passage_run(
    result: SpanDeduplication,
    collection: Collection,
    others: Collection,
    cutting: SpanCutting,
    rules: CutRules,
) -> PassageRun:
    """Return what a page is about."""
    before = len(others)
    outside = result.against_document >= 0
    kept_by = np.where(outside, result.against_document - before, result.kept_document)
    texts = as_texts(collection.texts), as_texts(others.texts)

    def excerpts(places: NDArray[np.int64]) -> list[Excerpt]:
        shown = []
        for number, start, end in places.tolist():
            row = np.array([number if number >= 0 else number + before])
            (text,) = texts[number < 0].take(row).strings()
            shown.append(Excerpt.of(text, start, end))
        return shown

    def names(documents: NDArray[np.int64]) -> list[Any]:
        return [
            collection.ids[number] if number >= 0 else others.ids[number + before]
            for number in documents.tolist()
        ]

    return PassageRun(
        np.column_stack([
            result.document, result.start, result.end, kept_by, result.kept_start, result.kept_end
        ]),
        [(part.source.path, part.documents) for part in collection.parts],
        len(result.common), len(result.dropped), cutting.min_length, cutting.shingler,
        rules.given, excerpts, names,
    )  # fmt: skip


def run_spans_in_memory(
    request: Request,
    budget: ReadBudget,
    targets: OutputPlan,
    cutting: SpanCutting,
    rules: CutRules,
    annotate: bool,
    notes: Mapping[str, str],
    clock: Stopwatch,
) -> SpansFound:
    """Read the files, remove repeated passages, and write the outputs; `notes` are for the page."""
    with clock("reading"):
        collection, others = read_both(request, budget)
    with clock("search"):
        result = deduplicate_spans_of_texts(
            CutCollections.of(collection.texts, others.texts), cutting.min_length,
            cutting.shingler, rules, request.run,
        )  # fmt: skip
    kept = np.ones(len(collection), np.bool_)
    kept[result.dropped] = False
    with clock("writing"), replacing_together() as together:
        if targets.removed is not None:
            starts = {"kept_start": result.kept_start}
            spans = span_table(request, result, collection, others, starts)
            write_table(targets.removed, spans, together)
        changed, added = None, None
        if annotate:
            added = SpanColumns(np.column_stack([result.document, result.start, result.end]))
        else:
            changed = {number: result.texts[number] or "" for number in result.changed.tolist()}
        if targets.output is not None:
            write_rows(
                collection, kept, targets.output, convert=targets.convert, texts=changed,
                added=added, together=together, **threads_and_progress(request.run),
            )  # fmt: skip
        if targets.report is not None:
            run = _passage_run(result, collection, others, cutting, rules)
            skipped = left_out(collection.skipped + others.skipped)
            page = passages_page(run, {**notes, **skipped}, clock)
            write_text(targets.report, page, together)
    characters = characters_of(as_texts(collection.texts), cutting.shingler, request.run)
    summary = summary_of(collection, others, characters=int(characters.sum()))
    return SpansFound(
        summary, len(collection), len(result), result.characters, len(result.changed),
        len(result.dropped), len(result.common), len(others),
    )  # fmt: skip
