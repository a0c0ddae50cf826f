"""Which data set each document is of: by its input, or by the value of a column."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import InputError
from fastlsh.io import (
    BlockDocuments,
    ReadOptions,
    Source,
    as_list,
    files_to_read,
    read_blocks,
    take,
)

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class DataSets:
    """The data sets of a collection.

    Attributes
    ----------
    names : list of str
    of_file : ndarray of int64
        The data set of each file, where `column` is None.
    column : str or None
        The column whose values are the data sets.
    hashes : ndarray of uint64, shape (n,)
        The values, as `io.label_hashes` gives them.
    """

    names: list[str]
    of_file: Numbers
    column: str | None
    hashes: NDArray[np.uint64]

    @classmethod
    def of_inputs(cls, names: list[str], files: Sequence[Sequence[Source]]) -> "DataSets":
        """Return the data sets if each input is one, given its files."""
        of_file = np.repeat(np.arange(len(files)), list(map(len, files)))
        return cls(names, of_file, None, np.empty(0, np.uint64))

    @classmethod
    def of_column(
        cls, inputs: Sequence[str], read: ReadOptions, column: str, most: int | None = None
    ) -> "DataSets":
        """Read which values a column has; they are in the order of the inputs.

        Raises
        ------
        InputError
            A row has NaN; or there are more than `most`.
        """
        names: dict[int, str] = {}
        how = replace(read, id=column, labels=(column,))
        for _, documents in each_block(inputs, how):
            if not len(documents):
                continue
            values, rows = np.unique(documents.labels[column], return_index=True)
            new = np.array([value not in names for value in values.tolist()], np.bool_)
            order = np.argsort(rows[new])
            texts_of_values = names_at(documents, rows[new][order])
            names.update(zip(values[new][order].tolist(), texts_of_values, strict=True))
            if most is not None and len(names) > most:
                break
        return cls.of_values(names, inputs[0], column, most)

    @classmethod
    def of_values(
        cls, names: Mapping[int, str], path: str, column: str, most: int | None = None
    ) -> "DataSets":
        """Return the data sets of the values of a column, by their hashes.

        Raises
        ------
        InputError
            There are more than `most`, or, if that is given, a text and a number look alike.
        """
        if most is not None and len(names) > most:
            raise InputError(path, f"the column {column} has more than {most} values")
        found_names = list(names.values())
        twice = next((name for name in found_names if found_names.count(name) > 1), None)
        if most is not None and twice is not None:
            raise InputError(
                path,
                f"the column {column} has different values that are written {twice}, as a text and"
                " a number, or a text and null: write all of them alike",
            )
        hashes = np.array(list(names), np.uint64)
        return cls(found_names, np.empty(0, np.int64), column, hashes)

    def of_labels(self, labels: NDArray[np.uint64]) -> Numbers:
        """Return the data set of each document by its value in the column."""
        order = np.argsort(self.hashes)
        return order[np.searchsorted(self.hashes, labels, sorter=order)]


def names_at(documents: BlockDocuments, positions: Numbers) -> list[str]:
    """Return what data sets are called by the ids at some positions."""
    ids = documents.ids
    values = [None] * len(positions) if ids is None else as_list(take(ids, positions))
    return ["null" if value is None else str(value) for value in values]


def each_block(inputs: Sequence[str], read: ReadOptions) -> Iterator[tuple[str, BlockDocuments]]:
    """Yield the file and the documents of each block; raise a bad row unless it is skipped."""
    if not inputs:
        return
    for source in files_to_read(inputs, read, mixed=True):
        for block in read_blocks(source):
            documents = block.documents()
            documents.check(skip=read.on_error == "skip")
            yield source.path, documents
