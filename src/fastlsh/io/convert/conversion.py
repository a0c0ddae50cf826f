"""From pieces of the inputs to an output of another format."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fastlsh.errors import InputError
from fastlsh.io.blocks import (
    AddedColumns,
    ArrayBlock,
    Block,
    Flags,
    Head,
    KeyedBlock,
    NewTexts,
    RowsWriter,
    SplitBlock,
    TextBlock,
    head_with,
    rows_writer,
    with_keys,
)
from fastlsh.io.convert.parsing import Row, column_names, default_names, parser
from fastlsh.io.convert.tables import ParquetTable, open_parquet
from fastlsh.io.convert.text import CsvTable, JsonLines
from fastlsh.io.formats import COLUMNAR, SPLIT
from fastlsh.io.outputs import nameless_file
from fastlsh.io.shards import Output
from fastlsh.io.sources import Source

_PIECE = 1 << 22
"""Bytes of rows that are parsed together when they are read for the second time."""

_TARGETS: dict[str, Callable[..., Any]] = {
    "jsonl": JsonLines,
    "csv": CsvTable,
    "parquet": ParquetTable,
}


def output_piece(
    output: Output,
    block: Block,
    kept: Flags,
    texts: NewTexts | None = None,
    added: AddedColumns | None = None,
) -> Any:
    """Return what a block gives to an output, for the writer of `output_writer`.

    Parameters
    ----------
    output : Output
        Where it goes.
    block : Block
        Of one of its inputs.
    kept : numpy.ndarray of bool
        Which of the good documents of the block.
    texts : mapping of int to str, optional
        Texts that some of these get instead of their own.
    added : AddedColumns, optional
        Columns that they get behind their own.
    """
    if isinstance(block, KeyedBlock):
        added, block = with_keys(added, block.source, len(kept)), block.inner
    if output.format == "txt":  # a copy of the file
        return block.copy(texts) if isinstance(block, TextBlock) else b""
    if isinstance(block, SplitBlock) and output.format != block.source.format:
        return block.as_json(kept, added)
    if isinstance(block, ArrayBlock) and output.array:
        return block.rows_with_breaks(kept, texts, added)
    return block.rows(kept, texts, added)


@contextmanager
def output_writer(
    temporary: str,
    output: Output,
    source: Source,
    head: Head,
    added: AddedColumns | None = None,
    threads: int = 1,
) -> Iterator[RowsWriter]:
    """Open an output for rows, which come in the format of the inputs or become another one.

    Parameters
    ----------
    temporary : str
        Where it is written.
    output : Output
        What it will be.
    source : Source
        The first input, whose format and options all of them have.
    head : Head
        Of its blocks.
    added : AddedColumns, optional
        The columns that its rows get behind their own.
    threads : int
        How many compress.

    Yields
    ------
    RowsWriter
        It takes what `output_piece` returns, of one block after the other, and is complete in
        the file only when the context is left.

    Raises
    ------
    InputError
        If a value has no place in the other format, or the types of a key differ in a Parquet
        file; it names the row of the output, and the key. If a column of `added` is there already.

    Notes
    -----
    Memory is that of a piece. JSON lines that become Parquet or CSV wait in a file without a name
    beside the output, for their columns are known only at the end.
    """
    if added is not None:
        head = head_with(head, added, source)
    plain = source.format in ("txt", *SPLIT) and output.format != source.format
    kind = "jsonl" if plain else source.format
    if output.format == kind:
        with rows_writer(
            temporary, kind, output.compression, head, threads, output.array
        ) as writer:
            yield writer
    elif source.format in COLUMNAR and output.format == "parquet":
        with open_parquet(temporary, output.path, head.layout, threads) as tables:
            yield tables
    else:
        yield from _converting(temporary, output, source, head.layout)


def _converting(
    temporary: str, output: Output, source: Source, layout: Any
) -> Iterator[RowsWriter]:
    names = column_names(source, layout)
    parse = parser(source, names)
    target = _TARGETS[output.format](output, names or (), default_names(source))
    if names is not None or output.format == "jsonl":
        with target.open(temporary) as write:
            yield _ParsedRows(output, parse, write)
        return
    with nameless_file(temporary) as waiting:

        def parse_and_keep(piece: Any) -> list[Row]:
            waiting.writelines((piece, b"\n"))
            return parse(piece)

        yield _ParsedRows(output, parse_and_keep, target.learn)
        waiting.seek(0)
        with target.open(temporary) as write:
            rows = _ParsedRows(output, parse, write)
            while piece := b"".join(waiting.readlines(_PIECE)):
                rows.write(piece)


class _ParsedRows:
    """Hands on the rows of pieces, with the number of the first of them in the output."""

    def __init__(
        self,
        output: Output,
        parse: Callable[[Any], list[Row]],
        write: Callable[[list[Row], int], None],
    ) -> None:
        self._output = output
        self._parse = parse
        self._write = write
        self._count = 0

    def write(self, piece: Any) -> None:
        """Parse and hand on a piece."""
        try:
            rows = self._parse(piece)
        except (KeyError, ValueError) as error:  # a map has a key twice; nanoseconds, no pandas
            reason = f"a value after row {self._count} cannot be converted: {error.args[0]}"
            raise InputError(self._output.path, reason) from error
        if rows:
            self._write(rows, self._count + 1)
            self._count += len(rows)
