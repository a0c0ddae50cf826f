"""Writing an index into one file, and reading or mapping it: docs/index-format.md."""

import json
import math
import mmap as mapping
import os
import struct
import sys
from base64 import b64decode, b64encode
from binascii import crc32
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import reduce
from io import BufferedReader
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from fastlsh._version import __version__
from fastlsh.banding import LSHParams
from fastlsh.candidates import MAX_DOCUMENTS
from fastlsh.index.in_memory import Memory
from fastlsh.index.settings import Bytes, Settings
from fastlsh.index.tables import KINDS, StoredIds, filled_tables, mapped_tables
from fastlsh.keyed import Key, check_key
from fastlsh.parallel import batches
from fastlsh.parameters import ignored_difference
from fastlsh.texts import IgnoredShingles, Shingler, with_key

ALIGNED = 64
RULE = {"rule": "jaccard", "containment": 1.0, "search": "jaccard"}
"""The parameters that are written unless the rule is "jaccard", and what they are then."""
PARAMETERS = {
    "num_perm": int, "seed": int, "scheme": str, "verify": str, "rule": str, "containment": float,
    "search": str,
}  # fmt: skip
"""The types of the parameters that are read as they were written."""
BYTE_ORDER = sys.byteorder
"""Of the numbers in what this machine saves, and in all that it reads."""
CUSTOM = "custom"
"""Written instead of a function, which cannot be stored."""


class Sizes(NamedTuple):
    """The sizes that do not follow from the parameters."""

    documents: int
    slots: tuple[int, ...]
    """The number of slots of each band's table."""
    words: int
    """Words of 8 bytes of the texts or sets that are kept for exact verification."""
    ids: str
    """ "str", "bytes" or "int"."""
    id_bytes: int
    id_table: int


class Entry(NamedTuple):
    """One array of the file."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    offset: int
    """Bytes from the end of the header."""
    size: int
    """Size in bytes."""
    crc32: int = 0
    """The checksum of its bytes."""


class Expected(NamedTuple):
    """What an index that is opened must have been created with, and how it is used."""

    parameters: Mapping[str, Any]
    """The parameters; None for one that may have any value."""
    threads: int | None = None
    read_only: bool = False
    wait: float = 0.0
    """Seconds to wait for another process that writes."""


def parameters_of(settings: Settings) -> dict[str, Any]:
    """Return the parameters of an index as values for JSON."""
    search = settings.search
    shingler = _shingler_as_json(search.shingler)
    saved = {"threshold": search.threshold, **search.keywords, "shingler": shingler}
    if search.rule != "jaccard":
        saved.update({name: getattr(search, name) for name in RULE})
    if search.bandings:
        saved.update(recall=search.recall, bandings=_pairs(search.bandings))
    if BYTE_ORDER != "little":
        saved["byte_order"] = BYTE_ORDER
    return saved


def _pairs(bandings: Sequence[LSHParams]) -> list[list[int]]:
    return [[banding.bands, banding.rows] for banding in bandings]


def _shingler_as_json(shingler: Shingler) -> dict[str, Any]:
    values = {field.name: getattr(shingler, field.name) for field in fields(shingler)}
    key = values.pop("key")
    if key is not None:
        values["key"] = key.fingerprint
    for name in ("stop_words", "vocabulary"):
        words = values.pop(name)
        if words is not None:
            values[name] = list(words)
    ignored = values.pop("ignored")
    if ignored is not None:
        values["ignored"] = b64encode(ignored.hashes.astype("<u8").tobytes()).decode()
    return {name: CUSTOM if callable(value) else value for name, value in values.items()}


def _take_ignored(described: dict[str, Any]) -> IgnoredShingles | None:
    """Take the ignored shingles out of the description of a shingler."""
    code = described.pop("ignored", None)
    if code is None:
        return None
    hashes = np.frombuffer(b64decode(_strict(code, str), validate=True), "<u8").astype(np.uint64)
    return IgnoredShingles(hashes, described["unit"], described["size"], described.get("key"))


def _check_key(saved: str | None, key: Key | None) -> None:
    """Raise ValueError if the key is missing, or is not the key that the index was saved with."""
    if key is None and saved is not None:
        raise ValueError(f"the index was saved with a key, whose fingerprint is {saved}: give key=")
    if key is not None and saved is None:
        raise ValueError("the index was saved without a key, and cannot be used with one")
    if key is not None and saved != key.fingerprint:
        raise ValueError(
            f"the index was saved with another key: its fingerprint is {saved}, not"
            f" {key.fingerprint}"
        )


def _differences(saved: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    """Return the parameters of two shinglers that differ; lists of words are not repeated."""
    differing = [name for name in {**saved, **expected} if saved.get(name) != expected.get(name)]
    return ", ".join(
        f"other {name}"
        if isinstance(saved.get(name, expected.get(name)), list)
        else f"{name}={saved.get(name)!r}, not {expected.get(name)!r}"
        for name in differing
    )


def settings_of(saved: Mapping[str, Any], expected: Expected) -> Settings:
    """Return the settings that were saved.

    Raises
    ------
    ValueError
        They are not what is expected, or no settings at all; or the index was saved on a machine
        of the other byte order.
    """
    required = {name: value for name, value in expected.parameters.items() if value is not None}
    shingler, key, ignore = (required.pop(name, None) for name in ("shingler", "key", "ignore"))
    saved = {**RULE, **saved}
    if (order := saved.get("byte_order", "little")) != BYTE_ORDER:
        raise ValueError(
            f"the numbers of the index are {order}-endian, and those of this machine"
            f" {BYTE_ORDER}-endian: build the index anew on this machine, or save it on another"
            " machine of this byte order"
        )
    if shingler is not None:
        shingler = with_key(shingler, key)
        key = shingler.key
    for name, value in required.items():
        if saved[name] != value:
            raise ValueError(f"the index was saved with {name}={saved[name]!r}, not {value!r}")
    described = dict(_strict(saved["shingler"], dict))
    ignored = _take_ignored(described)
    _check_key(described.get("key"), check_key(key))
    if shingler is None:
        functions = [name for name, value in described.items() if value == CUSTOM]
        if functions:
            raise ValueError(
                f"the shingler of the index has a function ({', '.join(functions)}), which cannot "
                "be saved: give shingler="
            )
        shingler = Shingler(**{**described, "key": key})
    plain = replace(shingler, ignored=None)
    if differences := _differences(described, _shingler_as_json(plain)):
        raise ValueError(f"the index was saved with another shingler: {differences}")
    if ignore is not None:
        try:
            shingler = shingler.ignoring(ignore)
        except TypeError as error:  # not of the index, but of the texts
            raise ValueError(f"ignore= does not suit the shingler of the index: {error}") from error
    if shingler.ignored != ignored and (ignore is not None or shingler.ignored is not None):
        difference = ignored_difference(ignored, shingler.ignored)
        raise ValueError(f"the index was saved with {difference}")
    shingler = replace(plain, ignored=ignored)
    if saved["search"] == "containment":
        banding = {"recall": float(_strict(saved["recall"], float))}
    else:
        banding = {name: _strict(saved[name], int) for name in ("bands", "rows")}
    threshold = float(_strict(saved["threshold"], float, int))
    others = {name: _strict(saved[name], kind) for name, kind in PARAMETERS.items()}
    settings = Settings.of(
        threshold, shingler=shingler, threads=expected.threads, **others, **banding
    )
    chosen = _pairs(settings.search.bandings)
    if chosen != saved.get("bandings", []):
        raise ValueError(
            f"the index was saved with the bands {saved.get('bandings')}, not {chosen}"
        )
    return settings


def saved_settings(
    code: str | bytes, address: str, expected: Expected, version: int | None = None
) -> Settings:
    """Return the settings in the parameters of a database, in which they may have a version."""
    try:
        saved = json.loads(code)
        if version is not None and saved["version"] != version:
            saved_version = saved["version"]
            raise ValueError(
                f"format version {saved_version} is unknown, version {version} is read"
            )
        return settings_of(saved, expected)
    except (TypeError, KeyError) as error:
        raise ValueError(f"{address}: the index is damaged: {error}") from error
    except ValueError as error:
        raise ValueError(f"{address}: {error}") from None


def sizes_of(saved: Mapping[str, Any], settings: Settings) -> Sizes:
    """Return the sizes that were saved; ValueError if they cannot be."""
    sizes = Sizes(**saved)
    n = _within(sizes.documents, 0, MAX_DOCUMENTS)
    slots = tuple(_within(size, 1, 2**32 - 1) for size in _strict(sizes.slots, list))
    if len(slots) != settings.bands:
        raise ValueError(f"{len(slots)} tables for {settings.bands} bands")
    if _strict(sizes.ids, str) not in KINDS:
        raise ValueError(f"unknown kind of ids {sizes.ids!r}")
    _within(sizes.id_bytes, *((8 * n, 8 * n) if sizes.ids == "int" else (0, 2**62)))
    _within(sizes.words, 0, 2**59 if settings.keeps else 0)
    _within(sizes.id_table, n + 1, 2**32 - 1)
    return sizes._replace(slots=slots)


def entries_of(settings: Settings, sizes: Sizes) -> list[Entry]:
    """Return every array of a file with these parameters and sizes, in order."""
    entries: list[Entry] = []
    end = 0
    for name, dtype, shape in _arrays(settings, sizes):
        size = math.prod(shape) * int(dtype[2:])
        entries.append(Entry(name, dtype, shape, end, size))
        end += -(-size // ALIGNED) * ALIGNED
    return entries


def _arrays(settings: Settings, sizes: Sizes) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    n, order = sizes.documents, "<" if BYTE_ORDER == "little" else ">"
    yield "signatures", f"{order}u4", (n, settings.width)
    yield "links", f"{order}u4", (settings.bands, n)
    yield "slots", f"{order}u8", (sum(sizes.slots),)
    if settings.keeps:
        yield "offsets", f"{order}i8", (n + 1,)
        yield "contents", f"{order}u8", (sizes.words,)
    if sizes.ids != "int":
        yield "id_offsets", f"{order}i8", (n + 1,)
    yield "id_bytes", "|u1", (sizes.id_bytes,)
    yield "id_table", f"{order}u8", (sizes.id_table,)


def _within(value: Any, lowest: int, highest: int) -> int:
    number = int(_strict(value, int))
    if not lowest <= number <= highest:
        raise ValueError(f"{number} is not between {lowest} and {highest}")
    return number


def _strict(value: Any, *types: type) -> Any:
    """Return a value from JSON if it has one of these types; True is not an int here."""
    if type(value) not in types:
        raise ValueError(f"{value!r} where {' or '.join(t.__name__ for t in types)} is needed")
    return value


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
    id_arrays: dict[str, NDArray[Any] | None] = {
        "id_bytes": ids.data, "id_table": ids.table, "id_offsets": ids.offsets,
    }  # fmt: skip

    def pieces(entry: Entry) -> Iterator[Bytes]:
        array = id_arrays.get(entry.name)
        if array is None:
            return tables.pieces(entry.name)
        flat = array.reshape(-1).view(np.uint8)
        return (flat[first:last] for first, last in batches(len(flat), PIECE))

    entries = [
        entry._replace(crc32=reduce(_checksum, pieces(entry), 0))
        for entry in entries_of(tables.settings, sizes)
    ]
    header = {
        "fastlsh": __version__,
        "parameters": parameters_of(tables.settings),
        "sizes": sizes._asdict(),
        "arrays": [entry._asdict() for entry in entries],
    }
    code = json.dumps(header, allow_nan=False).encode()
    code += b" " * (-(START.size + len(code)) % ALIGNED)
    with replacing(path) as name, open_output(name, None) as file:
        file.write(START.pack(MAGIC, VERSION, crc32(code), len(code)))
        file.write(code)
        for entry in entries:
            for piece in pieces(entry):
                file.write(piece.data)
            file.write(bytes(-entry.size % ALIGNED))


def _checksum(before: int, piece: Bytes) -> int:
    return crc32(piece.data, before)


LONGEST_HEADER = 1 << 22
"""Bytes; more than a header with the largest number of bands needs."""


def map_index(path: str | os.PathLike[str], expected: Expected, *, check: bool) -> Memory:
    """Open a file that `write_index` wrote; its arrays stay in the file.

    Raises
    ------
    ValueError
        The file is no index, truncated or damaged, has other parameters than expected, or comes
        from a machine of the other byte order.
    """
    with open(path, "rb") as file:
        header = _read_header(path, file, expected)
        data = mapping.mmap(file.fileno(), 0, access=mapping.ACCESS_READ)
    arrays: dict[str, NDArray[Any]] = {}
    whole = np.frombuffer(data, np.uint8)[header.first :]
    for entry in header.entries:
        if check:
            deque(_pieces(path, lambda first, last: whole[first:last], entry), maxlen=0)
        start = header.first + entry.offset
        array = np.frombuffer(data, entry.dtype, math.prod(entry.shape), start)
        arrays[entry.name] = array.reshape(entry.shape)
    ids = _ids_of(header.sizes, arrays)
    tables = mapped_tables(header.settings, header.sizes.slots, arrays, ids)
    return Memory(header.settings, tables, os.path.abspath(path))


def read_index(path: str | os.PathLike[str], expected: Expected) -> Memory:
    """Read and check a file that `write_index` wrote, into memory; otherwise as `map_index`."""
    with open(path, "rb") as file:
        header = _read_header(path, file, expected)
        sizes = header.sizes
        id_arrays: dict[str, NDArray[Any]] = {}

        def read(first: int, last: int) -> Bytes:
            return _read(path, file, last - first)  # in order, as they are in the file

        def arrays() -> Iterator[tuple[str, Iterator[Bytes]]]:
            for entry in header.entries:
                pieces = _pieces(path, read, entry)
                if entry.name.startswith("id_"):
                    whole = np.concatenate([np.empty(0, np.uint8), *pieces])
                    id_arrays[entry.name] = whole.view(entry.dtype)
                else:
                    yield entry.name, pieces

        tables = filled_tables(
            header.settings, sizes.documents, sizes.words, sizes.slots, arrays(),
            lambda: _ids_of(sizes, id_arrays).copy(),
        )  # fmt: skip
    return Memory(header.settings, tables)


class _Header(NamedTuple):
    settings: Settings
    sizes: Sizes
    entries: list[Entry]
    first: int
    """Where the arrays begin."""


def _read_header(path: str | os.PathLike[str], file: BufferedReader, expected: Expected) -> _Header:
    """Read the header, and check that the size of the file is the one that follows from it."""
    size = os.fstat(file.fileno()).st_size
    start = file.read(START.size)
    if start.startswith(DATABASE[: START.size]):
        _refuse(path, "it is a database of SQLite: Index.open opens an index in one")
    if len(start) < START.size or not start.startswith(MAGIC):
        _refuse(path, "it is not an index of fastlsh")
    _, version, checksum, length = START.unpack(start)
    if version != VERSION:
        _refuse(path, f"format version {version} is unknown, version {VERSION} is read")
    first = START.size + length
    if length > min(size - START.size, LONGEST_HEADER) or first % ALIGNED:
        _refuse(path, "it is truncated, or its start damaged")
    code = _read(path, file, length)
    if _checksum(0, code) != checksum:
        _refuse(path, "the header is damaged")
    try:
        header = json.loads(code.tobytes())
        settings = settings_of(header["parameters"], expected)
        sizes = sizes_of(header["sizes"], settings)
        pairs = zip(header["arrays"], entries_of(settings, sizes), strict=True)
        entries = [_checked(saved, entry) for saved, entry in pairs]
    except (TypeError, KeyError, RecursionError, OverflowError) as error:
        _refuse(path, f"the header is damaged: {error}")
    except ValueError as error:
        _refuse(path, str(error))
    end = first + entries[-1].offset + entries[-1].size
    end += -entries[-1].size % ALIGNED
    if size != end:
        _refuse(path, f"it has {size:,} bytes, expected {end:,}")
    return _Header(settings, sizes, entries, first)


def _checked(saved: Mapping[str, Any], entry: Entry) -> Entry:
    """Return an array with its checksum; ValueError if its description does not match."""
    entry = entry._replace(crc32=_strict(saved["crc32"], int))
    described = {**entry._asdict(), "shape": list(entry.shape)}
    if saved != described:
        raise ValueError(f"the array {entry.name} is described as {saved}, not {described}")
    return entry


def _pieces(
    path: str | os.PathLike[str], read: Callable[[int, int], Bytes], entry: Entry
) -> Iterator[Bytes]:
    """Yield the bytes of an array in pieces; ValueError at the end if they are damaged.

    `read` returns the bytes from one offset to another one.
    """
    checksum, end = 0, entry.offset + entry.size
    for first in range(entry.offset, end, PIECE):
        piece = read(first, min(first + PIECE, end))
        checksum = _checksum(checksum, piece)
        yield piece
    if read(end, end + -entry.size % ALIGNED).any() or checksum != entry.crc32:
        _refuse(path, f"{entry.name} is damaged")


def _read(path: str | os.PathLike[str], file: BufferedReader, size: int) -> Bytes:
    code = np.empty(size, np.uint8)
    if file.readinto(code.data) < size:
        _refuse(path, "it was truncated while it was read")
    return code


def _ids_of(sizes: Sizes, arrays: Mapping[str, NDArray[Any]]) -> StoredIds:
    return StoredIds(
        sizes.ids, sizes.documents, arrays["id_bytes"], arrays.get("id_offsets"), arrays["id_table"]
    )


def _refuse(path: str | os.PathLike[str], reason: str) -> NoReturn:
    raise ValueError(f"{os.fspath(path)}: {reason}") from None
