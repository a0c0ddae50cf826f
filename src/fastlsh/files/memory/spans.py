"""Passages in memory: read everything, remove, write."""

from typing import NamedTuple

import numpy as np

from fastlsh.files.annotations import SpanColumns
from fastlsh.files.cutting import SpanCutting
from fastlsh.files.memory.documents import read_both, threads_and_progress, with_against
from fastlsh.files.plan import OutputPlan
from fastlsh.files.reading import ReadBudget
from fastlsh.files.requests import Request
from fastlsh.io import (
    Collection,
    Lookup,
    replacing_together,
    span_columns,
    write_rows,
    write_table,
)
from fastlsh.parallel import Stopwatch
from fastlsh.results import SpanDeduplication
from fastlsh.search import CutCollections, deduplicate_spans_of_texts
from fastlsh.stages import CutRules


class Found(NamedTuple):
    """What a run has found."""

    result: SpanDeduplication
    collection: Collection
    others: Collection
    """The documents of `against`."""


def run_in_memory(
    request: Request,
    budget: ReadBudget,
    targets: OutputPlan,
    cutting: SpanCutting,
    rules: CutRules,
    annotate: bool,
    clock: Stopwatch,
) -> Found:
    """Read the files, remove repeated passages, and write the outputs."""
    with clock("reading"):
        collection, others = read_both(request, budget, targets)
    with clock("search"):
        result = deduplicate_spans_of_texts(
            CutCollections.of(collection.texts, others.texts), cutting.min_length,
            cutting.shingler, rules, request.run,
        )  # fmt: skip
    kept = np.ones(len(collection), np.bool_)
    kept[result.dropped] = False
    with clock("writing"), replacing_together() as together:
        if targets.removed is not None:
            ids, there = with_against(
                collection, others, result.kept_document, result.against_document
            )
            columns = span_columns(
                Lookup(ids, result.document), result.start, result.end, Lookup(ids, there),
                {"kept_start": result.kept_start},
                against=result.against_document >= 0 if request.against else None,
            )  # fmt: skip
            write_table(targets.removed, columns, together)
        changed, added = None, None
        if annotate:
            added = SpanColumns(np.column_stack([result.document, result.start, result.end]))
        else:
            changed = {number: result.texts[number] or "" for number in result.changed.tolist()}
        write_rows(
            collection, kept, targets.output, convert=targets.convert, texts=changed, added=added,
            together=together, **threads_and_progress(request.run),
        )  # fmt: skip
    return Found(result, collection, others)
