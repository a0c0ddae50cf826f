"""The rows of documents. Each has a seal, so that a damaged row is refused.

A seal is an integer of 63 bits: 21 bits of a checksum each of the id, the signature and the
content, so that a query reads no more than it needs. A checksum begins with the number of the
document, so that no row stands for another one.
"""

import json
import sqlite3
from binascii import crc32
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from fastlsh.index.documents import joined_contents, joined_signatures
from fastlsh.index.settings import Int64s, UInt32s, UInt64s, encoded
from fastlsh.index.store import Count

TOGETHER = 512
"""Rows that one statement selects."""
DROPPED = 11
"""Bits of a checksum that are not kept."""
MASK = 0xFFFFFFFF >> DROPPED
NAME, SIGNATURE, CONTENT = 0, 21, 42
"""Where the seal has the checksum of each part of a row."""


def insert_documents(
    sql: sqlite3.Connection, documents: Iterable[tuple[int, Any, Any, Any]]
) -> None:
    """Insert rows: number, id, signature, content; KeyError if an id is there already."""
    rows = (
        (
            number,
            name,
            crc32(encoded(name), number) >> DROPPED
            | crc32(signature, number) >> DROPPED << SIGNATURE
            | crc32(content, number) >> DROPPED << CONTENT,
            signature,
            content,
        )
        for number, name, signature, content in documents
    )
    try:
        sql.executemany("INSERT INTO documents VALUES (?, ?, ?, ?, ?)", rows)
    except sqlite3.IntegrityError as error:
        raise KeyError(str(error)) from error


def numbers_of_ids(sql: sqlite3.Connection, ids: list[Any]) -> dict[Any, int]:
    """Return the numbers of those ids that have a document."""
    numbers_by_id: dict[Any, int] = {}
    for rows in selected(sql, "SELECT number, seal, id FROM documents WHERE id IN", ids):
        check_documents(rows, NAME)
        numbers_by_id.update((name, number) for number, _, name in rows)
    return numbers_by_id


def documents_of(sql: sqlite3.Connection, numbers: Int64s) -> list[tuple[Any, ...]]:
    """Return id, signature and content of different documents, whose numbers ascend."""
    statement = "SELECT number, seal, id, signature, content FROM documents WHERE number IN"
    blocks = selected(sql, statement, numbers.tolist(), " ORDER BY number")
    rows = list(chain.from_iterable(blocks))
    if len(rows) < len(numbers):
        refuse("it lacks documents")
    check_documents(rows, NAME, SIGNATURE, CONTENT)
    return [row[2:] for row in rows]


def checked_rows(*blocks: Iterable[list[Any]]) -> Iterator[list[Any]]:
    """Yield the values of rows that end with their checksum."""
    for *row, checksum in chain.from_iterable(chain.from_iterable(blocks)):
        check_row(row, checksum)
        yield row


def write_counts(
    sql: sqlite3.Connection, counts: Mapping[int, Count], sources: Mapping[int, list[int]]
) -> None:
    """Write the counts and new sources of documents, each row with its checksum behind it."""
    count_rows = [(number, json.dumps(count)) for number, count in counts.items()]
    source_rows = [(number, source) for number, some in sources.items() for source in some]
    for table, rows in (("counts", count_rows), ("sources", source_rows)):
        sealed = ((*row, checksum_of(row)) for row in rows)
        sql.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?)", sealed)


def selected(
    sql: sqlite3.Connection, statement: str, values: list[Any], order: str = "", before: Any = ()
) -> Iterator[list[Any]]:
    """Yield the rows with these values, some at a time; `before` are other parameters.

    The last value is repeated up to a power of two: fewer statements to prepare.
    """
    for start in range(0, len(values), TOGETHER):
        chunk = values[start : start + TOGETHER]
        chunk += chunk[-1:] * ((1 << (len(chunk) - 1).bit_length()) - len(chunk))
        marks = ",".join("?" * len(chunk))
        yield sql.execute(f"{statement} ({marks}){order}", (*before, *chunk)).fetchall()


def check_documents(rows: Sequence[Any], *parts: int) -> list[int]:
    """Return the numbers of rows (number, seal, part, ...); refuse those with other checksums."""
    numbers = numbers_of([row[0] for row in rows])
    try:
        for position, part in enumerate(parts, 2):
            for row in rows:
                code = encoded(row[position]) if part == NAME else row[position]
                if crc32(code, row[0]) >> DROPPED != row[1] >> part & MASK:
                    refuse(f"document {row[0]} differs from its checksum")
    except TypeError:  # an empty field, or a text
        refuse("a row of a document has another type")
    return numbers


def check_row(values: Sequence[Any], checksum: Any) -> None:
    """Refuse a row that differs from `checksum_of` its values."""
    if checksum_of(values) != checksum:
        refuse("a row differs from its checksum")


def only_row(sql: sqlite3.Connection, table: str, name: str) -> list[Any]:
    """Return the values of a table's only row, which ends with their checksum."""
    rows = sql.execute(f"SELECT * FROM {table}").fetchall()
    if len(rows) != 1:
        refuse(f"{name} no single row")
    values = list(rows[0][:-1])
    check_row(values, rows[0][-1])
    return values


def checksum_of(values: Sequence[Any]) -> int:
    """Return a checksum of the values of a row: integers, texts and bytes."""
    codes = [value if type(value) is bytes else repr(value).encode() for value in values]
    return crc32(b"".join(codes), len(codes))


def refuse(reason: str) -> NoReturn:
    """Raise an error, to which `named_errors` adds the name of the file."""
    raise sqlite3.DatabaseError(f"malformed: {reason}")


def state_of(row: Sequence[Any] | None) -> Sequence[int]:
    """Return the numbers of the state, after checking that none is missing or negative."""
    if row is None or {*map(type, row)} != {int} or min(row) < 0:
        refuse("its state is no row of numbers")
    return row


def numbers_of(numbers: list[Any]) -> list[int]:
    """Return the numbers of documents, after checking that none is missing or negative."""
    if numbers and ({*map(type, numbers)} != {int} or min(numbers) < 0):
        refuse("a document has no number")
    return numbers


def signatures_of(values: Iterable[Any], width: int) -> UInt32s:
    """Return signatures, after checking that each has `width` values."""
    signatures = list(values)
    if any(type(value) is not bytes or len(value) != 4 * width for value in signatures):
        refuse("a signature has another size")
    return joined_signatures(signatures, width)


def contents_of(values: Iterable[Any]) -> tuple[UInt64s, Int64s]:
    """Return contents and where each begins, after checking that all are words of 8 bytes."""
    return joined_contents([_whole_words(value) for value in values])


def words_of(value: Any) -> UInt64s:
    """Return the uint64 values in the bytes of a row."""
    return np.frombuffer(_whole_words(value), "<u8").astype(np.uint64, copy=False)


def _whole_words(value: Any) -> bytes:
    if type(value) is not bytes or len(value) % 8:
        refuse("an array has another size")
    return value
