"""A page about the largest clusters of a run on disk."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import unique
from fastlsh.files.disk.gathered import GatheredTexts
from fastlsh.files.disk.link import PARTS
from fastlsh.files.disk.sign import Summary
from fastlsh.files.run.job import Job
from fastlsh.reporting import RunCounts, largest_clusters_page
from fastlsh.results import Deduplication

MOST = 5_000
"""Documents that the page is about."""


def largest_page(
    job: Job,
    summary: Summary,
    proofs: NDArray[Any],
    texts: GatheredTexts,
    limited: int,
    decided: Mapping[str, Any],
    notes: Mapping[str, str],
    seconds: Mapping[str, float],
) -> str:
    """Return a page about as many of the largest clusters as have about 5,000 documents.

    Its counts are those of all documents. `decided` has the parameters of the decisions: ``keep``
    and ``max_candidates``.
    """
    numbers, kept, similarity = _largest(proofs, summary.n_against)
    index = np.searchsorted(numbers, kept)
    documents = summary.documents - summary.n_against
    params = job.params
    result = Deduplication(
        index,
        np.full(len(numbers), -1),
        similarity,
        threshold=params.threshold,
        rule=params.rule,
        containment=params.containment,
        params=None if params.finds_equal else params.lsh,
        options={
            **decided,
            **params.removal_keywords,
        },
    )
    right = proofs["right"]
    counts = RunCounts(
        documents, int((right < summary.n_against).sum()), np.array(proofs["similarity"]),
        np.unique(right, return_counts=True)[1], limited, summary.empty,
    )  # fmt: skip
    shown = f"of the largest clusters ({len(numbers):,} documents); the counts are of all documents"
    return largest_clusters_page(
        result,
        texts.texts(job.work.load(PARTS)[numbers], numbers),
        counts,
        ids=texts.take(numbers),
        title=f"Deduplication of {documents:,} documents",
        notes={"texts shown": shown, **notes},
        seconds=dict(seconds),
    )


def _largest(
    proofs: NDArray[Any], n_against: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the documents of the largest clusters, their kept ones, and the similarities."""
    inside = proofs[proofs["right"] >= n_against]
    heads, sizes = np.unique(inside["right"], return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    # The largest is shown in part if it is larger than the page.
    count = max(int(np.searchsorted(np.cumsum(sizes[order] + 1), MOST, "right")), 1)
    chosen = np.sort(heads[order[:count]])
    rows = inside[np.isin(inside["right"], chosen)][:MOST]
    numbers = np.concatenate([unique(rows["right"]), rows["left"]])
    kept = np.concatenate([unique(rows["right"]), rows["right"]])
    similarity = np.concatenate([np.ones(len(numbers) - len(rows)), rows["similarity"]])
    order = np.argsort(numbers)
    return numbers[order], kept[order], similarity[order]
