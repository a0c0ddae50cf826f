"""The stages of a run on disk, and the part of one that a process works on."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

STAGES = ("sign", "link", "unite", "gather", "decide", "merge", "write", "finish")
"""All stages, in order."""

OF_ROWS = ("rows", "group", "collect", "join")
"""The stages before these where documents are made of several rows."""

OF_DECONTAMINATION = ("sample", "find", "write", "finish")
"""The stages of a decontamination."""

WHOLE = ("sample", "group", "unite", "merge", "finish")
"""The stages that are not divided into parts."""

OF_PAIRS = tuple(stage for stage in STAGES if stage not in ("merge", "write"))
"""The stages of a search for pairs, and of an overlap."""


class Part(NamedTuple):
    """One of several parts of a stage."""

    number: int = 1
    """From 1."""
    of: int = 1

    def share(self, units: Sequence[T]) -> Sequence[T]:
        """Return the units of this part: a stretch of them, so that a file is read once."""
        n = len(units)
        return units[n * (self.number - 1) // self.of : n * self.number // self.of]

    def holding(self, units: Sequence[T], some: Sequence[T]) -> list[int]:
        """Return the numbers of the parts, of as many as here, that have some of the units."""
        wanted = set(some)
        parts = (Part(number, self.of) for number in range(1, self.of + 1))
        return [each.number for each in parts if wanted.intersection(each.share(units))]


ALL = Part()


def check_stage(
    stage: str | None, part: tuple[int, int] | None, stages: Sequence[str] = (*STAGES, *OF_ROWS)
) -> Part:
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
    return Part(number, of)


def check_pair_stage(stage: str | None, what: str) -> None:
    """Raise ValueError if a search that does not write rows has no such stage."""
    if stage is not None and stage not in (*OF_ROWS, *OF_PAIRS):
        raise ValueError(f"{what} has no stage {stage}: its stages are {', '.join(OF_PAIRS)}")


def if_missing(every: Sequence[Any], has: Callable[[Any], bool]) -> tuple[Any, Any] | None:
    """Return all units and those that are missing; None if none is."""
    some = [each for each in every if not has(each)]
    return (every, some) if some else None
