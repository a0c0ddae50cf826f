"""Evaluation items, read from files as evaluation harnesses write them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from fastlsh.io import Paths, ReadOptions, Source, files_to_read, read_objects
from fastlsh.search import Items

HARNESS = "doc"
"""The key under which lm-evaluation-harness and lighteval log the item itself."""


class ItemFiles(NamedTuple):
    """The items of evaluation files."""

    sources: list[Source]
    items: Items
    ids: list[Any]
    """Of each item; ``FILE:ROW`` where there is none."""
    files: list[str]
    """The file of each item."""


def read_items(
    evals: Paths, fields: Sequence[str] | None, item_id: str | None, options: ReadOptions
) -> ItemFiles:
    """Read the items of evaluation files.

    Parameters
    ----------
    evals
        The files.
    fields
        The names of the fields: ``a.b`` is key b in a. None: every string of a row is one, at any
        depth, but its id; of the logs of harnesses, of what they have under ``doc``.
    item_id
        The name of the id; None: ``id`` where there is one.
    options
        How training files are read, of which the encoding, delimiter, header and quotes count.

    Raises
    ------
    InputError
        A row lacks a field, or has something else than text there.
    """
    plain = replace(
        options, text=None, roles=None, editable=False, id=None, priority=None, split=None,
        limit=None, on_error="fail", format=None, recursive=True,
    )  # fmt: skip
    sources = files_to_read(evals, plain, mixed=True)
    fields_of_items: list[list[tuple[str, str]]] = []
    ids: list[Any] = []
    files: list[str] = []
    for source in sources:
        before = len(fields_of_items)
        for number, row in read_objects(source):
            fields_of_items.append(list(_fields_of(source, number, row, fields, item_id)))
            ids.append(_id_of(source, number, row, item_id))
            files.append(source.path)
        if len(fields_of_items) == before:
            raise source.error("no evaluation items: the file has no rows")
        if len(fields_of_items) == before + 1 and fields is None and source.format == "jsonl":
            _check_item(source, number, row)
    return ItemFiles(sources, Items.of_fields(fields_of_items), ids, files)


def _check_item(source: Source, number: int, row: dict[str, Any]) -> None:
    """Raise InputError if the only row of a file has no sentence but in an array of objects."""
    arrays = [
        name for name, value in row.items()
        if isinstance(value, list) and value and all(isinstance(element, dict) for element in value)
    ]  # fmt: skip
    others = {name: value for name, value in row.items() if name not in arrays}
    if arrays and not any(" " in text for _, text in _strings("", others)):
        where = f"the rows may be in {arrays[0]!r}: give a file that is this array alone"
        raise source.error(f"one item; {where}, or name the fields of the item", number)


def _fields_of(
    source: Source,
    number: int,
    row: dict[str, Any],
    fields: Sequence[str] | None,
    item_id: str | None,
) -> Iterator[tuple[str, str]]:
    if fields is not None:
        for name in fields:
            value = _member(source, number, row, name)
            if not isinstance(value, (str, list, tuple, dict, type(None))):
                kind = type(value).__name__
                raise source.error(f"{name!r} is of type {kind}, not text", number)
            for _, text in _strings(name, value):
                yield name, text
        return
    inner = row.get(HARNESS)
    start = inner if isinstance(inner, dict) else row
    for name, value in start.items():
        if name != (item_id or "id"):
            yield from _strings(name, value)


def _strings(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield every string in a value, with the path to it; elements of a list share a path."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(f"{name}.{key}", item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _strings(name, item)


def _member(source: Source, number: int, row: dict[str, Any], name: str) -> Any:
    for start in (row, row.get(HARNESS)):
        inner: Any = start
        if isinstance(inner, dict) and name in inner:
            return inner[name]
        for key in name.split("."):
            if not isinstance(inner, dict) or key not in inner:
                break
            inner = inner[key]
        else:
            return inner
    names = ", ".join(map(repr, row))
    raise source.error(f"no field {name!r} (there is: {names})", number)


def _id_of(source: Source, number: int, row: dict[str, Any], item_id: str | None) -> Any:
    if item_id is not None:
        value = _member(source, number, row, item_id)
    else:
        inner = row.get(HARNESS)
        value = row.get("id", inner.get("id") if isinstance(inner, dict) else None)
    if value is None and item_id is None:
        return f"{source.path}:{number}"
    if not isinstance(value, (str, int)) or isinstance(value, bool):
        kind, name = type(value).__name__, item_id or "id"
        raise source.error(f"{name!r} is of type {kind}, not an id", number)
    return value
