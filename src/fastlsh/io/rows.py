"""Rows of the inputs, read again and written to the outputs, several side by side."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, islice
from typing import Any, NamedTuple, Protocol

import numpy as np

from fastlsh.errors import InputError
from fastlsh.io.arrays import MOST_BYTES
from fastlsh.io.blocks.contract import AddedColumns, Block, BlockExtent, Flags, Head, NewTexts
from fastlsh.io.blocks.lines import as_json
from fastlsh.io.blocks.reading import KeyedBlock, own_columns, plain_block
from fastlsh.io.blocks.writing import json_tails, with_keys
from fastlsh.io.byte_progress import ByteProgress, ProgressOption
from fastlsh.io.collection import Collection, InputFile
from fastlsh.io.convert import Conversion, JsonColumns, Rest, json_as_rows
from fastlsh.io.folders import COLUMNAR, DELIMITED
from fastlsh.io.replacement import Replacements, together_or_new
from fastlsh.io.shards import Output, is_folder_output, plan_outputs
from fastlsh.io.sources import Source
from fastlsh.parallel import background_calls, batches, ordered_map, run_batches, thread_count

_PER_TABLE = 4 * MOST_BYTES
"""Bytes that writing a file of batches takes: a batch, and what becomes of it on its way."""

TABLES = 1 << 28
"""Bytes that writing Parquet and Arrow files may take, where nothing else is said."""


class Reread(NamedTuple):
    """A block that has been read again."""

    source: Source
    block: Block
    key: Any
    """What `Rewriting.rest` knows the block by."""


def _none(_: Reread) -> bool:
    return False


@dataclass(frozen=True)
class Rewriting:
    """An output, and what goes into it."""

    output: Output
    sources: Sequence[Source]
    """The inputs, in order."""
    blocks: Callable[[], Iterator[Reread]]
    """Reads them again, in order."""
    rest: Callable[[Any, Block], Rest]
    """Returns what is written of a block, by its key; in any thread."""
    added: AddedColumns | None = None
    """The columns that rows get behind their own, without values."""
    lines: Iterable[bytes] = field(default=())
    """Rows that are not read again; then there are no blocks."""
    is_large: Callable[[Reread], bool] = _none
    """Whether no other block is to be held beside this one."""
    alone: bool = False
    """Whether no other output is to be written beside this one."""
    max_row: int | None = None
    """Bytes that a row may have; see `Block.check_objects`."""

    @property
    def makes_objects(self) -> bool:
        """Whether rows of tables become text, for which Python has an object of each value."""
        return self.output.format not in COLUMNAR and any(
            source.format in COLUMNAR for source in self.sources
        )

    @property
    def is_of_tables(self) -> bool:
        """Whether rows of tables stay such."""
        return {self.output.format, *(source.format for source in self.sources)} <= {*COLUMNAR}

    def rest_of(self, source: Source, block: Block, key: Any) -> Rest:
        """Return what is written of a block; LongRowError if a row needs too much memory."""
        read, written = source.format, self.output.format
        is_joined = len(self.sources) > 1 and written in DELIMITED
        if self.max_row and (read != written or is_joined) and not {read, written} <= {*COLUMNAR}:
            block.check_objects(self.max_row, 1 + (written in COLUMNAR))
        return self.rest(key, block)

    def of_input(self, error: InputError, number: int) -> InputError:
        """Return an error about a row of the output, counted from 0, with its file and row there.

        The blocks are read once more.
        """
        for source, block, key in self.blocks():
            documents = np.flatnonzero(self.rest_of(source, block, key).kept)
            if number < len(documents):
                row = int(block.documents().rows[documents[number]])
                return InputError(source.path, error.reason, row)
            number -= len(documents)
        return error


def write_again(
    outputs: Sequence[Rewriting],
    files: Replacements,
    *,
    folders: bool,
    threads: int,
    tell: ByteProgress,
    memory: int = TABLES,
) -> None:
    """Write outputs, as many at a time as there are threads; one alone with all of them.

    Parameters
    ----------
    outputs : sequence of Rewriting
        In the order in which they appear.
    files : Replacements
        What they appear with.
    folders : bool
        Whether directories that are missing are made.
    threads : int
        How many; they never change what is written.
    tell : ByteProgress
        The progress; it is advanced in the calling thread.
    memory : int
        Bytes that they may take; Parquet and Arrow files are gathered in batches.

    Raises
    ------
    InputError
        If an input has changed, or a value has no place in another format.
    """
    if folders:
        outputs = [*map(_without_keys, outputs)]
    wide = min(threads, len(outputs))
    if any(rewriting.output.format in COLUMNAR for rewriting in outputs):
        wide = min(wide, memory // _PER_TABLE)
    if any(rewriting.alone or rewriting.makes_objects for rewriting in outputs):
        wide = 1
    if any(rewriting.alone and rewriting.is_of_tables for rewriting in outputs):
        threads = 1  # a batch that is written would be beside the one that is read
    wide = max(wide, 1)
    at_once = threads // wide  # of what is compressed for an output
    if any(rewriting.output.format in COLUMNAR for rewriting in outputs):
        at_once = max(min(at_once, memory // wide // _PER_TABLE), 1)
    done: list[Source] = []

    def write(start: int, stop: int) -> Generator[None, None, None]:
        for place, rewriting in enumerate(outputs[start:stop], start + 1):
            with (
                files.file(rewriting.output.path, folders=folders, place=place) as temporary,
                closing(_written(rewriting, temporary, threads // wide, at_once)) as blocks,
            ):
                source = None
                for source, extent in blocks:
                    if wide == 1:
                        tell(source, extent)
                    yield
            if source is not None:
                done.append(source)

    def advance(_: int) -> None:
        while done:
            tell.whole(done.pop())

    run_batches(write, batches(len(outputs), 1), wide, advance if wide > 1 else None)


def _without_keys(rewriting: Rewriting) -> Rewriting:
    """Return an output whose rows do not get the columns of the paths of their files."""

    def blocks() -> Iterator[Reread]:
        return (item._replace(block=plain_block(item.block)) for item in rewriting.blocks())

    return replace(rewriting, sources=[*map(own_columns, rewriting.sources)], blocks=blocks)


def _written(
    task: Rewriting, temporary: str, threads: int, compressing: int
) -> Generator[tuple[Source, BlockExtent], None, None]:
    """Write an output, and yield each block that is done; so many threads compress it."""

    def piece(item: Reread) -> tuple[Source, BlockExtent, Head, Any, int]:
        source, block, _ = item
        rest = task.rest_of(*item)
        rows = conversion.piece(source, block, rest)
        return source, block.extent, block.head, rows, int(rest.kept.sum())

    written = 0
    try:
        conversion = Conversion(
            task.output, task.sources, task.added, partial(_learn, task, threads=threads), threads
        )
        with closing(ordered_map(task.blocks(), piece, threads, task.is_large)) as pieces:
            first = [*islice(pieces, 1)]
            head = conversion.head(first[0][2] if first else Head())
            with (
                conversion.open(temporary, head, compressing) as writer,
                background_calls(min(threads - 1, 1)) as soon,
            ):
                for line in task.lines:
                    writer.write(conversion.piece_of_json(line))
                    written += 1
                behind = head.missing_end(head.header)
                while first or (first := [*islice(pieces, 1)]):
                    source, extent, head, rows, count = first.pop()
                    for lines in conversion.pieces(rows) if len(rows) else ():
                        # The last row of a file need not have an end.
                        soon(writer.write, behind + lines if behind else lines)
                        behind = b"" if hasattr(lines, "schema") else head.missing_end(lines)
                    written += count
                    yield source, extent
    except InputError as error:
        if error.path != task.output.path or error.row is None:
            raise
        raise task.of_input(error, error.row + written - 1) from error.__cause__


def _learn(task: Rewriting, columns: JsonColumns, threads: int) -> None:
    """Learn the columns of the rows that are JSON, from all of them."""

    def rows_of(item: Reread) -> tuple[Source, list[Any], int]:
        source, block, _ = item
        rest = task.rest_of(*item)
        rows = []
        if source.format == "jsonl":
            is_keyed = isinstance(block, KeyedBlock)
            keys = with_keys(None, source, len(rest.kept)) if is_keyed else None
            rows = json_as_rows(block.rows(rest.kept, rest.texts, keys))
        return source, rows, int(rest.kept.sum())

    written = 0
    with closing(ordered_map(task.blocks(), rows_of, threads, task.is_large)) as results:
        for source, rows, count in results:
            columns.learn(source, rows, written + 1)
            written += count


Added = Callable[[int, int], AddedColumns]
"""Returns the further columns of documents, by the number of the first and the one behind."""


def write_rows(
    collection: Collection,
    kept: Flags,
    output: str | os.PathLike[str],
    *,
    convert: str | None = None,
    texts: NewTexts | None = None,
    added: Added | None = None,
    threads: int | None = None,
    progress: ProgressOption | None = None,
    together: Replacements | None = None,
) -> None:
    """Write the rows of the documents in `kept`, read again from the inputs.

    JSONL, CSV and TSV rows come byte for byte (in encodings where a text has one spelling, as
    UTF-8), below the first input's header; what is between the rows, as blank lines, is left out.
    Parquet and Arrow rows keep their columns. Where the columns or the formats of several inputs of
    one file differ, they are joined by name. Documents of ``.txt``
    become JSON lines with the keys ``id`` and ``text``, or copies of their files in a directory.

    If there are several outputs, all of them appear when all are written.

    Parameters
    ----------
    collection : Collection
        From `read`.
    kept : numpy.ndarray of bool, shape (documents,)
        Which rows.
    output : path
        A file or a directory; see `plan_outputs`.
    convert : str, optional
        As for `plan_outputs`.
    texts : mapping of int to str, optional
        Texts that some documents get instead of their own. All else of such a row stays as it is;
        of CSV, the quotes are new.
    added : callable, optional
        Takes two numbers of documents, and returns the columns that those from the first to the
        one before the second get behind their own.
    threads : int, optional
        As for `read`.
    progress : callable, optional
        As for `read`, with ("writing", bytes of the inputs done, bytes in all).
    together : Replacements, optional
        As for `replacing`.

    Raises
    ------
    InputError
        If an input has changed since it was read, or a value has no place in another format.
    ValueError
        If `kept` has another length than the collection.
    """
    if len(kept) != len(collection):
        raise ValueError(f"kept has {len(kept)} items for {len(collection)} documents")
    folders = is_folder_output(output)
    sources = [part.source for part in collection.parts]
    rows = _Rows(collection, kept, texts or {}, added)
    with together_or_new(together) as files:
        outputs = [
            rows.from_memory(rewriting, start, stop)
            for start, stop, rewriting in _rewritings(
                collection.parts, plan_outputs(sources, output, convert), rows, files,
                texts=collection.texts, max_row=collection.max_row,
            )
        ]  # fmt: skip
        tell = ByteProgress("writing", sources, progress)
        # Beside the texts, and the signatures that are needed no longer.
        memory = TABLES + sum(part.size for part in collection.parts)
        write_again(
            outputs, files, folders=folders, threads=thread_count(threads), memory=memory, tell=tell
        )
    tell.end()


class RowsLeft(Protocol):
    """What is left of the documents of files, which are numbered through these."""

    @property
    def added(self) -> Added | None:
        """Returns the columns that rows get behind their own."""

    def has_rows(self, start: int, stop: int) -> bool:
        """Whether a row is written of the documents from `start` to `stop` - 1."""

    def rest(self, key: tuple[int, int], block: Block) -> Rest:
        """Return what is written of a block; the key is where its documents begin and end."""


def _rewritings(
    parts: Sequence[InputFile],
    outputs: Iterable[Output],
    left: RowsLeft,
    files: Replacements,
    *,
    texts: Any = None,
    max_row: int | None = None,
) -> Iterator[tuple[int, int, Rewriting]]:
    """Yield each output that is written, and where its documents begin and end.

    Parameters
    ----------
    parts
        The files that were read.
    outputs
        All that are planned; those of files behind a limit are left out.
    left
        What is written.
    files
        A copy of a text of which nothing is left is removed with these.
    texts
        Of all documents, so that those of Parquet files need not be unpacked once more.
    max_row
        As for `Rewriting`.
    """
    starts = [0, *accumulate(part.documents for part in parts)]
    for output in outputs:
        begin, end = output.sources[0], output.sources[-1] + 1
        if not parts[begin].is_read:
            continue
        start, stop = starts[begin], starts[end]
        if output.format == "txt" and not left.has_rows(start, stop):
            files.absent(output.path)
            continue
        read = [part for part in parts[begin:end] if part.is_read]
        yield start, stop, Rewriting(
            output, [part.source for part in read], partial(_reread, read, texts, start),
            left.rest, left.added and left.added(start, start), max_row=max_row,
        )  # fmt: skip


class _Rows:
    """What is written of the documents of a collection."""

    def __init__(
        self, collection: Collection, kept: Flags, texts: NewTexts, added: Added | None
    ) -> None:
        self._collection = collection
        self._kept = kept
        self._texts = texts
        self._changed = np.sort(np.fromiter(texts, np.int64, len(texts)))
        self.added = added

    def has_rows(self, start: int, stop: int) -> bool:
        """Whether a row is written of some documents."""
        return bool(self._kept[start:stop].any())

    def rest(self, key: tuple[int, int], block: Block) -> Rest:
        """Return what is written of a block; the key is where its documents begin and end."""
        start, stop = key
        first, last = np.searchsorted(self._changed, key)
        texts = {n - start: self._texts[n] for n in self._changed[first:last].tolist()}
        return Rest(self._kept[start:stop], texts, self.added and self.added(start, stop))

    def from_memory(self, rewriting: Rewriting, start: int, stop: int) -> Rewriting:
        """Return the same output, which reads no file again if it is of texts as JSON lines."""
        sources, written = rewriting.sources, rewriting.output.format
        known = self._collection.texts is not None and written != "txt"
        if not known or any(source.format != "txt" or source.keys for source in sources):
            return rewriting
        # The texts may have come through pipes.
        return replace(rewriting, blocks=lambda: iter(()), lines=self._lines(start, stop))

    def _lines(self, start: int, stop: int) -> Iterator[bytes]:
        """Yield documents as lines of JSON, from their texts."""
        added = self.added and self.added(start, stop)
        tails = added and json_tails(added, plain=False)
        for n in (np.flatnonzero(self._kept[start:stop]) + start).tolist():
            text = self._texts[n] if n in self._texts else self._collection.texts[n]
            yield as_json(self._collection.ids[n], text, tails[n - start] if tails else b"")


def _reread(parts: Iterable[InputFile], texts: Any, start: int) -> Iterator[Reread]:
    """Read files again, of which the first document has this number.

    `texts` of the collection, or None: Parquet's own need not be unpacked once more.
    """
    for part in parts:
        is_known = texts is not None and part.source.format == "parquet"
        known = texts[start : start + part.documents] if is_known else None
        for count, block in zip(part.counts, part.blocks(known), strict=True):
            yield Reread(part.source, block, (start, start + count))
            start += count
