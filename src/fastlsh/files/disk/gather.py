"""Gather: by segment, the texts of documents in families, sorted by their parts; and the ids."""

import shutil
from binascii import crc32
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import chain, pairwise, repeat
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._texts import column_of
from fastlsh.arrays import exact
from fastlsh.errors import InputError
from fastlsh.files.cutting import SpanCutting, Wanted, wanted_of
from fastlsh.files.disk.gathered import (
    ROWS,
    STRETCHES,
    TEXTS,
    Stretch,
    as_json,
    encoded_texts,
    row_of,
    starts_of,
    texts_name,
)
from fastlsh.files.disk.link import PARTS
from fastlsh.files.disk.segments import StoredContexts
from fastlsh.files.run.records import GATHERED, BlockRecord, Segment
from fastlsh.files.run.run import Run
from fastlsh.files.run.workdir import save_array
from fastlsh.io import Block, BlockDocuments, take
from fastlsh.parallel import amount, batches, ordered_map, run_batches
from fastlsh.texts import as_texts, joined_texts


class _Pieces(NamedTuple):
    """What a block adds, or some of it."""

    numbers: NDArray[np.int64]
    """The documents."""
    ids: list[bytes]
    """Their ids as JSON; that of pieces of one document that follow each other is there once."""
    copies: list[int]
    """How many have each of the ids."""
    bounds: NDArray[np.int64] | None
    parts: dict[int, tuple[bytes, memoryview]]
    """Of each part, the records of its texts, and the texts."""
    strict: bool


def all_gathered(run: Run) -> None:
    """Write down that the texts of all segments have been gathered."""
    if not run.work.has(GATHERED):
        run.work.write(GATHERED, {})
    if run.stage is None and isinstance(run.cutting, SpanCutting):
        run.work.drop(*(f"{segment.name}/contexts.npy" for segment in run.segments))


def check_room(run: Run) -> None:
    """Raise InputError if the texts of the documents in families will not fit onto the disk."""
    summary, linked = run.summary, run.linked
    needed = summary.text * linked.n_linked // max(summary.documents, 1) - bytes_gathered(run)
    free = shutil.disk_usage(run.work.path).free
    if needed > free:
        raise InputError(
            run.work.path,
            f"{linked.n_linked:,} of {summary.documents:,} documents share a bucket, and their"
            f" texts take about {amount(needed)}, but only {amount(free)} are free: free some space"
            " and run the same command again",
        )


def gather_segments(run: Run) -> None:
    """Read the documents in families again, and write them sorted by parts of families.

    The segments of the part of this process that are left are gathered, several at a time.
    """
    segments = [signed for signed in run.part.share(run.segments) if not is_gathered(run, signed)]
    tell = run.byte_progress("gathering")
    parts = run.work.load(PARTS)
    wide = _width(run, segments)

    def gather(start: int, stop: int) -> Iterator[None]:
        for signed in segments[start:stop]:
            with (
                run.work.replacing(texts_name(signed), unsealed=(ROWS, TEXTS)) as folder,
                closing(_of_segment(run, parts, signed, run.options.threads // wide)) as blocks,
            ):
                folder.mkdir()
                with _texts_writer(folder, run, wide) as writer:
                    for record, together in blocks:
                        for pieces in together:
                            writer.add(pieces)
                        if wide == 1:
                            tell(run.sources[record.source], record.extent)
                        yield

    run_batches(
        gather, batches(len(segments), 1), wide, tell.by_parts(len(segments)) if wide > 1 else None
    )
    tell.end()


def is_gathered(run: Run, segment: Segment) -> bool:
    """Whether the texts of a segment have been gathered."""
    return run.work.has(texts_name(segment))


def bytes_gathered(run: Run) -> int:
    """Return the bytes that an interrupted run has gathered, and that will not be written again."""
    folders = [
        run.work / texts_name(segment) for segment in run.segments if is_gathered(run, segment)
    ]
    return sum(path.stat().st_size for folder in folders for path in folder.iterdir())


def _width(run: Run, segments: Sequence[Segment]) -> int:
    """Return how many segments are read at a time: one, if a row must be in memory alone."""
    records = (record for signed in segments for record in signed.blocks)
    if any(run.is_large(record.source, record.extent) for record in records):
        return 1
    return max(min(run.options.threads, len(segments)), 1)


def _of_segment(
    run: Run, parts: NDArray[np.int32], segment: Segment, threads: int
) -> Generator[tuple[BlockRecord, Iterable[_Pieces]], None, None]:
    """Yield what each block of a segment with a document in a family adds."""
    records = [
        record for record in segment.blocks if (parts[record.first : record.stop] >= 0).any()
    ]
    stored = StoredContexts(run, segment) if isinstance(run.cutting, SpanCutting) else None

    def is_alone(item: tuple[BlockRecord, Block]) -> bool:
        return run.is_large(item[0].source, item[0].extent)

    def taken(item: tuple[BlockRecord, Block]) -> tuple[BlockRecord, Iterable[_Pieces]]:
        record, block = item
        source, part = run.sources[record.source], parts[record.first : record.stop]
        contexts = None if stored is None else stored.of_block(record)
        changed = source.error("changed during the run")
        chosen = wanted_of(block, run.cutting, part, contexts, changed)
        pieces = (
            _pieces(run, part, record.first, source.path, part_of_block) for part_of_block in chosen
        )
        return record, pieces if is_alone(item) else [*pieces]

    return ordered_map(run.reread(records), taken, threads, is_alone)


def _pieces(run: Run, parts: NDArray[np.int32], first: int, path: str, chosen: Wanted) -> _Pieces:
    """Return what is gathered of a block, sorted by part."""
    documents, rows_of_block, bounds = chosen
    part, numbers = parts[rows_of_block], first + rows_of_block
    ids, copies = _ids(documents, path)
    order = np.argsort(part, kind="stable")
    rows = np.zeros(len(part), row_of(run))
    rows["number"] = numbers[order]
    if documents.also is None:
        encoded, rows["size"], strict = encoded_texts(documents.texts, order)
    else:  # each second text follows the first one
        both = joined_texts(as_texts(documents.texts), as_texts(documents.also))
        numbers_of_both = np.column_stack([order, order + len(order)]).ravel()
        column = column_of(both.take(numbers_of_both))
        encoded, sizes, strict = encoded_texts(column, np.arange(len(column)))
        rows["size"], rows["also"] = sizes.reshape(-1, 2).T
    texts = memoryview(encoded)
    priority = documents.numbers.get(run.request.read.priority or "")
    if priority is not None:
        rows["priority"] = exact(priority)[order]
    groups = run.request.groups(documents.labels)
    if groups is not None:
        rows["group"] = groups[order]
    if bounds is not None and "begin" in (rows.dtype.names or ()):
        rows["begin"], bounds = bounds[order, 0], None
    edges = np.flatnonzero(np.diff(part[order], prepend=-1, append=-1)).tolist()
    starts = [*starts_of(rows).tolist(), len(encoded)]
    of_parts = {
        int(part[order[start]]): (rows[start:stop].tobytes(), texts[starts[start] : starts[stop]])
        for start, stop in pairwise(edges)
    }
    return _Pieces(numbers, ids, copies, bounds, of_parts, strict)


def _ids(documents: BlockDocuments, path: str) -> tuple[list[bytes], list[int]]:
    """Return the ids as JSON, and how many documents have each; pieces of one document share it."""
    rows = documents.rows  # ascending: of one long row, there may be very many
    heads = np.flatnonzero(np.diff(rows, prepend=-1))
    ids = as_json(take(documents.ids, heads), path, rows[heads])
    return ids, np.diff(np.append(heads, len(rows))).tolist()


def _checksum(pieces: Iterable[bytes | memoryview]) -> int:
    checksum = 0
    for piece in pieces:
        checksum = crc32(piece, checksum)
    return checksum


@contextmanager
def _texts_writer(folder: Path, run: Run, wide: int) -> Iterator["_TextsWriter"]:
    """Give what writes the texts of a segment, and complete its files unless there was an error."""
    with (
        open(folder / ROWS, "wb") as rows,
        open(folder / TEXTS, "wb") as texts,
        open(folder / "ids.json", "wb") as ids,
    ):
        writer = _TextsWriter(folder, rows, texts, ids, run, wide)
        yield writer
        writer.finish()


class _TextsWriter:
    """Writes the texts of a segment, some of them at a time sorted by part."""

    def __init__(
        self, folder: Path, rows: BinaryIO, texts: BinaryIO, ids: BinaryIO, run: Run, wide: int
    ) -> None:
        self._folder = folder
        self._rows, self._texts, self._ids = rows, texts, ids
        self._row_bytes = row_of(run).itemsize
        self._max_pending = run.budget.waiting // wide
        self._pending: dict[int, list[tuple[bytes, memoryview]]] = {}
        self._waiting = 0
        self._stretches: list[tuple[Any, ...]] = []
        self._numbers = [np.empty(0, np.int64)]
        self._sizes = [np.empty(0, np.int64)]
        self._bounds: list[NDArray[np.int64]] = []
        self._strict = True

    def add(self, pieces: _Pieces) -> None:
        """Take what a block adds, or some of it."""
        self._numbers.append(pieces.numbers)
        sizes = np.array([len(name) for name in pieces.ids], np.int64)
        self._sizes.append(np.repeat(sizes, pieces.copies))
        self._ids.writelines(chain.from_iterable(map(repeat, pieces.ids, pieces.copies)))
        if pieces.bounds is not None:
            self._bounds.append(pieces.bounds)
        for part, texts in pieces.parts.items():
            self._pending.setdefault(part, []).append(texts)
            self._waiting += sum(map(len, texts))
        self._strict &= pieces.strict
        if self._waiting > self._max_pending:
            self._write()

    def _write(self) -> None:
        for part, pieces in sorted(self._pending.items()):
            rows, texts = zip(*pieces, strict=True)
            first, begin = self._rows.tell() // self._row_bytes, self._texts.tell()
            self._rows.writelines(rows)
            self._texts.writelines(texts)
            self._stretches.append((
                part, self._rows.tell() // self._row_bytes - first, first,
                self._texts.tell() - begin, begin, _checksum(rows + texts), self._strict,
            ))  # fmt: skip
        self._pending.clear()
        self._waiting = 0
        self._strict = True

    def finish(self) -> None:
        """Write what waits, and the arrays."""
        self._write()
        save_array(self._folder / STRETCHES, np.array(self._stretches, Stretch))
        save_array(self._folder / "ids.numbers.npy", np.concatenate(self._numbers))
        save_array(self._folder / "ids.ends.npy", np.cumsum(np.concatenate(self._sizes)))
        if self._bounds:
            save_array(self._folder / "ids.bounds.npy", np.concatenate(self._bounds))
