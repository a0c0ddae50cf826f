"""Signed runs on disk: the sorted keys of consecutive blocks, and a record of each block."""

import json
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.candidates import MAX_DOCUMENTS
from fastlsh.errors import InputError
from fastlsh.files.disk.sorted_keys import SortedRun
from fastlsh.files.run.job import Job
from fastlsh.files.run.workdir import new_array, save_array
from fastlsh.io import BlockExtent
from fastlsh.parallel import ordered_map

BYTES_OF_RUN = 1 << 30
"""A run ends behind so many bytes of files: what a kill loses at most."""

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

    first: int
    documents: int
    blocks: list[BlockRecord]


class SignedBlock(NamedTuple):
    """A block's share of a run."""

    record: BlockRecord
    keys: NDArray[np.uint64]
    """uint64 (bands, n), packed."""
    identities: NDArray[np.uint64]
    empty: int
    errors: list[InputError]
    integral: bool
    integers: bool
    pieces: NDArray[np.int32] | None = None
    """How many pieces each document has, if they are cut."""
    echoes: NDArray[np.int64] | None = None
    """As in `SignedPieces`; the documents are counted in the block."""


class RunWriter:
    """Gathers the keys of consecutive blocks, and writes them sorted when they are many."""

    def __init__(self, job: Job, number: int, first: int) -> None:
        self._job = job
        self._number = number
        self._first = first
        self._begin()

    def _begin(self) -> None:
        self._parts: list[SignedBlock] = []
        self._documents = 0
        self._bytes = 0

    def add(self, signed: SignedBlock) -> None:
        """Take a block; a run that would be too long, or has left `against`, is written before."""
        n, first = signed.record.documents, self._job.first_input
        behind = bool(self._parts) and self._parts[0].record.source < first <= signed.record.source
        if self._documents + n > self._job.budget.run or self._bytes > BYTES_OF_RUN or behind:
            self.close()
        if self._first + self._documents + n > MAX_DOCUMENTS:
            raise ValueError(f"at most {MAX_DOCUMENTS:,} documents can be processed")
        self._parts.append(signed)
        self._documents += n
        self._bytes += _size(signed.record)

    def close(self, before: int | None = None) -> None:
        """Write the run; of the files before one only, if that is given."""
        if before is not None:
            self._parts = [part for part in self._parts if part.record.source < before]
            self._documents = sum(part.record.documents for part in self._parts)
        if not self._parts:
            return
        job, parts = self._job, self._parts
        with job.work.replacing(run_name(self._number)) as folder:
            folder.mkdir()
            shape = job.params.lsh.bands, self._documents
            keys = new_array(folder / "keys.npy", np.uint64, shape)
            rows = np.arange(self._documents, dtype=np.uint64)

            def sort(band: int) -> None:
                row = np.concatenate([part.keys[band] for part in parts])
                row |= rows  # those of empty documents stay below all keys
                row.sort()
                keys[band] = row

            for _ in ordered_map(range(len(keys)), sort, job.options.threads):
                pass
            keys.flush()
            identities = np.concatenate([part.identities for part in parts])
            identities.sort()
            save_array(folder / "identities.npy", identities)
            counts = [part.pieces for part in parts if part.pieces is not None]
            if counts:
                save_array(folder / "pieces.npy", np.concatenate(counts))
                save_array(folder / "texts.npy", np.array([len(each) for each in counts]))
            echoes = [part.echoes for part in parts if part.echoes is not None]
            if echoes:
                save_array(folder / "echoes.npy", counted_on(echoes, counts))
            content = {
                "first": self._first,
                "documents": self._documents,
                "blocks": [part.record for part in parts],
                "empty": [(part.record.source, part.empty) for part in parts if part.empty],
                "reasons": [(e.path, e.reason, e.row) for part in parts for e in part.errors],
                "integral": all(part.integral for part in parts),
                "integers": all(part.integers for part in parts),
            }
            (folder / "blocks.json").write_text(json.dumps(content), encoding="utf-8")
        self._number += 1
        self._first += self._documents
        self._begin()


def counted_on(
    echoes: list[NDArray[np.int64]], counts: list[NDArray[np.int32]]
) -> NDArray[np.int64]:
    """Join the echoes of blocks, whose documents are then counted in the run."""
    first = np.cumsum([0, *map(len, counts)])[:-1].tolist()
    found = [each + start * OF_DOCUMENTS for each, start in zip(echoes, first, strict=True)]
    return np.concatenate(found)


def _size(record: BlockRecord) -> int:
    return record.extent.stop - record.extent.start


def count_runs(job: Job) -> int:
    """Return the number of runs that are complete."""
    return len(list(job.work.path.glob("run-??????")))


def finished_runs(job: Job) -> list[SignedRun]:
    """Return the records of the finished runs, in order."""
    found = []
    for number in range(count_runs(job)):
        run = job.work.read(f"{run_name(number)}/blocks.json")
        blocks = [
            BlockRecord(source, BlockExtent(*extent), documents, tuple(bad), text)
            for source, extent, documents, bad, text in run["blocks"]
        ]
        found.append(SignedRun(run["first"], run["documents"], blocks))
    return found


def keys_of(job: Job) -> list[SortedRun]:
    """Return the keys of all runs, mapped."""
    return [
        SortedRun(run.first, job.work.load(f"{run_name(number)}/keys.npy"))
        for number, run in enumerate(finished_runs(job))
    ]


def runs_of_inputs(job: Job) -> list[int]:
    """Return the numbers of the runs behind those of `against`."""
    runs = enumerate(finished_runs(job))
    return [number for number, run in runs if run.blocks[0].source >= job.first_input]


def drop_keys(job: Job) -> None:
    """Remove the keys, which take most of the work directory."""
    for number in range(count_runs(job)):
        job.work.drop(f"{run_name(number)}/keys.npy", f"{run_name(number)}/identities.npy")


def run_name(number: int) -> str:
    """Return the name of a run in the work directory."""
    return f"run-{number:06}"
