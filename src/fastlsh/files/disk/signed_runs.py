"""Signed runs on disk: the sorted keys of consecutive blocks, and a record of each block.

A document has so many keys in a search by containment that the minima of which they are made take
less, so a run of that search has these instead.
"""

import json
from binascii import crc32
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.banding import of_band
from fastlsh.candidates import MAX_DOCUMENTS, keys_apart, keys_of_one_band
from fastlsh.errors import InputError
from fastlsh.files.disk.sorted_keys import SortedRun, sorted_in_range
from fastlsh.files.run.job import Job
from fastlsh.files.run.manifest import Unit, units_in
from fastlsh.files.run.ownership import UnsealedError
from fastlsh.files.run.workdir import (
    begin_array,
    complete,
    new_array,
    save_array,
    write_at,
)
from fastlsh.io import COLUMNAR, BlockExtent, reread_blocks
from fastlsh.parallel import batches, ordered_map, run_batches
from fastlsh.priorities import PriorityRecord

SIGNED = "signed.json"
"""Counts of all documents, when every file has been signed."""

BYTES_OF_RUN = 1 << 30
"""A run ends behind so many bytes of files: what a kill loses at most."""

HALF = np.uint64(32)

OF_DOCUMENTS = np.array([1, 0, 0, 1, 0])
"""Which columns of an echo are numbers of documents."""


class BlockRecord(NamedTuple):
    """The record of a block that has been signed."""

    source: int
    extent: BlockExtent
    documents: int
    """Or pieces of these, where they are cut."""
    bad: tuple[int, ...]
    """Rows left out."""
    text: int
    """Bytes of the texts, about."""


class SignedRun(NamedTuple):
    """The record of a run, besides its keys."""

    name: str
    first: int
    """The number of its first document, counted from the beginning of what was asked for."""
    documents: int
    blocks: list[BlockRecord]
    last: bool
    """Whether it completes its unit."""
    bands: list[int]
    """A checksum of the keys of each band, or of the minima of each hash function."""
    next_row: int
    """The number of the row behind its last block."""

    def behind(self, documents: int, rows: int) -> "SignedRun":
        """Return the same if so many documents, and so many rows of its file, are before it."""
        blocks = self.blocks
        if rows:
            blocks = [
                record._replace(
                    extent=record.extent._replace(row=record.extent.row + rows),
                    bad=tuple(row + rows for row in record.bad),
                )
                for record in blocks
            ]
        first, next_row = self.first + documents, self.next_row + rows
        return self._replace(first=first, blocks=blocks, next_row=next_row)


class SignedBlock(NamedTuple):
    """A block's share of a run."""

    record: BlockRecord
    keys: NDArray[np.uint64] | NDArray[np.uint32]
    """uint64 (bands, n), packed; or uint32 (num_perm + 1, n), the minima and the steps of sizes,
    with two more rows if there are groups; or, of rows that are put together, uint32 (4, n), the
    halves of their groups and sizes."""
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


class RunWriter:
    """Gathers the keys of consecutive blocks of a unit, and writes them sorted when they are many.

    `wide`: so many write at a time.
    """

    def __init__(self, job: Job, unit: int, done: Sequence[SignedRun], wide: int) -> None:
        self._job = job
        self.unit = unit
        self._number = len(done)
        self._wide = wide
        self._total = sum(run.documents for run in done)
        self._begin()

    def _begin(self) -> None:
        self._parts: list[SignedBlock] = []
        self._documents = 0
        self._bytes = 0

    def add(self, signed: SignedBlock) -> None:
        """Take a block; a run that would be too long is written before."""
        n = signed.record.documents
        if self._parts and (
            self._documents + n > self._job.budget.run // self._wide or self._bytes > BYTES_OF_RUN
        ):
            self.close()
        self._total += n
        check_number(self._total)
        self._parts.append(signed)
        self._documents += n
        self._bytes += _size(signed.record)

    def close(self, before: int | None = None, *, last: bool = False) -> None:
        """Write the run; of the files before one only, if that is given.

        `last`: it completes its unit.
        """
        if before is not None:
            self._parts = [part for part in self._parts if part.record.source < before]
            self._documents = sum(part.record.documents for part in self._parts)
        if not self._parts:
            return
        job, parts = self._job, self._parts
        with job.work.replacing(run_name(self.unit, self._number), unsealed=["keys.npy"]) as folder:
            folder.mkdir()
            kind = parts[0].keys
            keys = folder / "keys.npy"
            start = begin_array(keys, kind.dtype, (len(kind), self._documents))
            rows = np.arange(self._documents, dtype=np.uint64)

            def write(band: int) -> int:
                row = np.concatenate([part.keys[band] for part in parts])
                if row.dtype == np.uint64:
                    row |= rows  # those of empty documents stay below all keys
                    row.sort()
                write_at(keys, start + band * row.nbytes, row)
                return crc32(row.data)

            bands = list(ordered_map(range(len(kind)), write, job.options.threads // self._wide))
            identities = np.concatenate([part.identities for part in parts])
            identities.sort()
            save_array(folder / "identities.npy", identities)
            for number in range(len(parts[0].columns)):
                column = np.concatenate([part.columns[number] for part in parts])
                save_array(folder / column_name(number), column)
            counts = [part.pieces for part in parts if part.pieces is not None]
            if counts:
                save_array(folder / "pieces.npy", np.concatenate(counts))
                save_array(folder / "texts.npy", np.array([len(sizes) for sizes in counts]))
            echoes = [part.echoes for part in parts if part.echoes is not None]
            if echoes:
                save_array(folder / "echoes.npy", counted_on(echoes, counts))
            contexts = [part.contexts for part in parts if part.contexts is not None]
            if contexts:
                save_array(folder / "contexts.npy", np.concatenate(contexts))
            content = {
                "documents": self._documents,
                "blocks": [part.record for part in parts],
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
    """Return the name of a saved column, in the folder of a run and beside it."""
    return f"column-{number}.npy"


def saved_columns(job: Job) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
    """Return the labels and the numbers of the documents of the inputs, by name; mapped."""
    labels, counts = job.request.read.labels, job.request.read.counts
    columns = []
    for number in range(len(labels) + len(counts)):
        name = column_name(number)
        if not job.work.has(name):
            runs = [job.work.load(f"{run.name}/{name}") for run in runs_of_inputs(job)]
            documents = sum(map(len, runs))
            with job.work.replacing(name) as temporary:
                if not documents:  # which cannot be mapped
                    save_array(temporary, np.empty(0, np.int64))
                else:
                    column = new_array(temporary, np.result_type(*runs), (documents,))
                    np.concatenate(runs, out=column)
                    complete(column)
        columns.append(job.work.load(name))
    numbers = columns[len(labels) :]
    return dict(zip(labels, columns, strict=False)), dict(zip(counts, numbers, strict=True))


def check_number(documents: int) -> None:
    """Raise ValueError if there are more documents than can be numbered."""
    if documents > MAX_DOCUMENTS:
        raise ValueError(f"at most {MAX_DOCUMENTS:,} documents can be processed")


def counted_on(
    echoes: list[NDArray[np.int64]], counts: list[NDArray[np.int32]]
) -> NDArray[np.int64]:
    """Join the echoes of blocks, whose documents are then counted in the run."""
    first = np.cumsum([0, *map(len, counts)])[:-1].tolist()
    moved = [of_block + start * OF_DOCUMENTS for of_block, start in zip(echoes, first, strict=True)]
    return np.concatenate(moved)


def _size(record: BlockRecord) -> int:
    return record.extent.stop - record.extent.start


def units_of(job: Job) -> list[Unit]:
    """Return the units of signing."""
    return units_in(job.work, len(job.sources))


def runs_of_unit(job: Job, unit: int, count: int | None = None) -> list[SignedRun]:
    """Return the records of the runs of a unit, those that there are or so many.

    Documents and rows are counted from the beginning of the unit.
    """
    runs: list[SignedRun] = []
    first = 0
    while len(runs) < count if count is not None else job.work.has(run_name(unit, len(runs))):
        name = run_name(unit, len(runs))
        run = job.work.read(f"{name}/blocks.json")
        blocks = [
            BlockRecord(source, BlockExtent(*extent), documents, tuple(bad), text)
            for source, extent, documents, bad, text in run["blocks"]
        ]
        last, bands, next_row = run["last"], run["bands"], run["next_row"]
        runs.append(SignedRun(name, first, run["documents"], blocks, last, bands, next_row))
        first += run["documents"]
    return runs


def finished_runs(job: Job) -> list[SignedRun]:
    """Return the records of the finished runs, in order; rows are counted in their files."""
    units = units_of(job)
    counts: list[int | None] = [None] * len(units)
    if job.work.has(SIGNED):
        counts = job.work.read(SIGNED)["runs"]
    all_runs: list[SignedRun] = []
    documents = rows = 0
    for number, (unit, count) in enumerate(zip(units, counts, strict=True)):
        if not unit.within.start or job.sources[unit.files.start].format in COLUMNAR:
            rows = 0  # those of a table are counted in the file
        runs = [run.behind(documents, rows) for run in runs_of_unit(job, number, count)]
        if runs:
            documents, rows = runs[-1].first + runs[-1].documents, runs[-1].next_row - 1
        all_runs += runs
    return all_runs


def runs_of_inputs(job: Job) -> list[SignedRun]:
    """Return the runs behind those of `against`."""
    return [run for run in finished_runs(job) if run.blocks[0].source >= job.first_input]


def reread_signed_blocks(
    job: Job, records: list[tuple[int, BlockRecord]], *, all_columns: bool = False
) -> Iterator[Any]:
    """Yield (number of the first document, record, block) of what has been signed, in order.

    `all_columns`: the rows are wanted, and not only the documents.
    """
    start = 0
    while start < len(records):
        stop = start
        source = records[start][1].source
        while stop < len(records) and records[stop][1].source == source:
            stop += 1
        of_file = records[start:stop]
        blocks = reread_blocks(
            job.sources[source],
            [record.extent for _, record in of_file],
            {row for _, record in of_file for row in record.bad},
            all_columns=all_columns,
        )
        for (first, record), block in zip(of_file, blocks, strict=True):
            yield first, record, block
        start = stop


def records_of(job: Job) -> list[tuple[int, BlockRecord]]:
    """Return the records of all blocks, each with the number of its first document."""
    return [record for run in finished_runs(job) for record in numbered(run)]


def numbered(run: SignedRun) -> Iterator[tuple[int, BlockRecord]]:
    """Yield the records of the blocks of a run, each with the number of its first document."""
    number = run.first
    for record in run.blocks:
        yield number, record
        number += record.documents


class RunKeys:
    """The keys of a run, mapped; each row of the file is compared with its checksum once.

    They are not compared as a whole, for other processes may link other bands.
    """

    def __init__(self, job: Job, run: SignedRun) -> None:
        self._job = job
        self._run = run
        mapped = job.work.load(f"{run.name}/keys.npy", sealed=False)
        self._rows: NDArray[Any] = mapped.view(np.ndarray)  # which is cut much faster
        self._checked: set[int] = set()

    def rows(self, first: int, last: int) -> NDArray[Any]:
        """Return some rows of the file, mapped, if they are unchanged."""
        for row in range(first, last):
            if row not in self._checked:
                with self._job.work.checking(f"{self._run.name}/keys.npy"):
                    if crc32(self._rows[row].data) != self._run.bands[row]:
                        raise UnsealedError("is damaged")
                self._checked.add(row)
        return self._rows[first:last]

    def band(self, band: int, index: int, count: int) -> SortedRun:
        """Return the keys of a band, in at least one of `count` ranges of all keys."""
        if not self._job.params.partitions:
            return SortedRun(self._run.first, self.rows(band, band + 1))
        part, number = of_band(self._job.params.partitions, band)
        height = part.params.rows
        minima = self.rows(number * height, (number + 1) * height)
        keys = keys_of_one_band(minima, self.steps, part)
        if self._groups is not None:
            keys = keys_apart(keys, self._groups)
        return SortedRun(self._run.first, sorted_in_range(keys, index, count)[np.newaxis])

    @cached_property
    def steps(self) -> NDArray[np.uint8]:
        """The step of the size of each document, by which the search by containment goes."""
        last = self._job.params.num_perm
        steps: NDArray[np.uint8] = self.rows(last, last + 1)[0].astype(np.uint8)
        return steps

    @cached_property
    def _groups(self) -> NDArray[np.uint64] | None:
        """The group of each document, if only documents of a group are compared."""
        first = self._job.params.num_perm + 1
        if len(self._rows) == first:
            return None
        low, high = self.rows(first, first + 2).astype(np.uint64)
        groups: NDArray[np.uint64] = high << HALF | low
        return groups


def halves_of(groups: NDArray[np.uint64]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the lower and the upper halves of groups, as they are in a run."""
    return groups.astype(np.uint32), (groups >> HALF).astype(np.uint32)


def narrowed(bounds: NDArray[np.int64]) -> NDArray[Any]:
    """Return where contexts begin and how long they are, (m, 2), in as few bytes as possible."""
    narrow = np.column_stack([bounds[:, 1], bounds[:, 2] - bounds[:, 1]])
    return narrow.astype(np.min_scalar_type(int(narrow.max(initial=0))))


def groups_and_sizes(job: Job, run: SignedRun) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the hash of the group of each row of a run, and the bytes of its text."""
    low, high, size, much = RunKeys(job, run).rows(0, 4).astype(np.uint64)
    return high << HALF | low, (much << HALF | size).view(np.int64)


class StoredContexts:
    """Where the contexts of the documents of a run are."""

    def __init__(self, job: Job, run: SignedRun) -> None:
        self._run = run
        self._pieces, texts, self._contexts = (
            job.work.load(f"{run.name}/{name}.npy") for name in ("pieces", "texts", "contexts")
        )
        ends = np.cumsum(texts).tolist()
        of_blocks = zip(run.blocks, [0, *ends], ends, strict=False)
        self._texts = {
            (record.source, record.extent): (first, stop) for record, first, stop in of_blocks
        }

    def of_block(self, first: int, record: BlockRecord) -> NDArray[np.int64]:
        """Return the bounds of the contexts of a block, int64 (m, 3), by the first one's number."""
        counts = self._pieces[slice(*self._texts[record.source, record.extent])]
        first -= self._run.first
        begin, length = self._contexts[first : first + record.documents].astype(np.int64).T
        return np.column_stack([np.repeat(np.arange(len(counts)), counts), begin, begin + length])


def drop_contexts(job: Job) -> None:
    """Remove the bounds of contexts."""
    job.work.drop(*(f"{run.name}/contexts.npy" for run in finished_runs(job)))


def drop_keys(job: Job) -> None:
    """Remove the keys, which take most of the work directory."""
    names = [run.name for run in finished_runs(job)]

    def drop(first: int, last: int) -> None:
        for name in names[first:last]:
            job.work.drop(f"{name}/keys.npy", f"{name}/identities.npy")

    run_batches(drop, batches(len(names), 1), job.options.threads)


def run_name(unit: int, number: int) -> str:
    """Return the name of a run in the work directory."""
    return f"run-{unit:06}-{number:06}"
