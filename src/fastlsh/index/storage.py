"""Writing an index into one file: docs/index-format.md."""

import json
import os
import struct
from binascii import crc32  # the same numbers as zlib.crc32, which some builds of Python lack
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._version import __version__
from fastlsh.index.in_memory import Memory
from fastlsh.index.layout import ALIGNED, Entry, Sizes, entries_of, parameters_of
from fastlsh.index.memory import StoredIds

MAGIC = b"\x89fastlsh"
DATABASE = b"SQLite format 3\0"
"""How a file of SQLite starts."""
VERSION = 1
"""The version of the format; no other can be read."""
START = struct.Struct("<8sIIQ")
"""Magic, version, CRC-32 of the header, length of the header."""

PIECE = 1 << 20
"""Bytes that are checked, read or written at a time."""


def write_index(path: str | os.PathLike[str], tables: Memory, ids: StoredIds) -> None:
    """Write an index, which has no removed documents, to one file: complete or not at all."""
    from fastlsh.io import open_output, replacing  # a third of the time of `import fastlsh`

    sizes = Sizes(
        documents=tables.kernel.n,
        slots=tables.slots,
        words=tables.kernel.words,
        ids=ids.kind,
        id_bytes=len(ids.data),
        id_table=len(ids.table),
    )
    entries = entries_of(tables.settings, sizes)

    def saved(entry: Entry) -> Iterator[NDArray[np.uint8]]:
        return _saved(tables, ids, entry.name)

    header = {
        "fastlsh": __version__,
        "parameters": parameters_of(tables.settings),
        "sizes": sizes._asdict(),
        "arrays": [{**entry._asdict(), "crc32": checksum_of(saved(entry))} for entry in entries],
    }
    code = json.dumps(header, allow_nan=False).encode()
    code += b" " * (-(START.size + len(code)) % ALIGNED)
    with replacing(path) as name, open_output(name, None) as file:
        file.write(START.pack(MAGIC, VERSION, crc32(code), len(code)))
        file.write(code)
        for entry in entries:
            for piece in saved(entry):
                file.write(piece.data)
            file.write(bytes(-entry.size % ALIGNED))


def _saved(tables: Memory, ids: StoredIds, name: str) -> Iterator[NDArray[np.uint8]]:
    """Yield the bytes of an array in pieces."""
    own: dict[str, NDArray[Any] | None] = {
        "id_bytes": ids.data, "id_table": ids.table, "id_offsets": ids.offsets,
    }  # fmt: skip
    array = own.get(name)
    return tables.pieces(name) if array is None else pieces_of(array)


def pieces_of(array: NDArray[Any]) -> Iterator[NDArray[np.uint8]]:
    """Yield the bytes of an array in pieces."""
    flat = array.reshape(-1).view(np.uint8)
    return (flat[i : i + PIECE] for i in range(0, len(flat), PIECE))


def checksum_of(pieces: Iterable[NDArray[np.uint8]]) -> int:
    """Return the CRC-32 of all pieces together."""
    checksum = 0
    for piece in pieces:
        checksum = crc32(piece.data, checksum)
    return checksum
