"""The stages of a run: a table for each kind of run, which all that works on stages reads."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

from fastlsh.files.run.records import (
    ANSWER,
    DOCUMENT_FILES,
    DOCUMENTS_MADE,
    GATHERED,
    KEPT,
    LINKED,
    SAMPLE,
    SIGNED,
)
from fastlsh.files.run.workdir import WorkDirectory

T = TypeVar("T")

PER_GROUPED = 40
"""Bytes of memory for each row while groups are numbered, if each row is one."""
PER_UNITED = 8
"""Bytes for each document while families are united: in mapped files, if they are many."""


class Units(NamedTuple):
    """The units of a stage, and which of them are done."""

    every: Callable[[], Sequence[Any]]
    has: Callable[[Any], bool]

    def missing(self) -> tuple[Any, Any] | None:
        """Return all units and those that are missing; None if none is."""
        every = self.every()
        missing = [unit for unit in every if not self.has(unit)]
        return (every, missing) if missing else None


class Stage(NamedTuple):
    """A stage of a run: a row of the table that plans, refusals and processes read.

    The last two columns are those of a certain run.
    """

    name: str
    is_whole: bool = False
    """Whether it is one unit, which is not divided into parts."""
    later: str | None = None
    """The file that is there when nobody needs the stage any more."""
    per_document: int = 0
    """Bytes of memory for each document, or piece of one, if the stage has all in a process."""
    make: Callable[[], Any] = lambda: None
    """Makes the units of this process's part that are missing; the last stage returns `Ended`."""
    units: Units | None = None
    """None: nobody waits for them, or there is one, which leaves the file of `later`."""


class Ended(NamedTuple):
    """What the last stage of a run returns."""

    found: Any
    """A summary and counts, in a named tuple or a list."""
    outputs: Sequence[str]
    """What has been written."""


SEARCH_STAGES = (
    Stage("sign", later=SIGNED), Stage("link", later=LINKED),
    Stage("unite", True, LINKED, PER_UNITED), Stage("gather", later=GATHERED),
    Stage("decide", later=ANSWER), Stage("merge", True, KEPT, 2), Stage("write"),
    Stage("finish", True, None, 40),
)  # fmt: skip
"""The stages of a search whose answer is written as rows."""

PAIR_STAGES = tuple(stage for stage in SEARCH_STAGES if stage.name not in ("merge", "write"))
"""The stages of a search for pairs, and of an overlap."""

ROW_STAGES = (
    Stage("rows", later=SIGNED), Stage("group", True, DOCUMENT_FILES, PER_GROUPED),
    Stage("collect", later=DOCUMENTS_MADE), Stage("join", later=DOCUMENTS_MADE),
)  # fmt: skip
"""The stages before these where documents are made of several rows."""

CONTAMINATION_STAGES = (
    Stage("sample", True, SAMPLE), Stage("find"), Stage("write"), Stage("finish", True),
)  # fmt: skip
"""The stages of a decontamination."""


def names_of(stages: Sequence[Stage]) -> tuple[str, ...]:
    """Return the names of stages, in order."""
    return tuple(stage.name for stage in stages)


STAGES, OF_PAIRS, OF_ROWS, OF_DECONTAMINATION = map(
    names_of, (SEARCH_STAGES, PAIR_STAGES, ROW_STAGES, CONTAMINATION_STAGES)
)
WHOLE = tuple(
    stage.name for stage in (*ROW_STAGES, *SEARCH_STAGES, *CONTAMINATION_STAGES) if stage.is_whole
)
"""The stages that are not divided into parts."""


class ProcessPart(NamedTuple):
    """One of several parts of a stage."""

    number: int = 1
    """From 1."""
    of: int = 1

    def share(self, units: Sequence[T]) -> Sequence[T]:
        """Return the units of this part: a stretch of them, so that a file is read once."""
        n = len(units)
        return units[n * (self.number - 1) // self.of : n * self.number // self.of]

    def holding(self, units: Sequence[T], chosen: Sequence[T]) -> list[int]:
        """Return the numbers of the parts, of as many as here, that have some of the units."""
        held = set(chosen)
        parts = (ProcessPart(number, self.of) for number in range(1, self.of + 1))
        return [part.number for part in parts if held.intersection(part.share(units))]


ALL = ProcessPart()


def check_stage(
    stage: str | None, part: tuple[int, int] | None, stages: Sequence[str] = (*STAGES, *OF_ROWS)
) -> ProcessPart:
    """Return the part of a stage that is asked for, or raise ValueError."""
    if stage is None:
        if part is not None:
            raise ValueError("part has no effect without a stage: give stage=, too")
        return ALL
    if stage not in stages:
        raise ValueError(f"stage must be one of {', '.join(stages)}, got {stage!r}")
    if part is None:
        return ALL
    if stage in WHOLE and tuple(part) != ALL:
        raise ValueError(f"the stage {stage} is not divided: leave out part=")
    number, of = part
    if not 1 <= number <= of:
        raise ValueError(f"part must be from 1/{of} to {of}/{of}, got {number}/{of}")
    return ProcessPart(number, of)


def check_pair_stage(stage: str | None, what: str) -> None:
    """Raise ValueError if a search that does not write rows has no such stage."""
    if stage is not None and stage not in (*OF_ROWS, *OF_PAIRS):
        raise ValueError(f"{what} has no stage {stage}: its stages are {', '.join(OF_PAIRS)}")


def missing_before(
    work: WorkDirectory, name: str | None, stages: Sequence[Stage]
) -> tuple[str, Any]:
    """Return the earlier stage that is incomplete, with its units and the missing units.

    A stage without units is complete when the stage before it is; a stage that is not among
    `stages` comes behind all of them.
    """
    names = names_of(stages)
    earlier = stages[: names.index(name) if name in names else len(names)]
    for number, stage in reversed(list(enumerate(earlier))):
        if stage.later is not None and work.has(stage.later):
            break
        before = [other for other in earlier[: number + 1] if other.is_whole]
        if before and not (before[-1].later and work.has(before[-1].later)):
            return before[-1].name, True
        if stage.units is not None:
            return stage.name, stage.units.missing()
    return "", None
