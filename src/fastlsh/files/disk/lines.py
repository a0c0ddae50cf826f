"""Lines or paragraphs on disk: the stages of a run, in which pieces of documents are numbered."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.files.disk.answers import answer_of_all_parts, kept_documents
from fastlsh.files.disk.decide import decide_parts, limited_documents
from fastlsh.files.disk.documents import begun, prepared
from fastlsh.files.disk.sign import Summary
from fastlsh.files.disk.signed_runs import SignedRun, finished_runs, runs_of_inputs
from fastlsh.files.disk.staged import end_of_stage, ended, staged_run, write_stage
from fastlsh.files.disk.write import PieceRemainder, writing_outputs
from fastlsh.files.line_pages import line_run_on_disk, removal_page
from fastlsh.files.plan import OutputPlan
from fastlsh.files.run.job import Job
from fastlsh.files.run.manifest import check_unchanged
from fastlsh.io import Lookup, span_columns, write_table, write_text
from fastlsh.parallel import Stopwatch


class Found(NamedTuple):
    """What a run has found."""

    summary: Summary
    documents: int
    spans: int
    removed: int
    characters: int
    changed: int
    emptied: int
    limited: int
    against: int
    """Documents of `against`."""


@staged_run(Found)
def run_on_disk(
    job: Job,
    targets: OutputPlan,
    *,
    drop_empty: bool,
    max_candidates: int,
    notes: Mapping[str, str],
    clock: Stopwatch,
) -> Found:
    """Remove what repeats, or go on where a run before was ended."""
    cutting = job.cutting
    assert cutting is not None
    more = {"by": cutting.by, "min_length": cutting.min_length, "max_candidates": max_candidates}
    more |= {"drop_empty": drop_empty, "against_files": job.first_input}
    with begun(job, "lines", more, targets.given) as job:
        summary, linked, texts = prepared(job, clock)
        with clock("decisions"):
            decide_parts(job, summary, linked, texts, "first", max_candidates)
            end_of_stage(job, "decide")
            proofs = answer_of_all_parts(job, linked)
            kept = kept_documents(job, summary, proofs)
            end_of_stage(job, "merge")
        with clock("writing"):
            check_unchanged(job.work, job.sources[: job.first_input + summary.files])
            counts = piece_counts(job)
            limited = limited_documents(job, linked)
            left = PieceRemainder(kept, summary.n_against, cutting, drop_empty)
            write_stage(job, targets, left)
            with writing_outputs(job, targets, left) as together:
                begin, end = texts.bounds(proofs["left"]).T
                lengths = end - begin
                characters = int(lengths.sum())
                if targets.removed is not None:
                    columns = span_columns(
                        Lookup(texts, proofs["left"]), begin, end, Lookup(texts, proofs["right"]),
                        {"jaccard": proofs["similarity"]},
                        against=proofs["right"] < summary.n_against if job.first_input else None,
                    )  # fmt: skip
                    write_table(targets.removed, columns, together)
                if targets.report is not None:
                    outcome = {"limited": limited, "max_candidates": max_candidates}
                    all_counts = counts_of_runs(job, finished_runs(job))
                    run = line_run_on_disk(
                        job, summary, proofs, texts, all_counts, len(counts), lengths, outcome
                    )
                    page = removal_page(run, summary.skipped, notes, clock)
                    write_text(targets.report, page, together)
                del begin, end, lengths  # the rows, which are written next, need the memory
        found = Found(
            summary, len(counts), summary.documents - summary.n_against, len(proofs), characters,
            *_changed(counts, kept), limited,
            len(counts_of_runs(job, finished_runs(job))) - len(counts),
        )  # fmt: skip
        return ended(job, found, targets.all_outputs(summary.files))


def piece_counts(job: Job) -> NDArray[np.int32]:
    """Return how many pieces each document has, int32 (documents,), without those of `against`."""
    return counts_of_runs(job, runs_of_inputs(job))


def counts_of_runs(job: Job, runs: Sequence[SignedRun]) -> NDArray[np.int32]:
    """Return how many pieces each document of some runs has."""
    names = [f"{run.name}/pieces.npy" for run in runs]
    return np.concatenate([np.empty(0, np.int32), *map(job.work.load, names)])


def _changed(counts: NDArray[np.int32], kept: NDArray[np.bool_]) -> tuple[int, int]:
    """Return how many documents lose something, and how many everything."""
    filled = counts[counts > 0]
    if not len(filled):
        return 0, 0
    starts = np.cumsum(filled, dtype=np.int64) - filled
    left = np.add.reduceat(kept, starts, dtype=np.int64)
    return int((left < filled).sum()), int((left == 0).sum())
