"""What was read: documents, where their rows are, and rows as Python has them."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import InputError
from fastlsh.io.blocks.contract import Block, BlockExtent, Head
from fastlsh.io.blocks.delimited import Delimited
from fastlsh.io.blocks.jsonl import JsonBlock
from fastlsh.io.blocks.reading import read_blocks, reread_blocks
from fastlsh.io.errors import listed, pyarrow, reading
from fastlsh.io.filesystems import Identity
from fastlsh.io.folders import COLUMNAR
from fastlsh.io.ids import Ids
from fastlsh.io.sources import Source
from fastlsh.io.streams import open_arrow, open_utf8

Row = dict[str, Any]
_PIECE = 1 << 20


def read_objects(source: Source) -> Iterator[tuple[int, Row]]:
    """Yield the number and the columns of each row of a file; all of it may be in memory.

    Plain text has the columns ``id`` and ``text``. Columns of the path are left out.

    Raises
    ------
    InputError
        With the file, the row and the reason.
    """
    source = replace(source, keys=())
    if source.format in COLUMNAR:
        yield from _table_rows(source)
    elif source.format == "jsonl":
        yield from _json_rows(source)
    elif source.format in ("csv", "tsv"):
        yield from _delimited_rows(source)
    else:
        for block in read_blocks(source):
            documents = block.documents()
            documents.check(skip=False)
            ids = documents.ids if documents.ids is not None else [None] * len(documents)
            for row, name, text in zip(documents.rows.tolist(), ids, documents.texts, strict=True):
                yield row, {"id": name, "text": text} if name is not None else {"text": text}


def _text_of(source: Source) -> str:
    data = bytearray()
    with open_utf8(source) as stream:
        piece = memoryview(bytearray(_PIECE))
        while count := stream.fill(piece):
            data += piece[:count]
        if stream.error is not None:
            raise stream.error
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        raise source.error(f"not {source.options.encoding}: {error.reason}", row) from None


def _json_rows(source: Source) -> Iterator[tuple[int, Row]]:
    for block in read_blocks(source):
        assert isinstance(block, JsonBlock)
        yield from block.objects()


def _delimited_rows(source: Source) -> Iterator[tuple[int, Row]]:
    try:
        records = Delimited(source).fields(_text_of(source))
    except csv.Error as error:
        raise source.error(str(error)) from None
    names: list[str] | None = None
    for number, record in enumerate(records, 1):
        if not record:
            continue
        if names is None:
            if source.options.header:
                names = record
                continue
            names = [str(column) for column in range(1, len(record) + 1)]
        if len(record) != len(names):
            reason = f"{len(record)} fields, but the columns are {len(names)}: {listed(names)}"
            raise source.error(reason, number)
        yield number, dict(zip(names, record, strict=True))


def _table_rows(source: Source) -> Iterator[tuple[int, Row]]:
    with reading(source.path), open_arrow(source) as file:
        if source.format == "parquet":
            batches = pyarrow(source.path, "pyarrow.parquet").ParquetFile(file).iter_batches()
        else:
            feather = pyarrow(source.path, "pyarrow.feather")
            batches = feather.read_table(file, memory_map=False).to_batches()
        yield from enumerate(chain.from_iterable(batch.to_pylist() for batch in batches), 1)


@dataclass
class InputFile:
    """What a collection has of one file."""

    source: Source
    head: Head = field(default_factory=Head)
    extents: list[BlockExtent] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    """The documents of each block."""
    bad: list[int] = field(default_factory=list)
    """The rows left out."""
    identity: Identity | None = None

    @property
    def documents(self) -> int:
        """How many there are."""
        return sum(self.counts)

    @property
    def is_read(self) -> bool:
        """Whether the file was reached, as every one is without a limit."""
        return bool(self.extents)

    @property
    def size(self) -> int:
        """The bytes of the file."""
        return 0 if self.identity is None else self.identity.size

    def blocks(self, texts: Any = None) -> Iterator[Block]:
        """Read the file again, with `texts` as for `reread_blocks`.

        Raises `InputError` if it has changed.
        """
        return reread_blocks(self.source, self.extents, self.bad, self.identity, texts=texts)


@dataclass
class Collection:
    """Documents in order of the inputs.

    Attributes
    ----------
    texts : list of str or None, TextColumns, or pyarrow.ChunkedArray
        `TextColumns` if all inputs are JSON lines, and the latter if all are Parquet or Arrow: no
        Python string is made.
    also : list of str or None, TextColumns, or pyarrow.ChunkedArray, or None
        The second texts, if there is a column of these.
    ids : sequence
        From the id column, else ``FILE:ROW``; the file's name for ``.txt``.
    numbers : dict of str to numpy.ndarray
        The columns of `Options.counts`, and the priorities as `priorities_of` returns them.
    labels : dict of str to numpy.ndarray of uint64
        The columns of `Options.labels`, as `label_hashes` gives them.
    parts : list of Part
        The files.
    skipped : int
        Bad rows left out.
    skipped_reasons : list of InputError
        The first ten of these.
    missing_priorities : int
        Documents without a priority, if there is a column of these.
    slow_rows : int
        Rows of JSON lines that were read by the json module, because they are unusual.
    max_row : int or None
        Bytes that a row may have.
    """

    texts: Any = field(default_factory=list)
    ids: Ids = field(default_factory=Ids)
    numbers: dict[str, NDArray[Any]] = field(default_factory=dict)
    labels: dict[str, NDArray[np.uint64]] = field(default_factory=dict)
    parts: list[InputFile] = field(default_factory=list)
    skipped: int = 0
    skipped_reasons: list[InputError] = field(default_factory=list)
    missing_priorities: int = 0
    slow_rows: int = 0
    max_row: int | None = None
    also: Any = None

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.ids)

    @property
    def files_read(self) -> int:
        """The number of files that were read: all unless there is a limit."""
        return sum(part.is_read for part in self.parts)

    @cached_property
    def repeated_ids(self) -> int:
        """The number of documents whose id an earlier one has."""
        return self.ids.repeated()

    @property
    def repeated_example(self) -> str:
        """One of these ids, and the files that have it."""
        return self.ids.repeated_example() if self.repeated_ids else ""

    def find(self, name: str) -> int:
        """Return the only document whose id is written so; ValueError if there is none."""
        numbers = [number for number, value in enumerate(self.ids) if str(value) == name]
        if not numbers:
            example = f": ids are like {self.ids[0]!s}" if self.ids else ": there are no documents"
            raise ValueError(f"no document has the id {name}{example}")
        if len(numbers) > 1:
            raise ValueError(
                f"{len(numbers)} documents have the id {name}: "
                "give the column of other ids (id=), or fewer inputs"
            )
        return numbers[0]

    def text(self, number: int) -> str | None:
        """Return one text as Python has it."""
        text = self.texts[number]
        return text.as_py() if hasattr(text, "as_py") else text  # type: ignore[no-any-return]
