"""The overlap of data sets on disk: counts of each part, and the lengths of all documents."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.files.disk.decide import GatheredPart, answer_name, each_part, prepared_texts
from fastlsh.files.disk.documents import begun, prepared
from fastlsh.files.disk.gather import records_of, reread_signed_blocks
from fastlsh.files.disk.sign import Summary
from fastlsh.files.run.job import Job
from fastlsh.files.run.manifest import OUTPUT_PATH
from fastlsh.parallel import Stopwatch, ordered_map
from fastlsh.results import Overlap
from fastlsh.stages import Shared, added_up, characters_of, shared_counts_of_part
from fastlsh.texts import as_texts

TOTALS = "totals.npy"
"""Documents and characters of each data set."""


def run_overlap(
    job: Job,
    names: list[str],
    of_source: NDArray[np.int64],
    max_pairs: int,
    output: str | None,
    write: Callable[[Overlap, int], None],
    clock: Stopwatch,
) -> tuple[Overlap, Summary]:
    """Count, or go on where a run before was ended, and write.

    Parameters
    ----------
    names
        Of the data sets.
    of_source
        The data set of each file.
    max_pairs
        As for `overlap_files`.
    output
        Where the table is written.
    write
        Writes what is asked for, given how many rows were skipped; then the work is removed.
    clock
        Takes the time of each stage.
    """
    sizes = np.bincount(of_source, minlength=len(names)).tolist()
    more = {"max_pairs": max_pairs, "files of each data set": sizes}
    with begun(job, "overlap", more, {OUTPUT_PATH: output}) as job:
        summary, linked, texts = prepared(job, clock)
        records = records_of(job)
        firsts = np.array([first for first, _ in records], np.int64)
        sets = np.array([of_source[record.source] for _, record in records], np.int64)

        def count(part: GatheredPart) -> tuple[NDArray[Any], NDArray[np.int64]]:
            numbers = np.ascontiguousarray(part.rows["number"])
            lengths = characters_of(as_texts(part.texts), job.params.shingler, job.options)
            found = shared_counts_of_part(
                prepared_texts(job, part), numbers,
                sets[np.searchsorted(firsts, numbers, "right") - 1], lengths, job.params,
                max_pairs=max_pairs, threads=job.options.threads, scratch=part.scratch,
            )  # fmt: skip
            return found, np.empty(0, np.int64)

        with clock("decisions"):
            each_part(job, linked, texts, count, "comparing")
            tables = [job.work.load(answer_name(number)) for number in range(linked.parts)]
        with clock("counting"):
            documents, characters = _totals(job, len(names), of_source)
        counts = added_up(np.concatenate([np.empty(0, Shared), *tables]))
        found = Overlap(
            names, documents, characters, counts, empty=summary.empty, params=job.params.lsh
        )
        with clock("writing"):
            write(found, summary.skipped)
        return found, summary


def _totals(job: Job, count: int, of_source: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the documents and the characters of each data set, int64 (2, count)."""
    if not job.work.has(TOTALS):
        total = np.zeros((2, count), np.int64)
        tell = job.byte_progress("counting")
        plain = replace(job.options, threads=1)

        def measured(item: Any) -> tuple[Any, int, int]:
            _, record, block = item
            lengths = characters_of(as_texts(block.documents().texts), job.params.shingler, plain)
            return record, len(lengths), int(lengths.sum())

        blocks = reread_signed_blocks(job, records_of(job))
        for record, documents, characters in ordered_map(
            blocks, measured, job.options.threads,
            alone=lambda item: job.is_large(item[1].source, item[1].extent),
        ):  # fmt: skip
            total[:, of_source[record.source]] += documents, characters
            tell(job.sources[record.source], record.extent)
        tell.end()
        job.work.save(TOTALS, total)
    return job.work.load(TOTALS)
