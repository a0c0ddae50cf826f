"""From rows of the inputs to those of an output: of another format, or of joined columns."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import compress, pairwise
from typing import Any, NamedTuple

from fastlsh.errors import InputError
from fastlsh.io.blocks.contract import AddedColumns, Block, Flags, Head, NewTexts
from fastlsh.io.blocks.delimited import SplitBlock
from fastlsh.io.blocks.jsonl import ArrayBlock
from fastlsh.io.blocks.lines import TextBlock
from fastlsh.io.blocks.reading import KeyedBlock
from fastlsh.io.blocks.writing import RowsWriter, head_with, rows_writer, taken, with_keys
from fastlsh.io.convert.json_columns import JsonColumns, array_of
from fastlsh.io.convert.rows import (
    Row,
    delimited_as_rows,
    delimited_rows,
    fault_of,
    json_as_rows,
    json_lines,
    slices_of_objects,
    table_rows,
)
from fastlsh.io.convert.schemas import (
    FileColumns,
    cast,
    joined_columns,
    joined_schema,
    warn_of_missing,
)
from fastlsh.io.errors import pyarrow
from fastlsh.io.folders import COLUMNAR, DELIMITED, SPLIT
from fastlsh.io.shards import Output
from fastlsh.io.sources import Source
from fastlsh.parallel import ordered_map

_ERRORS = (ValueError, TypeError, KeyError)
"""What is raised for a value that another format does not have."""


class Rest(NamedTuple):
    """What is left of the documents of a block."""

    kept: Flags
    """bool, by document: whether its row is written."""
    texts: NewTexts
    """The texts that lose something, by document."""
    added: AddedColumns | None = None
    """The columns that rows get behind their own."""


def check_joined(plan: Sequence[Output], sources: Sequence[Source], threads: int) -> None:
    """Check before the work, by so many threads, that the columns of the inputs can be joined.

    Raises
    ------
    InputError
        If they cannot; of JSON, it is known only when the rows have been read.
    """
    for output in plan:
        inputs = [sources[number] for number in output.sources]
        if len(inputs) > 1 and not _is_as_written(inputs, output):
            files = _columns_of(inputs, output, JsonColumns(output.path, typed=False), threads)
            if not _are_alike(files, output):
                joined_columns(files)


class Conversion:
    """How rows of some inputs become those of an output.

    Parameters
    ----------
    output : Output
        What it will be.
    sources : sequence of Source
        The inputs that were read, in order.
    added : AddedColumns, optional
        The columns that its rows get behind their own.
    learn : callable
        Calls `JsonColumns.learn` for the rows of all inputs that are JSON.
    threads : int
        How many look at the columns of files.

    Raises
    ------
    InputError
        If the columns cannot be joined; it names the row of the output, or both files.

    Notes
    -----
    Everything is decided here, before a row is written. JSON that becomes a table is read once more
    for it.
    """

    def __init__(
        self,
        output: Output,
        sources: Sequence[Source],
        added: AddedColumns | None,
        learn: Callable[[JsonColumns], None],
        threads: int = 1,
    ) -> None:
        self._output = output
        self._first = sources[0]
        self._added = added
        self._columns: dict[str, Any] | None = None
        if _is_as_written(sources, output):
            return
        learned = JsonColumns(output.path, typed=output.format in COLUMNAR)
        if output.format != "jsonl" and any(source.format == "jsonl" for source in sources):
            learn(learned)
        files = _columns_of(sources, output, learned, threads)
        if len(files) == len(sources) and _are_alike(files, output):
            return
        columns = joined_columns(files)
        warn_of_missing(files, columns)
        if not columns:  # so that it can be read
            columns = dict.fromkeys(self._first.options.texts(), "string")
        for name, kind in added.types.items() if added is not None else ():
            if name in columns:
                raise next(file for file in files if name in file.kinds).source.error(taken(name))
            columns[name] = kind
        self._columns = columns
        if any(kind in COLUMNAR for kind in (output.format, *(s.format for s in sources))):
            self._schema = joined_schema(files, columns)
        same = [source for source in sources if source.format == output.format]
        self._delimiter = same[0].delimiter if same else "\t" if output.format == "tsv" else ","
        self._quotes = self._first.options.quotes or len(same) < len(sources)

    def piece(self, source: Source, block: Block, rest: Rest) -> Any:
        """Return what is left of a block of an input, for `pieces`; in any thread.

        Raises
        ------
        InputError
            If a value has no place in the other format; the row is counted from 1 in the piece.
        """
        output = self._output
        if isinstance(block, KeyedBlock):
            added = with_keys(rest.added, source, len(rest.kept))
            block, rest = block.inner, rest._replace(added=added)
        if output.format == "txt":  # a copy of the file
            return block.copy(rest.texts) if isinstance(block, TextBlock) else b""
        if isinstance(block, SplitBlock) and output.format != source.format:
            return self.piece_of_json(block.as_json(rest.kept, rest.added))
        if isinstance(block, ArrayBlock) and output.array:
            return block.rows_with_breaks(*rest)
        if self._columns is None:
            return block.rows(*rest)
        if source.format in COLUMNAR:
            return cast(block.rows(*rest), self._schema)
        if source.format not in DELIMITED:
            return self.piece_of_json(block.rows(*rest))
        added = (rest.added and rest.added.beside(block.head.layout or ())) or AddedColumns({}, {})
        is_same = (source.format, self._quotes) == (output.format, source.options.quotes)
        if is_same and [*(block.head.layout or ()), *added.types] == [*self._columns]:
            return block.rows(*rest)
        rows = delimited_as_rows(block.rows(rest.kept, rest.texts), source, block.head.layout or ())
        for row, values in zip(rows, compress(added.rows(), rest.kept), strict=False):
            row.update(zip(added.types, values, strict=True))
        return self._encoded(0, len(rows), lambda start, stop: rows[start:stop])

    def pieces(self, rows: Any) -> Iterator[Any]:
        """Yield what `piece` returned as the writer of `open` takes it; errors as in `piece`.

        A table that becomes text is encoded here, some rows after the others: so threads that read
        blocks do not hold the objects of Python of their rows, nor the text.
        """
        if not hasattr(rows, "schema") or self._output.format in COLUMNAR:
            yield rows
            return
        for bounds in slices_of_objects(rows):
            yield self._encoded(*bounds, lambda start, stop: table_rows(rows, start, stop))

    def piece_of_json(self, lines: Any) -> Any:
        """Return what lines of JSON give to the output; errors as in `piece`."""
        if self._columns is None or self._output.format == "jsonl":
            return lines
        rows = json_as_rows(lines)
        return self._encoded(0, len(rows), lambda start, stop: rows[start:stop])

    def _encoded(self, start: int, stop: int, rows_of: Callable[[int, int], list[Row]]) -> Any:
        """Return rows in the format of the output, given what returns some of them."""
        try:
            return self._encode(rows_of(start, stop))
        except _ERRORS as error:
            for number in range(start, stop):
                row: Row = {}
                try:
                    (row,) = rows_of(number, number + 1)
                    self._encode([row])
                except _ERRORS as reason:
                    fault = fault_of(row, reason)
                    raise InputError(self._output.path, fault, number + 1) from error
            raise

    def _encode(self, rows: list[Row]) -> Any:
        rows = [{name: row.get(name) for name in self._columns or ()} for row in rows]
        if self._output.format == "jsonl":
            return json_lines(rows)
        if self._output.format in DELIMITED:
            return delimited_rows(rows, self._delimiter, quotes=self._quotes)
        columns = [array_of([r[field.name] for r in rows], field.type) for field in self._schema]
        return pyarrow(self._output.path).Table.from_arrays(columns, schema=self._schema)

    def head(self, first: Head) -> Head:
        """Return the head of the output, given that of the first block of the first input."""
        output, source, added = self._output, self._first, self._added
        is_same = source.format == output.format or {source.format, output.format} <= {*COLUMNAR}
        head = first if is_same else Head()
        if added is not None:
            head = head_with(head, added, source)
        if self._columns is None:
            return head
        if output.format in COLUMNAR:
            return replace(head, layout=self._schema, codecs={})
        names = tuple(self._columns)
        keeps = is_same and (head.layout == names or not source.options.header)
        if keeps or output.format == "jsonl":
            return head
        header = delimited_rows([{n: n for n in names}], self._delimiter, quotes=self._quotes)
        return replace(head, header=header)

    @contextmanager
    def open(self, temporary: str, head: Head, threads: int = 1) -> Iterator[RowsWriter]:
        """Open the output for pieces.

        Parameters
        ----------
        temporary : str
            Where it is written.
        head : Head
            From `head`.
        threads : int
            How many compress.

        Yields
        ------
        RowsWriter
            It takes what `pieces` yields, of one block after the other, and is complete in the file
            only when the context is left.

        Raises
        ------
        InputError
            If Parquet does not have a type.
        """
        output = self._output
        try:
            with rows_writer(
                temporary, output.format, output.compression, head, threads, output.array
            ) as writer:
                yield writer
        except NotImplementedError as reason:
            message = f"Parquet cannot hold it: {reason}"
            for item in head.layout:
                if "struct<>" in str(item.type):
                    message = f"all objects of {item.name!r} are empty, which Parquet does not have"
            raise InputError(output.path, message) from reason


def _columns_of(
    sources: Sequence[Source], output: Output, learned: JsonColumns, threads: int
) -> list[FileColumns]:
    """Return the columns of the files that have some."""

    def look(source: Source) -> FileColumns | None:
        if source.format == "jsonl":
            return learned.of(source)
        return FileColumns.of(source, output.format)

    columns = ordered_map(sources, look, threads)
    return [file for file in columns if file is not None and file.kinds]


def _is_as_written(sources: Sequence[Source], output: Output) -> bool:
    """Whether all rows go into the output as they came, whatever their columns are."""
    plain = ("txt", *SPLIT)
    formats = {source.format for source in sources}
    if output.format == "jsonl":
        return formats <= {"jsonl", *plain}
    return output.format in plain or (len(sources) == 1 and formats == {output.format})


def _are_alike(files: Sequence[FileColumns], output: Output) -> bool:
    """Whether all files have the same columns, and the output is such a file, too."""
    formats = {output.format, *(file.source.format for file in files)}
    is_same = len(formats) == 1 or formats <= {*COLUMNAR}
    return is_same and all(
        (one.layout, [*one.kinds]) == (other.layout, [*other.kinds])
        for one, other in pairwise(files)
    )
