"""Reading: several files become one collection of documents."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from fastlsh._kernels.text._texts import TextColumn, TextColumns
from fastlsh.arrays import joined_numbers
from fastlsh.errors import InputError, RoomError
from fastlsh.io.arrays import join
from fastlsh.io.blocks.contract import Block, BlockDocuments, BlockExtent, Head, Limit
from fastlsh.io.blocks.reading import read_blocks
from fastlsh.io.byte_progress import ByteProgress, ProgressOption
from fastlsh.io.collection import Collection, InputFile
from fastlsh.io.files import Paths, files_to_read
from fastlsh.io.folders import COLUMNAR
from fastlsh.io.ids import as_list
from fastlsh.io.sources import ReadOptions, Source
from fastlsh.io.streams import identity
from fastlsh.keywords import made, shares
from fastlsh.parallel import ordered_map, thread_count
from fastlsh.priorities import PriorityRecord, missing_in

_REASONS = 10

_SMALL = 1 << 26
"""Bytes of a file that one thread reads as a whole, in less than a second."""


class Room:
    """The memory that documents may take; several calls of `read` can share it.

    Parameters
    ----------
    size : int
        Bytes.
    per_document : int
        Bytes that each document takes besides its text.
    """

    def __init__(self, size: int, per_document: int) -> None:
        self._left = size
        self._per_document = per_document

    def take(self, source: Source, text: int, documents: int) -> None:
        """Take room; RoomError if too little is left."""
        self._left -= text + documents * self._per_document
        if self._left < 0:
            raise RoomError(
                source.path,
                "the files have more text than estimated, and too much for the memory: give"
                ' engine="disk" with work=, or more memory=',
            )


def read_files(
    inputs: Paths,
    options: ReadOptions,
    *,
    mixed: bool = False,
    threads: int | None = None,
    progress: ProgressOption | None = None,
    max_row: int | None = None,
    all_columns: bool = True,
    room: Room | None = None,
    group: str | None = None,
) -> Collection:
    """Read files into one collection of documents.

    Parameters
    ----------
    inputs : path or iterable of paths
        JSON, CSV, TSV, Parquet, Arrow IPC and plain text (a file is a document). The row
        formats and plain text may be compressed with gzip, bzip2, xz or Zstandard. Directories
        and patterns stand for what is in them, URLs for what fsspec opens: see `expand`.
    options : ReadOptions
        How.
    mixed : bool
        Whether the files of one directory may have several formats.
    threads : int, optional
        How many; by default as many as there are processors for this process. They never change
        the result.
    progress : callable, optional
        Called in the calling thread with ("reading", bytes done, bytes in all), of the files as
        they are, compressed or not; a table counts when it is done.
    max_row : int, optional
        Bytes that a row may have, except in an Arrow file; LongRowError if it has more.
    all_columns : bool, optional
        As in `read_blocks`.
    room : Room, optional
        What the documents may take; RoomError if they need more.
    group : str, optional
        As for `Limit`.

    Raises
    ------
    InputError
        With the file, the row and the reason.
    """
    sources = files_to_read(inputs, options, mixed=mixed)
    strict = options.on_error == "fail"
    limit = Limit(options.limit, group)
    reader = _Reader(sources, strict, progress, max_row, all_columns, room, limit)
    for part, blocks, error in ordered_map(reader.pieces(), _parsed, thread_count(threads)):
        reader.take(part, blocks)
        if error is not None:
            try:
                raise error
            finally:
                del error  # in a cycle with its traceback, it would keep files open
    return reader.collection()


@shares(ReadOptions, read_files, without={"options"})
def read(inputs: Paths, **keywords: Any) -> Collection:
    """Read files into one collection of documents, as `read_files` does.

    Parameters
    ----------
    inputs
        As in `read_files`.

    Returns
    -------
    Collection

    Raises
    ------
    InputError
        With the file, the row and the reason.
    TypeError, ValueError
        If a parameter is wrong.
    """
    return made(read_files, keywords, inputs, made(ReadOptions, keywords))


Piece = tuple[InputFile, Iterable[Block]]
"""Some blocks of a file, or all of them, which are then cut where they are parsed."""

ParsedBlocks = list[tuple[BlockExtent, Head, BlockDocuments]]


def _parsed(piece: Piece) -> tuple[InputFile, ParsedBlocks, InputError | None]:
    """Parse blocks; an error in the file as a whole is returned with the blocks before it."""
    part, blocks = piece
    parsed: ParsedBlocks = []
    try:
        for block in blocks:
            parsed.append((block.extent, block.head, block.documents()))
    except InputError as error:
        return part, parsed, error
    return part, parsed, None


class _Reader:
    """Puts the documents of blocks together."""

    def __init__(
        self,
        sources: list[Source],
        strict: bool,
        progress: ProgressOption | None,
        max_row: int | None,
        all_columns: bool,
        room: Room | None,
        limit: Limit,
    ) -> None:
        self._parts = [InputFile(source) for source in sources]
        self._strict = strict
        self._limits: dict[str, Any] = {"max_row": max_row, "all_columns": all_columns}
        self._room = room
        self._limit = limit
        self._tell = ByteProgress("reading", sources, progress)
        self._in_arrow = all(source.format in COLUMNAR for source in sources)
        self._collection = Collection(parts=self._parts, max_row=max_row)
        self._texts: list[Any] = []
        self._also: list[Any] = []
        self._numbers: list[Mapping[str, NDArray[Any]]] = []
        self._labels: list[Mapping[str, NDArray[Any]]] = []
        self._priorities: list[tuple[str, PriorityRecord]] = []

    def pieces(self) -> Iterator[Piece]:
        """Yield what is parsed by a thread at a time: small files whole, of others each block.

        Behind the last piece of a file comes one without blocks.
        """
        for part in self._parts:
            if self._limit.reached:
                return
            part.identity = identity(part.source)
            blocks = read_blocks(part.source, expected=part.identity, **self._limits)
            if self._is_small(part):
                self._take_room(part, part.size)
                yield part, blocks
            else:
                for block in self._limit.first(blocks):
                    self._take_room(part, block.extent.stop - block.extent.start)
                    yield part, [block]
            yield part, ()

    def _is_small(self, part: InputFile) -> bool:
        """Whether a file is read by one thread while others read other files."""
        source = part.source
        is_whole = len(self._parts) > 1 and not self._limit.is_given
        is_plain = source.compression is None and source.format not in COLUMNAR
        return is_whole and is_plain and part.size <= _SMALL

    def _take_room(self, part: InputFile, size: int) -> None:
        if self._room is not None and part.source.format not in COLUMNAR:
            self._room.take(part.source, size, 0)

    def take(self, part: InputFile, blocks: ParsedBlocks) -> None:
        """Append the documents of some blocks of a file."""
        for extent, head, parsed in blocks:
            part.head = head
            part.extents.append(extent)
            part.counts.append(len(parsed))
            if self._room is not None:
                columns = (parsed.texts, parsed.also) if part.source.format in COLUMNAR else ()
                size = sum(column.nbytes for column in columns if column is not None)
                self._room.take(part.source, size, len(parsed))
            parsed.check(skip=not self._strict)
            for error in parsed.bad:
                self._leave_out(part, error)
            self._collection.slow_rows += parsed.slow
            self._texts.append(parsed.texts)
            self._also.append(parsed.also)
            self._collection.ids.add(part.source.path, parsed.ids, parsed.rows)
            self._numbers.append(parsed.numbers)
            if parsed.priorities is not None:
                self._priorities.append((part.source.path, parsed.priorities))
            self._labels.append(parsed.labels)
            self._tell(part.source, extent)

    def _leave_out(self, part: InputFile, error: InputError) -> None:
        part.bad.append(error.row or 1)
        self._collection.skipped += 1
        if self._collection.skipped <= _REASONS:
            self._collection.skipped_reasons.append(error)

    def collection(self) -> Collection:
        """Return all of them."""
        self._tell.end()
        self._collection.texts = self._joined(self._texts)
        if self._parts[0].source.options.also is not None:
            self._collection.also = self._joined(self._also)
        name = str(self._parts[0].source.options.priority)
        self._collection.missing_priorities = missing_in(name, self._priorities)
        self._collection.numbers = _concatenated(self._numbers)
        self._collection.labels = _concatenated(self._labels)
        return self._collection

    def _joined(self, columns: list[Any]) -> Any:
        """Return the texts of all blocks as one collection."""
        if self._in_arrow and all(hasattr(column, "chunks") for column in columns):
            return join(columns, self._parts[0].source.path)
        if all(isinstance(column, TextColumn) for column in columns):
            return TextColumns(columns)
        return [text for column in columns for text in as_list(column)]


def _concatenated(blocks: list[Mapping[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Join each column of all blocks."""
    names = blocks[0] if blocks else ()
    return {name: joined_numbers([block[name] for block in blocks]) for name in names}
