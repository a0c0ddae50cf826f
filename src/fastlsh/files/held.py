"""The store in memory: all documents of the files, read at once."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._texts import TextColumn
from fastlsh.arrays import offsets_of
from fastlsh.files.annotations import Annotations, RowAnnotations
from fastlsh.files.budget import longest_row
from fastlsh.files.plan import OutputPlan
from fastlsh.files.requests import ReadBudget, Request
from fastlsh.files.run.records import NOTHING, Summary
from fastlsh.io import Added, Collection, Ids, Replacements, write_rows
from fastlsh.reporting import Collections
from fastlsh.texts import ids_of_words


class Held:
    """The store in memory: all documents of the files of a request, read at once.

    The documents of `against` have the first numbers; rows of a group are joined to a document.

    Attributes
    ----------
    request : Request
        What is searched for.
    max_row : int
        Bytes that a row may have.
    others : Collection
        The documents of `against`; for an index, those of its documents that have decided.
    collection : Collection
        The documents of the inputs.
    """

    def __init__(self, request: Request, budget: ReadBudget) -> None:
        self.request, self.max_row = request, longest_row(budget.memory)
        self.others = Collection()
        how = self.threads_and_progress
        if request.against:
            self.others = budget.read(request.against, request.read_against, mixed=True, **how)
        self.collection = budget.read(
            request.inputs, request.read, group=request.group, mixed=True, **how
        )
        if request.search.shingler.unit == "token":  # that of an index
            self.collection.texts = ids_of_words(self.collection.texts)
        self._rows, self._document_of_row = self.collection, np.arange(len(self.collection))
        if request.group is not None:
            join = request.read.join_with
            self.collection, self._document_of_row = _grouped(self._rows, request.group, join)
            self.others, _ = _grouped(self.others, request.group, join)

    @property
    def threads_and_progress(self) -> dict[str, Any]:
        """How files are read and written, as keyword arguments."""
        options = self.request.run
        return {"threads": options.threads, "progress": options.progress.function}

    @property
    def inputs(self) -> range:
        """The numbers of the documents of the inputs."""
        return range(len(self.others), len(self.others) + len(self.collection))

    @property
    def ids(self) -> Ids:
        """The ids of all documents."""
        return self.others.ids + self.collection.ids

    @property
    def reported(self) -> Collections:
        """The collections, as a page takes them."""
        inputs, others = self.collection, self.others
        return Collections(inputs.texts, others.texts, inputs.ids, others.ids)

    @property
    def within(self) -> NDArray[np.uint64] | None:
        """The group in which each document of the inputs is compared; None: all are one."""
        return self.request.groups(self.collection.labels)

    @property
    def against_within(self) -> NDArray[np.uint64] | None:
        """The same of the documents of `against`."""
        return self.request.groups(self.others.labels) if self.request.against else None

    @property
    def skipped(self) -> int:
        """How many rows were left out."""
        return self.collection.skipped + self.others.skipped

    def summary(self, n_against: int | None = None, **counts: Any) -> Summary:
        """Return the counts of what was read; `counts` are those that the search has found.

        `n_against` is the number of documents of `against`; None: those in `others`.
        """
        collection, both = self.collection, (self.others, self.collection)
        n_against = len(self.others) if n_against is None else n_against
        reasons = [(e.path, e.reason, e.row) for side in both for e in side.skipped_reasons]
        return NOTHING._replace(
            documents=n_against + len(collection), n_against=n_against,
            files=collection.files_read, skipped=self.skipped, reasons=reasons[:10],
            repeated=sum(side.repeated_ids for side in both),
            repeated_example=next(filter(None, (side.repeated_example for side in both)), ""),
            slow=sum(side.slow_rows for side in both), **counts,
        )  # fmt: skip

    def write_rows(
        self,
        targets: OutputPlan,
        kept: NDArray[np.bool_],
        together: Replacements,
        *,
        texts: Mapping[int, str] | None = None,
        added: Added | None = None,
    ) -> None:
        """Write what is left of the inputs, if it was asked for.

        Parameters
        ----------
        targets, together
            Where the rows go, and what they appear with.
        kept
            bool, by document of the inputs: whether its rows are written.
        texts
            The texts that some documents of the inputs get instead of their own.
        added
            Returns the columns that rows get behind their own.
        """
        if targets.output is not None:
            if self.request.group is not None and isinstance(added, Annotations):
                added = RowAnnotations(added, self._document_of_row)
            write_rows(
                self._rows, kept[self._document_of_row], targets.output, convert=targets.convert,
                texts=texts, added=added, together=together, **self.threads_and_progress,
            )  # fmt: skip


def _grouped(
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
