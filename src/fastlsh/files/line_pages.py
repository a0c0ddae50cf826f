"""The page about a removal of lines or paragraphs from files."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.files.disk.gathered import GatheredTexts
from fastlsh.files.disk.link import PARTS
from fastlsh.files.disk.sign import Summary
from fastlsh.files.memory.documents import left_out
from fastlsh.files.run.job import Job
from fastlsh.parallel import plural
from fastlsh.reporting import LineRun, Passage, lines_page, removed_passages


def line_run_on_disk(
    job: Job,
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
    params, cutting = job.params, job.cutting
    assert cutting is not None
    left, right = proofs["left"], proofs["right"]
    before = len(pieces) - n_documents
    ends = np.cumsum(pieces, dtype=np.int64)
    documents, kept = (np.searchsorted(ends, side, "right") - before for side in (left, right))
    pieces_of_inputs = pieces[before:].astype(np.int64)

    def passages(rows: NDArray[np.int64]) -> tuple[list[Passage], list[Passage]]:
        both = np.concatenate([right[rows], left[rows]])
        numbers, where = np.unique(both, return_inverse=True)
        texts = gathered.texts(job.work.load(PARTS)[numbers], numbers)
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


def removal_page(
    run: LineRun, skipped: int, notes: Mapping[str, str], seconds: Mapping[str, float]
) -> str:
    """Return the page; `skipped` rows were left out."""
    title = f"Repeated {run.by}s of {plural(len(run.pieces), 'document')}"
    return lines_page(run, title, {**notes, **left_out(skipped)}, seconds)
