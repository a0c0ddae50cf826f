"""The state of a run on disk, which stays valid up to a file that could not be read."""

import itertools
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.errors import InputError, LongRowError
from fastlsh.files.budget import Budget
from fastlsh.files.cutting import Cutting
from fastlsh.files.requests import OnMessage, Request
from fastlsh.files.run.manifest import Unit, fixed, units_in
from fastlsh.files.run.ownership import LOCK, MANIFEST
from fastlsh.files.run.records import (
    LINKED,
    SIGNED,
    Before,
    BlockRecord,
    Linked,
    Segment,
    Summary,
    read_segment,
    segment_name,
)
from fastlsh.files.run.stages import ProcessPart
from fastlsh.files.run.workdir import WorkDirectory
from fastlsh.io import (
    COLUMNAR,
    LIGHT,
    BlockExtent,
    ByteProgress,
    Source,
    has_long_rows,
    reread_blocks,
)
from fastlsh.parallel import RunOptions
from fastlsh.parameters import SearchParams


@dataclass(frozen=True)
class Run:
    """A run on files."""

    request: Request
    work: WorkDirectory
    sources: list[Source]
    """Those of `against` first: a document's number counts the documents of all of them."""
    first_input: int
    """The number of the first input among the sources; the files before it are of `against`."""
    budget: Budget
    rows_written: bool = field(default=True, kw_only=True)
    """Whether rows are written, for which all columns of the inputs are read."""
    rows: "Run | None" = None
    """The run in whose work directory the documents were made of rows; None: they were not."""
    _long: dict[int, bool] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Of columnar files that were asked about, whether they have long rows."""

    @property
    def params(self) -> SearchParams:
        """What is searched for."""
        return self.request.search

    @property
    def options(self) -> RunOptions:
        """Threads, no more than the memory is enough for, and progress."""
        run = self.request.run
        return replace(run, threads=min(run.threads, self.budget.threads))

    @property
    def stage(self) -> str | None:
        """The only stage that this process works on; None: it works on all, one by one."""
        return self.request.engine.stage

    @property
    def part(self) -> ProcessPart:
        """Which of the units of a stage are worked on."""
        return self.request.engine.part

    @property
    def cutting(self) -> Cutting | None:
        """How documents are cut into pieces, which then have the numbers; None: they are not."""
        return self.request.cutting

    @property
    def skip(self) -> bool:
        """Whether bad rows are left out; if not, they raise."""
        return self.request.read.on_error == "skip"

    @property
    def limit(self) -> int | None:
        """How many documents are read, without those of `against`; None: all."""
        return self.request.read.limit

    @property
    def tell(self) -> OnMessage:
        """Is called with each message of the run."""
        return self.request.engine.on_message

    @property
    def surely_read(self) -> int:
        """How many files are read whatever they contain: with a limit, those of `against`."""
        return len(self.sources) if self.limit is None else self.first_input

    def is_large(self, source: int, extent: BlockExtent, written: str | None = None) -> bool:
        """Whether one long row makes a block so large that it must be processed alone.

        `written`: the format in which its rows are written; another one makes objects of them.
        """
        format_read = self.sources[source].format
        if format_read in COLUMNAR:
            is_one = format_read == "parquet" or extent.stop - extent.start == 1
            return is_one and self.options.threads > 1 and self._has_long_rows(source)
        most = self.budget.large if written in (None, format_read) else self.budget.row // LIGHT
        return extent.stop - extent.start > most

    def _has_long_rows(self, source: int) -> bool:
        if source not in self._long:
            self._long[source] = has_long_rows(self.sources[source], self.budget.large)
        return self._long[source]

    def byte_progress(self, stage: str) -> ByteProgress:
        """Return what tells how many bytes of the files a stage has done."""
        return ByteProgress(stage, self.sources, self.options.progress.function)

    # What has been signed.

    @property
    def units(self) -> list[Unit]:
        """The units of signing, as the manifest has them."""
        return units_in(self.work, len(self.sources))

    def segments_of_unit(
        self, unit: int, count: int | None = None, before: Before | None = None
    ) -> list[Segment]:
        """Read the records of the segments of a unit: those that there are, or so many.

        Without `before`, documents and rows are counted from the beginning of the unit.
        """
        before = before or Before()
        segments: list[Segment] = []
        for name in (segment_name(unit, number) for number in itertools.count()):
            if len(segments) == count or (count is None and not self.work.has(name)):
                break
            segments.append(read_segment(self.work, name, before))
            before = segments[-1].before(before.rows)
        return segments

    def segments_so_far(self) -> list[Segment]:
        """Read the records of the segments that there are; rows are counted in their files."""
        units = self.units
        counts: list[int | None] = [None] * len(units)
        if self.work.has(SIGNED):
            counts = self.work.read(SIGNED)["segments"]
        segments: list[Segment] = []
        before = Before()
        for number, (unit, count) in enumerate(zip(units, counts, strict=True)):
            if not unit.within.start or self.sources[unit.files.start].format in COLUMNAR:
                before = before._replace(rows=0)  # those of a table are counted in the file
            segments_of_one = self.segments_of_unit(number, count, before)
            if segments_of_one:
                last = segments_of_one[-1]
                before = last.before(last.next_row - 1)
            segments += segments_of_one
        return segments

    @cached_property
    def segments(self) -> list[Segment]:
        """The records of all segments, when every document has been signed; they are read once."""
        return self.segments_so_far()

    @cached_property
    def blocks(self) -> list[BlockRecord]:
        """The records of all blocks, in order of their documents."""
        return [record for segment in self.segments for record in segment.blocks]

    @cached_property
    def block_starts(self) -> NDArray[np.int64]:
        """int64 (blocks,): the number of the first document, or piece, of each block."""
        return np.array([record.first for record in self.blocks], np.int64)

    def is_of_inputs(self, segment: Segment) -> bool:
        """Whether the documents of a segment are those of the inputs, and not of `against`."""
        return segment.blocks[0].source >= self.first_input

    @property
    def segments_of_inputs(self) -> list[Segment]:
        """The segments behind those of `against`."""
        return [segment for segment in self.segments if self.is_of_inputs(segment)]

    @cached_property
    def signed(self) -> int:
        """How many documents there are, or pieces of them."""
        return sum(segment.documents for segment in self.segments)

    def arrays(self, name: str, segments: list[Segment] | None = None) -> list[NDArray[Any]]:
        """Return an array of each segment, mapped; of all, or of some."""
        chosen = self.segments if segments is None else segments
        return [self.work.load(f"{segment.name}/{name}.npy") for segment in chosen]

    @cached_property
    def summary(self) -> Summary:
        """The counts of all documents; what is read of rows, where these are put together.

        Raises `InputError` if a row was skipped, and no row is to be skipped now.
        """
        summary = self.work.read_as(Summary, SIGNED)
        if summary.skipped and not self.skip:
            raise InputError(*summary.reasons[0])
        if self.rows is None:
            return summary
        rows = self.rows.summary
        return summary._replace(
            skipped=rows.skipped, reasons=rows.reasons, slow=rows.slow, files=rows.files
        )

    @cached_property
    def linked(self) -> Linked:
        """The counts of all families."""
        return self.work.read_as(Linked, LINKED)

    def reread(
        self, records: list[BlockRecord], *, all_columns: bool = False
    ) -> Iterator[tuple[BlockRecord, Any]]:
        """Yield blocks that have been signed, in order, each with its record.

        `all_columns`: the rows are wanted, and not only the documents.
        """
        for source, of_file in itertools.groupby(records, lambda record: record.source):
            chosen = list(of_file)
            blocks = reread_blocks(
                self.sources[source], [record.extent for record in chosen],
                {row for record in chosen for row in record.bad}, all_columns=all_columns,
            )  # fmt: skip
            yield from zip(chosen, blocks, strict=True)


BROKEN = "broken.json"
"""Which file it was, while all are signed."""


class FailedUnitError(Exception):
    """A file of a unit cannot be read, or has a bad row."""

    def __init__(self, unit: int, error: InputError) -> None:
        super().__init__(unit, error)
        self.unit = unit
        self.error = error


@contextmanager
def in_unit(unit: int) -> Iterator[None]:
    """Say which unit an error is in."""
    try:
        yield
    except LongRowError:
        raise
    except InputError as error:
        raise FailedUnitError(unit, error) from None


def broken_file(run: Run, error: InputError) -> int | None:
    """Return which file cannot be read, if what was signed before it is to be written.

    Processes with the same part, however, must end their runs behind the same blocks.
    """
    paths = [source.path for source in run.sources]
    return paths.index(error.path) if not run.stage and error.path in paths else None


def remember_broken(run: Run, error: InputError) -> None:
    """Write down which file cannot be read, so that the run can go on when it has been mended."""
    number = broken_file(run, error)
    if number is not None:
        run.work.write(BROKEN, {"source": number})


def forget_unless_resumable(work: WorkDirectory) -> None:
    """Empty the directory of a run that has finished nothing: there is nothing to continue."""
    if set(os.listdir(work.path)) <= {LOCK, MANIFEST, BROKEN}:
        work.empty()


def accept_mended(run: Run, description: Mapping[str, Any]) -> None:
    """Let the run go on if the broken file, or one behind it, differs from what the manifest says.

    The segments that hold blocks of these files are removed. Whatever else differs stays for
    `manifest.begin` to refuse.
    """
    work = run.work
    if not (work.has(BROKEN) and work.has(MANIFEST)):
        return
    saved, number = work.read(MANIFEST), work.read(BROKEN)["source"]
    before, now = saved["inputs"], description["inputs"]
    if before == now or [entry["path"] for entry in before] != [entry["path"] for entry in now]:
        return
    description = {**description, **fixed(saved)}
    if {**saved, "inputs": 0} != {**description, "inputs": 0} or before[:number] != now[:number]:
        return
    for segment in reversed(run.segments_so_far()):
        if segment.blocks[-1].source >= number:
            work.drop(segment.name)
            work.make_way(segment.name)  # with a file of somebody else, it is still there
    work.write(MANIFEST, description)
    work.drop(BROKEN)
