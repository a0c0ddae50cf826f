"""The texts of each part that were gathered, and the ids of their documents."""

import json
from binascii import crc32
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._texts import TextColumn, column_of
from fastlsh.arrays import EXACT, offsets_of, sorted_range
from fastlsh.files.cutting import SpanCutting
from fastlsh.files.run.ownership import UnsealedError, opened
from fastlsh.files.run.records import Segment
from fastlsh.files.run.run import Run
from fastlsh.io import as_list, take
from fastlsh.parallel import Write, batches, mapped_file, mapped_in, run_batches
from fastlsh.texts import as_texts


def encoded_texts(texts: Any, order: NDArray[np.int64]) -> tuple[bytes, NDArray[np.int64], bool]:
    """Return texts as UTF-8, in an order of their own, their sizes, and whether all are strict."""
    chosen = take(texts, order)
    if not isinstance(chosen, TextColumn):
        chosen = column_of(as_texts(chosen).spans(0, len(chosen)))
    return *chosen.packed(), chosen.strict


_ENCODE = json.JSONEncoder(default=str).encode
"""One for all ids: `json.dumps` would make one for each."""


def as_json(ids: Any, path: str, rows: NDArray[np.int64]) -> list[bytes]:
    """Return each id as JSON, in bytes; FILE:ROW for a document that has none.

    Parameters
    ----------
    ids
        As for `identity_hashes`.
    path, rows
        The file, and the row of each document.
    """
    if isinstance(ids, np.ndarray) and ids.dtype.kind == "i":  # the usual ids, all at once
        return " ".join(map(str, ids.tolist())).encode().split()
    ids = [None] * len(rows) if ids is None else as_list(ids)
    pairs = zip(ids, rows.tolist(), strict=True)
    named = (f"{path}:{row}" if name is None else name for name, row in pairs)
    return [(str(name) if type(name) is int else _ENCODE(name)).encode() for name in named]


class StoredIds:
    """The ids of the documents in families.

    Parameters
    ----------
    numbers
        int64 (m,), ascending: the documents.
    ends
        int64 (m,): where the JSON of each ends.
    data
        uint8: that of all, one behind the other.
    """

    def __init__(
        self, numbers: NDArray[np.int64], ends: NDArray[np.int64], data: NDArray[np.uint8]
    ) -> None:
        self._numbers = numbers
        self._ends = ends
        self._data = data

    def sizes(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many bytes of JSON the ids of some documents take."""
        starts, stops = self._places(numbers)
        return stops - starts

    def _places(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the ids of some documents begin and end."""
        rows = np.searchsorted(self._numbers, numbers)
        return np.where(rows > 0, self._ends[rows - 1], 0), self._ends[rows]

    def take(self, numbers: NDArray[np.int64]) -> list[Any]:
        """Return the ids of some documents, which must be in families."""
        different, where = np.unique(numbers, return_inverse=True)
        starts, stops = self._places(different)
        integers = _integers(self._data, starts, stops - starts)
        if integers is not None:
            return list(integers[where].tolist())
        data = self._data.data  # a slice of it makes no array
        pieces = [data[a:b] for a, b in zip(starts.tolist(), stops.tolist(), strict=True)]
        values = json.loads(b"[" + b",".join(pieces) + b"]")
        return [values[i] for i in where.tolist()]


def _integers(
    data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Return JSON values if all consist of at most 18 digits; None if not."""
    if not len(starts) or int(lengths.max()) > 18:
        return None
    values = np.zeros(len(starts), np.int64)
    for place in range(int(lengths.max())):
        longer = lengths > place
        digit = data[np.where(longer, starts + place, 0)] - np.uint8(ord("0"))
        if (longer & (digit > 9)).any():
            return None
        values = np.where(longer, values * 10 + digit, values)
    return values


Stretch = np.dtype([
    ("part", np.int64), ("rows", np.int64), ("row", np.int64), ("bytes", np.int64),
    ("byte", np.int64), ("check", np.int64), ("strict", np.bool_),
])  # fmt: skip
"""Dtype of the record of consecutive texts of one part in a file of a segment.

It has how many rows and bytes there are and where the first one is, a checksum, and whether all
texts are strict UTF-8: none has a lone surrogate.
"""

PIECE = 1 << 20
"""Bytes that are read, and written to a mapped file, at a time."""

ROWS, TEXTS, STRETCHES = "rows", "texts", "stretches.npy"


class PartTexts(NamedTuple):
    """The texts of a part."""

    rows: NDArray[Any]
    """As `row_of` says, in order of the documents."""
    data: NDArray[np.uint8]
    """The bytes of all texts, one behind the other; second texts follow the first ones."""
    strict: bool


def starts_of(rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return where the text of each record of a part begins, int64 (n,)."""
    sizes = rows["size"] + (rows["also"] if "also" in (rows.dtype.names or ()) else 0)
    return offsets_of(sizes)[:-1]


def row_of(run: Run) -> np.dtype[np.void]:
    """Return the dtype of the record of a text of a part.

    `also`, the size of the second text, and `priority` are there if the documents have one;
    `group`, if only documents of the same group are compared; `begin`, of the contexts of passages:
    where each begins in its document.
    """
    columns: list[tuple[str, Any]] = [("number", np.int64), ("size", np.int64)]
    if run.request.read.also is not None:
        columns.append(("also", np.int64))
    if run.request.read.priority is not None:
        columns.append(("priority", EXACT))
    if run.request.within is not None:
        columns.append(("group", np.uint64))
    if isinstance(run.cutting, SpanCutting):
        columns.append(("begin", np.int64))
    return np.dtype(columns)


def texts_name(segment: Segment) -> str:
    """Return the name of the folder with the gathered texts of a segment."""
    return segment.name.replace("segment", "texts")


class GatheredTexts:
    """The texts and ids of all documents in families; nothing of them is held in memory."""

    def __init__(self, run: Run, integers: bool) -> None:
        self._run = run
        self._row = row_of(run)
        self.integers = integers
        """Whether all ids are integers of 64 bits."""
        self._segments = run.segments
        self._first = np.array([segment.first for segment in self._segments], np.int64)
        self._ids: dict[int, StoredIds] = {}

    def part(self, number: int) -> PartTexts:
        """Read a part; if it has much text, into a mapped file without a name.

        Raises
        ------
        InputError
            A file is missing or damaged.
        """
        places, stretches = self._by_part
        of_part = sorted_range(stretches["part"], number, number + 1)
        places, chosen = places[of_part], stretches[of_part]
        size = int(chosen["bytes"].sum())
        count = int(chosen["rows"].sum())
        write: Write | None = None
        with ExitStack() as stack:
            if size > self._run.budget.in_part:
                folder = self._run.work.path
                rows = mapped_in(folder)(count, self._row)
                write, data = stack.enter_context(mapped_file(folder, size))
            else:
                rows, data = np.empty(count, self._row), np.empty(size, np.uint8)
            self._read_part(places, chosen, rows, data, write)
        return PartTexts(rows, data, bool(chosen["strict"].all()))

    @cached_property
    def _by_part(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """The segment of each stretch, and all stretches, sorted by part."""
        of_segments = [self._load(place, STRETCHES) for place in range(len(self._segments))]
        stretches = np.concatenate([np.empty(0, Stretch), *of_segments])
        order = np.argsort(stretches["part"], kind="stable")
        counts = np.array([*map(len, of_segments)], np.int64)
        places = np.repeat(np.arange(len(of_segments)), counts)
        return places[order], stretches[order]

    def _read_part(
        self,
        places: NDArray[np.int64],
        stretches: NDArray[Any],
        rows: NDArray[Any],
        data: NDArray[np.uint8],
        write: Write | None,
    ) -> None:
        """Read the stretches of a part, by segment; `write` fills `data`, if it is mapped."""
        edges = np.flatnonzero(np.diff(places, prepend=-1, append=-1))
        row, byte = (offsets_of(stretches[column])[edges] for column in ("rows", "bytes"))

        def read(start: int, stop: int) -> None:
            for i in range(start, stop):
                self._read(
                    int(places[edges[i]]), stretches[edges[i] : edges[i + 1]],
                    rows[row[i] : row[i + 1]], data[byte[i] : byte[i + 1]], write, int(byte[i]),
                )  # fmt: skip

        run_batches(read, batches(len(edges) - 1, 1), self._run.options.threads)

    def _read(
        self,
        place: int,
        stretches: NDArray[Any],
        rows: NDArray[Any],
        data: NDArray[np.uint8],
        write: Write | None = None,
        start: int = 0,
    ) -> None:
        """Read the stretches of a segment into arrays, and compare them with their checksums.

        If `data` is mapped, `write` fills it, which has it from the byte `start` on.
        """
        folder = texts_name(self._segments[place])
        name = f"{folder}/{TEXTS}"
        work = self._run.work
        row = byte = 0
        buffer = bytearray(PIECE if write else 0)
        with (
            work.checking(name), opened(work / f"{folder}/{ROWS}") as of_rows,
            opened(work / name) as of_texts,
        ):  # fmt: skip
            for stretch in stretches.tolist():
                _, many, first, size, begin, check, _ = stretch
                row_bytes = rows[row : row + many].view(np.uint8)
                text = data[byte : byte + size]
                of_rows.seek(first * self._row.itemsize)
                of_texts.seek(begin)
                if of_rows.readinto(row_bytes.data) != len(row_bytes):
                    raise UnsealedError("is damaged")
                checksum = crc32(row_bytes.data)
                for low, high in batches(size, PIECE if write else max(size, 1)):
                    piece = memoryview(buffer)[: high - low] if write else text.data
                    if of_texts.readinto(piece) != high - low:
                        raise UnsealedError("is damaged")
                    checksum = crc32(piece, checksum)
                    if write is not None:
                        write(piece, start + byte + low)
                if checksum != check:
                    raise UnsealedError("is damaged")
                row, byte = row + many, byte + size

    def _load(self, place: int, name: str) -> NDArray[Any]:
        return self._run.work.load(f"{texts_name(self._segments[place])}/{name}")

    def take(self, numbers: NDArray[np.int64]) -> list[Any]:
        """Return the ids of some documents, which must be in families."""
        names: list[Any] = [None] * len(numbers)
        for place, chosen in self._by_segment(numbers):
            ids = self._ids_of(place).take(numbers[chosen])
            for where, name in zip(chosen.tolist(), ids, strict=True):
                names[where] = name
        return names

    def sizes(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many bytes the ids of some documents take, which must be in families."""
        sizes = np.empty(len(numbers), np.int64)
        for place, chosen in self._by_segment(numbers):
            sizes[chosen] = self._ids_of(place).sizes(numbers[chosen])
        return sizes

    def bounds(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where some pieces of documents in families begin and end, int64 (m, 2)."""
        bounds = np.empty((len(numbers), 2), np.int64)
        for place, chosen in self._by_segment(numbers):
            of_segment = self._load(place, "ids.bounds.npy")
            rows = np.searchsorted(self._load(place, "ids.numbers.npy"), numbers[chosen])
            bounds[chosen] = of_segment[rows]
        return bounds

    def texts(self, parts: NDArray[np.int64], numbers: NDArray[np.int64]) -> list[str]:
        """Return some of the texts, given the part of each document."""
        texts = [""] * len(numbers)
        for place, chosen in self._by_segment(numbers):
            stretches = self._load(place, STRETCHES)
            for part in np.unique(parts[chosen]).tolist():
                of_part = stretches[stretches["part"] == part]
                rows = np.empty(int(of_part["rows"].sum()), self._row)
                data = np.empty(int(of_part["bytes"].sum()), np.uint8)
                self._read(place, of_part, rows, data)
                starts = starts_of(rows)
                for where in chosen[parts[chosen] == part].tolist():
                    row = int(np.searchsorted(rows["number"], numbers[where]))
                    start = int(starts[row])
                    piece = data[start : start + int(rows["size"][row])]
                    texts[where] = piece.tobytes().decode("utf-8", "surrogatepass")
        return texts

    def _by_segment(self, numbers: NDArray[np.int64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield each segment that some documents are in, and which of them these are."""
        places = np.searchsorted(self._first, numbers, "right") - 1
        order = np.argsort(places, kind="stable")
        edges = np.flatnonzero(np.diff(places[order], prepend=-1, append=-1)).tolist()
        for start, stop in pairwise(edges):
            yield int(places[order[start]]), order[start:stop]

    def _ids_of(self, place: int) -> StoredIds:
        if place not in self._ids:
            numbers, ends = (self._load(place, f"ids.{name}.npy") for name in ("numbers", "ends"))
            data = self._run.work.map(f"{texts_name(self._segments[place])}/ids.json", np.uint8)
            self._ids[place] = StoredIds(numbers, ends, data)
        return self._ids[place]


class IdsOfPieces(NamedTuple):
    """The ids of documents that are cut into pieces: those of their first pieces."""

    texts: GatheredTexts
    first: NDArray[np.int64]
    """int64 (documents + 1,): the number of the first piece of each."""

    @property
    def integers(self) -> bool:
        """Whether all ids are integers of 64 bits."""
        return self.texts.integers

    def take(self, documents: NDArray[np.int64]) -> list[Any]:
        """Return the ids of some documents, of which a piece is in a family."""
        return self.texts.take(self.first[documents])

    def sizes(self, documents: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many bytes the ids of some documents take."""
        return self.texts.sizes(self.first[documents])


def gathered_texts(run: Run) -> GatheredTexts:
    """Return the texts of the documents in families."""
    return GatheredTexts(run, run.summary.integers)
