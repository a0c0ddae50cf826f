"""The answer of all parts in one order: which proofs or pairs there are, and the clusters."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.files.disk.decide import Proof, answers
from fastlsh.files.disk.link import Linked
from fastlsh.files.disk.sign import Summary
from fastlsh.files.run.arrays import save_blocks
from fastlsh.files.run.job import Job

ANSWER = "answer.npy"
KEPT = "kept.npy"


class Clusters(NamedTuple):
    """Documents that belong together: each kept one, followed by those removed for it."""

    number: NDArray[np.int64]
    """int64 (m,): the document."""
    cluster: NDArray[np.int64]
    """int64 (m,): of which cluster, counted from 0 in order of the kept documents."""


def answer_of_all_parts(
    job: Job,
    linked: Linked,
    kind: Any = Proof,
    reduced: Callable[[Iterator[NDArray[Any]]], Iterator[NDArray[Any]]] = iter,
) -> NDArray[Any]:
    """Return the rows of all parts, `Proof` or another kind, sorted by (left, right), mapped.

    `reduced` may take the blocks of rows in this order, and yield fewer rows.
    """
    if not job.work.has(ANSWER):
        with job.work.replacing(ANSWER) as temporary:
            save_blocks(temporary, kind, reduced(answers(job, linked)))
    return job.work.load(ANSWER)


def kept_documents(job: Job, summary: Summary, proofs: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether each document of the inputs, without those of `against`, is kept; mapped."""
    if not job.work.has(KEPT):
        kept = np.ones(summary.documents - summary.n_against, np.bool_)
        kept[proofs["left"] - summary.n_against] = False
        job.work.save(KEPT, kept)
    return job.work.load(KEPT)


def clusters_of(proofs: NDArray[Any], n_against: int) -> Clusters:
    """Return the clusters, as `Deduplication.clusters` has them.

    Parameters
    ----------
    proofs
        Of all removed documents, which ascend.
    n_against
        Documents below this number are of `against` and make no cluster.

    Notes
    -----
    Memory: 80 bytes for each removed document.
    """
    inside = proofs["right"] >= n_against
    kept = proofs["right"][inside]
    order = np.argsort(kept, kind="stable")
    kept = kept[order]
    new = np.diff(kept, prepend=-1) != 0
    cluster = np.cumsum(new)
    # Each kept document stands before those removed for it, which are in order.
    position = np.arange(len(kept)) + cluster
    heads = position[new] - 1
    number = np.empty(len(kept) + len(heads), np.int64)
    number[heads] = kept[new]
    del kept
    number[position] = proofs["left"][inside][order]
    of = np.empty(len(number), np.int64)
    of[heads], of[position] = np.arange(len(heads)), cluster - 1
    return Clusters(number, of)
