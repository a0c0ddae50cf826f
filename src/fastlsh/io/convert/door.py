"""From pieces of the inputs to an output of another format."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from fastlsh.errors import InputError
from fastlsh.io.convert.json_tables import JsonTables
from fastlsh.io.convert.parsing import column_names, parser
from fastlsh.io.convert.text import CsvRows, JsonRows, KeyedCsvRows
from fastlsh.io.errors import pyarrow
from fastlsh.io.files import Source
from fastlsh.io.formats import COLUMNAR
from fastlsh.io.outputs import open_output, parquet_writer
from fastlsh.io.shards import Output


class RowSink(Protocol):
    """What takes rows."""

    def write(self, piece: Any) -> None:
        """Take a piece of an input: whole lines as UTF-8, or a table."""


@contextmanager
def converting(temporary: str, output: Output, source: Source, layout: Any) -> Iterator[RowSink]:
    """Open an output for rows that come in another format.

    Parameters
    ----------
    temporary : str
        Where it is written.
    output : Output
        What it will be.
    source : Source
        The first input, whose format and options all of them have; documents of plain text come
        as JSON lines.
    layout : tuple of str, pyarrow.Schema or None
        The columns of the inputs, where the format names them once for all rows.

    Yields
    ------
    RowSink
        It is complete in the file only when the context is left.

    Raises
    ------
    InputError
        If a value has no place in the other format, or the types of a key differ in a Parquet
        file; it names the row of the output, and the key.

    Notes
    -----
    Memory is that of a piece. JSON lines that become Parquet or CSV are written to a file without
    a name first, for their columns are known only at the end.
    """
    parse = parser(source, layout)
    if source.format in COLUMNAR and output.format == "parquet":
        with parquet_writer(temporary, layout) as tables:
            yield _Tables(tables.write_table, output)
        return
    names = column_names(source, layout)
    if output.format == "parquet":
        with JsonTables(temporary, output.path, names) as rows:
            yield _Parsed(rows, parse)
        return
    with open_output(temporary, output.compression) as stream:
        if output.format == "jsonl":
            yield _Parsed(JsonRows(stream, output.path), parse)
        elif names is not None:
            yield _Parsed(CsvRows(stream, output.path, names), parse)
        else:
            with KeyedCsvRows(stream, temporary, output.path) as keyed:
                yield _Parsed(keyed, parse)


class _Parsed:
    def __init__(self, rows: Any, parse: Any) -> None:
        self._rows = rows
        self._parse = parse

    def write(self, piece: Any) -> None:
        rows = self._parse(piece)
        if rows:
            self._rows.write(rows)


class _Tables:
    def __init__(self, write: Any, output: Output) -> None:
        self._write = write
        self._path = output.path
        self._error = pyarrow(output.path).ArrowException

    def write(self, piece: Any) -> None:
        try:
            self._write(piece)
        except self._error as error:
            raise InputError(self._path, f"Parquet cannot hold it: {error}") from error
