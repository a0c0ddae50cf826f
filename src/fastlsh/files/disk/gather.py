"""Gather: the texts of whole families go into the files of their part, the ids into one store."""

import os
import time
from binascii import crc32
from collections.abc import Iterable, Iterator
from io import RawIOBase
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.files.cutting import wanted_of
from fastlsh.files.disk.identities import StoredIds, as_json
from fastlsh.files.disk.link import PARTS, Linked
from fastlsh.files.disk.sign import Summary
from fastlsh.files.disk.signed_runs import BlockRecord, finished_runs
from fastlsh.files.run.job import Job
from fastlsh.files.run.workdir import synchronise
from fastlsh.io import Block, reread_blocks
from fastlsh.parallel import ordered_map

DONE = "gathered.json"
STATE = "gathered-so-far.json"
FOLDER = "parts"
EVERY = 60.0
"""Seconds: so long a kill may set the gathering back."""

Row = np.dtype([("number", np.int64), ("size", np.int64), ("priority", np.int64)])
"""Dtype of the record of a text of a part; `priority` has the bits of a float64 or an int64."""


class Gathered(NamedTuple):
    """What has been gathered."""

    strict: bool
    """Whether all texts are strict UTF-8: none has a lone surrogate."""


class _Pieces(NamedTuple):
    """What a block adds to the files, by name."""

    added: dict[str, bytes]
    strict: bool


def gather_inputs(job: Job, summary: Summary, linked: Linked) -> Gathered:
    """Read the documents in families again, and write them to the parts of their families."""
    if not job.work.has(DONE):
        job.work.make_folder(FOLDER)
        files = _Files(job)
        tell = job.byte_progress("gathering")
        parts = job.work.load(PARTS)
        done = files.done
        blocks = _blocks(job, parts, done)
        found = ordered_map(
            blocks, lambda item: _pieces(job, summary, parts, *item), job.options.threads,
            alone=lambda item: job.is_large(item[2].source, item[2].extent),
        )  # fmt: skip
        for item, record, pieces in found:
            files.add(item, pieces)
            tell(job.sources[record.source], record.extent)
        names = ["ids.numbers", "ids.sizes", "ids.json"]
        files.finish([*names, "ids.bounds"] if job.cutting is not None else names)
        tell.end()
        job.work.write(DONE, Gathered(files.strict)._asdict())
    job.work.drop(STATE)
    return job.work.read_as(Gathered, DONE)


def has_gathered(job: Job) -> bool:
    """Whether all texts have been gathered."""
    return job.work.has(DONE)


def bytes_gathered(job: Job) -> int:
    """Return the bytes that an interrupted run has gathered, and that will not be written again."""
    state = job.work.read(STATE) if job.work.has(STATE) else {}
    return sum(state.get("sizes", {}).values())


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
    found = []
    number = 0
    for run in finished_runs(job):
        for record in run.blocks:
            found.append((number, record))
            number += record.documents
    return found


def _blocks(job: Job, parts: NDArray[np.int32], done: int) -> Iterator[tuple[int, Any, Any, Block]]:
    records = records_of(job)
    wanted = [
        i
        for i, (first, record) in enumerate(records)
        if i >= done and (parts[first : first + record.documents] >= 0).any()
    ]
    blocks = reread_signed_blocks(job, [records[i] for i in wanted])
    for i, (first, record, block) in zip(wanted, blocks, strict=True):
        yield i, first, record, block


def _pieces(
    job: Job,
    summary: Summary,
    parts: NDArray[np.int32],
    item: int,
    first: int,
    record: BlockRecord,
    block: Block,
) -> tuple[int, BlockRecord, _Pieces]:
    part = parts[first : first + record.documents]
    wanted = part >= 0
    part = part[wanted]
    documents, bounds = wanted_of(block, job.cutting, wanted)
    if len(documents.rows) != len(part):
        raise job.sources[record.source].error("changed during the run")
    numbers = first + np.flatnonzero(wanted)
    ids = as_json(documents.ids, job.sources[record.source].path, documents.rows)
    sizes = np.array([len(each) for each in ids], np.int64)
    order = np.argsort(part, kind="stable")
    texts, strict = _encoded(documents.texts, order)
    rows = np.zeros(len(part), Row)
    rows["number"] = numbers[order]
    rows["size"] = [len(text) for text in texts]
    if documents.priority is not None:
        # Integers of this block may have fractions beside them elsewhere.
        of_all = np.int64 if summary.integral else np.float64
        rows["priority"] = documents.priority[order].astype(of_all, copy=False).view(np.int64)
    added = {"ids.numbers": numbers.tobytes(), "ids.sizes": sizes.tobytes()}
    added["ids.json"] = b"".join(ids)
    if bounds is not None:
        added["ids.bounds"] = bounds.tobytes()
    edges = np.flatnonzero(np.diff(part[order], prepend=-1, append=-1)).tolist()
    for start, stop in pairwise(edges):
        name = part_name(int(part[order[start]]))
        added[f"{name}.rows"] = rows[start:stop].tobytes()
        added[f"{name}.texts"] = b"".join(texts[start:stop])
    return item, record, _Pieces(added, strict)


def part_name(number: int) -> str:
    """Return how the files of a part begin."""
    return f"{number:06}"


def _encoded(texts: Any, order: NDArray[np.int64]) -> tuple[list[bytes], bool]:
    """Return texts as UTF-8, in an order of their own, and whether all are strictly so."""
    if hasattr(texts, "to_pylist"):
        values = texts.take(order).cast("large_string").cast("large_binary").to_pylist()
        return [value or b"" for value in values], True
    chosen = [texts[i] or "" for i in order.tolist()]
    try:
        return [text.encode() for text in chosen], True
    except UnicodeEncodeError:  # lone surrogates, which JSON may have
        return [text.encode("utf-8", "surrogatepass") for text in chosen], False


class _Files:
    """The files that grow while texts are gathered.

    What is written is whole up to the sizes that the last saved state names; what a kill has left
    behind those is cut off.
    """

    def __init__(self, job: Job) -> None:
        self._work = job.work
        self._max_pending = job.budget.pending
        state = job.work.read(STATE) if job.work.has(STATE) else {}
        self.done: int = state.get("done", 0)
        self.strict: bool = state.get("strict", True)
        self._sizes: dict[str, int] = state.get("sizes", {})
        self._checksums: dict[str, int] = state.get("checksums", {})
        self._pending: dict[str, list[bytes]] = {}
        self._waiting = 0
        self._changed: set[str] = set()
        self._saved = time.monotonic()
        for name, size in self._sizes.items():
            job.work.check_head(f"{FOLDER}/{name}", size, self._checksums.get(name, -1))
            os.truncate(job.work / FOLDER / name, size)
        for path in (job.work / FOLDER).iterdir():
            if path.name not in self._sizes:
                job.work.drop(f"{FOLDER}/{path.name}")

    def add(self, item: int, pieces: _Pieces) -> None:
        """Take what a block adds."""
        for name, data in pieces.added.items():
            self._pending.setdefault(name, []).append(data)
            self._waiting += len(data)
        self.done = item + 1
        self.strict &= pieces.strict
        if self._waiting > self._max_pending:
            self._write()
            if time.monotonic() - self._saved > EVERY:
                self._save()

    def finish(self, names: Iterable[str]) -> None:
        """Seal the files, these in any case, and bring everything to the disk."""
        self._write()
        self._save()
        for name in sorted({*names, *self._sizes}):
            path = f"{FOLDER}/{name}"
            checksum = self._checksums.get(name, self._work.first_checksum(path))
            self._work.seal(path, self._sizes.get(name, 0), checksum)
        synchronise(self._work / FOLDER)

    def _write(self) -> None:
        for name, data in self._pending.items():
            path, joined = f"{FOLDER}/{name}", b"".join(data)
            with open(self._work / path, "ab", buffering=0) as file:
                _write_all(file, joined)
                self._sizes[name] = file.tell()
            before = self._checksums.get(name)
            first = self._work.first_checksum(path) if before is None else before
            self._checksums[name] = crc32(joined, first)
            self._changed.add(name)
        self._pending.clear()
        self._waiting = 0

    def _save(self) -> None:
        for name in self._changed:
            synchronise(self._work / FOLDER / name)
        synchronise(self._work / FOLDER)
        self._changed.clear()
        state = {
            "done": self.done, "strict": self.strict, "sizes": self._sizes,
            "checksums": self._checksums,
        }  # fmt: skip
        self._work.write(STATE, state)
        self._saved = time.monotonic()


def _write_all(file: RawIOBase, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def stored_ids(job: Job, summary: Summary) -> StoredIds:
    """Return the ids of the documents in families."""
    numbers, sizes = (
        job.work.map(f"{FOLDER}/ids.{name}", np.int64) for name in ("numbers", "sizes")
    )
    data = job.work.map(f"{FOLDER}/ids.json", np.uint8)
    return StoredIds(numbers, np.cumsum(sizes), data, summary.integers)
