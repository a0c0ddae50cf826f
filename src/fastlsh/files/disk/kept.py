"""The kept documents of a run on disk, read once more for its index."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.files.disk.gather import records_of, reread_signed_blocks
from fastlsh.files.run.job import Job
from fastlsh.files.saved_index import Added
from fastlsh.io import Ids


def reread_kept(job: Job, proofs: NDArray[Any], n_against: int) -> Iterator[Added]:
    """Yield the ids and texts of the documents of the inputs without a proof, block by block."""
    records = [each for each in records_of(job) if each[0] >= n_against and each[1].documents]
    tell = job.byte_progress("saving the index")
    for first, record, block in reread_signed_blocks(job, records):
        kept = np.ones(record.documents, np.bool_)
        start, stop = np.searchsorted(proofs["left"], (first, first + record.documents))
        kept[proofs["left"][start:stop] - first] = False
        if kept.any():
            source = job.sources[record.source]
            found = block.documents(kept)
            ids = Ids()
            ids.add(source.path, found.ids, found.rows)
            yield list(ids), found.texts, None
        tell(job.sources[record.source], record.extent)
    tell.end()
