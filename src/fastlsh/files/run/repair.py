"""A file that could not be read: what was signed before it stays valid when it has been mended."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from fastlsh.errors import InputError, LongRowError
from fastlsh.files.run.manifest import fixed
from fastlsh.files.run.ownership import LOCK, MANIFEST
from fastlsh.files.run.run import Run
from fastlsh.files.run.workdir import WorkDirectory

BROKEN = "broken.json"
"""Which file it was, while all are signed."""


class FailedUnitError(Exception):
    """A file of a unit cannot be read, or has a bad row."""

    def __init__(self, unit: int, error: InputError) -> None:
        super().__init__(unit, error)
        self.unit = unit
        self.error = error


@contextmanager
def in_unit(unit: int) -> Iterator[None]:
    """Say which unit an error is in."""
    try:
        yield
    except LongRowError:
        raise
    except InputError as error:
        raise FailedUnitError(unit, error) from None


def broken_file(run: Run, error: InputError) -> int | None:
    """Return which file cannot be read, if what was signed before it is to be written.

    Processes with the same part, however, must end their runs behind the same blocks.
    """
    paths = [source.path for source in run.sources]
    return paths.index(error.path) if not run.stage and error.path in paths else None


def remember_broken(run: Run, error: InputError) -> None:
    """Write down which file cannot be read, so that the run can go on when it has been mended."""
    number = broken_file(run, error)
    if number is not None:
        run.work.write(BROKEN, {"source": number})


def forget_unless_resumable(work: WorkDirectory) -> None:
    """Empty the directory of a run that has finished nothing: there is nothing to continue."""
    if set(os.listdir(work.path)) <= {LOCK, MANIFEST, BROKEN}:
        work.empty()


def accept_mended(run: Run, description: Mapping[str, Any]) -> None:
    """Let the run go on if the broken file, or one behind it, differs from what the manifest says.

    The runs of keys that hold blocks of these files are removed. Whatever else differs stays for
    `manifest.begin` to refuse.
    """
    work = run.work
    if not (work.has(BROKEN) and work.has(MANIFEST)):
        return
    saved, number = work.read(MANIFEST), work.read(BROKEN)["source"]
    before, now = saved["inputs"], description["inputs"]
    if before == now or [entry["path"] for entry in before] != [entry["path"] for entry in now]:
        return
    description = {**description, **fixed(saved)}
    if {**saved, "inputs": 0} != {**description, "inputs": 0} or before[:number] != now[:number]:
        return
    for segment in reversed(run.segments_so_far()):
        if segment.blocks[-1].source >= number:
            work.drop(segment.name)
            work.make_way(segment.name)  # with a file of somebody else, it is still there
    work.write(MANIFEST, description)
    work.drop(BROKEN)
