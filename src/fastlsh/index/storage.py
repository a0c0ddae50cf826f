"""Writing an index into one file, and reading or mapping it: docs/index-format.md."""

import json
import mmap as mapping
import os
import struct
from binascii import crc32  # the same numbers as zlib.crc32, which some builds of Python lack
from collections.abc import Iterable, Iterator, Mapping
from io import FileIO
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from fastlsh._version import __version__
from fastlsh.index.in_memory import Memory
from fastlsh.index.layout import (
    ALIGNED,
    Entry,
    Sizes,
    entries_of,
    parameters_of,
    settings_of,
    sizes_of,
)
from fastlsh.index.memory import StoredIds, filled_tables, mapped_tables
from fastlsh.index.settings import Settings

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


LONGEST_HEADER = 1 << 22
"""Bytes; more than a header with the largest number of bands needs."""


def map_index(
    path: str | os.PathLike[str],
    expected: Mapping[str, Any],
    threads: int | None,
    *,
    check: bool,
) -> Memory:
    """Open a file that `write_index` wrote; its arrays stay in the file.

    Raises
    ------
    ValueError
        The file is no index, truncated or damaged, has other parameters than expected, or comes
        from a machine of the other byte order.
    """
    with FileIO(path) as file:
        header = _read_header(path, file, expected, threads)
        data = mapping.mmap(file.fileno(), 0, access=mapping.ACCESS_READ)
    arrays = {entry.name: _array(data, header.first, entry) for entry in header.entries}
    if check:
        whole = np.frombuffer(data, np.uint8)
        for entry, checksum in zip(header.entries, header.checksums, strict=True):
            end = header.first + entry.offset + entry.size
            padding = whole[end : end + -entry.size % ALIGNED]
            if checksum_of(pieces_of(arrays[entry.name])) != checksum or padding.any():
                _refuse(path, f"{entry.name} is damaged")
    ids = _ids_of(header.sizes, arrays)
    tables = mapped_tables(header.settings, header.sizes.slots, arrays, ids)
    return Memory(header.settings, tables, os.path.abspath(path))


def read_index(
    path: str | os.PathLike[str],
    expected: Mapping[str, Any],
    threads: int | None,
    *,
    check: bool = True,
) -> Memory:
    """Read and check a file that `write_index` wrote, into memory; otherwise as `map_index`."""
    with FileIO(path) as file:
        header = _read_header(path, file, expected, threads)
        sizes = header.sizes
        ours: dict[str, NDArray[Any]] = {}

        def pieces(entry: Entry, checksum: int) -> Iterator[NDArray[np.uint8]]:
            found = 0
            for start in range(0, entry.size, PIECE):
                piece = np.empty(min(PIECE, entry.size - start), np.uint8)
                _read_into(path, file, piece)
                found = crc32(piece.data, found)
                yield piece
            padding = np.empty(-entry.size % ALIGNED, np.uint8)
            _read_into(path, file, padding)
            if found != checksum or padding.any():
                _refuse(path, f"{entry.name} is damaged")

        def arrays() -> Iterator[tuple[str, Iterator[NDArray[np.uint8]]]]:
            for entry, checksum in zip(header.entries, header.checksums, strict=True):
                found = pieces(entry, checksum)
                if not entry.name.startswith("id_"):
                    yield entry.name, found
                    continue
                array = np.empty(entry.shape, entry.dtype)
                code, position = array.view(np.uint8), 0
                for piece in found:
                    code[position : position + len(piece)] = piece
                    position += len(piece)
                ours[entry.name] = array

        tables = filled_tables(
            header.settings, sizes.documents, sizes.words, sizes.slots, arrays(),
            lambda: _ids_of(sizes, ours).copy(),
        )  # fmt: skip
    return Memory(header.settings, tables)


class _Header(NamedTuple):
    settings: Settings
    sizes: Sizes
    entries: list[Entry]
    checksums: list[int]
    first: int
    """Where the arrays begin."""


def _read_header(
    path: str | os.PathLike[str],
    file: FileIO,
    expected: Mapping[str, Any],
    threads: int | None,
) -> _Header:
    """Read the header, and check that the size of the file is the one that follows from it."""
    size = os.fstat(file.fileno()).st_size
    length, checksum = _check_start(path, file.read(START.size), size)
    code = np.empty(length, np.uint8)
    _read_into(path, file, code)
    if crc32(code.data) != checksum:
        _refuse(path, "the header is damaged")
    try:
        header = json.loads(code.tobytes())
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
    return _Header(settings, sizes, entries, checksums, first)


def _read_into(path: str | os.PathLike[str], file: FileIO, out: NDArray[np.uint8]) -> None:
    view = out.data
    while len(view):
        count = file.readinto(view)
        if not count:
            _refuse(path, "it was truncated while it was read")
        view = view[count:]


def _check_start(path: str | os.PathLike[str], start: bytes, size: int) -> tuple[int, int]:
    """Return the length and the checksum of the header."""
    if start.startswith(DATABASE[: START.size]):
        _refuse(path, "it is a database of SQLite: Index.open opens an index in one")
    if len(start) < START.size or not start.startswith(MAGIC):
        _refuse(path, "it is not an index of fastlsh")
    _, version, checksum, length = START.unpack(start)
    if version != VERSION:
        _refuse(path, f"format version {version} is unknown, version {VERSION} is read")
    if length > min(size - START.size, LONGEST_HEADER) or (START.size + length) % ALIGNED:
        _refuse(path, "it is truncated, or its start damaged")
    return length, checksum


def _checked(saved: Mapping[str, Any], entry: Entry) -> int:
    """Return the checksum of an array; ValueError if its description does not match."""
    described = {**entry._asdict(), "shape": list(entry.shape)}
    checksum = saved["crc32"]
    if {**saved} != {**described, "crc32": checksum} or type(checksum) is not int:
        raise ValueError(f"the array {entry.name} is described as {dict(saved)}, not {described}")
    return checksum


def _array(data: mapping.mmap, first: int, entry: Entry) -> NDArray[Any]:
    if entry.size == 0:
        return np.empty(entry.shape, entry.dtype)
    count = entry.size // entry.width
    array = np.frombuffer(data, entry.dtype, count, first + entry.offset)
    return array.reshape(entry.shape)


def _ids_of(sizes: Sizes, arrays: Mapping[str, NDArray[Any]]) -> StoredIds:
    return StoredIds(
        sizes.ids, sizes.documents, arrays["id_bytes"], arrays.get("id_offsets"), arrays["id_table"]
    )


def _refuse(path: str | os.PathLike[str], reason: str) -> NoReturn:
    raise ValueError(f"{os.fspath(path)}: {reason}") from None
