"""Lines or paragraphs in memory: read everything, remove, write."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.files.cutting import Cutting
from fastlsh.files.line_pages import report_removal
from fastlsh.files.memory.documents import with_known
from fastlsh.files.plan import Targets
from fastlsh.files.reading import Reading
from fastlsh.io import Collection, Lookup, replacing_together, span_columns, write_rows, write_table
from fastlsh.parallel import RunOptions, Stopwatch
from fastlsh.reporting import line_run
from fastlsh.results import LineDeduplication
from fastlsh.search import deduplicate_lines


class Found(NamedTuple):
    """What a run has found."""

    result: LineDeduplication
    collection: Collection
    known: Collection
    """The documents of `against`."""
    kept: int
    """Rows that were written."""


def run_in_memory(
    inputs: Sequence[str],
    against: Sequence[str],
    targets: Targets,
    reading: Reading,
    cutting: Cutting,
    drop_empty: bool,
    keywords: dict[str, Any],
    notes: Mapping[str, str],
    options: RunOptions,
    clock: Stopwatch,
) -> Found:
    """Read the files, remove what repeats, and write what is asked for.

    `keywords` are for `deduplicate_lines`, `notes` for the page.
    """
    how: dict[str, Any] = {"threads": options.threads, "progress": options.progress.function}
    with clock("reading"):
        together = {"uniform": not targets.folders, "mixed": targets.folders}
        collection = reading.read(inputs, **together, **how)
        known = reading.read(against, against=True, mixed=True, **how) if against else Collection()
    with clock("search"):
        texts = collection.texts
        result = deduplicate_lines(
            texts, cutting.by, against=known.texts, min_length=cutting.min_length, **how,
            **keywords,
        )  # fmt: skip
    kept = np.ones(len(collection), np.bool_)
    if drop_empty:
        kept[result.emptied] = False
    with replacing_together():
        with clock("writing"):
            if targets.removed is not None:
                outside = result.against_document >= 0 if against else None
                write_table(targets.removed, _spans(result, collection, known, outside))
            changed = {number: result.texts[number] or "" for number in result.changed.tolist()}
            write_rows(
                collection, kept, targets.output, convert=targets.convert, texts=changed, **how
            )
        if targets.report is not None:
            run = line_run(result, texts, known.texts, collection.ids, known.ids)
            skipped = collection.skipped + known.skipped
            report_removal(run, skipped, targets.report, notes, clock)
    return Found(result, collection, known, int(kept.sum()))


def _spans(
    result: LineDeduplication,
    collection: Collection,
    known: Collection,
    outside: NDArray[np.bool_] | None,
) -> dict[str, Any]:
    ids, kept = with_known(collection, known, result.kept_document, result.against_document)
    return span_columns(
        Lookup(ids, result.document), result.start, result.end, Lookup(ids, kept),
        result.similarity, against=outside,
    )  # fmt: skip
