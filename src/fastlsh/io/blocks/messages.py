"""How much memory each batch of an Arrow file takes, without reading it."""

import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from fastlsh.io.errors import reading
from fastlsh.io.sources import Source
from fastlsh.io.streams import open_arrow

_MAGIC = b"ARROW1\0\0"
_DICTIONARY, _BATCH = 2, 3
_LONGEST = 1 << 28
"""Bytes of the description of a batch: with more, a file is damaged."""


def largest_batch(source: Source) -> tuple[int, int]:
    """Return the bytes of the largest batch of an Arrow file, and its number from 1.

    A batch is read as a whole. The dictionaries of the file count as part of each. Of a damaged
    file, only the batches before the damage count, which is an error where they are read.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    dictionaries, sizes = 0, [0]
    with reading(source.path), open_arrow(source) as file, suppress(struct.error, IndexError):
        for kind, size in _messages(file):
            if kind == _DICTIONARY:
                dictionaries += size
            elif kind == _BATCH:
                sizes.append(size)
    largest = max(sizes)
    return largest + dictionaries, max(sizes.index(largest), 1)


def _messages(file: Any) -> Iterator[tuple[int, int]]:
    """Yield the kind of each message and the bytes that its buffers take without compression."""
    position = len(_MAGIC) if file.read(len(_MAGIC)) == _MAGIC else 0
    while True:
        file.seek(position)
        head = file.read(8)
        modern = head[:4] == b"\xff\xff\xff\xff"  # a mark before the length, since Arrow 0.15
        length = int.from_bytes(head[4:8] if modern else head[:4], "little")
        if len(head) < 8 or not 0 < length < _LONGEST:
            return
        position += 8 if modern else 4
        file.seek(position)
        message = file.read(length)
        if len(message) < length:
            return
        position += length
        kind, body, compressed, buffers = _parsed(message)
        total = 0
        for start, size in buffers:
            if compressed and size:
                file.seek(position + start)
                (plain,) = struct.unpack("<q", file.read(8))
                size = size if plain < 0 else plain
            total += size
        yield kind, total
        if body < 0:
            return
        position += body


def _parsed(message: bytes) -> tuple[int, int, bool, list[tuple[int, int]]]:
    """Return kind, bytes of the body, whether it is compressed, and the position of each buffer."""
    at = _reference(message, 0)
    kind = message[_field(message, at, 1)]
    body = _number(message, "<q", _field(message, at, 3)) if _field(message, at, 3) else 0
    if kind not in (_DICTIONARY, _BATCH):
        return kind, body, False, []
    at = _reference(message, _field(message, at, 2))
    if kind == _DICTIONARY:
        at = _reference(message, _field(message, at, 1))
    compressed = bool(_field(message, at, 3))
    if not _field(message, at, 2):
        return kind, body, compressed, []
    vector = _reference(message, _field(message, at, 2))
    count = _number(message, "<I", vector)
    data = message[vector + 4 : vector + 4 + 16 * count]
    return kind, body, compressed, list(struct.iter_unpack("<qq", data))


def _field(message: bytes, table: int, number: int) -> int:
    """Return where a field of a table of FlatBuffers is, 0 if it is absent."""
    names = table - _number(message, "<i", table)
    if 4 + 2 * number >= _number(message, "<H", names):
        return 0
    offset = _number(message, "<H", names + 4 + 2 * number)
    return table + offset if offset else 0


def _reference(message: bytes, position: int) -> int:
    return position + _number(message, "<I", position)


def _number(message: bytes, form: str, position: int) -> int:
    (number,) = struct.unpack_from(form, message, position)
    return int(number)
