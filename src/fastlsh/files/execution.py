"""A task, and how a run executes its stages: all in one process, or one in each of many."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import Any, ClassVar, Generic, NamedTuple, NoReturn, TypeVar, cast

from fastlsh.errors import InputError
from fastlsh.files.budget import BASE, Budget
from fastlsh.files.disk import grouped
from fastlsh.files.disk.decide import answer_name
from fastlsh.files.disk.gather import check_room, gather_segments
from fastlsh.files.disk.gathered import texts_name
from fastlsh.files.disk.link import RANGE, link_inputs, link_names, link_units
from fastlsh.files.disk.sign import all_signed, sign_units
from fastlsh.files.disk.write import check_different_ids, units_written, write_folder
from fastlsh.files.held import Held
from fastlsh.files.plan import EngineChoice, OutputPlan
from fastlsh.files.requests import Request
from fastlsh.files.run.manifest import RESULT, begin, described, join, plan_units
from fastlsh.files.run.ownership import FINISHED
from fastlsh.files.run.records import ANSWER, DOCUMENTS_MADE, GATHERED, LINKED, SIGNED, Summary
from fastlsh.files.run.run import Run, accept_mended, forget_unless_resumable
from fastlsh.files.run.stages import (
    PAIR_STAGES,
    PER_GROUPED,
    PER_UNITED,
    ROW_STAGES,
    SEARCH_STAGES,
    WHOLE,
    Ended,
    ProcessPart,
    Stage,
    Units,
    missing_before,
)
from fastlsh.files.run.workdir import WorkDirectory
from fastlsh.io import CopiedInput, RowsLeft, exists
from fastlsh.parallel import Stopwatch

Found = TypeVar("Found", bound=tuple[Any, ...])

SHOWN = 10
"""So many missing parts are named."""


class Task(ABC):
    """A job on files, besides its request: how its answer is made and written.

    Attributes
    ----------
    kind : str
        The name of the job in the manifest of a work directory.
    first : str
        The stage in which a run may be begun.
    mends : bool
        Whether a run goes on when a file has been mended that could not be read.
    clock : Stopwatch
        Takes the time of each stage.
    """

    kind: ClassVar[str]
    first: ClassVar[str] = "sign"
    mends: ClassVar[bool] = True
    clock: Stopwatch

    @abstractmethod
    def decided(self, request: Request) -> Mapping[str, Any]:
        """Return all that the answer depends on, besides the request."""

    @property
    @abstractmethod
    def outputs(self) -> Mapping[str, str | None]:
        """Where everything is written, as it was given: alike for all processes of one run."""

    @abstractmethod
    def stages(self, run: Run) -> list[Stage]:
        """Return the table of the stages of a run on disk: see `search_stages`."""


class Search(Task, Generic[Found]):
    """A task that can be done in memory, too.

    Attributes
    ----------
    found : type
        What it finds: a named tuple of a `Summary` and counts, which are zero by default.
    """

    found: ClassVar[type[Any]]

    @abstractmethod
    def in_memory(self, held: Held) -> Found:
        """Search in the documents in memory, and write."""

    def find(self, request: Request, choice: EngineChoice) -> Found:
        """Search and write, with the engine that was chosen.

        On disk, a run goes on where a process before was ended, and a process may work on one
        stage: if it does not end the run, nothing has been found.
        """
        if choice.run is None:
            with self.clock("reading"):
                held = Held(request, choice.read_budget)
            return self.in_memory(held)
        ended = execute(choice.run, self)
        if ended is None:
            return cast("Found", self.found())
        summary, *counts = ended.found
        return cast("Found", self.found(Summary(*summary), *counts))


def execute(run: Run, task: Task) -> Ended | None:
    """Work on a run, or on the stage of this process; return what the last stage does.

    None: this was another stage.
    """
    outputs = {} if run.rows is not None else task.outputs
    decided = {
        **task.decided(run.request), "against_files": run.first_input, "limit": run.limit,
        "within": run.request.within,
    }  # fmt: skip
    if run.request.group is not None:
        decided |= {"group": run.request.group, "join_with": run.request.read.join_with}
    if run.stage is not None:
        decided |= outputs
    description = described(task.kind, run.params, run.sources, decided, run.surely_read)
    fixed = {
        "units": plan_units(description, run.sources, run.surely_read),
        "budget": asdict(run.budget), "threads": run.options.threads, "parts": run.part.of,
        "range": RANGE,
    }  # fmt: skip

    def stages(run: Run) -> list[Stage]:
        if run.request.group is None:
            return task.stages(run)
        in_documents = Stage("", make=lambda: _search_in_documents(run, task))
        return [*_row_stages(run, task.clock), in_documents]

    if run.stage is not None:
        share = Share(run.work, run.stage, run.part)
        first = task.first if run.request.group is None else ROW_STAGES[0].name
        return take_part(
            share, description, fixed, first,
            lambda manifest: stages(replace(run, budget=_budget_of(manifest, run))),
        )  # fmt: skip
    restart = run.request.engine.restart
    with run.work.locked():
        if task.mends and not restart:
            accept_mended(run, description)
        if begin(run.work, description, {**fixed, **outputs}, restart=restart):
            finished = f": {_finished(run)}" if task.mends else ""
            run.tell(f"continuing the run in {run.work.path}{finished}")
        with resumable(run):
            ended: Ended | None = each_made(run.work, stages(run))
        if not run.request.engine.keep_work:
            run.work.empty(run.options.threads)
        return ended


def _search_in_documents(run: Run, task: Task) -> Ended | None:
    """Search in the documents that were made of rows."""
    if run.stage is None and not run.work.has(DOCUMENTS_MADE):
        grouped.drop_rows(run)
    return execute(grouped.search_in_documents(run), task)


@contextmanager
def resumable(run: Run) -> Iterator[None]:
    """Say how a run goes on that is interrupted; forget a run that has finished nothing."""
    try:
        yield
    except InputError:
        forget_unless_resumable(run.work)
        raise
    except KeyboardInterrupt as error:
        without = ", without restart=True" if run.request.engine.restart else ""
        again = f"run the same command again{without}, which goes on with the finished work in"
        is_piped = any(isinstance(source.path, CopiedInput) for source in run.sources)
        error.args = () if is_piped else (f"{again} {run.work.path}",)
        raise


def each_made(work: WorkDirectory, stages: Sequence[Stage]) -> Any:
    """Make all stages, one after the other; return what the last one returns.

    A stage that is divided is left out if nobody needs it any more.
    """
    ended = None
    for stage in stages:
        if stage.is_whole or stage.later is None or not work.has(stage.later):
            ended = stage.make()
    return ended


class Share(NamedTuple):
    """The share of a process in a run."""

    work: WorkDirectory
    """The directory that processes share."""
    stage: str | None
    """The only stage that this process works on."""
    part: ProcessPart
    """Which of the units of a stage are worked on."""


def take_part(
    run: Share,
    description: dict[str, Any],
    fixed: dict[str, Any],
    first: str,
    stages_of: Callable[[Mapping[str, Any]], Sequence[Stage]],
) -> Ended | None:
    """Work on the stage of this process, if the stage before it is complete and this one is not.

    Parameters
    ----------
    description, fixed
        What the run is, and what the process that begins it fixes for all others.
    first
        The stage in which the run may be begun.
    stages_of
        Returns the table of the stages, given the manifest. A last one without a name is for the
        stages that the table does not have.

    Returns
    -------
    Ended or None
        None: this is not the last stage, or it was not needed any more.

    Raises
    ------
    InputError
        The stage before it is not complete.
    """
    with run.work.resumable():
        manifest = join(run.work, description, fixed, stage=run.stage, first=first)
        if RESULT in manifest:
            if run.stage == "finish":
                run.work.empty()
            return _over(run, manifest[RESULT])
        stages = stages_of(manifest)
        mine = next(stage for stage in stages if stage.name in (run.stage, ""))
        try:
            if _is_needed(run, mine):
                before, missing = missing_before(run.work, mine.name, stages)
                if missing:
                    _refuse(run, before, missing, manifest["parts"])
                ended = mine.make()
                if not isinstance(ended, Ended):
                    return None
                # A .txt without rows is not written.
                written = [path for path in ended.outputs if exists(path)]
                result = {"found": ended.found, "outputs": written}
                run.work.finish({**description, RESULT: result})
                return ended
        except (InputError, OSError):
            if _is_needed(run, mine):
                raise  # else this late process found its files removed
        if run.work.has(FINISHED):
            return _over(run, run.work.read(FINISHED)[RESULT])
        return None


def _is_needed(run: Share, stage: Stage) -> bool:
    """Whether a process still needs a stage."""
    is_over = run.work.has(FINISHED) or (stage.later is not None and run.work.has(stage.later))
    return not is_over


def _over(run: Share, result: Mapping[str, Any]) -> Ended | None:
    """Return the end of a run that is over; InputError if outputs are gone since then."""
    if run.stage != "finish":
        return None
    for path in result["outputs"]:
        if not exists(path):
            raise InputError(
                path,
                f"is missing, and the run in {run.work.path} that has written it is over: remove"
                " that directory to start over",
            )
    return Ended(**result)


def _refuse(run: Share, before: str, missing: Any, parts: int) -> NoReturn:
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


def _budget_of(manifest: Mapping[str, Any], run: Run) -> Budget:
    """Return the sizes that the first process has fixed; ValueError if the memory is too little."""
    budget = Budget(**manifest["budget"])
    if any(size < asdict(budget)[name] for name, size in asdict(run.budget).items()):
        raise ValueError(
            f"memory must be at least {budget.memory >> 20}M with {manifest['threads']} threads:"
            " that is for which the units of this run were made; give as much, or fewer threads"
        )
    return budget


def table_of(
    stages: Sequence[Stage], makes: Mapping[str, Callable[[], Any]], units: Mapping[str, Any]
) -> list[Stage]:
    """Return the table of a run: its stages with what they make."""
    return [stage._replace(make=makes[stage.name], units=units.get(stage.name)) for stage in stages]


def search_stages(
    run: Run,
    clock: Stopwatch,
    decide: Callable[[], None],
    finish: Callable[[], Ended],
    targets: OutputPlan | None = None,
    merge: Callable[[], Any] | None = None,
    left: Callable[[], RowsLeft] | None = None,
) -> list[Stage]:
    """Return the table of a search.

    Parameters
    ----------
    clock
        Takes the time of the stages that all searches have.
    decide, merge, finish
        What is done in these stages.
    targets, left
        Which rows are written, and what is left of the inputs; None: no rows.
    """

    def unite() -> None:
        what = "documents" if run.cutting is None else f"{run.cutting.name}s"
        check_memory(run, BASE + PER_UNITED * run.signed, f"unite {run.signed:,} {what}")
        summary = all_signed(run)
        if targets is not None and targets.index is not None and not run.work.has(LINKED):
            check_different_ids(run, summary)
        link_inputs(run)

    def gather() -> None:
        if run.stage is None:
            check_room(run)
        gather_segments(run)

    makes: dict[str, Callable[[], Any]] = {
        "sign": clock("signing")(partial(sign_units, run)),
        "link": clock("linking")(partial(link_units, run)), "unite": clock("linking")(unite),
        "gather": clock("gathering")(gather), "decide": decide, "finish": finish,
    }  # fmt: skip
    has = run.work.has
    units = {
        "sign": units_signed(run), "link": Units(lambda: link_names(run, run.signed), has),
        "gather": _texts(run),
        "decide": Units(lambda: [answer_name(part) for part in range(run.linked.parts)], has),
    }  # fmt: skip
    if targets is None or merge is None or left is None:
        return table_of(PAIR_STAGES, makes, units)
    if targets.folders:
        units["write"] = units_written(run.rows or run, targets)
    makes["merge"] = merge
    read = clock("decisions")(left)  # whose time the page of a run in stages tells

    def finish_all() -> Ended:
        read()
        return finish()

    makes["finish"] = finish_all
    makes["write"] = clock("writing")(partial(write_folder, run, targets, left))
    return table_of(SEARCH_STAGES, makes, units)


def _row_stages(run: Run, clock: Stopwatch) -> list[Stage]:
    """Return the table of the stages that make documents of rows."""

    def group(run: Run) -> None:
        check_memory(run, BASE + PER_GROUPED * run.signed, f"group {run.signed:,} rows")
        all_signed(run)
        grouped.number_groups(run)

    works: tuple[Callable[[Run], None], ...]
    works = (sign_units, group, gather_segments, grouped.write_documents)
    makes = {
        stage.name: clock("grouping")(partial(work, run))
        for stage, work in zip(ROW_STAGES, works, strict=True)
    }
    files = Units(lambda: grouped.document_files(run), run.work.has)
    return table_of(
        ROW_STAGES, makes, {"rows": units_signed(run), "collect": _texts(run), "join": files}
    )


def _texts(run: Run) -> Units:
    return Units(lambda: [texts_name(segment) for segment in run.segments], run.work.has)


def units_signed(run: Run) -> Units:
    """Return the units of signing, and which are complete."""
    return Units(
        lambda: range(len(run.units)),
        lambda unit: any(segment.last for segment in run.segments_of_unit(unit)),
    )


def check_memory(run: Run, needed: int, task: str) -> None:
    """Raise ValueError if a stage that is a process of its own may take less than it needs."""
    memory = run.request.engine.memory
    if run.stage is not None and needed > memory:
        raise ValueError(
            f"memory must be at least {-(-needed >> 20)}M to {task}, got {memory >> 20}M"
        )


def _finished(run: Run) -> str:
    """Return what a run before has done."""
    stages = {
        "signing": SIGNED, "linking": LINKED, "gathering": GATHERED, "decisions": ANSWER,
    }  # fmt: skip
    if run.work.has(DOCUMENTS_MADE):
        return "its documents have been made of their rows"
    finished = [stage for stage, name in stages.items() if run.work.has(name)]
    if finished and run.request.group is None:
        following = [*stages, "writing"][len(finished)]
        return f"finished are {', '.join(finished)}; {following} follows"
    read = "documents are signed" if run.request.group is None else "rows have been read"
    return f"{sum(segment.documents for segment in run.segments_so_far()):,} {read}"
