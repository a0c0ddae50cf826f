"""Which columns of a table are the texts, the ids, numbers and labels, and of which types."""

from typing import Any

from fastlsh.io.arrays import check_column
from fastlsh.io.errors import pyarrow
from fastlsh.io.record_texts import are_messages
from fastlsh.io.sources import Source
from fastlsh.io.token_ids import are_lists_of_ids

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
        there = filter(schema.names.__contains__, source.optional)
        self.numbers, self.labels = options.counts, (*options.labels, *there)
        self.absent, ranked = "", [options.priority] if options.priority else []
        if ranked and self._found(ranked[0]) is None:
            self.absent = source.missing("column", ranked.pop(), schema.names)
        for name in self.numbers:
            if not self._is_number(self._type(self._column(name))):
                raise self._error(name, "a number")
        for name in self.labels:
            if self._types.is_nested(self._type(self._column(name))):
                raise self._error(name, LABEL)
        named = (*self.texts, self.id, *self.numbers, *self.labels, *ranked)
        wanted = {self.path(name)[0] for name in named if name}
        self.names: list[str] = sorted(wanted, key=schema.get_field_index)

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
        if self._found(name) is None:
            raise self.source.error(self.source.missing("column", name, self.schema.names))
        return name

    def _found(self, name: str) -> Any:
        """Return the type of a column, or of a field inside one; None if it is absent."""
        names = self.schema.names
        first, *inner = self.path(name)
        count = names.count(first)
        if count > 1:
            raise self.source.error(f"{count} columns are named {first!r}")
        kind: Any = self.schema.field(first).type if count else None
        for field in inner if count else ():
            found = self._types.is_struct(kind) and kind.get_field_index(field) >= 0
            kind = kind.field(field).type if found else None
            if kind is None:
                break
        return kind

    def _error(self, name: str, wanted: str) -> Exception:
        kind = self._type(name)
        return self.source.error(f"column {name!r} is {kind}, not {wanted}")

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
