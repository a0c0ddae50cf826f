"""Texts that are too long to be compared in the memory: which row, and how much would do."""

from bisect import bisect_right
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import InputError
from fastlsh.files.budget import PER_COMPARED, least_memory
from fastlsh.files.disk.signed_runs import records_of, reread_signed_blocks
from fastlsh.files.run.job import Job
from fastlsh.io import BlockDocuments, Source
from fastlsh.parallel import amount


def check_comparable(job: Job, rows: NDArray[Any], data: NDArray[np.uint8]) -> None:
    """Raise InputError unless any two texts of a part can be compared exactly.

    The longest one decides, with the longest other one that is no copy of it.

    Parameters
    ----------
    rows, data
        Of the part: the records of its texts, as `row_of` says, and their bytes.
    """
    if job.params.verify != "exact":
        return
    size, max_compared = rows["size"], job.budget.compared
    if int(size.max(initial=0)) <= max_compared // 2:
        return
    ends = np.cumsum(size)
    order = np.argsort(-size, kind="stable").tolist()
    first, *others = (data[ends[i] - size[i] : ends[i]] for i in order)
    other = next((text for text in others if not np.array_equal(text, first)), first[:0])
    needed = len(first) + len(other)
    if len(other) and needed > max_compared:
        raise error_of_document(
            job,
            int(rows["number"][order[0]]),
            f"the text has {amount(len(first))}, and its comparison with another one needs more"
            f" than {amount(job.budget.memory)} of memory: do the same again with"
            f' memory="{least_memory(needed, PER_COMPARED)}" at least',
        )


def error_of_document(job: Job, number: int, reason: str) -> InputError:
    """Return an error about the row that a document or piece is of."""
    records = records_of(job)
    at = bisect_right([first for first, _ in records], number) - 1
    ((first, record, block),) = reread_signed_blocks(job, records[at : at + 1])
    documents: BlockDocuments = block.documents()
    row = number - first
    if job.cutting is not None:
        row = int(job.cutting.pieces(documents).bounds[row, 0])
    source: Source = job.sources[record.source]
    return source.error(reason, int(documents.rows[row]))
