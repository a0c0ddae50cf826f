"""The store in memory: all documents of the files, read at once."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._texts import TextColumn
from fastlsh.arrays import offsets_of
from fastlsh.files.requests import ReadBudget, Request
from fastlsh.files.run.records import NOTHING, Summary
from fastlsh.io import (
    Collection,
    Ids,
)
from fastlsh.parallel import RunOptions
from fastlsh.texts import ids_of_words


def read_both(request: Request, budget: ReadBudget) -> tuple[Collection, Collection]:
    """Read the reference collection, whose documents are the first ones, and the inputs."""
    how = threads_and_progress(request.run)
    others = Collection()
    if request.against:
        others = budget.read(request.against, request.read_against, mixed=True, **how)
    collection = budget.read(request.inputs, request.read, group=request.group, mixed=True, **how)
    if request.search.shingler.unit == "token":  # that of an index
        collection.texts = ids_of_words(collection.texts)
    return collection, others


def threads_and_progress(options: RunOptions) -> dict[str, Any]:
    """Return how files are read and written, as keyword arguments."""
    return {"threads": options.threads, "progress": options.progress.function}


def summary_of(
    collection: Collection, others: Collection, n_against: int | None = None, **counts: Any
) -> Summary:
    """Return the counts of what was read; `counts` are those that the search has found.

    `n_against` is the number of documents of `against`; None: those in `others`.
    """
    both = (others, collection)
    n_against = len(others) if n_against is None else n_against
    reasons = [(e.path, e.reason, e.row) for side in both for e in side.skipped_reasons]
    return NOTHING._replace(
        documents=n_against + len(collection), n_against=n_against, files=collection.files_read,
        skipped=sum(side.skipped for side in both), reasons=reasons[:10],
        repeated=sum(side.repeated_ids for side in both),
        repeated_example=next(filter(None, (side.repeated_example for side in both)), ""),
        slow=sum(side.slow_rows for side in both), **counts,
    )  # fmt: skip


def grouped(
    collection: Collection, group: str, join_with: str
) -> tuple[Collection, NDArray[np.int64]]:
    """Join the texts of the rows that have one value of a column, which their ids are, too.

    Parameters
    ----------
    collection
        The rows, which lose their texts.
    group
        The column.
    join_with
        Stands between the texts of a group, in the order of the rows; empty ones are left out.

    Returns
    -------
    Collection, numpy.ndarray of int64
        A document for each group, in the order of their first rows, with the same files; and the
        number of the document of each row.
    """
    labels = collection.labels.get(group, np.empty(0, np.uint64))  # of no files there are none
    _, first, of_value = np.unique(labels, return_index=True, return_inverse=True)
    by_first = np.argsort(first)
    of_row = np.argsort(by_first)[of_value.reshape(-1)]
    order = np.argsort(of_row, kind="stable")
    pieces: list[bytes] = []
    sizes = np.zeros(len(first), np.int64)
    between = join_with.encode("utf-8", "surrogatepass")
    for document, text in _encoded(collection, order, of_row):
        for piece in (between, text) if sizes[document] else (text,):
            pieces.append(piece)
            sizes[document] += len(piece)
    collection.texts = None
    data = np.frombuffer(b"".join(pieces), np.uint8)
    strict = all(piece == piece.decode("utf-8", "ignore").encode() for piece in pieces)
    if not strict:
        data = _with_joined_surrogates(data, sizes)
    ids = Ids()
    ids.add("", collection.ids.take(first[by_first]), np.arange(len(first)))
    texts = TextColumn(data, offsets_of(sizes)[:-1], sizes, strict)
    return replace(collection, texts=texts, ids=ids), of_row


def _encoded(
    collection: Collection, order: NDArray[np.int64], of_row: NDArray[np.int64]
) -> Iterator[tuple[int, bytes]]:
    """Yield the texts that are not empty, by document, each with its document."""
    for row in order.tolist():
        if text := collection.text(row):
            yield int(of_row[row]), text.encode("utf-8", "surrogatepass")


def _with_joined_surrogates(data: NDArray[np.uint8], sizes: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Make one character of two surrogates that joining has brought together; sizes change, too."""
    joined = []
    for number, (start, size) in enumerate(
        zip(offsets_of(sizes).tolist(), sizes.tolist(), strict=False)
    ):
        text = data[start : start + size].tobytes().decode("utf-8", "surrogatepass")
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        joined.append(text.encode("utf-8", "surrogatepass"))
        sizes[number] = len(joined[-1])
    return np.frombuffer(b"".join(joined), np.uint8)
