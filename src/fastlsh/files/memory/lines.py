"""Lines or paragraphs in memory: read everything, remove, write."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from fastlsh.files.cutting import Cutting
from fastlsh.files.line_pages import removal_page
from fastlsh.files.memory.documents import read_both, span_table, threads_and_progress
from fastlsh.files.plan import OutputPlan
from fastlsh.files.reading import ReadBudget
from fastlsh.files.requests import Request
from fastlsh.io import Collection, replacing_together, write_rows, write_table, write_text
from fastlsh.parallel import Stopwatch
from fastlsh.reporting import line_run
from fastlsh.results import LineDeduplication
from fastlsh.search import CutCollections, deduplicate_lines_of_texts


class Found(NamedTuple):
    """What a run has found."""

    result: LineDeduplication
    collection: Collection
    others: Collection
    """The documents of `against`."""
    kept: int
    """Rows that were written."""


def run_in_memory(
    request: Request,
    budget: ReadBudget,
    targets: OutputPlan,
    cutting: Cutting,
    drop_empty: bool,
    max_candidates: int,
    notes: Mapping[str, str],
    clock: Stopwatch,
) -> Found:
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
    return Found(result, collection, others, int(kept.sum()))
