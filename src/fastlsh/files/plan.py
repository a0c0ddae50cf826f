"""What a run on files reads, writes and takes, checked before any work."""

import os
import pathlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_integer
from fastlsh.arrays import rounded
from fastlsh.errors import InputError, RoomError
from fastlsh.explanation import ignored_stretches
from fastlsh.files.budget import Budget, longest_row, saying_memory
from fastlsh.files.estimate import choose, estimate_of, sampled
from fastlsh.files.requests import Engine, EngineOptions, Path, ReadBudget, Request, is_all_read
from fastlsh.files.run.manifest import OUTPUT_PATH
from fastlsh.files.run.run import Run
from fastlsh.files.run.workdir import WorkDirectory
from fastlsh.files.saved_index import IndexOutput
from fastlsh.html import shortened, text_of
from fastlsh.index import Counted, check_new_index
from fastlsh.io import (
    SPLIT,
    Limit,
    Output,
    ReadOptions,
    RunPaths,
    Source,
    bytes_of_pages,
    check_joined,
    check_outputs,
    check_target,
    identity,
    is_folder_output,
    is_written_in_place,
    plan_outputs,
    read_blocks,
    recover_outputs,
    spooled_inputs,
    table_format,
)
from fastlsh.keywords import Prepared
from fastlsh.parallel import amount, plural
from fastlsh.reporting import check_report
from fastlsh.results import ClusterCounts, RemovedDocuments, stays
from fastlsh.stages import Sample, ignoring_common
from fastlsh.texts import Shingler, as_texts


@dataclass(frozen=True)
class RemovalRules:
    """Which documents of a cluster are written, and with which columns."""

    keep: str
    """"first", "last" or "longest"; no matter where documents have priorities."""
    max_candidates: int
    annotate: bool
    max_copies: int | None
    """Of each cluster; None: any number."""
    copies_per: tuple[str, int] | None
    """A column, and how many documents of a cluster with one value of it."""
    source: str | None
    """The column of which the different values in each cluster are counted."""
    counts: tuple[str, ...]
    """The columns that are summed over each cluster."""

    @classmethod
    def of(
        cls,
        keep: str,
        max_candidates: int,
        annotate: bool,
        max_copies: int | None,
        copies_per: tuple[str, int] | None,
        source: str | None,
        count: str | Sequence[str],
        *,
        has_clusters: bool,
    ) -> "RemovalRules":
        """Check the arguments of `deduplicate_files`."""
        if annotate and (max_copies not in (None, 1) or copies_per is not None):
            name = "max_copies" if copies_per is None else "copies_per"
            raise ValueError(f"{name} has no effect with annotate=True, which writes all rows")
        counts = (count,) if isinstance(count, str) else tuple(count)
        if (source is not None or counts) and not annotate and not has_clusters:
            name = "count" if source is None else "source"
            raise ValueError(
                f"{name}= needs a table to add a column to: give annotate=True or clusters="
            )
        for name in {"size", "sources"}.intersection(counts):
            raise ValueError(f"count={name!r} would give a second column cluster_{name}: rename it")
        if copies_per is not None:
            if not (isinstance(copies_per, tuple) and len(copies_per) == 2):
                raise TypeError(f"copies_per must be a column and a number, got {copies_per!r}")
            check_integer(copies_per[1], "copies_per")
        elif max_copies is None:
            max_copies = 1
        if max_copies is not None:
            check_integer(max_copies, "max_copies")
        return cls(
            keep, check_integer(max_candidates, "max_candidates"), annotate, max_copies,
            copies_per, source, counts,
        )  # fmt: skip

    @property
    def keeps_one(self) -> bool:
        """Whether one document of each cluster is written."""
        return self.max_copies == 1

    @property
    def labels(self) -> tuple[str, ...]:
        """The columns by whose values documents are distinguished."""
        per = () if self.copies_per is None else (self.copies_per[0],)
        return tuple(dict.fromkeys((*per, *(() if self.source is None else (self.source,)))))

    @property
    def counted(self) -> Counted:
        """What an index counts."""
        return Counted(self.source, self.counts)

    @property
    def note(self) -> str:
        """What a report says of further copies; empty if there are none."""
        limits = []
        if self.copies_per is not None:
            column, number = self.copies_per
            limits.append(f"up to {number} for each value of {column!r}")
        elif self.max_copies == 1:
            return ""
        if self.max_copies is not None:
            limits.append(f"up to {self.max_copies} documents")
        return f"of each cluster, {' and '.join(limits)} are written"

    def counts_of(
        self, removals: RemovedDocuments, labels: Mapping[str, Any], numbers: Mapping[str, Any]
    ) -> ClusterCounts:
        """Return the counts of all clusters, given the columns of the documents of the inputs."""
        sources = None if self.source is None else labels[self.source]
        return ClusterCounts(
            removals, sources, {name: rounded(numbers[name]) for name in self.counts}
        )

    def further_copies(
        self, removals: RemovedDocuments, copy: Any, labels: Mapping[str, Any]
    ) -> NDArray[np.bool_]:
        """Return which of the removed documents stay as further copies; see `stays`."""
        if self.copies_per is None:
            return stays(removals, copy, self.max_copies)
        column, number = self.copies_per
        return stays(removals, copy, self.max_copies, labels[column], number)

    @property
    def description(self) -> dict[str, Any]:
        """What the answer depends on, as JSON values by name."""
        per = self.copies_per and list(self.copies_per)
        return {
            "keep": self.keep, "max_candidates": self.max_candidates,
            "max_copies": self.max_copies, "annotate": self.annotate, "copies_per": per,
            "source": self.source, "count": list(self.counts),
        }  # fmt: skip


Plan = TypeVar("Plan")
Result = TypeVar("Result")


class RequestedOutputs(NamedTuple):
    """What a removal is to write; None: nothing of the kind."""

    output: Path | None
    """A file or a directory for the rows that are left."""
    convert: str | None = None
    """The format of the rows in a directory."""
    removed: Path | None = None
    """The table of what is removed."""
    clusters: Path | None = None
    """The table of documents that belong together."""
    report: Path | None = None
    """The page."""
    new_index: IndexOutput | None = None
    """A new index of the kept documents."""


@dataclass(frozen=True)
class OutputPlan:
    """The files that a deduplication writes."""

    output: str | None
    """None: no rows are written."""
    folders: bool
    """Whether it is a directory, with a file for each input, or nothing."""
    plan: list[Output]
    convert: str | None
    removed: str | None
    clusters: str | None
    report: str | None
    index: IndexOutput | None = field(default=None, kw_only=True)
    """A new index of the kept documents."""

    def outputs(self, files: int) -> list[str]:
        """Return the paths of the outputs, if so many of the inputs were read."""
        return [output.path for output in self.plan if output.sources[0] < files]

    def paths(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the paths of some outputs, by number."""
        return {number: self.plan[number].path for number in numbers}

    def all_outputs(self, files: int) -> list[str]:
        """Return the paths of the same outputs, and of the tables and the page."""
        index = None if self.index is None else self.index.path
        more = (self.removed, self.clusters, self.report, index)
        return [*self.outputs(files), *(path for path in more if path is not None)]

    @property
    def all_paths(self) -> dict[str, str | None]:
        """Where everything is written, as it was given: alike for all processes of one run."""
        index = (None, None) if self.index is None else self.index
        return {
            OUTPUT_PATH: self.output, "convert_to": self.convert, "removed": self.removed,
            "clusters": self.clusters, "report": self.report, "save_index": index[0],
            "index_texts": index[1],
        }  # fmt: skip

    def check_joined(
        self, sources: list[Source], read: ReadOptions, engine: EngineOptions, threads: int
    ) -> None:
        """Raise InputError if the columns of inputs of one output cannot be joined.

        Of processes that share a work directory, the first one asks. With a limit, what is behind
        it does not matter: it is asked when the rows are written.
        """
        is_first = engine.stage in (None, "sample", "rows", "sign") and engine.part.number == 1
        if is_first and read.limit is None:
            check_joined(self.plan, sources, threads)

    def check_columns(self) -> None:
        """Raise if the rows of an output cannot have further columns, or there is none."""
        if self.output is None:
            raise ValueError("annotate=True adds columns to the rows: give an output")
        for output in self.plan:
            if output.format in ("txt", *SPLIT):
                raise InputError(
                    output.path,
                    "plain text has no columns for annotations: give a .jsonl file as the output,"
                    ' or convert_to="jsonl"',
                )

    @classmethod
    def of(
        cls,
        sources: list[Source],
        run_paths: RunPaths,
        engine: EngineOptions,
        requested: RequestedOutputs,
        *,
        recovers: Callable[[list[str]], None] = recover_outputs,
    ) -> "OutputPlan":
        """Check that all can be written, and differ from each other and from what is read.

        `recovers` completes or removes what killed processes have left beside the outputs.
        """
        output, convert, removed, clusters, report, index = requested
        target = None if output is None else os.fspath(output)
        if target is None and convert is not None:
            raise ValueError("convert_to has no effect without an output")
        plan = [] if target is None else plan_outputs(sources, target, convert)
        run_paths.writes("output", [planned.path for planned in plan])
        more = {"removed": removed, "clusters": clusters, "report": report}
        for name, path in more.items():
            run_paths.writes(name, path)
        new_index = None if index is None else index.path
        run_paths.changes("save_index", new_index)
        run_paths.deletes("work", engine.work_of(target))
        run_paths.check()
        if engine.recovers_outputs:
            written = (removed, clusters, report, new_index, *(planned.path for planned in plan))
            recovers([os.fspath(path) for path in written if path is not None])
        if target is not None:
            check_outputs(plan, sources, target)
        for table in (removed, clusters):
            if table is not None:
                table_format(table)
                check_target(table)
        if report is not None:
            check_report(report)
        if index is not None and new_index is not None:
            work = None if engine.restart else engine.work_of(target)
            if work is None or not index.is_in_record_of(WorkDirectory(work)):
                check_new_index(new_index)
            check_target(new_index)
        tables = [None if path is None else os.fspath(path) for path in more.values()]
        folders = target is None or is_folder_output(target)
        return cls(target, folders, plan, convert, *tables, index=index)


@dataclass(frozen=True)
class EngineChoice:
    """The engine, and what it needs."""

    reason: str
    run: Run | None
    """None: the engine is memory."""
    read_budget: ReadBudget


def select_engine(
    request: Request,
    sources: list[Source],
    first_input: int,
    output: str | None,
    *,
    rows_written: bool = True,
) -> EngineChoice:
    """Choose the engine, and say which.

    Parameters
    ----------
    request
        What is searched for.
    sources, first_input
        The files, those of `against` first, and how many these are.
    output
        What the work directory is named after by default; None: no rows are written.
    rows_written
        Whether kept rows are written, for which all columns are read.
    """
    engine, search = request.engine, request.search
    choice = choose(request, sources, first_input)
    budget = ReadBudget.of(engine.memory, choice.per_document(search), rows_written=rows_written)
    if choice.engine is Engine.MEMORY:
        return EngineChoice(choice.reason, None, budget)
    if engine.stage is not None:
        _check_stages(request, output)
    folder = engine.work_of(output)
    if folder is None:
        raise ValueError(
            "a run on disk needs a work directory (work=), because its output is a stream, after"
            f" which none can be named; the engine is {choice.reason}"
        )
    work = WorkDirectory(folder, shared=engine.stage is not None)
    piece = 0 if request.cutting is None else request.cutting.piece_bytes
    sizes = Budget.of(engine.memory, search, request.run.threads, piece)
    run = Run(request, work, sources, first_input, sizes, rows_written=rows_written)
    run.tell(f"working on disk in {work.path} ({choice.why})")
    if rows_written:
        _tell_of_wide_rows(run)
    if engine.stage is not None:
        return EngineChoice(choice.reason, run, budget)
    needed = (choice.estimate or estimate_of(request, sources, first_input)).disk - work.size()
    free = shutil.disk_usage(_nearest_existing(work.path)).free
    if needed > free:
        run.tell(
            f"about {amount(needed)} may be needed in {work.path}, where {amount(free)} are free:"
            " a full disk ends the run, which then goes on when there is room"
        )
    return EngineChoice(choice.reason, run, budget)


def _check_stages(request: Request, output: str | None) -> None:
    """Raise ValueError if a request cannot be worked on stage by stage."""
    if request.read.limit is not None:
        raise ValueError("limit is for a run in one process, which counts documents: leave it out")
    if output and is_written_in_place(output) and not is_folder_output(output):
        raise ValueError("a stage needs a file or a directory as the output, not a stream")


def plan_removal(
    request: Request, requested: RequestedOutputs, *, annotate: bool = False
) -> tuple[OutputPlan, EngineChoice]:
    """Find the files of a removal, check its outputs, and choose the engine.

    `annotate` says whether the rows get further columns.
    """
    sources = request.input_files()
    before = request.against_files()
    run_paths = request.run_paths(sources, before)
    targets = OutputPlan.of(sources, run_paths, request.engine, requested)
    request.check_used(sources, before)
    targets.check_joined(sources, request.read, request.engine, request.run.threads)
    choice = select_engine(
        request, [*before, *sources], len(before), targets.output,
        rows_written=targets.output is not None,
    )  # fmt: skip
    if targets.index is not None and choice.run is None:
        check_new_index(targets.index.path)
    if annotate:
        targets.check_columns()
    return targets, choice


def changing_over(
    run: Callable[[Request], Result], request: Request, output: Path | None, *, twice: bool
) -> Result:
    """Run in memory or on disk; change over to disk if the memory is not enough after all.

    Parameters
    ----------
    run
        Does the work; RoomError, before anything is written, if the estimate was too low.
    request
        What is to be done.
    output
        What the work directory is named after by default; None: a run on disk has a temporary one.
    twice
        Whether rows are read again, so that pipes are copied to temporary files first.
    """
    output = None if output is None else os.fspath(output)
    engine = request.engine
    run = saying_memory(engine.memory, longest_row(engine.memory))(run)
    if engine.stage is not None:  # and no pipe, which another process cannot read
        return run(request)
    if output is None and engine.work is None and engine.engine is not Engine.MEMORY:
        with TemporaryDirectory(prefix="fastlsh-") as folder:
            request = replace(request, engine=replace(engine, work=os.path.join(folder, "work")))
            try:
                return changing_over(run, request, output, twice=twice)
            except KeyboardInterrupt as error:
                error.args = ()  # there is nothing to go on with
                raise
    tell = request.engine.on_message
    files = [*request.inputs, *request.against]

    def is_enough(path: str) -> bool:
        read = request.read_against if path in request.against else request.read
        return is_all_read(read, request.engine.memory, path, request.group)

    with spooled_inputs(
        files, request.read.format, tell, twice=twice, is_enough=is_enough
    ) as readable:
        count = len(request.inputs)
        request = replace(request, inputs=readable[:count], against=readable[count:])
        try:
            return run(request)
        except RoomError as error:
            if request.engine.work_of(output) is None:
                raise
            path = error.path
        # here, where nothing holds what was read any more
        tell(f"{path}: there is more text than estimated: the run starts over on disk")
        return run(request.on_disk())


LONGEST, SHOWN = 10, 100
"""How many of the longest stretches of ignored text are named, and their characters."""


def ignoring_common_of(request: Request) -> Request:
    """Return a request that ignores what `ignore_common` asks for; the inputs are read before."""
    if request.search.ignore_common is None:
        return request
    sources, read = request.input_files(), request.read
    for source in sources:
        if identity(source) is None:
            raise source.error("not a regular file, and ignore_common= reads its inputs before")

    def blocks() -> Iterator[Any]:
        limit = Limit(read.limit)
        for source in sources:
            for block in limit.first(read_blocks(source)):
                documents = block.documents()
                documents.check(skip=read.on_error == "skip")
                yield documents.texts
            if limit.reached:
                return

    sample = Sample(blocks, sum(len(as_texts(texts)) for texts in blocks()))
    search = ignoring_common(request.search, sample, request.run)
    before, after = (len(each.shingler.ignored or ()) for each in (request.search, search))
    counted = f"{plural(after - before, 'shingle')} ignored, in more than"
    request.engine.on_message(f"{counted} {request.search.ignore_common:g} of the documents")
    first = next(sample.chunks(Shingler()), as_texts([]))
    for stretch in ignored_stretches(first, search.shingler, LONGEST) if after > before else ():
        request.engine.on_message(f"ignored: {shortened(text_of(stretch), SHOWN)!r}")
    return replace(request, search=search)


def prepared(
    request: Request,
    output: Path | None,
    plan: Callable[[Request], Plan],
    work: Callable[[Request, Plan], Result],
    *,
    twice: bool = True,
    ended: Callable[[Result], None] = lambda _: None,
) -> Prepared[Result]:
    """Return a run that works as `changing_over` does, in two steps.

    Parameters
    ----------
    plan
        Finds the files, checks the outputs, and chooses the engine.
    work
        Does the work as planned.
    ended
        Is called with the result.
    """

    def with_plan(request: Request) -> Result:
        request = ignoring_common_of(request)
        return work(request, plan(request))

    def run() -> Result:
        result = changing_over(with_plan, request, output, twice=twice)
        ended(result)
        return result

    return Prepared(run, lambda: changing_over(plan, request, output, twice=twice))


def _tell_of_wide_rows(run: Run) -> None:
    """Say so if the columns of a Parquet file take more memory than was given."""
    inputs = run.sources[run.first_input :][: None if run.limit is None else 1]
    tables = [source for source in inputs if source.format == "parquet"]
    for source in sampled(tables):
        columns, size = bytes_of_pages(source)
        if size > run.request.engine.memory // 2:
            run.tell(
                f"{source.path}: to write its rows takes about {amount(size)} of memory on top,"
                f" because pages of all {columns:,} columns are held at a time"
            )
            return


def _nearest_existing(path: pathlib.Path) -> pathlib.Path:
    """Return a folder, or the first one above it that exists."""
    return next(folder for folder in (path.absolute(), *path.absolute().parents) if folder.exists())
