"""The kept documents of a run on disk, read once more for its index."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import unique
from fastlsh.files.disk.sign import Summary
from fastlsh.files.disk.signed_runs import (
    BlockRecord,
    records_of,
    reread_signed_blocks,
    runs_of_inputs,
)
from fastlsh.files.disk.sorted_keys import repeated_values
from fastlsh.files.run.job import Job
from fastlsh.files.saved_index import DIFFERENT, Added
from fastlsh.io import Ids, ids_with

DOUBTFUL = 1000
"""Repeated hashes of ids that are looked at: with so many, some ids are repeated indeed."""


def check_different_ids(job: Job, summary: Summary) -> None:
    """Raise InputError with the row of an id of the inputs that an earlier document has.

    Whether ids may be repeated is known from their hashes. Only then are the files read again.
    """
    if not summary.repeated:
        return
    hashes = [job.work.load(f"{run.name}/identities.npy") for run in runs_of_inputs(job)]
    values = [np.empty(0, np.uint64)]
    for repeated in repeated_values(hashes, job.budget.rows):
        values.append(repeated)
        if sum(map(len, values)) >= DOUBTFUL:
            break
    doubtful = unique(np.concatenate(values))[:DOUBTFUL]
    ids = Ids()
    for _, record, block in reread_signed_blocks(job, _records_of_inputs(job, summary.n_against)):
        if not len(doubtful):
            return
        documents = block.documents()
        doubtful_ids, rows = ids_with(documents.ids, documents.rows, doubtful)
        ids.add(job.sources[record.source].path, doubtful_ids, rows)
        ids.check_different(DIFFERENT)


def _records_of_inputs(job: Job, n_against: int) -> list[tuple[int, BlockRecord]]:
    return [record for record in records_of(job) if record[0] >= n_against and record[1].documents]


def reread_kept(job: Job, proofs: NDArray[Any], n_against: int) -> Iterator[Added]:
    """Yield the ids and texts of the documents of the inputs without a proof, block by block."""
    records = _records_of_inputs(job, n_against)
    tell = job.byte_progress("saving the index")
    for first, record, block in reread_signed_blocks(job, records):
        kept = np.ones(record.documents, np.bool_)
        start, stop = np.searchsorted(proofs["left"], (first, first + record.documents))
        kept[proofs["left"][start:stop] - first] = False
        if kept.any():
            source = job.sources[record.source]
            documents = block.documents(kept)
            ids = Ids()
            ids.add(source.path, documents.ids, documents.rows)
            yield list(ids), documents.texts, None
        tell(job.sources[record.source], record.extent)
    tell.end()
