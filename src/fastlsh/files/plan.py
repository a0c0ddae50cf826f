"""What a run on files reads, writes and takes, checked before any work."""

import os
import pathlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from fastlsh.errors import RoomError
from fastlsh.files.budget import Budget, free_memory, parse_memory
from fastlsh.files.cutting import Cutting
from fastlsh.files.estimate import choose, estimate, per_document
from fastlsh.files.reading import Reading
from fastlsh.files.run.job import Job
from fastlsh.files.run.workdir import WorkDirectory
from fastlsh.io import (
    Output,
    Paths,
    RunPaths,
    Source,
    check_outputs,
    check_target,
    is_folder_output,
    is_remote,
    is_written_in_place,
    plan_outputs,
    recover_outputs,
    table_format,
)
from fastlsh.parallel import ProgressOption, RunOptions, amount
from fastlsh.parameters import SearchParams
from fastlsh.reporting import check_report

Path = str | os.PathLike[str]
Tell = Callable[[str], None]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Machine:
    """What a run may take, and where it leaves what it has done."""

    engine: str
    memory: int
    """Bytes."""
    work: str | None
    keep_work: bool
    restart: bool

    @classmethod
    def of(
        cls,
        engine: str,
        memory: int | str | None,
        work: Path | None,
        *,
        keep_work: bool,
        restart: bool,
    ) -> "Machine":
        """Check the arguments; by default half of the free memory may be taken."""
        if memory is None:
            size = free_memory() // 2
        else:
            size = parse_memory(memory) if isinstance(memory, str) else int(memory)
        return cls(engine, size, None if work is None else os.fspath(work), keep_work, restart)

    def work_of(self, output: str | None) -> str | None:
        """Return the work directory of a run with this output, if it may need one."""
        return work_directory(self.engine, self.work, output)


@dataclass(frozen=True)
class Search:
    """What is looked for: parameters, and how it is run."""

    params: SearchParams
    options: RunOptions
    recall: float = 0.98

    @classmethod
    def of(
        cls,
        threshold: float,
        search: dict[str, Any],
        threads: int | None,
        progress: ProgressOption,
    ) -> "Search":
        """Check the arguments of a public function."""
        params = SearchParams.of(threshold, **search)
        return cls(params, RunOptions.of(threads, progress), search.get("recall", 0.98))

    @property
    def keywords(self) -> dict[str, Any]:
        """For the functions that work in memory."""
        params = self.params
        if params.search == "containment":
            chosen: dict[str, Any] = {"search": params.search, "recall": self.recall}
        else:
            chosen = {"bands": params.lsh.bands, "rows": params.lsh.rows}
        return {
            **chosen,
            "threshold": params.threshold, "shingler": params.shingler,
            "num_perm": params.num_perm, "seed": params.seed,
            "scheme": params.scheme, "verify": params.verify,
            "threads": self.options.threads, "progress": self.options.progress.function or False,
        }  # fmt: skip


@dataclass(frozen=True)
class Targets:
    """The files that a deduplication writes."""

    output: str
    folders: bool
    """Whether it is a directory, with a file for each input."""
    plan: list[Output]
    convert: str | None
    removed: str | None
    clusters: str | None
    report: str | None

    def outputs(self, files: int) -> list[str]:
        """Return the paths of the outputs, if so many of the inputs were read."""
        return [each.path for each in self.plan if each.sources[0] < files]

    @classmethod
    def of(
        cls,
        sources: list[Source],
        run_paths: RunPaths,
        machine: Machine,
        output: Path,
        convert: str | None,
        removed: Path | None,
        clusters: Path | None,
        report: Path | None,
    ) -> "Targets":
        """Check that all can be written, and differ from each other and from what is read."""
        target = os.fspath(output)
        plan = plan_outputs(sources, target, convert)
        run_paths.writes("output", [each.path for each in plan])
        more = {"removed": removed, "clusters": clusters, "report": report}
        for name, path in more.items():
            run_paths.writes(name, path)
        run_paths.deletes("work", machine.work_of(target))
        run_paths.check()
        recover_outputs([removed, clusters, report, *(each.path for each in plan)])
        check_outputs(plan, sources, target)
        for table in (removed, clusters):
            if table is not None:
                table_format(table)
                check_target(table)
        if report is not None:
            check_report(report)
        names = [None if path is None else os.fspath(path) for path in more.values()]
        return cls(target, is_folder_output(target), plan, convert, *names)


@dataclass(frozen=True)
class Chosen:
    """The engine, and what it needs."""

    reason: str
    job: Job | None
    """None: the engine is memory."""
    per_document: int | None = None
    """Bytes of a document besides its text, if an estimate says that the memory is enough."""


def chosen(
    machine: Machine,
    search: Search,
    sources: list[Source],
    known: int,
    reading: Reading,
    output: str | None,
    tell: Tell | None,
    *,
    uniform: bool = False,
    cutting: Cutting | None = None,
) -> Chosen:
    """Choose the engine.

    Parameters
    ----------
    sources, known
        The files, those of `against` first, and how many these are.
    output
        What the work directory is named after by default.
    tell
        Is told which engine, and why.
    uniform
        Whether the inputs must have the same columns.
    cutting
        How documents are cut into pieces; None: they are not.
    """
    limit = None if known else reading.limit  # documents of `against` come on top of these
    reason = choose(machine.engine, sources, search.params, machine.memory, cutting, limit)
    tell = tell or (lambda _: None)
    if reason.startswith("memory"):
        by_estimate = reason.startswith("memory, because about")
        return Chosen(reason, None, per_document(search.params) if by_estimate else None)
    folder = machine.work_of(output)
    if folder is None:
        raise ValueError(
            "a run on disk needs a work directory (--work), because its output is not a local"
            f" file; the engine is {reason}"
        )
    work = WorkDirectory(folder)
    budget = Budget.of(machine.memory, search.params, search.options.threads)
    job = Job(
        work, sources, known, search.params, search.options, budget,
        reading.on_error == "skip", uniform, tell, cutting, reading.limit,
    )  # fmt: skip
    tell(f"engine: {reason}, with {amount(machine.memory)} of memory, in {work.path}")
    needed = estimate(sources, search.params, cutting, machine.memory, limit).disk - work.size()
    free = shutil.disk_usage(_that_exists(work.path)).free
    if needed > free:
        tell(
            f"about {amount(needed)} may be needed in {work.path}, where {amount(free)} are free:"
            " a full disk ends the run, which then goes on when there is room"
        )
    return Chosen(reason, job)


def changing_over(
    run: Callable[[Machine], Result], machine: Machine, output: str | None, tell: Tell | None
) -> Result:
    """Run in memory or on disk; change over to disk if the memory is not enough after all.

    Parameters
    ----------
    run
        Does the work; RoomError, before anything is written, if the estimate was too low.
    machine
        What the run may take.
    output
        What the work directory is named after by default.
    tell
        Is told of a change.
    """
    try:
        return run(machine)
    except RoomError as error:
        if machine.work_of(output) is None:
            raise
        path = error.path
    if tell is not None:  # here, where nothing holds what was read any more
        tell(f"{path}: there is more text than estimated: the run starts over on disk")
    return run(replace(machine, engine="disk"))


def _that_exists(path: pathlib.Path) -> pathlib.Path:
    """Return a folder, or the first one above it that exists."""
    return next(each for each in (path.absolute(), *path.absolute().parents) if each.exists())


def work_directory(engine: str, work: str | None, output: str | None) -> str | None:
    """Return the work directory of a run, by default the output's name with ``.work`` behind it.

    It is None if the engine is memory, or if the output, which is not a local file, gives no name.
    """
    if engine == "memory":
        return None
    if work is not None or output is None or is_remote(output):
        return work
    if is_written_in_place(output) and not is_folder_output(output):
        return None
    return f"{output.rstrip('/')}.work"


def paths(given: Paths) -> list[str]:
    """Return one or more paths as a list."""
    if isinstance(given, (str, os.PathLike)):
        return [os.fspath(given)]
    return [os.fspath(path) for path in given]
