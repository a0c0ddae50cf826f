"""Parts of Parquet and Arrow files: their columns, with texts and ids in Arrow's memory."""

from collections.abc import Container, Iterator
from copy import copy
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import exact, settled
from fastlsh.errors import InputError, LongRowError
from fastlsh.io.arrays import (
    AS_OBJECTS,
    PER_ROW,
    as_binary,
    as_objects,
    check_column,
    check_structure,
    not_utf8,
    select,
    table_as_objects,
)
from fastlsh.io.blocks.contract import (
    AddedColumns,
    BlockDocuments,
    BlockExtent,
    Flags,
    Head,
    NewTexts,
)
from fastlsh.io.blocks.writing import table_with_columns, table_with_texts
from fastlsh.io.errors import pyarrow, reading
from fastlsh.io.ids import as_list, label_hashes
from fastlsh.io.record_texts import (
    are_lists_of_ids,
    are_messages,
    joined_columns,
    texts_of_messages,
    words_of_column,
)
from fastlsh.io.sources import Source
from fastlsh.priorities import Priorities, PriorityRecord, read_priorities

_TEXT = ("string", "large_string", "string_view")
# By name, for an old pyarrow lacks some of these types.
_BYTES = {
    "binary": "string",
    "large_binary": "large_string",
    "binary_view": "string_view",
    "null": "string",
}


LABEL = "a text or a number"
"""What messages call the value of a label."""


class TableColumns:
    """The columns of one file.

    Parameters
    ----------
    source : Source
        The file.
    schema : pyarrow.Schema
        Its columns.

    Attributes
    ----------
    texts : tuple of str
        The names of those that are the text.
    id : str or None
        Its name.
    numbers, labels : tuple of str
        The columns of `Options.counts` and `Options.labels`.
    absent : str
        Why there is no column of priorities, if there ought to be one.
    names : list of str
        The columns of the file that these are, or are in, in its order.

    Raises
    ------
    InputError
        If a column is absent, there twice, or of another type.
    """

    def __init__(self, source: Source, schema: Any) -> None:
        options = source.options
        self.source = source
        self.schema = schema
        self._types = pyarrow(source.path).types
        self.texts = tuple(map(self._column, options.texts()))
        self.id: str | None = None
        if options.id or "id" in schema.names:
            self.id = self._column(options.id or "id")
        for name in self.texts:
            self.text_type(name, self._type(name))
        if options.roles and not any(map(self.has_messages, self.texts)):
            raise self._error(self.texts[0], "lists of messages with roles")
        if self.id is not None and self._types.is_nested(self._type(self.id)):
            raise self._error(self.id, "an id")
        optional = filter(schema.names.__contains__, source.optional)
        self.numbers, self.labels = options.counts, (*options.labels, *optional)
        self.absent, ranked = "", [options.priority] if options.priority else []
        if ranked and self._type_or_none(ranked[0]) is None:
            self.absent = source.missing("column", ranked.pop(), schema.names)
        for name in self.numbers:
            if not self._is_number(self._type(self._column(name))):
                raise self._error(name, "a number")
        for name in self.labels:
            if self._types.is_nested(self._type(self._column(name))):
                raise self._error(name, LABEL)
        if options.also is not None:
            kind = self._type(options.also)
            if str(getattr(kind, "value_type", kind)) not in (*_TEXT, "null"):
                raise self._error(options.also, "text")
        named = (*self.texts, self.id, *self.numbers, *self.labels, *ranked)
        columns = {self.path(name)[0] for name in named if name}
        self.names: list[str] = sorted(columns, key=schema.get_field_index)

    def of(self, table: Any, name: str) -> Any:
        """Return a column of a table, or a field inside one."""
        first, *inner = self.path(name)
        column = table.column(first)
        if inner:
            check_column(first, column)
            compute = pyarrow(self.source.path, "pyarrow.compute")
            for field in inner:
                column = compute.struct_field(column, field)
        return column

    def path(self, name: str) -> list[str]:
        """Return the column, and the fields inside it, that a name like ``a.b.c`` stands for."""
        return [name] if name in self.schema.names else name.split(".")

    def _type(self, name: str) -> Any:
        first, *inner = self.path(name)
        kind = self.schema.field(first).type
        for field in inner:
            kind = kind.field(field).type
        return kind

    def _column(self, name: str) -> str:
        if self._type_or_none(name) is None:
            raise self.source.error(self.source.missing("column", name, self.schema.names))
        return name

    def _type_or_none(self, name: str) -> Any:
        """Return the type of a column, or of a field inside one; None if it is absent."""
        names = self.schema.names
        first, *inner = self.path(name)
        count = names.count(first)
        if count > 1:
            raise self.source.error(f"{count} columns are named {first!r}")
        kind: Any = self.schema.field(first).type if count else None
        for field in inner if count else ():
            has_field = self._types.is_struct(kind) and kind.get_field_index(field) >= 0
            kind = kind.field(field).type if has_field else None
            if kind is None:
                break
        return kind

    def _error(self, name: str, expected: str) -> Exception:
        kind = self._type(name)
        return self.source.error(f"column {name!r} is {kind}, not {expected}")

    def _is_number(self, kind: Any) -> bool:
        types = self._types
        tests = (types.is_integer, types.is_floating, types.is_decimal, types.is_null)
        return any(test(kind) for test in tests)

    def plain_text(self) -> Any:
        """Return the field of the column that is the text as it is; None if there is no such."""
        name, *others = self.texts
        names = self.schema.names
        if others or name not in names or len(set(names)) < len(names):
            return None
        field = self.schema.field(name)
        return field if str(field.type) in _TEXT else None

    def has_messages(self, name: str) -> bool:
        """Whether a column of the text has messages."""
        return are_messages(self._type(name))

    def text_type(self, name: str, kind: Any) -> Any:
        """Return the type that texts of a type are cast to, None if there is no need."""
        pa = pyarrow(self.source.path)
        options = self.source.options
        if options.tokens:
            if are_lists_of_ids(kind):
                return pa.string()
            raise self._error(name, "lists of token ids, which are whole numbers")
        if are_messages(kind) and not options.editable:
            return pa.large_string()
        if self._types.is_dictionary(kind):
            if str(kind.value_type) in _BYTES:
                return pa.large_string()
            if str(kind.value_type) in _TEXT:
                return None
        elif self._types.is_fixed_size_binary(kind):
            return pa.string()
        elif str(kind) in _BYTES:
            return pa.type_for_alias(_BYTES[str(kind)])
        elif str(kind) in _TEXT:
            return None
        hint = ' (lists of token ids need unit="token")' if are_lists_of_ids(kind) else ""
        raise self._error(name, f"text{hint}")


class TableFile(Protocol):
    """A Parquet or Arrow file."""

    columns: TableColumns
    head: Head


class TableBlock:
    """Some rows of a table; base of those of Parquet and Arrow.

    Parameters
    ----------
    file
        The file.
    extent
        Which rows.
    bad
        The numbers of all bad rows of the file, in order; None: they are not known yet.
    table
        The rows, with some columns or all, if they have been read.
    """

    def __init__(
        self,
        file: TableFile,
        extent: BlockExtent,
        bad: NDArray[np.int64] | None,
        table: Any = None,
    ) -> None:
        self.extent = extent
        self.head = file.head
        self._columns = file.columns
        self._bad = None if bad is None else _bad_within(bad, extent)
        self._reasons: list[InputError] = []
        """What is wrong with the bad rows, if they were found here."""
        self._read = table
        """The rows, with some columns or all, if they have been read."""

    def documents(self, kept: Flags | None = None) -> BlockDocuments:
        """Return the texts and ids; see `Block`."""
        with reading(self._columns.source.path):
            return self._documents(self._table(False), kept)

    def rows(
        self, kept: Flags, texts: NewTexts | None = None, added: AddedColumns | None = None
    ) -> Any:
        """Return rows with all their columns; see `Block`."""
        with reading(self._columns.source.path):
            table = self._table(True)
            added = added and added.beside(self.head.layout.names)
            check_structure(table)
            if self._bad is None:
                self._documents(table, None)
            flags = self._good(None)
            if len(kept) != int(flags.sum()):
                raise ValueError(f"{len(kept)} flags for {int(flags.sum())} documents")
            if texts:
                rows = np.flatnonzero(flags)
                path = self._columns.path(self._columns.texts[0])
                table = table_with_texts(table, path, {int(rows[n]): texts[n] for n in texts})
            if added is not None and not flags.all():
                table, flags = select(table, flags), flags[flags]
            if added is not None:
                table = table_with_columns(table, added)
            flags[flags] = kept
            return table if flags.all() else select(table, flags)

    def check_objects(self, max_row: int, copies: int = 0) -> None:
        """Raise LongRowError if a row is too large as objects of Python; see `Block`."""
        if not copies:
            return
        path = self._columns.source.path
        with reading(path):
            self._read = self._table(True)
            check_structure(self._read)
        taken = table_as_objects(self._read)
        if taken.max(initial=0) > PER_ROW * max_row:
            row = self.extent.row + int(taken.argmax())
            raise LongRowError(path, int(taken.max()), row, AS_OBJECTS)

    @property
    def next_row(self) -> int:
        """The number of the row behind the block; see `Block`."""
        return self.extent.stop + 1

    def first(self, documents: int) -> Iterator["TableBlock"]:
        """Yield the rows up to a document; see `Block`."""
        table = self._table(False)
        if self._bad is None:
            self._documents(table, None)
        rows = int(np.flatnonzero(self._good(None))[documents - 1]) + 1
        start = self.extent.start
        for stop in self._ends(start + rows):
            part = copy(self)
            part._bad = None
            part.extent = self.extent._replace(
                index=self.extent.index + (start > self.extent.start),
                start=start, stop=stop, row=start + 1,
            )  # fmt: skip
            part._read = table.slice(start - self.extent.start, stop - start)
            yield part
            start = stop

    def _ends(self, stop: int) -> list[int]:
        """Return where blocks must end that are read again, up to a row."""
        return [stop]

    def _table(self, all_columns: bool) -> Any:
        """Read the rows: of the columns that documents need, or of all."""
        raise NotImplementedError

    def _has_all(self, table: Any) -> bool:
        """Whether a table has all columns of the file."""
        return bool(table.num_columns == len(self.head.layout.names))

    def _good(self, kept: Flags | None) -> Flags:
        """Return flags over the rows: those of documents, or of some of these."""
        flags = np.ones(self.extent.stop - self.extent.start, np.bool_)
        if self._bad is not None:
            flags[self._bad - self.extent.row] = False
        if kept is not None:
            flags[flags] = kept
        return flags

    def _documents(self, table: Any, kept: Flags | None) -> BlockDocuments:
        if self._bad is not None:
            flags = self._good(kept)
            if not flags.all():
                table = select(table, flags)
            rows = self.extent.row + np.flatnonzero(flags)
            texts, _ = self._texts(table, are_checked=True)
            bad_rows = self._reasons if kept is None else []
            return self._good_documents(table, texts, self._ids(table)[0], rows, bad_rows)
        source, columns = self._columns.source, self._columns
        texts, undecodable = self._texts(table)
        ids, bad = self._ids(table)
        bad |= undecodable
        if source.options.needs_id and columns.id is not None:
            nulls = _nulls(columns.of(table, columns.id))
            bad |= dict.fromkeys(nulls, f"{columns.id!r} is null, not an id")
        for name in columns.numbers:
            bad |= self._no_numbers(table, name)
        for name in columns.labels:
            bad |= self._no_labels(table, name)
        if (priority := source.options.priority) is not None:
            wrong = self._ranked(table, priority).unreadable
            bad |= {i: f"{priority!r} is {reason}" for i, reason in wrong.items()}
        reasons = [source.error(bad[i], self.extent.row + i) for i in sorted(bad)]
        self._bad = np.array([reason.row for reason in reasons], np.int64)
        self._reasons = reasons
        if bad or kept is not None:
            return self._documents(table, kept)
        rows = self.extent.row + np.arange(len(table))
        return self._good_documents(table, texts, ids, rows, [])

    def _good_documents(
        self, table: Any, texts: Any, ids: Any, rows: NDArray[np.int64], bad: list[InputError]
    ) -> BlockDocuments:
        """Return documents with their numbers and labels, which all rows have."""
        numbers = {name: self._numbers(table, name) for name in self._columns.numbers}
        labels = {name: label_hashes(self._values(table, name)[0]) for name in self._columns.labels}
        record = None
        if (name := self._columns.source.options.priority) is not None:
            ranked = self._ranked(table, name)
            numbers[name], absent = ranked.values, self._columns.absent
            record = PriorityRecord(len(rows), ranked.missing, ranked.kind, absent)
        second = self._columns.source.options.also
        also = None if second is None else self._values(table, second)[0]
        return BlockDocuments(texts, ids, rows, bad, numbers, labels, record, also=also)

    def _texts(self, table: Any, *, are_checked: bool = False) -> tuple[Any, dict[int, str]]:
        """Return the texts, which are of use only if no row is bad, and what is wrong with rows.

        `are_checked`: whether it is known that no row is bad.
        """
        names = self._columns.texts
        fields, bad = [], dict[int, str]()
        for name in names:
            texts, wrong = self._field(table, name, is_checked=are_checked)
            fields.append(texts)
            bad = {**wrong, **bad}
        if bad:
            return fields[0], bad
        return joined_columns(fields, self._columns.source.options.join_with), bad

    def _field(self, table: Any, name: str, *, is_checked: bool) -> tuple[Any, dict[int, str]]:
        """Return a column as texts, and the rows that are not, for Arrow checks only on demand."""
        column, options = self._columns.of(table, name), self._columns.source.options
        target = self._columns.text_type(name, column.type)
        of_lists = options.tokens or self._columns.has_messages(name)
        if not is_checked and (of_lists or target is not None):
            check_column(name, column)
        if options.tokens:
            return words_of_column(name, column)
        if of_lists:
            return texts_of_messages(name, column, options)
        try:
            if target is not None:
                return column.cast(target), {}
            if not is_checked:
                column.validate(full=True)
            return column, {}
        except pyarrow("").ArrowInvalid:
            check_column(name, column)
            if not (bad := not_utf8(column)):
                raise
            if len(self._columns.texts) > 1:
                bad = {i: f"{name!r} is {reason}" for i, reason in bad.items()}
            return column, bad

    def _ids(self, table: Any) -> tuple[Any, dict[int, str]]:
        name = self._columns.id
        if name is None:
            return None, {}
        values, bad = self._values(table, name)
        if hasattr(values, "null_count") and values.null_count == len(values):
            return None, {}
        return values, bad

    def _values(self, table: Any, name: str) -> tuple[Any, dict[int, str]]:
        """Return a column, as an array of a type that Python has, else a list; and bad rows."""
        column = self._columns.of(table, name)
        pa, types = pyarrow(""), pyarrow("").types
        check_column(name, column)
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            bad = {i: f"{name!r} is {reason}" for i, reason in not_utf8(column).items()}
            return [_plain(value) for value in as_binary(column).to_pylist()], bad
        if types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        kind = str(column.type)
        if types.is_integer(column.type) or kind in ("float", "double", "bool") or "string" in kind:
            return column, {}
        return [_plain(value) for value in as_objects(column)], {}

    def _no_labels(self, table: Any, name: str) -> dict[int, str]:
        values, bad = self._values(table, name)
        nulls = _nulls(self._columns.of(table, name))
        return bad | self._nans(name, values, LABEL, {*bad, *nulls})

    def _ranked(self, table: Any, name: str) -> Priorities:
        """Return the priorities of all rows; none has one if the column is absent."""
        if self._columns.absent:
            return read_priorities([None] * len(table))
        column, types = self._columns.of(table, name), pyarrow("").types
        kind = column.type
        if types.is_date(kind) or types.is_timestamp(kind) or types.is_floating(kind):
            return read_priorities(np.asarray(column))
        if types.is_integer(kind) and not column.null_count:
            return read_priorities(self._numbers(table, name))
        values, undecodable = self._values(table, name)
        priorities = read_priorities(as_list(values))
        return priorities._replace(unreadable={**priorities.unreadable, **undecodable})

    def _no_numbers(self, table: Any, name: str) -> dict[int, str]:
        column = self._columns.of(table, name)
        bad = dict.fromkeys(_nulls(column), f"{name!r} is null, not a number")
        if str(column.type) == "uint64":
            large = np.flatnonzero(np.asarray(column.fill_null(0)) >= np.uint64(2**63)).tolist()
            bad |= dict.fromkeys(large, f"{name!r} is too large a number")
        return bad | self._nans(name, column, "a number", bad)

    @staticmethod
    def _nans(name: str, values: Any, expected: str, nulls: Container[int]) -> dict[int, str]:
        """Return what is wrong with the rows of a column of floats that have NaN and are no nulls.

        Nulls are NaN, too, once they are numpy's.
        """
        if isinstance(values, list):
            rows = [row for row, value in enumerate(values) if value != value]
        elif pyarrow("").types.is_floating(values.type):
            rows = np.flatnonzero(np.isnan(np.asarray(values))).tolist()
        else:
            return {}
        return {row: f"{name!r} is NaN, not {expected}" for row in rows if row not in nulls}

    def _numbers(self, table: Any, name: str) -> NDArray[Any]:
        """Return the numbers of rows that all have one."""
        column, pa = self._columns.of(table, name), pyarrow("")
        if pa.types.is_integer(column.type):
            try:
                return np.asarray(column.cast(pa.int64()).to_numpy())
            except pa.ArrowInvalid:  # of 64 bits without a sign
                return settled(exact(np.asarray(column.to_numpy())))
        return np.asarray(column.cast(pa.float64()).to_numpy()).astype(np.float64)


def _bad_within(bad: NDArray[np.int64], extent: BlockExtent) -> NDArray[np.int64]:
    return bad[slice(*np.searchsorted(bad, (extent.start + 1, extent.stop + 1)))]


def _nulls(column: Any) -> list[int]:
    if not column.null_count:
        return []
    rows: list[int] = np.flatnonzero(column.is_null().to_numpy()).tolist()
    return rows


def _plain(value: Any) -> Any:
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
