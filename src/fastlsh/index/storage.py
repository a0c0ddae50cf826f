"""An index in one file: docs/index-format.md."""

import json
import mmap as mapping
import os
import struct
import sys
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from fastlsh._version import __version__
from fastlsh.index.layout import (
    ALIGNED,
    Entry,
    Sizes,
    entries_of,
    parameters_of,
    settings_of,
    sizes_of,
)
from fastlsh.index.memory import StoredIds, Tables
from fastlsh.io import replacing

MAGIC = b"\x89fastlsh"
VERSION = 1
START = struct.Struct("<8sIIQ")
"""Magic, version, CRC-32 of the header, its length."""

PIECE = 1 << 24
"""Bytes that are checked or written at a time."""


def write_index(path: str | os.PathLike[str], tables: Tables, ids: StoredIds) -> None:
    """Write an index without removed documents beside `path`, and then rename it."""
    _check_machine()
    arrays = _arrays_of(tables, ids)
    sizes = Sizes(
        documents=tables.n,
        slots=tuple(map(len, tables.slots)),
        set_hashes=sum(map(len, arrays.get("set_hashes", []))),
        ids=ids.kind,
        id_bytes=len(ids.data),
        id_table=len(ids.table),
    )
    entries = entries_of(tables.settings, sizes)
    header = {
        "fastlsh": __version__,
        "parameters": parameters_of(tables.settings),
        "sizes": sizes._asdict(),
        "arrays": [
            {**entry._asdict(), "crc32": _checksum(arrays[entry.name])} for entry in entries
        ],
    }
    code = json.dumps(header, allow_nan=False).encode()
    code += b" " * (-(START.size + len(code)) % ALIGNED)
    with replacing(path) as name, open(name, "wb") as file:
        file.write(START.pack(MAGIC, VERSION, zlib.crc32(code), len(code)))
        file.write(code)
        for entry in entries:
            for part in arrays[entry.name]:
                for piece in _pieces(part):
                    file.write(piece)
            file.write(bytes(-entry.size % ALIGNED))
        file.flush()
        if os.path.isfile(name):
            os.fsync(file.fileno())


def read_index(
    path: str | os.PathLike[str],
    expected: Mapping[str, Any],
    threads: int | None,
    *,
    verify: bool,
) -> tuple[Tables, StoredIds]:
    """Open a file that `write_index` wrote; its arrays stay in the file.

    Raises
    ------
    ValueError
        It is no index, truncated or altered, or not what is expected.
    """
    _check_machine()
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(START.size)
        length, checksum = _check_start(path, start, size)
        code = file.read(length)
        if zlib.crc32(code) != checksum:
            _refuse(path, "the header is damaged")
        try:
            header = json.loads(code)
            settings = settings_of(header["parameters"], expected, threads)
            sizes = sizes_of(header["sizes"], settings)
            entries = entries_of(settings, sizes)
            checksums = [_checked(*pair) for pair in zip(header["arrays"], entries, strict=True)]
        except (TypeError, KeyError, RecursionError, OverflowError) as error:
            _refuse(path, f"the header is damaged: {error}")
        except ValueError as error:
            _refuse(path, str(error))
        first = START.size + length
        end = first + entries[-1].offset + entries[-1].size
        end += -entries[-1].size % ALIGNED
        if size != end:
            _refuse(path, f"it has {size:,} bytes, expected {end:,}")
        data = mapping.mmap(file.fileno(), 0, access=mapping.ACCESS_READ)
    arrays = {e.name: _array(data, first, e) for e in entries}
    if verify:
        whole = np.frombuffer(data, np.uint8)
        for entry, expected_checksum in zip(entries, checksums, strict=True):
            start_of_padding = first + entry.offset + entry.size
            padding = whole[start_of_padding : start_of_padding + -entry.size % ALIGNED]
            if _checksum([arrays[entry.name]]) != expected_checksum or padding.any():
                _refuse(path, f"{entry.name} is damaged")
    ids = StoredIds(
        sizes.ids, sizes.documents, arrays["id_bytes"], arrays.get("id_offsets"), arrays["id_table"]
    )
    return Tables.over(settings, sizes.documents, sizes.slots, arrays), ids


def _check_start(path: str | os.PathLike[str], start: bytes, size: int) -> tuple[int, int]:
    """Return length and checksum of the header."""
    if len(start) < START.size or not start.startswith(MAGIC):
        _refuse(path, "it is not an index of fastlsh")
    _, version, checksum, length = START.unpack(start)
    if version != VERSION:
        _refuse(path, f"format version {version} is unknown, version {VERSION} is read")
    if length > size - START.size or (START.size + length) % ALIGNED:
        _refuse(path, "it is truncated, or its start damaged")
    return length, checksum


def _checked(saved: Mapping[str, Any], entry: Entry) -> int:
    """Return the checksum of an array if all else is as its place demands."""
    described = {**entry._asdict(), "shape": list(entry.shape)}
    checksum = saved["crc32"]
    if {**saved} != {**described, "crc32": checksum} or type(checksum) is not int:
        raise ValueError(f"the array {entry.name} is described as {dict(saved)}, not {described}")
    return checksum


def _array(data: mapping.mmap, first: int, entry: Entry) -> NDArray[Any]:
    if entry.size == 0:
        return np.empty(entry.shape, entry.dtype)
    count = entry.size // int(entry.dtype[2:])
    array = np.frombuffer(data, entry.dtype, count, first + entry.offset)
    return array.reshape(entry.shape)


def _arrays_of(tables: Tables, ids: StoredIds) -> dict[str, list[NDArray[Any]]]:
    """Return each array in parts that follow each other."""
    n = tables.n
    arrays: dict[str, list[NDArray[Any]]] = {
        "signatures": [tables.signatures[:n]],
        "links": [links[:n] for links in tables.links],
        "slots": list(tables.slots),
        "id_bytes": [ids.data],
        "id_table": [ids.table],
    }
    if ids.offsets is not None:
        arrays["id_offsets"] = [ids.offsets]
    if tables.hashes is not None and tables.offsets is not None:
        arrays["set_offsets"] = [tables.offsets[: n + 1]]
        arrays["set_hashes"] = [tables.hashes[: tables.offsets[n]]]
    return arrays


def _pieces(part: NDArray[Any]) -> Iterator[memoryview]:
    flat = part.reshape(-1).view(np.uint8).data
    return (flat[i : i + PIECE] for i in range(0, len(flat), PIECE))


def _checksum(parts: list[NDArray[Any]]) -> int:
    checksum = 0
    for part in parts:
        for piece in _pieces(part):
            checksum = zlib.crc32(piece, checksum)
    return checksum


def _refuse(path: str | os.PathLike[str], reason: str) -> NoReturn:
    raise ValueError(f"{os.fspath(path)}: {reason}") from None


def _check_machine() -> None:
    if sys.byteorder != "little":
        raise ValueError("index files are little-endian, this machine is not")
