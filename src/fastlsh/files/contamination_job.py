"""The state of a decontamination: its stages, and what a work directory keeps of each."""

import json
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

import numpy as np

from fastlsh.errors import InputError
from fastlsh.files.budget import BASE, check_least, saying_memory
from fastlsh.files.disk.staged import ENDED, joined, taking_part
from fastlsh.files.evaluation_items import ItemFiles
from fastlsh.files.findings import BlockFindings, Findings
from fastlsh.files.plan import OutputPlan
from fastlsh.files.requests import OnMessage
from fastlsh.files.run.arrays import save_array
from fastlsh.files.run.manifest import (
    OUTPUT_PATH,
    RESULT,
    begin,
    described_run,
    fingerprints,
)
from fastlsh.files.run.outputs import outputs_there, recording
from fastlsh.files.run.part import OF_DECONTAMINATION, Part, if_missing
from fastlsh.files.run.repair import forget_unless_resumable
from fastlsh.files.run.units import Unit, plan_units, units_in
from fastlsh.files.run.workdir import WorkDirectory
from fastlsh.io import (
    PER_ROW,
    Block,
    BlockExtent,
    ByteProgress,
    ByteRange,
    Identity,
    InputFile,
    ReadOptions,
    Replacements,
    Source,
    read_blocks,
    replacing_together,
    with_row_of_file,
)
from fastlsh.parallel import RunOptions
from fastlsh.search import ContaminationParams
from fastlsh.stages import Found, ItemGrams, Tally

T = TypeVar("T")

SAMPLE = "sample.npy"
"""Which n-grams the sample has: how many documents these are, then both rows of a tally."""

LARGEST_BLOCK = 1 << 22
"""Bytes of a file that a thread works on at a time, at most."""


@dataclass(frozen=True)
class Sizes:
    """What keeps a decontamination inside its memory, apart from the items themselves."""

    memory: int
    block: int
    """Bytes of a file that a thread works on at a time."""
    row: int
    """Bytes of a row at most."""

    @classmethod
    def of(cls, memory: int, threads: int) -> "Sizes":
        """Divide the memory; ValueError if it is less than 256 MB."""
        check_least(memory)
        room = memory - BASE
        block = min(max(room // (24 * threads), 1 << 16), LARGEST_BLOCK)
        return cls(memory, block, room // PER_ROW)

    def read(
        self, source: Source, expected: Identity | None, within: ByteRange
    ) -> Generator[Block, None, None]:
        """Cut a range of a file into blocks; say how much memory a row needs that is too long."""
        try:
            with saying_memory(self.memory, self.row):
                yield from read_blocks(
                    source, self.block, expected=expected, max_row=self.row, within=within
                )
        except InputError as error:
            raise with_row_of_file(source, within, error) from error.__cause__


@dataclass(frozen=True)
class Workplace:
    """The work directory of a decontamination, and the share of a process in it."""

    work: WorkDirectory
    stage: str | None
    part: Part


@dataclass(frozen=True)
class ContaminationJob:
    """A decontamination of files."""

    sources: list[Source]
    items: ItemFiles
    fields: list[str] | None
    """The names of the fields of items, as they were given."""
    item_id: str | None
    targets: OutputPlan | None
    hits: str | None
    read: ReadOptions
    params: ContaminationParams
    options: RunOptions
    sizes: Sizes
    place: Workplace | None
    """None: nothing is kept in a work directory."""
    restart: bool
    tell: OnMessage

    @property
    def is_alone(self) -> bool:
        """Whether this process works on all stages."""
        return self.place is None or self.place.stage is None

    def is_stage(self, *names: str) -> bool:
        """Whether this process works on one of these stages."""
        return self.is_alone or (self.place is not None and self.place.stage in names)

    def units(self) -> list[Unit]:
        """Return the units of finding; without a work directory, there is one."""
        files = len(self.sources)
        return [Unit(range(files))] if self.place is None else units_in(self.place.work, files)

    def units_written(self) -> list[list[int]]:
        """Return the units that are written together, by number: the ranges of a file."""
        found: list[list[int]] = []
        for number, unit in enumerate(self.units()):
            if unit.within.start:
                found[-1].append(number)
            else:
                found.append([number])
        return found

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Hold the work directory, or take part in the run of others."""
        if self.place is None:
            yield
            return
        work, restart = self.place.work, self.restart
        with work.resumable():
            description = self._description()
            fixed = self._planned(description)
            self.tell(f"decontaminating in {work.path}")
            if self.place.stage is not None:
                description = {**description, **self._outputs}
                parts = joined(self.place, description, fixed, OF_DECONTAMINATION[0])["parts"]
                with taking_part(self.place, {"sample": SAMPLE}, parts, self._missing_before):
                    yield
                    # The stages before "finish" do not come here.
                    work.finish({**description, RESULT: work.read(ENDED)})
                return
            with work.locked():
                if begin(work, description, {**fixed, **self._outputs}, restart=restart):
                    self.tell(f"continuing the run in {work.path}")
                try:
                    yield
                except InputError:
                    forget_unless_resumable(work)
                    raise
                work.empty()

    def _description(self) -> dict[str, Any]:
        decided = {
            **{name: getattr(self.params, name) for name in asdict(self.params)},
            "fields": self.fields, "item_id": self.item_id, "limit": self.read.limit,
            "evals": fingerprints(self.items.sources, len(self.items.sources)),
        }  # fmt: skip
        opened = len(self.sources) if self.read.limit is None else 0
        return described_run("decontaminate", decided, self.sources, opened)

    def _planned(self, description: dict[str, Any]) -> dict[str, Any]:
        assert self.place is not None
        starts = [(0, 0)]
        if self.read.limit is None:
            starts = plan_units(description, self.sources, len(self.sources))
        return {"units": starts, "parts": self.place.part.of}

    @property
    def _outputs(self) -> dict[str, str | None]:
        """Where everything is written, as it was given: alike for all processes of one run."""
        output = None if self.targets is None else self.targets.output
        convert = None if self.targets is None else self.targets.convert
        return {OUTPUT_PATH: output, "convert_to": convert, "hits": self.hits}

    def _missing_before(self) -> tuple[str, Any]:
        """Return the stage before, its units, and those of them that are missing; or nothing."""
        assert self.place is not None
        work, stage = self.place.work, self.place.stage
        if stage == "find":
            return "sample", not work.has(SAMPLE)
        every = range(len(self.units()))
        if stage == "write" or (stage == "finish" and not self._writes_units):
            return "find", if_missing(every, lambda unit: work.has(_found(unit)))
        if stage == "finish":
            first = {numbers[0]: numbers for numbers in self.units_written()}
            return "write", if_missing([*first], lambda unit: self.is_written(first[unit]))
        return "", None

    @property
    def _writes_units(self) -> bool:
        return self.targets is not None and self.targets.folders

    @property
    def writes_units(self) -> bool:
        """Whether the rows of a unit appear when they are written, before everything else."""
        return self.place is not None and self._writes_units

    def byte_progress(self, stage: str, sources: list[Source]) -> ByteProgress:
        """Return what tells how many bytes of some files a stage has done."""
        return ByteProgress(stage, sources, self.options.progress.function)

    def own(self, every: list[T]) -> list[T]:
        """Return those of this process's part."""
        return every if self.place is None else list(self.place.part.share(every))

    # What the work directory keeps.

    def saved_sample(self, grams: ItemGrams) -> tuple[Tally, int] | None:
        """Return what an earlier process has counted in the sample."""
        if self.place is None or not self.place.work.has(SAMPLE):
            return None
        saved = np.array(self.place.work.load(SAMPLE))
        if len(saved) != 2 * len(grams.reasons) + 1:
            raise InputError(
                self.place.work / SAMPLE, f"the file is damaged: {self.place.work.start_over}"
            )
        documents, alone = saved[1:].reshape(2, -1)
        return Tally(documents, alone), int(saved[0])

    def save_sample(self, tally: Tally, sample: int) -> None:
        """Keep what the sample has."""
        if self.place is not None:
            saved = np.concatenate([[sample], tally.documents, tally.alone])
            self.place.work.save(SAMPLE, saved.astype(np.int64))

    def has_findings(self, unit: int) -> bool:
        """Whether the work directory has what was found in a unit."""
        return self.place is not None and self.place.work.has(_found(unit))

    def saved_findings(self, number: int, unit: Unit) -> Findings:
        """Return what was found in a unit, from the work directory; InputError if it is missing."""
        assert self.place is not None
        work, folder = self.place.work, _found(number)
        files = unit.files
        saved = work.read(f"{folder}/files.json")
        parts = [
            InputFile(
                self.sources[file], extents=[BlockExtent(*each) for each in extents],
                counts=counts, bad=bad,
            )
            for file, (extents, counts, bad) in zip(files, saved["files"], strict=False)
        ]  # fmt: skip
        arrays = [np.array(work.load(f"{folder}/{name}.npy")) for name in _ARRAYS]
        contents = BlockFindings(Found(*arrays[:5]), saved["ids"], *arrays[5:])
        reasons = [InputError(*reason) for reason in saved["reasons"]]
        if reasons and self.read.on_error == "fail":  # but rows were skipped before
            raise with_row_of_file(self.sources[files.start], unit.within, reasons[0])
        return Findings(files.start, parts, contents, saved["skipped"], reasons, saved["next_row"])

    def save_findings(self, unit: int, findings: Findings) -> None:
        """Keep what was found in a unit."""
        if self.place is None:
            return
        contents = findings.contents
        arrays = *contents.found, contents.rows, contents.cuts, contents.dropped
        saved = {
            "files": [(part.extents, part.counts, part.bad) for part in findings.parts],
            "ids": contents.ids,
            "next_row": findings.next_row,
            "skipped": findings.skipped,
            "reasons": [(error.path, error.reason, error.row) for error in findings.reasons],
        }
        with self.place.work.replacing(_found(unit)) as folder:
            folder.mkdir()
            for name, array in zip(_ARRAYS, arrays, strict=True):
                save_array(folder / f"{name}.npy", array)
            text = json.dumps(saved, default=str)
            (folder / "files.json").write_text(text, encoding="utf-8")

    def is_written(self, numbers: list[int]) -> bool:
        """Whether the rows of some units have been written together, and still are there."""
        assert self.place is not None
        record = self._record(numbers)
        elsewhere = self.place.stage == "finish"
        return outputs_there(self.place.work, *record, elsewhere=elsewhere) == record[2].keys()

    @contextmanager
    def written_together(self, numbers: list[int]) -> Iterator[Replacements]:
        """Give what the rows of some units appear with."""
        assert self.place is not None
        with (
            replacing_together(recovers=self.place.stage in (None, "finish")) as together,
            recording(together, self.place.work, *self._record(numbers)),
        ):
            yield together

    def _record(self, numbers: list[int]) -> tuple[str, str | None, dict[int, str]]:
        """Return the name of the record of some units, and what it is about."""
        assert self.targets is not None
        units = self.units()
        files = {file for number in numbers for file in units[number].files}
        plan = enumerate(self.targets.plan)
        own = [number for number, each in plan if each.sources[0] in files]
        return f"written-{numbers[0]:06}.json", self.targets.convert, self.targets.paths(own)


_ARRAYS = ("document", "item", "grams", "run", "spans", "rows", "cuts", "dropped")


def _found(unit: int) -> str:
    return f"found-{unit:06}"
