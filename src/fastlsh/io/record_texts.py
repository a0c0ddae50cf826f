"""The text of a record: of several columns, of the messages of a chat, or of token ids."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import unique
from fastlsh.io.arrays import not_utf8
from fastlsh.io.errors import pyarrow
from fastlsh.io.sources import Options

MOST_IDS = 1 << 26
"""Of documents that are made words at a time."""

EXPECTED = "expected whole numbers from 0 to 2**64 - 1"


def are_lists_of_ids(kind: Any) -> bool:
    """Whether an Arrow type is one of lists of integers."""
    types = pyarrow("").types
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    if not any(test(kind) for test in lists):
        return False
    return bool(types.is_integer(kind.value_type) or types.is_null(kind.value_type))


def words_of_column(name: str, column: Any) -> tuple[Any, dict[int, str]]:
    """Return the words of each document, and what is wrong with rows.

    Parameters
    ----------
    name : str
        Of the column.
    column : pyarrow.ChunkedArray
        Of lists of integers, whose structure is sound. A null is a document without tokens.

    Returns
    -------
    pyarrow.ChunkedArray of string, dict of int to str
    """
    kind = pyarrow("").string()
    return _of_chunks(_pieces(column.chunks), kind, lambda chunk: _words(name, chunk))


def _of_chunks(
    chunks: Iterable[Any], kind: Any, texts_of: Callable[[Any], tuple[Any, dict[int, str]]]
) -> tuple[Any, dict[int, str]]:
    """Return the texts of a column, given those of a chunk, and what is wrong with rows."""
    texts, bad, start = [], dict[int, str](), 0
    for chunk in chunks:
        texts_of_chunk, wrong = texts_of(chunk)
        texts.append(texts_of_chunk)
        bad |= {start + row: reason for row, reason in wrong.items()}
        start += len(chunk)
    return pyarrow("").chunked_array(texts, kind), bad


def _offsets(lists: Any) -> NDArray[np.int64]:
    """Return where the values of each list begin among those of all, and where the last ends."""
    compute = pyarrow("", "pyarrow.compute")
    lengths = compute.fill_null(compute.list_value_length(lists), 0)
    return np.append(0, np.cumsum(lengths.to_numpy(zero_copy_only=False), dtype=np.int64))


def _pieces(chunks: list[Any]) -> Iterator[Any]:
    # Arrow joins strings to arrays of at most 2 GB.
    for chunk in chunks:
        if len(chunk) > 1 and len(chunk.flatten()) > MOST_IDS:
            half = len(chunk) // 2
            yield from _pieces([chunk.slice(0, half), chunk.slice(half)])
        else:
            yield chunk


def _words(name: str, chunk: Any) -> tuple[Any, dict[int, str]]:
    pa, compute = pyarrow(""), pyarrow("", "pyarrow.compute")
    offsets, ids = _offsets(chunk), chunk.flatten()
    bad: dict[int, str] = {}
    if ids.null_count:
        nulls = np.flatnonzero(ids.is_null().to_numpy(zero_copy_only=False))
        bad |= dict.fromkeys(_rows(offsets, nulls), f"{name!r} has null among its ids, {EXPECTED}")
        ids = compute.fill_null(ids, 0) if pa.types.is_integer(ids.type) else pa.nulls(0)
        if not len(ids):  # of a type that has no numbers
            return pa.array([""] * len(chunk), pa.string()), bad
    if pa.types.is_signed_integer(ids.type):
        values = ids.to_numpy(zero_copy_only=False)
        for position in np.flatnonzero(values < 0)[::-1].tolist():
            row = _rows(offsets, np.array([position]))[0]
            bad[row] = f"{name!r} has the id {values[position]}, {EXPECTED}"
    digits = ids.cast(pa.string())
    lists = pa.LargeListArray.from_arrays(pa.array(offsets), digits)
    return compute.binary_join(lists, " "), bad


def _rows(offsets: NDArray[np.int64], positions: NDArray[np.int64]) -> list[int]:
    rows: list[int] = unique(np.searchsorted(offsets, positions, "right") - 1).tolist()
    return rows


def words_of_list(name: str, value: Any) -> str | None:
    """Return the words of a value of JSON; ValueError tells what is wrong with it."""
    if value is None:
        return None
    if not isinstance(value, list):
        raise ValueError(f"{name!r} is no array of token ids")
    for number in value:
        if type(number) is not int or not 0 <= number < 2**64:
            raise ValueError(f"{name!r} has {_shown(number)} among its ids, {EXPECTED}")
    return " ".join(map(str, value))


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)[:40]
    kinds: dict[type, str] = {list: "an array", dict: "an object", type(None): "null"}
    return kinds.get(type(value), "a string")


MESSAGES = (("role", "content"), ("from", "value"))
"""The keys of a message: who wrote it, and its text."""
PARTS = (("type", "text"),)
"""The same of a part of a message."""
CALLS = ("tool_calls", "function_call")
"""The keys of a message that needs no text."""

Keys = tuple[tuple[str, str], ...]
Bad = dict[int, tuple[str, str]]
"""By row: what is wrong, and the rest of a sentence about it."""


def joined_texts(texts: Iterable[str | None], join_with: str) -> str:
    """Return texts as one text."""
    return join_with.join(filter(None, texts))


def joined_columns(columns: Sequence[Any], join_with: str) -> Any:
    """Return columns of text, pyarrow.ChunkedArray, as one column."""
    if len(columns) == 1:
        return columns[0]
    pa, rows = pyarrow(""), len(columns[0])
    chunks = [chunk for column in columns for chunk in column.cast(pa.large_string()).chunks]
    by_column = pa.concat_arrays([*chunks, pa.array([], pa.large_string())])
    by_row = np.arange(len(by_column)).reshape(len(columns), rows).T.ravel()
    texts = by_column.take(pa.array(by_row))
    chosen = _have_text(texts)
    offsets = np.arange(rows + 1) * len(columns)
    texts_of_rows = _joined_lists(texts.filter(pa.array(chosen)), chosen, offsets, join_with)
    return pa.chunked_array([texts_of_rows])


def _have_text(texts: Any) -> NDArray[np.bool_]:
    compute = pyarrow("", "pyarrow.compute")
    return _flags(compute.greater(compute.binary_length(texts), 0))


def _joined_lists(
    texts: Any, chosen: NDArray[np.bool_], offsets: NDArray[np.int64], join_with: str
) -> Any:
    """Return one text for each list: `texts` are the chosen values of all, which `offsets` cut."""
    pa, compute = pyarrow(""), pyarrow("", "pyarrow.compute")
    ends = np.concatenate(([0], np.cumsum(chosen)))[offsets]
    lists = pa.LargeListArray.from_arrays(pa.array(ends), texts)
    return compute.binary_join(lists, pa.scalar(join_with, pa.large_string()))


def text_of_members(members: Mapping[str, Any], options: Options) -> str | None:
    """Return the text of those members of an object of JSON that have it.

    Raises
    ------
    ValueError
        It tells what is wrong with a value.
    """
    texts = [_text_of_value(name, value, options) for name, value in members.items()]
    if options.roles is not None and all(isinstance(value, str) for value in members.values()):
        name = next(iter(members))
        raise ValueError(f"{name!r} is a string, not an array of messages with roles")
    return texts[0] if len(texts) == 1 else joined_texts(texts, options.join_with)


def _text_of_value(name: str, value: Any, options: Options) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        hint = ' (token ids need unit="token")' if _are_integers(value) else ""
        raise ValueError(f"{name!r} is {kind_of(value)}, not a string{hint}")
    if options.editable:
        raise ValueError(f"{name!r} is {kind_of(value)}, not a string that parts can be cut from")
    contents = _contents(f"message {{}} of {name!r}", value, MESSAGES, options)
    return joined_texts(contents, options.join_with)


def _are_integers(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int for item in value)


def _contents(
    shown: str, entries: list[dict[str, Any]], keys: Keys, options: Options
) -> Iterator[str | None]:
    """Yield the texts of the messages of a chat, or of the parts of a message."""
    kept_roles = options.roles if keys is MESSAGES else ("text",)
    for number, entry in enumerate(entries, 1):
        role, content = next((pair for pair in keys if entry.get(pair[0]) is not None), (None, ""))
        if role is None:
            raise ValueError(f"{shown.format(number)} has no {_either(keys)}")
        if not isinstance(entry[role], str):
            kind = kind_of(entry[role])
            raise ValueError(f"{role!r} of {shown.format(number)} is {kind}, not a string")
        if kept_roles is not None and entry[role] not in kept_roles:
            continue
        if content not in entry and not any(entry.get(key) for key in CALLS):
            raise ValueError(f"{shown.format(number)} has no {content!r}")
        text = entry.get(content)
        if keys is MESSAGES and isinstance(text, list) and all(isinstance(t, dict) for t in text):
            parts = _contents(f"part {{}} of {shown.format(number)}", text, PARTS, options)
            yield joined_texts(parts, options.join_with)
        elif text is None or isinstance(text, str):
            yield text
        else:
            raise ValueError(
                f"{content!r} of {shown.format(number)} is {kind_of(text)}, not a string"
            )


def _either(keys: Keys) -> str:
    return " or ".join(repr(role) for role, _ in keys)


def kind_of(value: Any) -> str:
    """Return what a value of JSON is, in words."""
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"}
    return "null" if value is None else names.get(type(value), "a number")


def are_messages(kind: Any) -> bool:
    """Whether an Arrow type is one of lists of messages."""
    return bool(_pairs(kind, MESSAGES))


def _pairs(kind: Any, keys: Keys) -> list[tuple[str, str]]:
    """Return those of the keys that the structs of a type of lists have, with text in them."""
    types = pyarrow("").types
    if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
        return []
    entry = kind.value_type
    if not types.is_struct(entry):
        return []
    fields = {entry.field(i).name: entry.field(i).type for i in range(entry.num_fields)}
    return [
        (role, content)
        for role, content in keys
        if role in fields and content in fields
        if _is_text(fields[role])
        if _is_text(fields[content]) or (keys is MESSAGES and _pairs(fields[content], PARTS))
    ]


def _is_text(kind: Any) -> bool:
    if pyarrow("").types.is_dictionary(kind):
        kind = kind.value_type
    # By name, for an old pyarrow lacks the type of views.
    return str(kind) in ("string", "large_string", "string_view", "null")


def texts_of_columns(columns: Mapping[str, Any], options: Options) -> tuple[Any, dict[int, str]]:
    """Return the texts of rows, and what is wrong with rows, as `texts_of_messages` does.

    `columns` are those of strings and messages that become one text, pyarrow.ChunkedArray.
    """
    texts, bad = [], dict[int, str]()
    for name, column in columns.items():
        made, wrong = column, dict[int, str]()
        if are_messages(column.type):
            made, wrong = texts_of_messages(name, column, options)
        texts.append(made)
        bad = {**wrong, **bad}
    return joined_columns(texts, options.join_with), bad


def texts_of_messages(name: str, column: Any, options: Options) -> tuple[Any, dict[int, str]]:
    """Return the texts of a column of `are_messages`, and what is wrong with rows.

    Parameters
    ----------
    name : str
        Of the column.
    column : pyarrow.ChunkedArray
        The messages, whose structure is sound.
    options : Options
        What is wanted of them.

    Returns
    -------
    pyarrow.ChunkedArray of large_string, dict of int to str
    """

    def texts_of(chunk: Any) -> tuple[Any, dict[int, str]]:
        texts, wrong = _texts_of_lists(chunk, MESSAGES, options)
        return texts, {row: f"{at} of {name!r} {why}" for row, (at, why) in wrong.items()}

    return _of_chunks(column.chunks, pyarrow("").large_string(), texts_of)


def _texts_of_lists(lists: Any, keys: Keys, options: Options) -> tuple[Any, Bad]:
    """Return the joined texts of lists of messages or parts."""
    pa, compute = pyarrow(""), pyarrow("", "pyarrow.compute")
    one = "message" if keys is MESSAGES else "part"
    offsets, entries = _offsets(lists), lists.flatten()
    roles, contents = _fields(entries, _pairs(lists.type, keys))
    wrong: Bad = dict.fromkeys(_where(roles.is_null()), ("", f"has no {_either(keys)}"))
    wrong |= dict.fromkeys(_where(entries.is_null()), ("", "is null, not an object"))
    kept_roles = options.roles if keys is MESSAGES else ("text",)
    chosen = np.ones(len(entries), np.bool_)
    if kept_roles is not None:
        names = pa.array(kept_roles, pa.large_string())
        chosen = _flags(compute.is_in(roles, value_set=names))
    if not _is_text(contents.type):
        mine = np.flatnonzero(chosen)
        inner_texts, inside = _texts_of_lists(contents.take(pa.array(mine)), PARTS, options)
        wrong |= {int(mine[i]): (f"{at} of ", why) for i, (at, why) in inside.items()}
        chosen[mine] = _have_text(inner_texts)
        texts = inner_texts.filter(pa.array(chosen[mine]))
    else:
        contents = contents.cast(pa.large_string())
        chosen &= _have_text(contents)
        texts = contents.filter(pa.array(chosen))
        try:
            texts.validate(full=True)
        except pa.ArrowInvalid:
            mine = np.flatnonzero(chosen)
            undecodable = not_utf8(pa.chunked_array([texts]))
            wrong |= {int(mine[i]): ("", f"is {reason}") for i, reason in undecodable.items()}
            texts = pa.array([""] * len(texts), pa.large_string())
    bad: Bad = {}
    for position in sorted(
        wrong, reverse=True
    ):  # so that the first bad message of a row is reported
        row = int(np.searchsorted(offsets, position, "right")) - 1
        before, why = wrong[position]
        bad[row] = f"{before}{one} {position - offsets[row] + 1}", why
    return _joined_lists(texts, chosen, offsets, options.join_with), bad


def _fields(entries: Any, pairs: list[tuple[str, str]]) -> tuple[Any, Any]:
    """Return the roles of messages, large_string, and what these contain."""
    pa, compute = pyarrow(""), pyarrow("", "pyarrow.compute")
    roles: Any = None
    contents: Any = None
    for role, content in pairs:
        names = compute.struct_field(entries, role).cast(pa.large_string())
        values = compute.struct_field(entries, content)
        if roles is None:
            roles, contents = names, values
        elif _is_text(contents.type) and _is_text(values.type):
            contents = compute.if_else(roles.is_valid(), contents, values.cast(contents.type))
            roles = compute.coalesce(roles, names)
    return roles, contents


def _flags(values: Any) -> NDArray[np.bool_]:
    filled = pyarrow("", "pyarrow.compute").fill_null(values, False)
    return np.asarray(filled.to_numpy(zero_copy_only=False), np.bool_)


def _where(values: Any) -> list[int]:
    positions: list[int] = np.flatnonzero(_flags(values)).tolist()
    return positions
