"""The kept documents of a run on disk, read once more for its index."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import unique
from fastlsh.files.disk.sorted_keys import repeated_values
from fastlsh.files.run.records import BlockRecord, Summary
from fastlsh.files.run.run import Run
from fastlsh.files.saved_index import DIFFERENT, Added
from fastlsh.io import Ids, ids_with

DOUBTFUL = 1000
"""Repeated hashes of ids that are looked at: with so many, some ids are repeated indeed."""


def check_different_ids(run: Run, summary: Summary) -> None:
    """Raise InputError with the row of an id of the inputs that an earlier document has.

    Whether ids may be repeated is known from their hashes. Only then are the files read again.
    """
    if not summary.repeated:
        return
    hashes = run.arrays("identities", run.segments_of_inputs)
    values = [np.empty(0, np.uint64)]
    for repeated in repeated_values(hashes, run.budget.rows):
        values.append(repeated)
        if sum(map(len, values)) >= DOUBTFUL:
            break
    doubtful = unique(np.concatenate(values))[:DOUBTFUL]
    ids = Ids()
    for record, block in run.reread(_records_of_inputs(run)):
        if not len(doubtful):
            return
        documents = block.documents()
        doubtful_ids, rows = ids_with(documents.ids, documents.rows, doubtful)
        ids.add(run.sources[record.source].path, doubtful_ids, rows)
        ids.check_different(DIFFERENT)


def _records_of_inputs(run: Run) -> list[BlockRecord]:
    return [record for record in run.blocks if record.source >= run.first_input]


def reread_kept(run: Run, proofs: NDArray[Any]) -> Iterator[Added]:
    """Yield the ids and texts of the documents of the inputs without a proof, block by block."""
    records = _records_of_inputs(run)
    tell = run.byte_progress("saving the index")
    for record, block in run.reread(records):
        kept = np.ones(record.documents, np.bool_)
        start, stop = np.searchsorted(proofs["left"], (record.first, record.stop))
        kept[proofs["left"][start:stop] - record.first] = False
        if kept.any():
            source = run.sources[record.source]
            documents = block.documents(kept)
            ids = Ids()
            ids.add(source.path, documents.ids, documents.rows)
            yield list(ids), documents.texts, None
        tell(run.sources[record.source], record.extent)
    tell.end()
