"""Tables of results: written in one of several formats, and read again row by row."""

import csv
import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, BinaryIO

import numpy as np

from fastlsh.errors import InputError
from fastlsh.io.blocks.lines import fields_of_any_size
from fastlsh.io.blocks.writing import maybe_array
from fastlsh.io.collection import read_objects
from fastlsh.io.convert import cell
from fastlsh.io.errors import check_writer, name_output_in_errors, pyarrow
from fastlsh.io.files import expand_one
from fastlsh.io.filesystems import STANDARD
from fastlsh.io.folders import is_json, split_suffix
from fastlsh.io.outputs import open_output, parquet_writer
from fastlsh.io.replacement import Replacements, replacing
from fastlsh.io.same_file import is_written_in_place
from fastlsh.io.sources import Source
from fastlsh.io.streams import open_bytes
from fastlsh.io.table_columns import Lookup, are_integers, blocks_of_rows, csv_text, texts_of_ids

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def table_format(path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """Return the format and the compression of a table by its name.

    Parameters
    ----------
    path : path
        ``.tsv``, ``.csv``, ``.jsonl`` and ``.json`` (an array), compressed or not, and
        ``.parquet``.

    Returns
    -------
    format : str
    compression : str or None

    Raises
    ------
    InputError
        If the suffix is another one.
    """
    name = os.fspath(path)
    kind, compression = split_suffix(name)
    if kind is None and is_written_in_place(name):
        return "tsv", None
    whole = kind == "parquet" and compression is None
    if kind is None or not (whole or kind in ("tsv", "csv", "jsonl")):
        raise InputError(name, "unknown format: a table is written as .tsv .csv .jsonl or .parquet")
    check_writer(name, kind, compression)
    return kind, compression


def write_table(
    path: str | os.PathLike[str] | None,
    columns: Mapping[str, Any],
    together: Replacements | None = None,
) -> None:
    r"""Write columns of equal length in blocks, so that they may be made as they are sliced.

    In TSV and CSV, numbers with a fraction have 6 decimals, but sums (``sum_...`` and
    ``cluster_...``) all digits that tell them apart; truth values are ``true`` and ``false``. In
    TSV, a backslash, tab, line feed and carriage return inside a value are written as ``\\``,
    ``\t``, ``\n`` and ``\r``: a row is always
    one line. A lone surrogate is written as ``\udXXX``. JSONL has null for NaN.

    Parameters
    ----------
    path : path or None
        See `table_format`; None is TSV on the standard output.
    columns : mapping of str to list, numpy.ndarray or Lookup
        The names and the values.
    together : Replacements, optional
        As for `replacing`.

    Raises
    ------
    InputError
        If the suffix is unknown.
    """
    if path is None:
        with name_output_in_errors(STANDARD, None), _standard_output() as stream:
            stream.writelines(_encoded("tsv", columns))
        return
    kind, compression = table_format(path)
    with replacing(path, together) as temporary:
        if kind == "parquet":
            _write_parquet(temporary, columns)
            return
        with (
            open_output(temporary, compression) as file,
            maybe_array(file, is_json(path)) as stream,
        ):
            for piece in _encoded(kind, columns):
                stream.write(piece)


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    stream = sys.stdout.buffer
    if isinstance(stream, io.RawIOBase):  # python -u; one write need not take all it is given
        with open(os.dup(stream.fileno()), "wb") as buffered:
            yield buffered
    else:
        yield stream
        stream.flush()


_SUMS = ("sum_", "cluster_")
"""What the names of columns with sums begin with."""

ColumnSlices = list[Any]  # a slice of each column: a list, or an array of numbers


def _blocks(columns: Mapping[str, Any]) -> Iterator[ColumnSlices]:
    for start, stop in blocks_of_rows([*columns.values()]):
        block = [column[start:stop] for column in columns.values()]
        yield [_exact(name, values) for name, values in zip(columns, block, strict=True)]


def _exact(name: str, values: Any) -> Any:
    """Return sums as objects, which are written with all of their digits."""
    is_sum = isinstance(values, np.ndarray) and name.startswith(_SUMS)
    return values.astype(object) if is_sum else values


def _encoded(kind: str, columns: Mapping[str, Any]) -> Iterator[bytes]:
    if kind == "jsonl":
        texts = (_jsonl(list(columns), block) for block in _blocks(columns))
    else:
        header = [[name] for name in columns]
        write = _tsv if kind == "tsv" else _csv
        texts = (write(block) for block in chain([header], _blocks(columns)))
    for text in texts:
        yield text.encode("utf-8", "backslashreplace")


def _tsv(block: ColumnSlices) -> str:
    columns = [_escaped(_strings(values)) for values in block]
    return "\n".join([*map("\t".join, zip(*columns, strict=True)), ""])


def _escaped(values: list[str]) -> list[str]:
    joined = "".join(values)  # searched at once: hardly any column needs an escape
    if not any(chr(code) in joined for code in _ESCAPES):
        return values
    return [value.translate(_ESCAPES) for value in values]


def _csv(block: ColumnSlices) -> str:
    return csv_text([*zip(*map(_strings, block), strict=True)])


def _strings(values: Any) -> list[str]:
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return [f"{value:.6f}" for value in values.tolist()]
    if isinstance(values, np.ndarray) and values.dtype.kind == "b":
        return ["true" if value else "false" for value in values.tolist()]
    if isinstance(values, np.ndarray):  # its elements one by one would take several times as long
        values = values.tolist()
    is_plain = {*map(type, values)} <= {str, int}
    return list(map(str if is_plain else cell, values))


def _jsonl(names: list[str], block: ColumnSlices) -> str:
    columns = [_finite(v.tolist()) if isinstance(v, np.ndarray) else v for v in block]
    rows = (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))
    return "".join([json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows])


def _finite(values: list[Any]) -> list[Any]:
    return [None if value - value != 0 else value for value in values]


def _write_parquet(path: str, columns: Mapping[str, Any]) -> None:
    pa = pyarrow(path)
    sliced = [_arrow_slices(pa, column) for column in columns.values()]
    schema = pa.schema([(n, f(0, 0).type) for n, f in zip(columns, sliced, strict=True)])
    with parquet_writer(path, schema) as writer:
        for start, stop in blocks_of_rows([*columns.values()]):
            arrays = [piece(start, stop) for piece in sliced]
            writer.write(pa.Table.from_arrays(arrays, schema=schema))


def _arrow_slices(pa: Any, column: Any) -> Callable[[int, int], Any]:
    """Return a function that makes an Arrow array of the values between two positions."""
    if isinstance(column, np.ndarray):
        return lambda start, stop: pa.array(column[start:stop])
    if (kind := getattr(column, "kind", None)) is not None:
        kinds: dict[str, Callable[[Any], Any]] = {"string": cell, "float64": float}
        made = kinds.get(kind, lambda value: value)
        return lambda start, stop: pa.array(
            [None if value is None else made(value) for value in column[start:stop]],
            getattr(pa, kind)(),
        )
    # Numbers only if all are: one type must do for the whole column.
    if are_integers(column.values if isinstance(column, Lookup) else column):
        return lambda start, stop: pa.array(column[start:stop], pa.int64())
    return lambda start, stop: pa.array(texts_of_ids(column[start:stop]), pa.string())


_ESCAPED = re.compile(r"\\([\\tnr])")
_MEANT = {"\\": "\\", "t": "\t", "n": "\n", "r": "\r"}


def table_rows(
    path: str | os.PathLike[str], columns: Sequence[Sequence[str]]
) -> Iterator[list[Any]]:
    """Yield the values of some columns of a table that `write_table` has written, row by row.

    Parameters
    ----------
    path
        ``.tsv``, ``.csv``, ``.jsonl`` and ``.json``, compressed or not, and ``.parquet``.
    columns
        For each value the names that its column may have. With "" among them, the column may be
        missing, and the value is then None.

    Raises
    ------
    InputError
        The file cannot be read, or a column is missing.
    """
    source = expand_one(path)
    if source.format in ("parquet", "jsonl"):
        yield from _of_objects(source, columns)
    elif source.format in ("tsv", "csv"):
        yield from _of_lines(source, columns)
    else:
        raise source.error("unknown format: a table is read as .tsv .csv .jsonl or .parquet")


def _chosen_names(
    source: Source, names: Sequence[str], columns: Sequence[Sequence[str]], row: int | None = None
) -> list[str]:
    """Return which name each column has; "" if it is missing."""
    chosen = []
    for possible in columns:
        name = next((name for name in possible if name == "" or name in names), None)
        if name is None:
            present = f"(there is: {', '.join(names)})"
            raise source.error(f"no column {' or '.join(possible)} {present}", row)
        chosen.append(name)
    return chosen


def _of_objects(source: Source, columns: Sequence[Sequence[str]]) -> Iterator[list[Any]]:
    for number, row in read_objects(source):
        of_one_row = number if source.format == "jsonl" else None
        chosen = _chosen_names(source, list(row), columns, of_one_row)
        yield [row[name] if name else None for name in chosen]


def _of_lines(source: Source, columns: Sequence[Sequence[str]]) -> Iterator[list[Any]]:
    with open_bytes(source) as file:
        lines = io.TextIOWrapper(file, "utf-8", "strict", newline="")
        tabs = source.format == "tsv"
        rows: Iterator[list[str]] = (
            (line.rstrip("\r\n").split("\t") for line in lines) if tabs else _records(lines)
        )
        number = 0
        try:
            names = next(rows, [])
            chosen = _chosen_names(source, names, columns)
            at = [names.index(name) if name else -1 for name in chosen]
            for number, row in enumerate(rows, 1):
                if len(row) != len(names):
                    reason = f"has {len(row)} columns, and the header {len(names)}"
                    raise source.error(reason, number)
                values = [row[place] if place >= 0 else None for place in at]
                yield [_plain(value) if tabs and value else value for value in values]
        except UnicodeDecodeError as error:
            raise source.error("is not UTF-8") from error
        except csv.Error as error:
            raise source.error(f"is no CSV: {error}", number + 1) from error


def _records(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield rows of CSV; the csv module has its own limit again between two rows."""
    rows = csv.reader(lines, strict=True)
    while True:
        with fields_of_any_size():
            row = next(rows, None)
        if row is None:
            return
        yield row


def _plain(value: str) -> str:
    return _ESCAPED.sub(lambda match: _MEANT[match[1]], value) if "\\" in value else value
