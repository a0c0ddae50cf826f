"""Parquet and Arrow IPC, read table by table; texts stay in Arrow's memory."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from fastlsh.errors import InputError
from fastlsh.io.arrays import as_binary, check_structure, not_utf8, select
from fastlsh.io.errors import pyarrow, reading
from fastlsh.io.files import Source
from fastlsh.io.streams import open_arrow

_TEXT = ("string", "large_string", "string_view")
# By name, for an old pyarrow lacks some of these types.
_BYTES = {
    "binary": "string",
    "large_binary": "large_string",
    "binary_view": "string_view",
    "null": "string",
}


class Columnar:
    """Reader of ``.parquet`` and ``.arrow`` (file or stream).

    Parameters
    ----------
    source : Source
        The file.

    Attributes
    ----------
    layout : pyarrow.Schema
        All columns of the file, known once tables are read.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.layout: Any = None
        self._pa = pyarrow(source.path)

    def tables(self, *, whole: bool = False) -> Iterator[Any]:
        """Yield the row groups or batches as tables of the text and id columns, or of all."""
        read = self._parquet if self.source.format == "parquet" else self._arrow
        with reading(self.source.path):
            for table in read(whole):
                check_structure(table)
                yield table

    def documents(
        self, table: Any, start: int, refuse: Callable[[InputError], None]
    ) -> tuple[Any, list[Any]]:
        """Return the texts and the ids of a table.

        Parameters
        ----------
        table : pyarrow.Table
            One of `tables`.
        start : int
            The number of rows before it.
        refuse : callable
            Called with the error of each bad row; the row is left out if it returns.

        Returns
        -------
        texts : pyarrow.ChunkedArray
            Of strings, or a dictionary of strings.
        ids : list
            ``FILE:ROW`` where there is none.
        """
        with reading(self.source.path):
            return self._documents(table, start, refuse)

    def _documents(
        self, table: Any, start: int, refuse: Callable[[InputError], None]
    ) -> tuple[Any, list[Any]]:
        options = self.source.options
        key = self._id_column(table.schema)
        ids, bad = self._ids(table, key)
        bad |= self._undecodable(self.texts(table))
        if options.id is not None:
            bad |= {i: f"{key!r} is null, not an id" for i, v in enumerate(ids) if v is None}
        for i in sorted(bad):
            refuse(self.source.error(bad[i], start + i + 1))
        if bad:
            table = select(table, np.array([i not in bad for i in range(len(table))]))
        names = [
            f"{self.source.path}:{start + i + 1}" if v is None else _plain(v)
            for i, v in enumerate(ids)
            if i not in bad
        ]
        texts = self.texts(table)
        target = self._text_type(texts.type)
        return texts if target is None else texts.cast(target), names

    def texts(self, table: Any) -> Any:
        """Return the column of the texts as it is."""
        return table.column(self.source.options.text or "text")

    def _parquet(self, whole: bool) -> Iterator[Any]:
        parquet = pyarrow(self.source.path, "pyarrow.parquet")
        with open_arrow(self.source) as raw, parquet.ParquetFile(raw) as file:
            columns = self._columns(file.schema_arrow)
            for group in range(file.num_row_groups):
                yield file.read_row_group(group, columns=None if whole else columns)

    def _arrow(self, whole: bool) -> Iterator[Any]:
        with self._ipc(None) as reader:
            schema = reader.schema
            columns = self._columns(schema)
        with self._ipc(None if whole else [schema.get_field_index(c) for c in columns]) as reader:
            if hasattr(reader, "get_batch"):
                batches = map(reader.get_batch, range(reader.num_record_batches))
            else:
                batches = iter(reader)
            for batch in batches:
                yield self._pa.Table.from_batches([batch])

    @contextmanager
    def _ipc(self, fields: list[int] | None) -> Iterator[Any]:
        ipc = pyarrow(self.source.path, "pyarrow.ipc")
        with open_arrow(self.source) as file:
            is_file = file.read(6) == b"ARROW1"
            file.seek(0)
            options = ipc.IpcReadOptions(included_fields=fields)
            with (ipc.open_file if is_file else ipc.open_stream)(file, options=options) as reader:
                yield reader

    def _columns(self, schema: Any) -> list[str]:
        self.layout = schema
        text = self._column(schema, self.source.options.text or "text")
        key = self._id_column(schema)
        self._text_type(schema.field(text).type)
        if key is not None and self._pa.types.is_nested(schema.field(key).type):
            raise self.source.error(f"column {key!r} is {schema.field(key).type}, not an id")
        return sorted({text} if key is None else {text, key}, key=schema.get_field_index)

    def _id_column(self, schema: Any) -> str | None:
        name = self.source.options.id
        return self._column(schema, name or "id") if name or "id" in schema.names else None

    def _column(self, schema: Any, name: str) -> str:
        count = schema.names.count(name)
        if count > 1:
            raise self.source.error(f"{count} columns are named {name!r}")
        if count == 0:
            there = ", ".join(map(repr, schema.names)) or "none"
            raise self.source.error(f"no column {name!r} (there is: {there})")
        return name

    def _text_type(self, kind: Any) -> Any:
        """Return the type to cast to, None if there is no need."""
        pa = self._pa
        if pa.types.is_dictionary(kind):
            if str(kind.value_type) in _BYTES:
                return pa.large_string()
            if str(kind.value_type) in _TEXT:
                return None
        elif pa.types.is_fixed_size_binary(kind):
            return pa.string()
        elif str(kind) in _BYTES:
            return pa.type_for_alias(_BYTES[str(kind)])
        elif str(kind) in _TEXT:
            return None
        name = self.source.options.text or "text"
        raise self.source.error(f"column {name!r} is {kind}, not text")

    def _undecodable(self, texts: Any) -> dict[int, str]:
        """Find the rows that are not UTF-8, which Arrow itself checks only on demand."""
        target = self._text_type(texts.type)
        try:
            if target is None:
                texts.validate(full=True)
            else:
                texts.cast(target)
        except self._pa.ArrowInvalid:
            bad = not_utf8(texts)
            if not bad:
                raise
            return bad
        return {}

    def _ids(self, table: Any, key: str | None) -> tuple[list[Any], dict[int, str]]:
        """Return the values of the column of the ids, and the rows where they are not UTF-8."""
        if key is None:
            return [None] * len(table), {}
        column = table.column(key)
        try:
            return column.to_pylist(), {}
        except UnicodeDecodeError:
            bad = {i: f"{key!r} is {reason}" for i, reason in not_utf8(column).items()}
            return as_binary(column).to_pylist(), bad


def _plain(value: Any) -> Any:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
