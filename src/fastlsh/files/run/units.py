"""Units: what is signed or searched by one process at a time, as a manifest fixes it."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from fastlsh.files.run.ownership import MANIFEST
from fastlsh.files.run.workdir import WorkDirectory
from fastlsh.io import ALL_BYTES, ByteRange, Source, is_divisible

UNITS, UNIT, LARGEST_UNIT = 1 << 10, 1 << 25, 1 << 30
"""There are about so many units, none of fewer bytes than the second number says, if there are
more, and none of more bytes than the third one, unless it is a file that cannot be divided."""


class Unit(NamedTuple):
    """Consecutive files, or a range of one file."""

    files: range
    """Their numbers."""
    within: ByteRange = ALL_BYTES
    """The range."""


def plan_units(
    description: Mapping[str, Any], sources: Sequence[Source], surely_read: int
) -> list[tuple[int, int]]:
    """Return where each unit begins: the number of a file, and a byte in it.

    The sizes of the files decide, so that any process plans the same without opening one. The files
    of `against` have their own units.

    Parameters
    ----------
    description
        What `manifest.described` returns.
    sources
        The files.
    surely_read
        How many of these are read whatever they contain; the others are not divided.
    """
    sizes = [each["size"] for each in description["inputs"]]
    most = min(max(sum(sizes) // UNITS, UNIT), LARGEST_UNIT)
    starts: list[tuple[int, int]] = []
    size = 0
    for number, each in enumerate(sizes):
        if not starts or size + each > most or number == description.get("against_files"):
            starts.append((number, 0))
            size = 0
        size += each
        if each > most and number < surely_read and is_divisible(sources[number]):
            ranges = -(-each // most)
            starts += [(number, each * index // ranges) for index in range(1, ranges)]
    return starts


def units_in(work: WorkDirectory, files: int) -> list[Unit]:
    """Return the units of a run with so many files, as the manifest has them."""
    edges = [*work.read(MANIFEST)["units"], (files, 0)]
    units = []
    for (number, start), (following, stop) in pairwise(edges):
        if start or stop:
            within = ByteRange(start, stop if following == number else None)
            units.append(Unit(range(number, number + 1), within))
        else:
            units.append(Unit(range(number, following)))
    return units
