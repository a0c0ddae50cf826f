"""The text of a row of a DataFrame whose text is in several columns, or in messages.

As in `fastlsh.io.record_texts`, but by Spark expressions, so that no row visits Python for it.
"""

from collections.abc import Callable
from typing import Any

from fastlsh.io import MESSAGES, PARTS, Options

STRINGS = ("string", "char", "varchar")
BINARY = "binary"

Field = Callable[[Any], Any]


def text_of(columns: list[tuple[Any, Any]], read: Options) -> Any:
    """Return a column of texts.

    Parameters
    ----------
    columns : list of (pyspark.sql.Column, pyspark.sql.types.DataType)
        Columns of strings and messages, or one of binary values.
    read
        How they are joined.
    """
    from pyspark.sql import functions

    texts = [
        _joined_messages(*pair, read) if are_messages(pair[1]) else pair[0] for pair in columns
    ]
    return texts[0] if len(texts) == 1 else _join_texts(functions.array(*texts), read.join_with)


def are_bad(columns: list[tuple[Any, Any]], read: Options) -> Any:
    """Return whether a message of a row, or a part of one, has no author or no type."""
    from pyspark.sql import functions

    is_bad = functions.lit(False)
    for column, kind in columns:
        if are_messages(kind):
            wrong = _exists_bad(column, kind, read)
            is_bad = is_bad | functions.coalesce(wrong, functions.lit(False))
    return is_bad


def _exists_bad(column: Any, kind: Any, read: Options) -> Any:
    from pyspark.sql import functions

    author, content, parts = _fields(kind.elementType)
    wrong = functions.exists(column, lambda message: author(message).isNull())
    if not parts:
        return wrong

    def has_bad_part(message: Any) -> Any:
        is_bad = functions.exists(content(message), lambda part: part["type"].isNull())
        return functions.coalesce(is_bad, functions.lit(False))

    return wrong | functions.exists(_chosen(column, author, read), has_bad_part)


def are_messages(kind: Any) -> bool:
    """Whether a type is one of lists of messages."""
    return kind.typeName() == "array" and _fields(kind.elementType) is not None


def _join_texts(texts: Any, join_with: str) -> Any:
    from pyspark.sql import functions

    return functions.array_join(functions.filter(texts, lambda text: text != ""), join_with)


def _joined_messages(column: Any, kind: Any, read: Options) -> Any:
    from pyspark.sql import functions

    author, content, parts = _fields(kind.elementType)

    def text(message: Any) -> Any:
        if not parts:
            return content(message)
        texts = functions.filter(content(message), lambda part: part["type"] == "text")
        return _join_texts(functions.transform(texts, lambda part: part["text"]), read.join_with)

    return _join_texts(functions.transform(_chosen(column, author, read), text), read.join_with)


def _chosen(column: Any, author: Field, read: Options) -> Any:
    """Return the messages with the wanted roles."""
    from pyspark.sql import functions

    if read.roles is None:
        return column
    return functions.filter(column, lambda message: author(message).isin(list(read.roles or ())))


def _fields(entry: Any) -> Any:
    """Return functions for the role and the content of a message, and whether that has parts.

    None: a type is not one of messages.
    """
    from pyspark.sql import functions

    pairs = _pairs(entry, MESSAGES)
    if not pairs:
        return None
    role, content = pairs[0]
    parts = not _is_text(entry[content].dataType)
    if parts or len(pairs) == 1 or not _is_text(entry[pairs[1][1]].dataType):
        return (lambda message: message[role]), (lambda message: message[content]), parts
    second, value = pairs[1]

    def author(message: Any) -> Any:
        return functions.coalesce(message[role], message[second])

    def text(message: Any) -> Any:
        return functions.when(message[role].isNotNull(), message[content]).otherwise(message[value])

    return author, text, False


def _pairs(entry: Any, keys: tuple[tuple[str, str], ...]) -> list[tuple[str, str]]:
    """Return those of the keys that a type of structs has, with text in them."""
    if entry.typeName() != "struct":
        return []
    return [
        (role, content)
        for role, content in keys
        if role in entry.names
        if content in entry.names
        if _is_text(entry[role].dataType)
        if _is_text(entry[content].dataType) or (keys is MESSAGES and _are_parts(entry[content]))
    ]


def _are_parts(field: Any) -> bool:
    kind = field.dataType
    return kind.typeName() == "array" and bool(_pairs(kind.elementType, PARTS))


def _is_text(kind: Any) -> bool:
    return kind.typeName() in (*STRINGS, "void")
