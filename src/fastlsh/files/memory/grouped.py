"""Rows of one group as one document."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import TextColumn
from fastlsh.arrays import offsets_of
from fastlsh.io import Collection, Ids


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
    strict = all(each == each.decode("utf-8", "ignore").encode() for each in pieces)
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
