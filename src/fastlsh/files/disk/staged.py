"""One stage of a run, in a work directory that processes share: what it needs, and what is done."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import wraps
from typing import Any, NoReturn, ParamSpec, Protocol, TypeVar

from fastlsh.errors import InputError
from fastlsh.files.budget import BASE, Budget
from fastlsh.files.disk import gather, grouped, link
from fastlsh.files.disk.decide import answer_name
from fastlsh.files.disk.gathered import texts_name
from fastlsh.files.disk.link import link_inputs, link_names, link_units
from fastlsh.files.disk.sign import sign_inputs, sign_units
from fastlsh.files.disk.write import Remainder, check_different_ids, missing_outputs, write_outputs
from fastlsh.files.plan import OutputPlan
from fastlsh.files.run.manifest import RESULT, join, plan_units
from fastlsh.files.run.ownership import FINISHED, MANIFEST
from fastlsh.files.run.records import NOTHING, Summary
from fastlsh.files.run.run import Run
from fastlsh.files.run.stages import (
    OF_ROWS,
    PAIR_STAGES,
    PER_GROUPED,
    PER_UNITED,
    ROW_STAGES,
    SEARCH_STAGES,
    WHOLE,
    ProcessPart,
    Stage,
    Units,
    missing_before,
)
from fastlsh.files.run.workdir import WorkDirectory
from fastlsh.io import exists

T = TypeVar("T")
Found = TypeVar("Found", bound=tuple[Any, ...])
P = ParamSpec("P")

ENDED = "result.json"
"""What the last process has found, before the run is over."""

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
    stages: tuple[Stage, ...] = ROW_STAGES
    if run.request.group is None:
        stages = PAIR_STAGES if kind in ("pairs", "overlap") else SEARCH_STAGES
    manifest = joined_run(run, description, planned(run, description), stages[0].name)
    budget = Budget(**manifest["budget"])
    if any(size < asdict(budget)[name] for name, size in asdict(run.budget).items()):
        raise ValueError(
            f"memory must be at least {budget.memory >> 20}M with {manifest['threads']} threads:"
            " that is for which the units of this run were made; give as much, or fewer threads"
        )
    with taking_part(run, stages, manifest["parts"], _units(run)):
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
    run: Sharing, stages: Sequence[Stage], parts: int, units: Mapping[str, Units]
) -> Iterator[None]:
    """Work on a stage, if the one before it is complete and this one is not.

    Parameters
    ----------
    stages, units
        Of the run: as for `missing_before`.
    parts
        Into how many parts the process that began the run was divided.

    Raises
    ------
    StageDoneError
        The stage of this process is done.
    InputError
        The stage before it is not.
    """
    later = {stage.name: stage.later for stage in stages}.get(run.stage or "")
    try:
        _check_not_over(run, later)
        before, missing = missing_before(run.work, run.stage or "", stages, units)
        if missing:
            refuse(run, before, missing, parts)
        yield
    except (InputError, OSError):
        _check_not_over(run, later)  # if the run is over, this late process found its files removed
        raise


def _check_not_over(run: Sharing, later: str | None) -> None:
    """Raise StageDoneError if no process needs this stage any more."""
    if run.work.has(FINISHED):
        raise _over(run, run.work.read(FINISHED)[RESULT])
    if later is not None and run.work.has(later):
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

    def unite(run: Run) -> None:
        what = "documents" if run.cutting is None else f"{run.cutting.by}s"
        check_memory(run, BASE + PER_UNITED * run.signed, f"unite {run.signed:,} {what}")
        summary = sign_inputs(run)
        if different_ids:
            check_different_ids(run, summary)
        link_inputs(run)

    def group(run: Run) -> None:
        check_memory(run, BASE + PER_GROUPED * run.signed, f"group {run.signed:,} rows")
        sign_inputs(run)
        grouped.number_groups(run)

    makes: dict[str | None, Callable[[Run], None]] = {
        "rows": sign_units, "group": group, "collect": gather.gather_segments,
        "join": grouped.write_documents, "sign": sign_units, "link": link_units, "unite": unite,
        "gather": gather.gather_segments,
    }  # fmt: skip
    if run.stage in makes and (run.request.group is None or run.stage in OF_ROWS):
        makes[run.stage](run)
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


def _units(run: Run) -> dict[str, Units]:
    """Return the units of the stages of a search, and of those that make documents of rows."""
    has = run.work.has
    signing = Units(
        lambda: range(len(run.units)),
        lambda unit: any(segment.last for segment in run.segments_of_unit(unit)),
    )
    texts = Units(lambda: [texts_name(segment) for segment in run.segments], has)
    return {
        "rows": signing, "collect": texts, "join": Units(lambda: grouped.document_files(run), has),
        "sign": signing, "link": Units(lambda: link_names(run, run.signed), has), "gather": texts,
        "decide": Units(lambda: [answer_name(part) for part in range(run.linked.parts)], has),
    }  # fmt: skip
