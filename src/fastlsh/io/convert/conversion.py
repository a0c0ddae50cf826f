"""From pieces of the inputs to an output of another format."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastlsh.errors import InputError
from fastlsh.io.blocks import (
    Block,
    Flags,
    Head,
    NewTexts,
    RowsWriter,
    SplitBlock,
    TextBlock,
    rows_writer,
)
from fastlsh.io.convert.json_tables import JsonTables
from fastlsh.io.convert.parsing import column_names, default_names, parser
from fastlsh.io.convert.text import CsvRows, JsonRows, KeyedCsvRows
from fastlsh.io.errors import pyarrow
from fastlsh.io.formats import COLUMNAR, SPLIT
from fastlsh.io.outputs import open_output, parquet_writer
from fastlsh.io.shards import Output
from fastlsh.io.sources import Source


def output_piece(output: Output, block: Block, kept: Flags, texts: NewTexts | None = None) -> Any:
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
    """
    if output.format == "txt":  # a copy of the file
        return block.copy(texts) if isinstance(block, TextBlock) else b""
    if isinstance(block, SplitBlock) and output.format != block.source.format:
        return block.as_json(kept)
    return block.rows(kept, texts)


@contextmanager
def output_writer(
    temporary: str, output: Output, source: Source, head: Head
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

    Yields
    ------
    RowsWriter
        It takes what `output_piece` returns, of one block after the other, and is complete in
        the file only when the context is left.

    Raises
    ------
    InputError
        If a value has no place in the other format, or the types of a key differ in a Parquet
        file; it names the row of the output, and the key.

    Notes
    -----
    Memory is that of a piece. JSON lines that become Parquet or CSV wait in a file without a name
    beside the output, for their columns are known only at the end.
    """
    plain = source.format in ("txt", *SPLIT) and output.format != source.format
    kind = "jsonl" if plain else source.format
    if output.format == kind:
        with rows_writer(temporary, kind, output.compression, head) as writer:
            yield writer
    else:
        yield from _converting(temporary, output, source, head.layout)


def _converting(
    temporary: str, output: Output, source: Source, layout: Any
) -> Iterator[RowsWriter]:
    parse = parser(source, layout)
    if source.format in COLUMNAR and output.format == "parquet":
        error = pyarrow(output.path).ArrowNotImplementedError
        try:
            with parquet_writer(temporary, layout) as tables:
                yield tables
        except error as reason:
            raise InputError(output.path, f"Parquet cannot hold it: {reason}") from reason
        return
    names = column_names(source, layout)
    if output.format == "parquet":
        with JsonTables(temporary, output.path, names, default_names(source)) as rows:
            yield _Parsed(rows, parse)
        return
    with open_output(temporary, output.compression) as stream:
        if output.format == "jsonl":
            yield _Parsed(JsonRows(stream, output.path), parse)
        elif names is not None:
            yield _Parsed(CsvRows(stream, output.path, names), parse)
        else:
            with KeyedCsvRows(stream, temporary, output.path, default_names(source)) as keyed:
                yield _Parsed(keyed, parse)


class _Parsed:
    def __init__(self, rows: Any, parse: Any) -> None:
        self._rows = rows
        self._parse = parse

    def write(self, piece: Any) -> None:
        rows = self._parse(piece)
        if rows:
            self._rows.write(rows)
