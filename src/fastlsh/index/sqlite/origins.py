"""Documents whose texts stay in the files that they came from, and are read there again."""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import InputError
from fastlsh.index.sqlite.damage import refuse
from fastlsh.index.sqlite.rows import check_row, checksum_of

if TYPE_CHECKING:
    from fastlsh.io import BlockExtent, Identity, Source

BITS = 32
"""Bits of a place that are the position of the document in its block."""


class Origin(NamedTuple):
    """A block of a file, from which documents came."""

    source: "Source"
    identity: "Identity | None"
    extent: "BlockExtent"
    documents: int
    """How many good ones there are."""
    bad: tuple[int, ...]
    """The rows of the block that were left out."""

    def check(self) -> None:
        """Raise InputError if the file cannot be read again."""
        if self.identity is None:
            raise InputError(
                self.source.path,
                "this cannot be read again, as an index without texts needs it: give a file, or"
                " let the index keep the texts",
            )


Origins = Iterable[tuple[Origin, NDArray[np.int64]]]
"""Blocks, each with the positions of those of its documents that are wanted, ascending."""


def places_of(sql: sqlite3.Connection, origins: Origins) -> NDArray[np.int64]:
    """Note blocks, and return a number for each document by which it is found again."""
    found = [np.empty(0, np.int64)]
    for origin, positions in origins:
        origin.check()
        file = _number(sql, "files", _described(origin))
        block = _number(
            sql, "blocks", json.dumps([file, origin.extent, origin.documents, origin.bad])
        )
        found.append(block << BITS | positions)
    return np.concatenate(found)


def _number(sql: sqlite3.Connection, table: str, code: str) -> int:
    row = sql.execute(f"SELECT number FROM {table} WHERE json = ?", [code]).fetchone()
    if row is None:
        (last,) = sql.execute(f"SELECT coalesce(max(number), 0) FROM {table}").fetchone()
        row = (last + 1,)
        values = [*row, code]
        sql.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", [*values, checksum_of(values)])
    return int(row[0])


def _described(origin: Origin) -> str:
    source = origin.source
    path = source.path if "://" in source.path else os.path.abspath(source.path)
    options = asdict(source.options)
    return json.dumps(
        [
            path, source.format, source.compression, source.folder, origin.identity,
            {field.name: options[field.name] for field in fields(_options_type())},
        ]
    )  # fmt: skip


def _options_type() -> Any:
    from fastlsh.io import Options

    return Options


def read_places(
    sql: sqlite3.Connection, places: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], Any]]:
    """Yield the texts of documents, block by block.

    Parameters
    ----------
    places
        What `places_of` returned for them, in any order.

    Yields
    ------
    chosen : ndarray of int64
        Which of the documents.
    texts
        Their texts.

    Raises
    ------
    InputError
        A file is another one, or is not there.
    """
    order = np.argsort(places, kind="stable")
    numbers = places[order] >> BITS
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    ends = np.append(starts[1:], len(numbers))
    blocks = [_read(sql, "blocks", number) for number in numbers[starts].tolist()]
    at = 0
    while at < len(blocks):
        stop = at
        while stop < len(blocks) and blocks[stop][0] == blocks[at][0]:
            stop += 1
        # The blocks of a file are noted in the order in which they lie there, but days may mix.
        inside = sorted(range(at, stop), key=lambda i: blocks[i][1][0])
        of_file = _reread(sql, blocks[at][0], [blocks[i][1:] for i in inside])
        for i, block in zip(inside, of_file, strict=True):
            chosen = order[starts[i] : ends[i]]
            wanted = np.zeros(blocks[i][2], np.bool_)
            wanted[places[chosen] & (1 << BITS) - 1] = True
            yield chosen, block.documents(wanted).texts
        at = stop


def _read(sql: sqlite3.Connection, table: str, number: int) -> list[Any]:
    row = sql.execute(f"SELECT * FROM {table} WHERE number = ?", [number]).fetchone()
    if row is None:
        refuse(f"it lacks a row of its {table}")
    check_row(row[:2], row[2])
    found: list[Any] = json.loads(row[1])
    return found


def _reread(sql: sqlite3.Connection, file: int, blocks: list[Any]) -> Iterator[Any]:
    """Read blocks of a file again; InputError if it has changed."""
    from fastlsh.io import BlockExtent, Identity, Source, changed, identity, reread_blocks

    path, format_, compression, folder, expected, options = _read(sql, "files", file)
    plain = {name: tuple(v) if isinstance(v, list) else v for name, v in options.items()}
    source = Source(path, format_, compression, _options_type()(**plain), folder)
    reason = "it has changed since its documents came into the index, which keeps no texts"
    now = identity(source)
    if now is None:
        raise source.error("it is not there any more, and the index keeps no texts")
    # A file that was moved and moved back has another inode.
    if now[:2] != Identity(*expected)[:2]:
        raise source.error(reason)
    extents = [BlockExtent(*extent) for extent, _, _ in blocks]
    bad = {row for *_, rows in blocks for row in rows}
    try:
        yield from reread_blocks(source, extents, bad, now, all_columns=False)
    except InputError as error:
        if error.reason != changed(source).reason:
            raise
        raise source.error(reason) from error
