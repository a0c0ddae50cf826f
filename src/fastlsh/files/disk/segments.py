"""Signed segments on disk: the keys of consecutive blocks, and a record of each block."""

import json
from abc import ABC, abstractmethod
from binascii import crc32
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastlsh.banding import of_band
from fastlsh.candidates import MAX_DOCUMENTS, keys_apart, keys_of_one_band
from fastlsh.errors import InputError
from fastlsh.files.disk.sorted_keys import SortedRun, keep_first_bits, sorted_in_range
from fastlsh.files.run.ownership import UnsealedError
from fastlsh.files.run.records import BlockRecord, Segment, segment_name
from fastlsh.files.run.run import Run
from fastlsh.files.run.workdir import begin_array, complete, new_array, save_array, write_at
from fastlsh.parallel import batches, ordered_map, run_batches
from fastlsh.priorities import PriorityRecord

Keys = NDArray[np.uint64]
Halves = NDArray[np.uint32]

HALF = np.uint64(32)


class StoredKeys:
    """The keys of a segment, mapped; each row of the file is compared with its checksum once.

    They are not compared as a whole, for other processes may link other bands.
    """

    is_sorted: ClassVar[bool] = False
    """Whether each row is sorted when it is stored, with the numbers of the documents in it."""

    def __init__(self, run: Run, segment: Segment) -> None:
        self._run = run
        self._segment = segment
        mapped = run.work.load(f"{segment.name}/keys.npy", sealed=False)
        self._rows: NDArray[Any] = mapped.view(np.ndarray)  # which is cut much faster
        self._checked: set[int] = set()

    def rows(self, first: int, last: int) -> NDArray[Any]:
        """Return some rows of the file, mapped, if they are unchanged."""
        for row in range(first, last):
            if row not in self._checked:
                with self._run.work.checking(f"{self._segment.name}/keys.npy"):
                    if crc32(self._rows[row].data) != self._segment.bands[row]:
                        raise UnsealedError("is damaged")
                self._checked.add(row)
        return self._rows[first:last]


class BandKeys(StoredKeys):
    """The keys of all bands, packed: uint64 (bands, n)."""

    is_sorted = True

    @staticmethod
    def stored(keys: Keys) -> Keys:
        """Return the keys of a block as they are stored; they are changed."""
        keep_first_bits(keys)
        return keys

    def band(self, band: int, index: int, count: int) -> SortedRun:
        """Return the keys of a band, in at least one of `count` ranges of all keys."""
        return SortedRun(self._segment.first, self.rows(band, band + 1))


class Minima(StoredKeys):
    """What the keys of a search by containment are made of: uint32 (num_perm + 1 or + 3, n).

    A document has so many keys in that search that the minima take less. Behind them are the steps
    of the sizes, and, if only documents of a group are compared, the halves of the groups.
    """

    @staticmethod
    def stored(minima: Halves, groups: Keys | None) -> Halves:
        """Return the minima of a block with the steps, uint32 (num_perm + 1, n), as stored."""
        return minima if groups is None else np.vstack([minima, *_halves(groups)])

    def band(self, band: int, index: int, count: int) -> SortedRun:
        """Return the keys of a band that are in one of `count` ranges of all keys."""
        part, number = of_band(self._run.params.partitions, band)
        height = part.params.rows
        minima = self.rows(number * height, (number + 1) * height)
        keys = keys_of_one_band(minima, self.steps, part)
        if self._groups is not None:
            keys = keys_apart(keys, self._groups)
        return SortedRun(self._segment.first, sorted_in_range(keys, index, count)[np.newaxis])

    @cached_property
    def steps(self) -> NDArray[np.uint8]:
        """The step of the size of each document, by which the search by containment goes."""
        last = self._run.params.num_perm
        steps: NDArray[np.uint8] = self.rows(last, last + 1)[0].astype(np.uint8)
        return steps

    @cached_property
    def _groups(self) -> Keys | None:
        """The group of each document, if only documents of a group are compared."""
        first = self._run.params.num_perm + 1
        return None if len(self._rows) == first else _of_halves(*self.rows(first, first + 2))


class RowGroups(StoredKeys):
    """The groups of rows that are put together, and the sizes of their texts: uint32 (4, n)."""

    @staticmethod
    def stored(groups: Keys, sizes: NDArray[np.int64]) -> Halves:
        """Return the hash of the group of each row, and the bytes of its text, as stored."""
        return np.vstack([*_halves(groups), *_halves(sizes.view(np.uint64))])

    @cached_property
    def groups(self) -> Keys:
        """The hash of the group of each row."""
        return _of_halves(*self.rows(0, 2))

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """The bytes of the text of each row."""
        return _of_halves(*self.rows(2, 4)).view(np.int64)


def kind_of_keys(run: Run) -> type[BandKeys] | type[Minima] | type[RowGroups]:
    """Return which type of keys the segments of a run have."""
    if run.request.group is not None:
        return RowGroups
    return Minima if run.params.partitions else BandKeys


def _halves(numbers: Keys) -> tuple[Halves, Halves]:
    """Return the lower and the upper halves of numbers."""
    return numbers.astype(np.uint32), (numbers >> HALF).astype(np.uint32)


def _of_halves(low: Halves, high: Halves) -> Keys:
    numbers: Keys = high.astype(np.uint64) << HALF | low.astype(np.uint64)
    return numbers


BYTES_OF_SEGMENT = 1 << 30
"""A segment ends behind so many bytes of files: what a kill loses at most."""

OF_DOCUMENTS = np.array([1, 0, 0, 1, 0])
"""Which columns of an echo are numbers of documents."""


class SignedBlock(NamedTuple):
    """A block's share of a segment."""

    record: BlockRecord
    keys: NDArray[np.uint64] | NDArray[np.uint32]
    """(m, n), as the type of keys of the run stores them: see `kind_of_keys`."""
    identities: NDArray[np.uint64]
    empty: int
    short: int
    """Documents with fewer units than a shingle."""
    errors: list[InputError]
    next_row: int
    """The number of the row behind it."""
    slow: int
    """As in `BlockDocuments`."""
    integers: bool
    pieces: NDArray[np.int32] | None = None
    """How many pieces each document has, if they are cut."""
    echoes: NDArray[np.int64] | None = None
    """As in `SignedPieces`; the documents are counted in the block."""
    columns: Sequence[NDArray[Any]] = ()
    """The labels and the numbers that the answer counts, in this order."""
    contexts: NDArray[Any] | None = None
    """Of passages, the bounds of contexts as `narrowed` returns them."""
    characters: int = 0
    """Of the texts, where passages are looked for."""
    priorities: PriorityRecord | None = None


class BlockPart(Protocol):
    """A block's share of a segment."""

    @property
    def record(self) -> BlockRecord:
        """The record of the block."""

    @property
    def errors(self) -> list[InputError]:
        """Its bad rows."""

    @property
    def next_row(self) -> int:
        """The number of the row behind it."""


Part = TypeVar("Part", bound=BlockPart)


class SegmentWriter(ABC, Generic[Part]):
    """Gathers consecutive blocks of a unit, and writes a segment of them when they are many.

    `wide`: so many write at a time.
    """

    UNSEALED: ClassVar[tuple[str, ...]] = ()
    """Its files that have checksums of their own."""

    def __init__(self, run: Run, unit: int, done: Sequence[Segment], wide: int) -> None:
        self._run = run
        self.unit = unit
        self._number = len(done)
        self._wide = wide
        self._total = sum(segment.documents for segment in done)
        self._begin()

    def _begin(self) -> None:
        self._parts: list[Part] = []
        self._documents = 0
        self._bytes = 0

    def add(self, part: Part) -> None:
        """Take a block; a segment that would be too long is written before."""
        n = part.record.documents
        if self._parts and (
            self._documents + n > self._run.budget.segment // self._wide
            or self._bytes > BYTES_OF_SEGMENT
        ):
            self.close()
        self._total += n
        check_number(self._total)
        self._parts.append(part)
        self._documents += n
        self._bytes += part.record.size

    def close(self, before: int | None = None, *, last: bool = False) -> None:
        """Write the segment; with `before`, only the blocks of the files before that file.

        `last`: it completes its unit.
        """
        if before is not None:
            self._parts = [part for part in self._parts if part.record.source < before]
            self._documents = sum(part.record.documents for part in self._parts)
        if not self._parts:
            return
        parts, name = self._parts, segment_name(self.unit, self._number)
        with self._run.work.replacing(name, unsealed=self.UNSEALED) as folder:
            folder.mkdir()
            content = {
                "blocks": [part.record[:6] for part in parts],
                "last": last,
                "next_row": parts[-1].next_row,
                "reasons": [(e.path, e.reason, e.row) for part in parts for e in part.errors],
                "bands": [],
                **self._saved(folder),
            }
            text = json.dumps(content, default=str)
            (folder / "blocks.json").write_text(text, encoding="utf-8")
        self._number += 1
        self._begin()

    @abstractmethod
    def _saved(self, folder: Path) -> dict[str, Any]:
        """Save the arrays of the blocks; return what else the record has of them."""


class KeysWriter(SegmentWriter[SignedBlock]):
    """Writes the keys of blocks, sorted."""

    UNSEALED = ("keys.npy",)

    def _saved(self, folder: Path) -> dict[str, Any]:
        run, parts = self._run, self._parts
        first, keys = parts[0].keys, folder / "keys.npy"
        start = begin_array(keys, first.dtype, (len(first), self._documents))
        is_sorted = kind_of_keys(run).is_sorted
        rows = np.arange(self._documents, dtype=np.uint64)

        def write(band: int) -> int:
            row = np.concatenate([part.keys[band] for part in parts])
            if is_sorted:
                row |= rows  # those of empty documents stay below all keys
                row.sort()
            write_at(keys, start + band * row.nbytes, row)
            return crc32(row.data)

        bands = list(ordered_map(range(len(first)), write, run.options.threads // self._wide))
        identities = np.concatenate([part.identities for part in parts])
        identities.sort()
        save_array(folder / "identities.npy", identities)
        for number in range(len(parts[0].columns)):
            column = np.concatenate([part.columns[number] for part in parts])
            save_array(folder / column_name(number), column)
        counts = [part.pieces for part in parts if part.pieces is not None]
        if counts:
            save_array(folder / "pieces.npy", np.concatenate(counts))
        echoes = [part.echoes for part in parts if part.echoes is not None]
        if echoes:
            save_array(folder / "echoes.npy", counted_on(echoes, counts))
        contexts = [part.contexts for part in parts if part.contexts is not None]
        if contexts:
            save_array(folder / "contexts.npy", np.concatenate(contexts))
        return {
            "bands": bands,
            "empty": [(part.record.source, part.empty) for part in parts if part.empty],
            "short": [(part.record.source, part.short) for part in parts if part.short],
            "priorities": [(p.record.source, p.priorities) for p in parts if p.priorities],
            "slow": sum(part.slow for part in parts),
            "characters": sum(part.characters for part in parts),
            "integers": all(part.integers for part in parts),
        }


def column_name(number: int) -> str:
    """Return the name of a saved column, in the folder of a segment and beside it."""
    return f"column-{number}.npy"


def saved_columns(run: Run) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
    """Return the labels and the numbers of the documents of the inputs, by name; mapped."""
    labels, counts = run.request.read.labels, run.request.read.counts
    columns = []
    for number in range(len(labels) + len(counts)):
        name = column_name(number)
        if not run.work.has(name):
            arrays = run.arrays(f"column-{number}", run.segments_of_inputs)
            documents = sum(map(len, arrays))
            with run.work.replacing(name) as temporary:
                if not documents:  # which cannot be mapped
                    save_array(temporary, np.empty(0, np.int64))
                else:
                    column = new_array(temporary, np.result_type(*arrays), (documents,))
                    np.concatenate(arrays, out=column)
                    complete(column)
        columns.append(run.work.load(name))
    numbers = columns[len(labels) :]
    return dict(zip(labels, columns, strict=False)), dict(zip(counts, numbers, strict=True))


def check_number(documents: int) -> None:
    """Raise ValueError if there are more documents than can be numbered."""
    if documents > MAX_DOCUMENTS:
        raise ValueError(f"at most {MAX_DOCUMENTS:,} documents can be processed")


def counted_on(
    echoes: list[NDArray[np.int64]], counts: list[NDArray[np.int32]]
) -> NDArray[np.int64]:
    """Join the echoes of blocks, whose documents are then counted in the segment."""
    first = np.cumsum([0, *map(len, counts)])[:-1].tolist()
    moved = [of_block + start * OF_DOCUMENTS for of_block, start in zip(echoes, first, strict=True)]
    return np.concatenate(moved)


def narrowed(bounds: NDArray[np.int64]) -> NDArray[Any]:
    """Return where contexts begin and how long they are, (m, 2), in as few bytes as possible."""
    narrow = np.column_stack([bounds[:, 1], bounds[:, 2] - bounds[:, 1]])
    return narrow.astype(np.min_scalar_type(int(narrow.max(initial=0))))


class StoredContexts:
    """Where the contexts of the documents of a segment are."""

    def __init__(self, run: Run, segment: Segment) -> None:
        self._segment = segment
        self._pieces, self._contexts = (
            run.work.load(f"{segment.name}/{name}.npy") for name in ("pieces", "contexts")
        )

    def of_block(self, record: BlockRecord) -> NDArray[np.int64]:
        """Return the bounds of the contexts of a block, int64 (m, 3), by the document's number."""
        start = record.first_uncut - self._segment.blocks[0].first_uncut
        counts = self._pieces[start : start + record.uncut]
        first = record.first - self._segment.first
        begin, length = self._contexts[first : first + record.documents].astype(np.int64).T
        return np.column_stack([np.repeat(np.arange(len(counts)), counts), begin, begin + length])


def drop_keys(run: Run) -> None:
    """Remove the keys, which take most of the work directory."""
    names = [segment.name for segment in run.segments]

    def drop(first: int, last: int) -> None:
        for name in names[first:last]:
            run.work.drop(f"{name}/keys.npy", f"{name}/identities.npy")

    run_batches(drop, batches(len(names), 1), run.options.threads)
