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
from fastlsh.files.disk.link import PER_UNITED, link_inputs, link_names, link_units
from fastlsh.files.disk.sign import sign_inputs, sign_units
from fastlsh.files.disk.write import Remainder, missing_outputs, write_outputs
from fastlsh.files.plan import OutputPlan
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
from fastlsh.files.run.records import LINKED, NOTHING, SIGNED, Summary
from fastlsh.files.run.run import Run
from fastlsh.files.run.workdir import WorkDirectory
from fastlsh.io import exists

T = TypeVar("T")
Found = TypeVar("Found", bound=tuple[Any, ...])
P = ParamSpec("P")

ENDED = "result.json"
"""What the last process has found, before the run is over."""

LATER = {
    "sign": SIGNED, "link": LINKED, "unite": LINKED, "gather": gather.DONE,
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


def planned(run: Run, description: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the first process of a run fixes for all others."""
    return {
        "units": plan_units(description, run.sources, run.surely_read),
        "budget": asdict(run.budget), "threads": run.options.threads, "parts": run.part.of,
        "range": link.RANGE,
    }  # fmt: skip


@contextmanager
def sharing(run: Run, kind: str, description: dict[str, Any]) -> Iterator[Run]:
    """Take part in a run; give the run with the sizes that its first process has fixed.

    Raises
    ------
    StageDoneError
        The stage of this process is done, by this process or by others.
    InputError
        The stages before it are not; or the memory is too little for their units.
    """
    is_search = run.request.group is None
    first = "sign" if is_search else OF_ROWS[0]
    manifest = joined_run(run, description, planned(run, description), first)
    budget = Budget(**manifest["budget"])
    if any(size < least for size, least in zip(*map(_sizes, (run.budget, budget)), strict=True)):
        raise ValueError(
            f"memory must be at least {budget.memory >> 20}M with {manifest['threads']} threads:"
            " that is for which the units of this run were made; give as much, or fewer threads"
        )
    later, before = (
        (LATER, lambda: _missing_before(run, kind)) if is_search
        else (LATER_OF_ROWS, lambda: _missing_before_of_rows(run))
    )  # fmt: skip
    with taking_part(run, later, manifest["parts"], before):
        yield replace(run, budget=budget)


def joined_run(
    run: Sharing, description: dict[str, Any], fixed: dict[str, Any], first: str
) -> Mapping[str, Any]:
    """Take part in a run, which begins with the stage `first`; return its manifest.

    Raises
    ------
    StageDoneError
        The run is over.
    """
    manifest = join(run.work, description, fixed, stage=run.stage, first=first)
    if RESULT in manifest:
        if run.stage == "finish":
            run.work.empty()
        raise _over(run, manifest[RESULT])
    return manifest


@contextmanager
def taking_part(
    run: Sharing,
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
        _check_not_over(run, later)
        before, missing = missing_before()
        if missing:
            refuse(run, before, missing, parts)
        yield
    except (InputError, OSError):
        _check_not_over(run, later)  # if the run is over, this late process found its files removed
        raise


def _sizes(budget: Budget) -> Sequence[int]:
    return list(asdict(budget).values())


def _check_not_over(run: Sharing, later: Mapping[str, str]) -> None:
    """Raise StageDoneError if no process needs this stage any more."""
    if run.work.has(FINISHED):
        raise _over(run, run.work.read(FINISHED)[RESULT])
    if (name := later.get(run.stage or "")) and run.work.has(name):
        raise StageDoneError


def ended(run: Sharing, result: T, outputs: Sequence[str]) -> T:
    """Return what a run has found; of a run in stages, the directory keeps it, and the outputs."""
    if run.stage is not None:
        written = [path for path in outputs if exists(path)]  # a .txt without rows is not written
        run.work.write(ENDED, {"found": result, "outputs": written})
    return result


def _over(run: Sharing, result: Mapping[str, Any]) -> StageDoneError:
    """Return the end of a process whose run is over; InputError if outputs are gone since then."""
    if run.stage != "finish":
        return StageDoneError()
    for path in result["outputs"]:
        if not exists(path):
            raise InputError(
                path,
                f"is missing, and the run in {run.work.path} that has written it is over: remove"
                " that directory to start over",
            )
    return StageDoneError(result["found"])


def early_stage(run: Run, *, different_ids: bool = False) -> None:
    """Do the part of one of the stages before decisions; StageDoneError at its end.

    `different_ids`: no id may be repeated.
    """
    if run.stage == "sign":
        sign_units(run)
    elif run.stage == "link":
        link_units(run)
    elif run.stage == "unite":
        what = "documents" if run.cutting is None else f"{run.cutting.by}s"
        check_memory(run, BASE + PER_UNITED * run.signed, f"unite {run.signed:,} {what}")
        summary = sign_inputs(run)
        if different_ids:
            check_different_ids(run, summary)
        link_inputs(run)
    elif run.stage == "gather":
        gather.gather_segments(run)
    else:
        return
    raise StageDoneError


def row_stage(run: Run) -> None:
    """Do the part of one of the stages that make documents of rows; StageDoneError at its end."""
    if run.stage == "rows":
        sign_units(run)
    elif run.stage == "group":
        check_memory(run, BASE + grouped.PER_GROUPED * run.signed, f"group {run.signed:,} rows")
        sign_inputs(run)
        grouped.number_groups(run)
    elif run.stage == "collect":
        gather.gather_segments(run)
    elif run.stage == "join":
        grouped.write_documents(run)
    else:
        return
    raise StageDoneError


def check_memory(run: Run, needed: int, task: str) -> None:
    """Raise ValueError if a process may take less memory than it needs for a task."""
    memory = run.request.engine.memory
    if needed > memory:
        raise ValueError(
            f"memory must be at least {-(-needed >> 20)}M to {task}, got {memory >> 20}M"
        )


def end_of_stage(run: Sharing, stage: str) -> None:
    """Raise StageDoneError if this was the only stage of this process."""
    if run.stage == stage:
        raise StageDoneError


def write_stage(run: Run, targets: OutputPlan, left: Remainder) -> None:
    """Do the part of the stage that writes rows; or check, at the end, that all are written.

    The parameters are those of `write_outputs`. One output is written at the end.
    """
    if run.stage == "write" and targets.folders:
        write_outputs(run, targets, left)
    end_of_stage(run, "write")
    if run.stage == "finish" and (missing := missing_outputs(run, targets)):
        refuse(run, "write", missing, run.work.read(MANIFEST)["parts"])


def refuse(run: Sharing, before: str, missing: Any, parts: int) -> NoReturn:
    """Raise an error that says which parts of an earlier stage have not finished.

    `missing`: all units of that stage, and those of them that are missing; or anything else.
    """
    if before in WHOLE:
        what = f"the stage {before} has not finished"
    else:
        every, missing_units = missing
        numbers = run.part._replace(of=parts).holding(every, missing_units)
        shown = ", ".join(f"{number}/{parts}" for number in numbers[:SHOWN])
        more = f" and {len(numbers) - SHOWN} more" if len(numbers) > SHOWN else ""
        what = f"of the stage {before}, part {shown}{more} has not finished"
        what += f" (counted in {parts} parts, as the process that began the run was divided)"
    raise InputError(run.work.path, f"the stage {run.stage} cannot begin: {what}")


def _missing_before(run: Run, kind: str) -> tuple[str, Any]:
    """Return the stage before, its units, and those of them that are missing; or nothing."""
    work = run.work
    if run.stage == "link":
        return "sign", _missing_units(run)
    if run.stage == "unite":
        return "link", if_missing(link_names(run, run.signed), work.has)
    if run.stage == "gather":
        return "unite", not work.has(LINKED)
    if run.stage == "decide" and not work.has(gather.DONE):
        if not work.has(LINKED):
            return "unite", True
        names = [texts_name(segment) for segment in run.segments]
        return "gather", if_missing(names, work.has)
    if run.stage == "merge" or (run.stage == "finish" and kind in ("pairs", "overlap")):
        if not work.has(LINKED):
            return "unite", True
        names = [answer_name(number) for number in range(run.linked.parts)]
        return "decide", if_missing(names, work.has)
    if run.stage in ("write", "finish"):
        return "merge", not work.has(KEPT)
    return "", None


def _missing_before_of_rows(run: Run) -> tuple[str, Any]:
    """Return what `_missing_before` returns, for the stages that make documents of rows.

    The stages that search in these documents ask, too: all documents must have been written.
    """
    work = run.work
    if run.stage == "rows":
        return "", None
    if run.stage == "group":
        return "rows", _missing_units(run)
    if not work.has(grouped.FILES):
        return "group", True
    if run.stage == "collect":
        return "", None
    if run.stage == "join":
        return "collect", if_missing([texts_name(segment) for segment in run.segments], work.has)
    return "join", if_missing(grouped.document_files(run), work.has)


def _missing_units(run: Run) -> tuple[Any, Any] | None:
    """Return the units of signing, and those that are missing; None if none is."""
    every = range(len(run.units))
    return if_missing(
        every, lambda unit: any(segment.last for segment in run.segments_of_unit(unit))
    )
