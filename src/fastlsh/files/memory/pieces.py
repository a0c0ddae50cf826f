"""Lines, paragraphs or passages in memory: read everything, remove, write."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from fastlsh.files.annotations import SpanColumns
from fastlsh.files.answers import (
    CutPassages,
    LinesFound,
    SpansFound,
    left_out,
    removal_page,
    write_spans,
)
from fastlsh.files.cutting import Cutting, SpanCutting
from fastlsh.files.memory.documents import (
    read_both,
    summary_of,
    threads_and_progress,
)
from fastlsh.files.plan import OutputPlan
from fastlsh.files.requests import ReadBudget, Request
from fastlsh.io import replacing_together, write_rows, write_text
from fastlsh.parallel import Stopwatch
from fastlsh.reporting import Excerpt, line_run
from fastlsh.search import CutCollections, cut_passages, deduplicate_lines_of_texts
from fastlsh.stages import CutRules, characters_of
from fastlsh.texts import Texts, as_texts, joined_texts


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
        cut = cut_passages(
            CutCollections.of(collection.texts, others.texts), cutting.min_length,
            cutting.shingler, rules, request.run,
        )  # fmt: skip
    before = len(others)
    passages = CutPassages(
        np.column_stack([cut.removed, cut.kept]), before, len(cut.common), len(cut.dropped), rules,
        others.ids + collection.ids,
    )  # fmt: skip
    kept = np.ones(len(collection), np.bool_)
    kept[cut.dropped - before] = False
    changed, added = None, None
    if annotate:
        added = SpanColumns(cut.removed, before)
    else:
        changed = {number - before: text for number, text in cut.texts.items()}
    with clock("writing"), replacing_together() as together:
        passages.write_table(targets, together, has_against=bool(request.against))
        if targets.output is not None:
            write_rows(
                collection, kept, targets.output, convert=targets.convert, texts=changed,
                added=added, together=together, **threads_and_progress(request.run),
            )  # fmt: skip
        if targets.report is not None:
            texts = joined_texts(as_texts(others.texts), as_texts(collection.texts))
            page = passages.page(
                cutting, [(part.source.path, part.documents) for part in collection.parts],
                lambda places: _excerpts(texts, np.add(places, (before, 0, 0))),
                {**notes, **left_out(collection.skipped + others.skipped)}, clock,
            )  # fmt: skip
            write_text(targets.report, page, together)
    characters = characters_of(as_texts(collection.texts), cutting.shingler, request.run)
    summary = summary_of(collection, others, characters=int(characters.sum()))
    return passages.counts(summary, len(collection))


def _excerpts(texts: Texts, places: NDArray[np.int64]) -> list[Excerpt]:
    """Return stretches of documents, by the numbers of these."""
    strings = (texts.take(row).strings()[0] for row in places[:, :1])
    bounds = places[:, 1:].tolist()
    return [Excerpt.of(text, *place) for text, place in zip(strings, bounds, strict=True)]
