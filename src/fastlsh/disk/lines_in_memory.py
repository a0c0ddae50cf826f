"""Lines or paragraphs in memory: read everything, remove, write."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fastlsh.disk.cutting import Cutting
from fastlsh.disk.plan import Targets
from fastlsh.disk.reading import Reading
from fastlsh.io import Collection, Lookup, replacing_together, span_columns, write_rows, write_table
from fastlsh.parallel import RunOptions, Stopwatch
from fastlsh.results import LineDeduplication
from fastlsh.search import deduplicate_lines


class Found(NamedTuple):
    """What a run has found."""

    result: LineDeduplication
    collection: Collection
    kept: int
    """Rows that were written."""


def run_in_memory(
    inputs: Sequence[str],
    targets: Targets,
    reading: Reading,
    cutting: Cutting,
    drop_empty: bool,
    keywords: dict[str, Any],
    options: RunOptions,
    clock: Stopwatch,
) -> Found:
    """Read the files, remove what repeats, and write what is asked for."""
    how: dict[str, Any] = {"threads": options.threads, "progress": options.progress.function}
    with clock("reading"):
        together = {"uniform": not targets.folders, "mixed": targets.folders}
        collection = reading.read(inputs, **together, **how)
    with clock("search"):
        texts = collection.texts
        result = deduplicate_lines(
            texts, cutting.by, min_length=cutting.min_length, **how, **keywords
        )
    kept = np.ones(len(collection), np.bool_)
    if drop_empty:
        kept[result.emptied] = False
    with clock("writing"), replacing_together():
        if targets.removed is not None:
            columns = span_columns(
                Lookup(collection.ids, result.document), result.start, result.end,
                Lookup(collection.ids, result.kept_document), result.similarity,
            )  # fmt: skip
            write_table(targets.removed, columns)
        changed = {number: result.texts[number] or "" for number in result.changed.tolist()}
        write_rows(collection, kept, targets.output, convert=targets.convert, texts=changed, **how)
    return Found(result, collection, int(kept.sum()))
