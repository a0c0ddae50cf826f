"""The engine in memory: read everything, search, write."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._version import __version__
from fastlsh.files.plan import Targets
from fastlsh.files.reading import Reading
from fastlsh.io import (
    Collection,
    cluster_columns,
    pair_columns,
    proof_columns,
    replacing_together,
    write_rows,
    write_table,
)
from fastlsh.parallel import RunOptions, Stopwatch
from fastlsh.reporting import report as write_report
from fastlsh.results import Deduplication, Pairs
from fastlsh.search import deduplicate, near_duplicates


def run_deduplication(
    inputs: Sequence[str],
    against: Sequence[str],
    targets: Targets,
    reading: Reading,
    keywords: dict[str, Any],
    notes: Mapping[str, str],
    options: RunOptions,
    clock: Stopwatch,
) -> tuple[Deduplication, Collection, Collection]:
    """Read the files, remove the near-duplicates, and write what is asked for.

    Parameters
    ----------
    keywords
        For `deduplicate`.
    notes
        For the page.
    options
        Threads and progress of reading and writing.
    clock
        Is told how long each stage takes.
    """
    how: dict[str, Any] = {"threads": options.threads, "progress": options.progress.function}
    with clock("reading"):
        together = {"uniform": not targets.folders, "mixed": targets.folders}
        collection = reading.read(inputs, **together, **how)
        known = reading.read(against, against=True, mixed=True, **how) if against else Collection()
    if collection.priority is not None:
        keywords["priority"] = collection.priority
    result = deduplicate(collection.texts, against=known.texts, **keywords)
    with replacing_together():
        with clock("writing"):
            if targets.removed is not None:
                outside = result.against_index[result.removed] >= 0 if against else None
                write_table(targets.removed, _proofs(result, collection, known, outside))
            if targets.clusters is not None:
                write_table(targets.clusters, _clusters(result, collection))
            write_rows(collection, result.kept, targets.output, convert=targets.convert, **how)
        if targets.report is not None:
            seconds = {"reading": clock["reading"], **result.seconds, "writing": clock["writing"]}
            _report(result, collection, known, targets.report, notes, seconds)
    clock.update(result.seconds)
    return result, collection, known


def run_pairs(
    inputs: Sequence[str],
    output: str | None,
    reading: Reading,
    keywords: Mapping[str, Any],
    options: RunOptions,
    clock: Stopwatch,
) -> tuple[Pairs, Collection]:
    """Read the files, find all pairs, and write them."""
    with clock("reading"):
        how: dict[str, Any] = {"threads": options.threads, "progress": options.progress.function}
        collection = reading.read(inputs, mixed=True, **how)
    with clock("search"):
        found = near_duplicates(collection.texts, **keywords)
    with clock("writing"):
        columns = pair_columns(
            collection.ids, found.left, found.right, found.similarity, found.estimate
        )
        write_table(output, columns)
    return found, collection


def notes(
    inputs: Sequence[str], against: Sequence[str], targets: Targets, limit: int | None
) -> dict[str, str]:
    """Return what a page tells of the files."""
    told = {"input": ", ".join(inputs)}
    if limit is not None:
        told["limit"] = f"the first {limit:,} documents"
    if against:
        told["reference collection"] = ", ".join(against)
    told["kept rows"] = targets.output
    if targets.removed is not None:
        told["proofs"] = targets.removed
    told["made"] = f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z} by fastlsh {__version__}"
    return told


def left_out(skipped: int) -> dict[str, str]:
    """Return what a page tells of bad rows."""
    return {"rows left out": f"{skipped:,}"} if skipped else {}


def with_known(
    collection: Collection,
    known: Collection,
    kept: NDArray[np.int64],
    outside: NDArray[np.int64],
) -> tuple[Sequence[Any], NDArray[np.int64]]:
    """Return the ids of both, and places in them of the kept documents.

    The ids of `known`, the documents of `against`, come behind those of the inputs; `outside` has
    the number of one of these where it is the kept one, else -1.
    """
    ids = [*collection.ids, *known.ids] if len(known) else collection.ids
    return ids, np.where(outside < 0, kept, len(collection) + outside)


def _proofs(
    result: Deduplication,
    collection: Collection,
    against: Collection,
    outside: NDArray[np.bool_] | None,
) -> dict[str, Any]:
    gone = result.removed
    ids, reason = with_known(
        collection, against, result.kept_index[gone], result.against_index[gone]
    )
    measure = "containment" if result.rule == "contained" else "jaccard"
    return proof_columns(ids, gone, reason, result.similarity[gone], measure, against=outside)


def _clusters(result: Deduplication, collection: Collection) -> dict[str, Any]:
    clusters = result.clusters()
    members = np.array([number for cluster in clusters for number in cluster], np.int64)
    sizes = [len(cluster) for cluster in clusters]
    return cluster_columns(collection.ids, members, np.repeat(np.arange(len(clusters)), sizes))


def _report(
    result: Deduplication,
    collection: Collection,
    against: Collection,
    path: str,
    told: Mapping[str, str],
    seconds: Mapping[str, float],
) -> None:
    bad = left_out(collection.skipped + against.skipped)
    before = {
        name: told[name] for name in ("input", "limit", "reference collection") if name in told
    }
    write_report(
        result,
        collection.texts,
        path,
        against=against.texts,
        ids=collection.ids,
        against_ids=against.ids,
        title=f"Deduplication of {len(collection):,} documents",
        notes={**before, **bad, **told},
        seconds=seconds,
    )
