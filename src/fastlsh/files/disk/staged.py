"""One stage of a run, in a work directory that processes share: what it needs, and what is done."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import wraps
from typing import Any, NoReturn, ParamSpec, Protocol, TypeVar

from fastlsh.errors import InputError
from fastlsh.files.budget import BASE, Budget
from fastlsh.files.disk import gather, grouped, link
from fastlsh.files.disk.decide import ANSWER, KEPT, answer_name
from fastlsh.files.disk.gathered import texts_name
from fastlsh.files.disk.kept import check_different_ids
from fastlsh.files.disk.link import PER_UNITED, Linked, link_inputs, link_names, link_units
from fastlsh.files.disk.sign import NOTHING, Summary, sign_inputs, sign_units
from fastlsh.files.disk.signed_runs import SIGNED, finished_runs, runs_of_unit, units_of
from fastlsh.files.disk.write import Remainder, missing_outputs, write_outputs
from fastlsh.files.plan import OutputPlan
from fastlsh.files.run.job import Job
from fastlsh.files.run.manifest import (
    OF_ROWS,
    RESULT,
    WHOLE,
    ProcessPart,
    if_missing,
    join,
    plan_units,
)
from fastlsh.files.run.ownership import FINISHED, MANIFEST
from fastlsh.files.run.workdir import WorkDirectory
from fastlsh.io import exists

T = TypeVar("T")
Found = TypeVar("Found", bound=tuple[Any, ...])
P = ParamSpec("P")

ENDED = "result.json"
"""What the last process has found, before the run is over."""

LATER = {
    "sign": SIGNED, "link": link.DONE, "unite": link.DONE, "gather": gather.DONE,
    "decide": ANSWER, "merge": KEPT,
}  # fmt: skip
"""What there is when nobody needs a stage any more."""

LATER_OF_ROWS = {"rows": SIGNED, "group": grouped.FILES}
"""The same, of the stages that make documents of rows."""

SHOWN = 10
"""So many missing parts are named."""


class StageDoneError(Exception):
    """Nothing is left to do for this process.

    Parameters
    ----------
    counts
        What the run has found: a summary and counts; None: this stage does not return it.
    """

    def __init__(self, counts: Sequence[Any] | None = None) -> None:
        super().__init__()
        self.counts = counts

    def of(self, kind: Callable[..., T], *nothing: Any) -> T:
        """Return what the run has found, or `nothing`, as a named tuple."""
        summary, *rest = nothing if self.counts is None else self.counts
        return kind(Summary(*summary), *rest)


def staged_run(kind: type[Found]) -> Callable[[Callable[P, Found]], Callable[P, Found]]:
    """Let a run return what it has found, or zeros, when nothing is left to do for this process.

    Parameters
    ----------
    kind
        The named tuple that the run returns: a summary and counts.
    """
    counts = [0] * (len(kind.__annotations__) - 1)

    def decorated(run: Callable[P, Found]) -> Callable[P, Found]:
        @wraps(run)
        def call(*arguments: P.args, **keywords: P.kwargs) -> Found:
            try:
                return run(*arguments, **keywords)
            except StageDoneError as done:
                return done.of(kind, NOTHING, *counts)

        return call

    return decorated


class Sharing(Protocol):
    """The share of a process in a run."""

    @property
    def work(self) -> WorkDirectory:
        """The directory that processes share."""

    @property
    def stage(self) -> str | None:
        """The only stage that this process works on."""

    @property
    def part(self) -> ProcessPart:
        """Which of the units of a stage are worked on."""


def planned(job: Job, description: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the first process of a run fixes for all others."""
    return {
        "units": plan_units(description, job.sources, job.surely_read),
        "budget": asdict(job.budget), "threads": job.options.threads, "parts": job.part.of,
        "range": link.RANGE,
    }  # fmt: skip


@contextmanager
def sharing(job: Job, kind: str, description: dict[str, Any]) -> Iterator[Job]:
    """Take part in a run; give the job with the sizes that its first process has fixed.

    Raises
    ------
    StageDoneError
        The stage of this process is done, by this process or by others.
    InputError
        The stages before it are not; or the memory is too little for their units.
    """
    is_search = job.request.group is None
    first = "sign" if is_search else OF_ROWS[0]
    manifest = joined_run(job, description, planned(job, description), first)
    budget = Budget(**manifest["budget"])
    if any(size < least for size, least in zip(*map(_sizes, (job.budget, budget)), strict=True)):
        raise ValueError(
            f"memory must be at least {budget.memory >> 20}M with {manifest['threads']} threads:"
            " that is for which the units of this run were made; give as much, or fewer threads"
        )
    later, before = (
        (LATER, lambda: _missing_before(job, kind)) if is_search
        else (LATER_OF_ROWS, lambda: _missing_before_of_rows(job))
    )  # fmt: skip
    with taking_part(job, later, manifest["parts"], before):
        yield replace(job, budget=budget)


def joined_run(
    job: Sharing, description: dict[str, Any], fixed: dict[str, Any], first: str
) -> Mapping[str, Any]:
    """Take part in a run, which begins with the stage `first`; return its manifest.

    Raises
    ------
    StageDoneError
        The run is over.
    """
    manifest = join(job.work, description, fixed, stage=job.stage, first=first)
    if RESULT in manifest:
        if job.stage == "finish":
            job.work.empty()
        raise _over(job, manifest[RESULT])
    return manifest


@contextmanager
def taking_part(
    job: Sharing,
    later: Mapping[str, str],
    parts: int,
    missing_before: Callable[[], tuple[str, Any]],
) -> Iterator[None]:
    """Work on a stage, if the one before it is complete and this one is not.

    Parameters
    ----------
    later
        What there is when nobody needs a stage any more.
    parts
        Into how many parts the process that began the run was divided.
    missing_before
        Returns the stage before, and what is missing of it, as `refuse` takes it.

    Raises
    ------
    StageDoneError
        The stage of this process is done.
    InputError
        The stage before it is not.
    """
    try:
        _check_not_over(job, later)
        before, missing = missing_before()
        if missing:
            refuse(job, before, missing, parts)
        yield
    except (InputError, OSError):
        _check_not_over(job, later)  # if the run is over, this late process found its files removed
        raise


def _sizes(budget: Budget) -> Sequence[int]:
    return list(asdict(budget).values())


def _check_not_over(job: Sharing, later: Mapping[str, str]) -> None:
    """Raise StageDoneError if no process needs this stage any more."""
    if job.work.has(FINISHED):
        raise _over(job, job.work.read(FINISHED)[RESULT])
    if (name := later.get(job.stage or "")) and job.work.has(name):
        raise StageDoneError


def ended(job: Sharing, result: T, outputs: Sequence[str]) -> T:
    """Return what a run has found; of a run in stages, the directory keeps it, and the outputs."""
    if job.stage is not None:
        written = [path for path in outputs if exists(path)]  # a .txt without rows is not written
        job.work.write(ENDED, {"found": result, "outputs": written})
    return result


def _over(job: Sharing, result: Mapping[str, Any]) -> StageDoneError:
    """Return the end of a process whose run is over; InputError if outputs are gone since then."""
    if job.stage != "finish":
        return StageDoneError()
    for path in result["outputs"]:
        if not exists(path):
            raise InputError(
                path,
                f"is missing, and the run in {job.work.path} that has written it is over: remove"
                " that directory to start over",
            )
    return StageDoneError(result["found"])


def early_stage(job: Job, *, different_ids: bool = False) -> None:
    """Do the part of one of the stages before decisions; StageDoneError at its end.

    `different_ids`: no id may be repeated.
    """
    if job.stage == "sign":
        sign_units(job)
    elif job.stage == "link":
        link_units(job)
    elif job.stage == "unite":
        signed = sum(run.documents for run in finished_runs(job))
        what = "documents" if job.cutting is None else f"{job.cutting.by}s"
        check_memory(job, BASE + PER_UNITED * signed, f"unite {signed:,} {what}")
        summary = sign_inputs(job)
        if different_ids:
            check_different_ids(job, summary)
        link_inputs(job, summary)
    elif job.stage == "gather":
        gather.gather_runs(job)
    else:
        return
    raise StageDoneError


def row_stage(job: Job) -> None:
    """Do the part of one of the stages that make documents of rows; StageDoneError at its end."""
    if job.stage == "rows":
        sign_units(job)
    elif job.stage == "group":
        rows = sum(run.documents for run in finished_runs(job))
        check_memory(job, BASE + grouped.PER_GROUPED * rows, f"group {rows:,} rows")
        sign_inputs(job)
        grouped.number_groups(job)
    elif job.stage == "collect":
        gather.gather_runs(job)
    elif job.stage == "join":
        grouped.write_documents(job)
    else:
        return
    raise StageDoneError


def check_memory(job: Job, needed: int, task: str) -> None:
    """Raise ValueError if a process may take less memory than it needs for a task."""
    memory = job.request.engine.memory
    if needed > memory:
        raise ValueError(
            f"memory must be at least {-(-needed >> 20)}M to {task}, got {memory >> 20}M"
        )


def end_of_stage(job: Sharing, stage: str) -> None:
    """Raise StageDoneError if this was the only stage of this process."""
    if job.stage == stage:
        raise StageDoneError


def write_stage(job: Job, targets: OutputPlan, left: Remainder) -> None:
    """Do the part of the stage that writes rows; or check, at the end, that all are written.

    The parameters are those of `write_outputs`. One output is written at the end.
    """
    if job.stage == "write" and targets.folders:
        write_outputs(job, targets, left)
    end_of_stage(job, "write")
    if job.stage == "finish" and (missing := missing_outputs(job, targets)):
        refuse(job, "write", missing, job.work.read(MANIFEST)["parts"])


def refuse(job: Sharing, before: str, missing: Any, parts: int) -> NoReturn:
    """Raise an error that says which parts of an earlier stage have not finished.

    `missing`: all units of that stage, and those of them that are missing; or anything else.
    """
    if before in WHOLE:
        what = f"the stage {before} has not finished"
    else:
        every, missing_units = missing
        numbers = job.part._replace(of=parts).holding(every, missing_units)
        shown = ", ".join(f"{number}/{parts}" for number in numbers[:SHOWN])
        more = f" and {len(numbers) - SHOWN} more" if len(numbers) > SHOWN else ""
        what = f"of the stage {before}, part {shown}{more} has not finished"
        what += f" (counted in {parts} parts, as the process that began the run was divided)"
    raise InputError(job.work.path, f"the stage {job.stage} cannot begin: {what}")


def _missing_before(job: Job, kind: str) -> tuple[str, Any]:
    """Return the stage before, its units, and those of them that are missing; or nothing."""
    work = job.work
    if job.stage == "link":
        return "sign", _missing_units(job)
    if job.stage == "unite":
        documents = sum(run.documents for run in finished_runs(job))
        return "link", if_missing(link_names(job, documents), work.has)
    if job.stage == "gather":
        return "unite", not work.has(link.DONE)
    if job.stage == "decide" and not work.has(gather.DONE):
        if not work.has(link.DONE):
            return "unite", True
        names = [texts_name(run) for run in finished_runs(job)]
        return "gather", if_missing(names, work.has)
    if job.stage == "merge" or (job.stage == "finish" and kind in ("pairs", "overlap")):
        if not work.has(link.DONE):
            return "unite", True
        linked = work.read_as(Linked, link.DONE)
        names = [answer_name(number) for number in range(linked.parts)]
        return "decide", if_missing(names, work.has)
    if job.stage in ("write", "finish"):
        return "merge", not work.has(KEPT)
    return "", None


def _missing_before_of_rows(job: Job) -> tuple[str, Any]:
    """Return what `_missing_before` returns, for the stages that make documents of rows.

    The stages that search in these documents ask, too: all documents must have been written.
    """
    work = job.work
    if job.stage == "rows":
        return "", None
    if job.stage == "group":
        return "rows", _missing_units(job)
    if not work.has(grouped.FILES):
        return "group", True
    if job.stage == "collect":
        return "", None
    if job.stage == "join":
        return "collect", if_missing([texts_name(run) for run in finished_runs(job)], work.has)
    return "join", if_missing(grouped.document_files(job), work.has)


def _missing_units(job: Job) -> tuple[Any, Any] | None:
    """Return the units of signing, and those that are missing; None if none is."""
    every = range(len(units_of(job)))
    return if_missing(every, lambda unit: any(run.last for run in runs_of_unit(job, unit)))
