"""Signed segments on disk: the keys of consecutive blocks, and a record of each block."""

import json
from binascii import crc32
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.candidates import MAX_DOCUMENTS
from fastlsh.errors import InputError
from fastlsh.files.disk.segment_keys import kind_of_keys
from fastlsh.files.run.records import BlockRecord, Segment, segment_name
from fastlsh.files.run.run import Run
from fastlsh.files.run.workdir import (
    begin_array,
    complete,
    new_array,
    save_array,
    write_at,
)
from fastlsh.parallel import batches, ordered_map, run_batches
from fastlsh.priorities import PriorityRecord

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


class SegmentWriter:
    """Gathers the keys of consecutive blocks of a unit, and writes them sorted when they are many.

    `wide`: so many write at a time.
    """

    def __init__(self, run: Run, unit: int, done: Sequence[Segment], wide: int) -> None:
        self._run = run
        self.unit = unit
        self._number = len(done)
        self._wide = wide
        self._total = sum(segment.documents for segment in done)
        self._begin()

    def _begin(self) -> None:
        self._parts: list[SignedBlock] = []
        self._documents = 0
        self._bytes = 0

    def add(self, signed: SignedBlock) -> None:
        """Take a block; a segment that would be too long is written before."""
        n = signed.record.documents
        if self._parts and (
            self._documents + n > self._run.budget.segment // self._wide
            or self._bytes > BYTES_OF_SEGMENT
        ):
            self.close()
        self._total += n
        check_number(self._total)
        self._parts.append(signed)
        self._documents += n
        self._bytes += signed.record.size

    def close(self, before: int | None = None, *, last: bool = False) -> None:
        """Write the run; of the files before one only, if that is given.

        `last`: it completes its unit.
        """
        if before is not None:
            self._parts = [part for part in self._parts if part.record.source < before]
            self._documents = sum(part.record.documents for part in self._parts)
        if not self._parts:
            return
        run, parts = self._run, self._parts
        with run.work.replacing(
            segment_name(self.unit, self._number), unsealed=["keys.npy"]
        ) as folder:
            folder.mkdir()
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
            content = {
                "blocks": [part.record[:6] for part in parts],
                "last": last,
                "next_row": parts[-1].next_row,
                "bands": bands,
                "empty": [(part.record.source, part.empty) for part in parts if part.empty],
                "short": [(part.record.source, part.short) for part in parts if part.short],
                "reasons": [(e.path, e.reason, e.row) for part in parts for e in part.errors],
                "priorities": [(p.record.source, p.priorities) for p in parts if p.priorities],
                "slow": sum(part.slow for part in parts),
                "characters": sum(part.characters for part in parts),
                "integers": all(part.integers for part in parts),
            }
            (folder / "blocks.json").write_text(json.dumps(content), encoding="utf-8")
        self._number += 1
        self._begin()


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
