"""A decontamination of files from start to end: its stages, and what a work directory keeps."""

import json
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any, TypeVar

import numpy as np

from fastlsh.errors import InputError
from fastlsh.files.budget import BASE, check_least, saying_memory
from fastlsh.files.contamination import (
    BlockFindings,
    ContaminationColumns,
    Findings,
    find_in_files,
    sample_of_files,
    write_what_is_left,
)
from fastlsh.files.disk.staged import Share, each_made, resumable, table_of, take_part
from fastlsh.files.evaluation_items import ItemFiles
from fastlsh.files.plan import OutputPlan
from fastlsh.files.requests import OnMessage
from fastlsh.files.results import FileDecontamination
from fastlsh.files.run.manifest import (
    OUTPUT_PATH,
    Unit,
    begin,
    described_run,
    fingerprints,
    plain_shingler,
    plan_units,
    units_in,
)
from fastlsh.files.run.records import SAMPLE
from fastlsh.files.run.stages import (
    CONTAMINATION_STAGES,
    OF_DECONTAMINATION,
    Ended,
    Stage,
    Units,
)
from fastlsh.files.run.workdir import outputs_there, recording, save_array
from fastlsh.io import (
    PER_ROW,
    Block,
    BlockExtent,
    ByteProgress,
    ByteRange,
    Identity,
    InputFile,
    Lookup,
    ReadOptions,
    Replacements,
    Source,
    contamination_columns,
    read_blocks,
    replacing_together,
    with_row_of_file,
    write_table,
)
from fastlsh.parallel import RunOptions, Stopwatch
from fastlsh.results import Boilerplate, NotSearched
from fastlsh.search import (
    ContaminationParams,
    boilerplate_of,
    grams_of_items,
    not_searched,
    without_boilerplate,
)
from fastlsh.stages import Containments, ItemGrams, Tally

T = TypeVar("T")

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
class ContaminationRun:
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
    place: Share | None
    """None: nothing is kept in a work directory."""
    restart: bool
    tell: OnMessage

    def units(self) -> list[Unit]:
        """Return the units of finding; without a work directory, there is one."""
        files = len(self.sources)
        return [Unit(range(files))] if self.place is None else units_in(self.place.work, files)

    def units_written(self) -> list[list[int]]:
        """Return the units that are written together, by number: the ranges of a file."""
        groups: list[list[int]] = []
        for number, unit in enumerate(self.units()):
            if unit.within.start:
                groups[-1].append(number)
            else:
                groups.append([number])
        return groups

    def execute(self, stages: Callable[[], list[Stage]]) -> Any:
        """Work on all stages, or on that of this process; return what has been found, if known."""
        if self.place is None:
            return [stage.make() for stage in stages()][-1].found
        work, restart = self.place.work, self.restart
        with work.resumable():
            description = self._description()
        fixed = self._planned(description)
        self.tell(f"decontaminating in {work.path}")
        ended: Ended | None
        if self.place.stage is not None:
            described = {**description, **self._outputs}
            first = OF_DECONTAMINATION[0]
            ended = take_part(self.place, described, fixed, first, lambda _: stages())
            return None if ended is None else ended.found
        with work.locked():
            if begin(work, description, {**fixed, **self._outputs}, restart=restart):
                self.tell(f"continuing the run in {work.path}")
            with resumable(work, restart=restart):
                ended = each_made(work, stages())
            work.empty()
        return None if ended is None else ended.found

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

    def units_of_stages(self) -> dict[str, Units]:
        """Return the units of the stages that are divided."""
        every = range(len(self.units()))
        units = {"find": Units(lambda: every, self.has_findings)}
        if self.writes_units:
            first = {numbers[0]: numbers for numbers in self.units_written()}
            units["write"] = Units(lambda: [*first], lambda unit: self.is_written(first[unit]))
        return units

    @property
    def writes_units(self) -> bool:
        """Whether the rows of a unit appear when they are written, before everything else."""
        return self.place is not None and self.targets is not None and self.targets.folders

    def byte_progress(self, stage: str, sources: list[Source]) -> ByteProgress:
        """Return what tells how many bytes of some files a stage has done."""
        return ByteProgress(stage, sources, self.options.progress.function)

    def share(self, every: list[T]) -> list[T]:
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
                self.sources[file], extents=[BlockExtent(*extent) for extent in extents],
                counts=counts, bad=bad,
            )
            for file, (extents, counts, bad) in zip(files, saved["files"], strict=False)
        ]  # fmt: skip
        arrays = [np.array(work.load(f"{folder}/{name}.npy")) for name in _ARRAYS]
        contents = BlockFindings(Containments(*arrays[:5]), saved["ids"], *arrays[5:])
        reasons = [InputError(*reason) for reason in saved["reasons"]]
        if reasons and self.read.on_error == "fail":  # but rows were skipped before
            raise with_row_of_file(self.sources[files.start], unit.within, reasons[0])
        return Findings(files.start, parts, contents, saved["skipped"], reasons, saved["next_row"])

    def save_findings(self, unit: int, findings: Findings) -> None:
        """Keep what was found in a unit."""
        if self.place is None:
            return
        contents = findings.contents
        arrays = *contents.containments, contents.rows, contents.cuts, contents.dropped
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
        outputs = [number for number, output in plan if output.sources[0] in files]
        return f"written-{numbers[0]:06}.json", self.targets.convert, self.targets.paths(outputs)


_ARRAYS = ("document", "item", "grams", "run", "spans", "rows", "cuts", "dropped")


def _found(unit: int) -> str:
    return f"found-{unit:06}"


def searchable_grams(run: ContaminationRun) -> ItemGrams:
    """Return the n-grams of the items, or raise if no item can be searched."""
    grams = grams_of_items(run.items.items, run.params)
    _check_searchable(grams, run.items)
    return grams


def run_decontamination(run: ContaminationRun) -> FileDecontamination:
    """Find and write, or go on where a run before was ended."""
    clock = Stopwatch()
    with clock("items"):
        grams = searchable_grams(run)
    found = run.execute(lambda: _stages(run, grams, clock))
    if found is None:
        found = dict.fromkeys(_COUNTS, 0) | dict.fromkeys(_LISTS, ()) | {"rule": run.params.rule}
    lists = {name: list(found[name]) for name in _LISTS}
    lists["not_searched"] = [NotSearched(*item) for item in found["not_searched"]]
    lists["boilerplate"] = [Boilerplate(*gram) for gram in found["boilerplate"]]
    return FileDecontamination(**{**found, **lists, "seconds": clock})


_COUNTS = (
    "documents", "contaminated", "written", "dropped", "changed", "n_hits", "items", "items_found",
    "skipped",
)  # fmt: skip
_LISTS = ("not_searched", "boilerplate", "skipped_reasons", "outputs")
"""What a run has found; after another stage than the last, zeros and nothing."""


def _stages(run: ContaminationRun, every_gram: ItemGrams, clock: Stopwatch) -> list[Stage]:
    """Return the table of a decontamination, given the n-grams of all items."""

    @cache
    @clock("sample")
    def sample() -> tuple[Tally, int]:
        return _sampled(run, every_gram)

    @cache
    def grams() -> ItemGrams:
        return without_boilerplate(every_gram, *sample(), run.params)

    @cache
    @clock("finding")
    def find() -> list[Findings]:
        return _find(run, grams())

    @clock("writing")
    def write() -> None:
        if run.writes_units:
            _write_units(run, grams())

    @clock("writing")
    def finish() -> Ended:
        if run.place is None:
            findings = Findings.of_ranges(find())
        else:
            units = enumerate(run.units())
            findings = Findings.of_ranges([run.saved_findings(*unit) for unit in units])
        with replacing_together() as together:
            if run.hits is not None:
                write_table(run.hits, _hits(findings, grams(), run.items), together)
            if run.targets is not None and not run.writes_units:
                tell = run.byte_progress("writing", run.sources)
                _write(run, findings, grams(), together, tell)
                tell.end()
        result = _result(run, findings, grams(), sample()[0], clock)
        tables = [] if run.hits is None else [run.hits]
        return Ended({**asdict(result), "seconds": {}}, [*result.outputs, *tables])

    makes: dict[str, Callable[[], Any]]
    makes = {"sample": sample, "find": find, "write": write, "finish": finish}
    return table_of(CONTAMINATION_STAGES, makes, run.units_of_stages())


def _sampled(run: ContaminationRun, grams: ItemGrams) -> tuple[Tally, int]:
    saved = run.saved_sample(grams)
    if saved is not None:
        return saved
    sample = sample_of_files(
        run.sources, grams, run.params, run.options, run.read.limit, run.sizes.read
    )
    run.save_sample(*sample)
    return sample


def _find(run: ContaminationRun, grams: ItemGrams) -> list[Findings]:
    """Find items in the units of this process's part; return what no work directory keeps."""
    units = run.share(list(enumerate(run.units())))
    numbers = dict.fromkeys(number for _, unit in units for number in unit.files)
    files = [run.sources[number] for number in numbers]
    tell = run.byte_progress("decontaminating", files)
    every = []
    for number, unit in units:
        if not run.has_findings(number):
            findings = find_in_files(
                run.sources, unit, grams, run.params, run.options.threads, limit=run.read.limit,
                strict=run.read.on_error == "fail", read=run.sizes.read,
                tell=tell,
            )  # fmt: skip
            run.save_findings(number, findings)
            if run.place is None:
                every.append(findings)
    tell.end()
    return every


def _write_units(run: ContaminationRun, grams: ItemGrams) -> None:
    """Write the rows of the units of this process's part; those of a unit appear together."""
    groups = [numbers for numbers in run.share(run.units_written()) if not run.is_written(numbers)]
    units = run.units()
    files = [run.sources[i] for group in groups for i in units[group[0]].files]
    tell = run.byte_progress("writing", files)
    for numbers in groups:
        findings = Findings.of_ranges([run.saved_findings(n, units[n]) for n in numbers])
        with run.written_together(numbers) as together:
            _write(run, findings, grams, together, tell)
    tell.end()


def _write(
    run: ContaminationRun,
    findings: Findings,
    grams: ItemGrams,
    together: Replacements,
    tell: ByteProgress,
) -> None:
    assert run.targets is not None
    added = None
    if run.params.rule == "annotate":
        containments = findings.contents.containments
        share = containments.grams / grams.sizes[containments.item]
        added = ContaminationColumns(containments, share, run.items.ids)
    with saying_memory(run.sizes.memory, run.sizes.row):
        write_what_is_left(
            findings, run.targets, run.params, run.options.threads, together, tell, added,
            run.sizes.row,
        )  # fmt: skip


def _check_searchable(grams: ItemGrams, items: ItemFiles) -> None:
    if not grams.sizes.any():
        raise InputError(
            items.sources[0].path,
            "no evaluation item can be searched: each has too few words, or only n-grams that more"
            " items share than max_items allows",
        )


def _hits(findings: Findings, grams: ItemGrams, items: ItemFiles) -> dict[str, Any]:
    pairs = findings.contents.containments
    row = pairs.spans[:, 0]
    item = pairs.item[row]
    return contamination_columns(
        Lookup(findings.ids(), row), Lookup(items.files, item), Lookup(items.ids, item),
        (pairs.grams / grams.sizes[pairs.item])[row], pairs.run[row],
        Lookup(items.items.names, pairs.spans[:, 1]), pairs.spans[:, 2], pairs.spans[:, 3],
    )  # fmt: skip


def _result(
    run: ContaminationRun, findings: Findings, grams: ItemGrams, tally: Tally, clock: Stopwatch
) -> FileDecontamination:
    containments, cuts = findings.contents.containments, findings.contents.cuts
    targets, items = run.targets, run.items
    dropped = len(findings.contents.dropped)
    read = sum(part.is_read for part in findings.parts)
    return FileDecontamination(
        documents=findings.documents,
        contaminated=len(np.unique(containments.document)),
        written=0 if targets is None else findings.documents - dropped,
        dropped=dropped,
        changed=len(np.unique(cuts[:, 0])),
        n_hits=len(containments.spans),
        items=items.items.n_items,
        items_found=len(np.unique(containments.item)),
        not_searched=not_searched(grams, items.ids),
        boilerplate=boilerplate_of(grams, tally),
        rule=run.params.rule,
        skipped=findings.skipped,
        skipped_reasons=[str(reason) for reason in findings.reasons],
        outputs=[] if targets is None else targets.outputs(read),
        seconds=clock,
        parameters={**asdict(run.params), "shingler": plain_shingler(run.params.shingler)},
    )
