"""A page about the largest clusters of a run on disk."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import unique
from fastlsh.files.disk.gathered import GatheredTexts
from fastlsh.files.disk.link import PARTS
from fastlsh.files.disk.sign import Summary
from fastlsh.files.memory.documents import short_documents
from fastlsh.files.run.job import Job
from fastlsh.parallel import plural
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
    documents = summary.documents - summary.n_against
    right = proofs["right"]
    heads = np.where(right < summary.n_against, documents + right, right - summary.n_against)
    removed = proofs["left"] - summary.n_against
    shown, kept, similarity = _largest(removed, heads, proofs["similarity"])
    own = int(np.searchsorted(shown, documents))
    index = np.searchsorted(shown, kept)[:own]
    numbers = np.where(shown < documents, shown + summary.n_against, shown - documents)
    found = texts.texts(job.work.load(PARTS)[numbers], numbers)
    names = texts.take(numbers)
    params = job.params
    result = Deduplication(
        np.where(index < own, index, -1),
        np.where(index < own, -1, index - own),
        similarity[:own],
        threshold=params.threshold,
        rule=params.rule,
        containment=params.containment,
        params=None if params.finds_equal else params.lsh,
        options={
            **decided,
            **params.removal_keywords,
        },
    )
    counts = RunCounts(
        documents, int((right < summary.n_against).sum()), np.array(proofs["similarity"]),
        np.unique(right, return_counts=True)[1], limited, summary.empty,
    )  # fmt: skip
    which = f"of the largest clusters ({len(numbers):,} documents); the counts are of all documents"
    return largest_clusters_page(
        result,
        found[:own],
        found[own:],
        counts,
        ids=names[:own],
        against_ids=names[own:],
        title=f"Deduplication of {plural(documents, 'document')}",
        notes={
            "texts shown": which,
            **notes,
            **short_documents(summary.short, summary.not_empty, params.shingler),
        },
        seconds=dict(seconds),
    )


def _largest(
    removed: NDArray[np.int64], heads: NDArray[np.int64], similarity: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return the documents of the largest clusters, their kept ones, and the similarities.

    Documents are numbered as in memory: those of the inputs, and behind them those of `against`.
    """
    clusters, sizes = np.unique(heads, return_counts=True)
    order = np.argsort(-sizes, kind="stable")
    # The largest is shown in part if it is larger than the page.
    count = max(int(np.searchsorted(np.cumsum(sizes[order] + 1), MOST, "right")), 1)
    rows = np.flatnonzero(np.isin(heads, clusters[order[:count]]))[:MOST]
    kept = unique(heads[rows])
    numbers = np.concatenate([kept, removed[rows]])
    kept = np.concatenate([kept, heads[rows]])
    similarity = np.concatenate([np.ones(len(numbers) - len(rows)), similarity[rows]])
    order = np.argsort(numbers)
    return numbers[order], kept[order], similarity[order]
