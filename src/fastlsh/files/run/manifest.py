"""What a run is: its parameters, units and parts, and the files that it reads."""

import errno
import os
import sys
from binascii import crc32
from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import pairwise
from typing import Any, NamedTuple

from fastlsh._version import __version__
from fastlsh.errors import InputError
from fastlsh.files.run.ownership import FINISHED, MANIFEST, OVER, check_ours, holds_work, marks_in
from fastlsh.files.run.workdir import WorkDirectory
from fastlsh.io import (
    ALL_BYTES,
    ByteRange,
    Options,
    Source,
    exists,
    identity,
    is_divisible,
    open_raw,
)
from fastlsh.parameters import SearchParams
from fastlsh.texts import Shingler

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
    sizes = [entry["size"] for entry in description["inputs"]]
    most = min(max(sum(sizes) // UNITS, UNIT), LARGEST_UNIT)
    starts: list[tuple[int, int]] = []
    size = 0
    for number, file_size in enumerate(sizes):
        if not starts or size + file_size > most or number == description.get("against_files"):
            starts.append((number, 0))
            size = 0
        size += file_size
        if file_size > most and number < surely_read and is_divisible(sources[number]):
            ranges = -(-file_size // most)
            starts += [(number, file_size * index // ranges) for index in range(1, ranges)]
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


VERSION, FORMAT = "work directory", 10
"""The number of the format of the work directory, and what a description calls it."""

ENDS = 1 << 16
"""Bytes at the head and the tail of a file that are looked at."""


def described(
    job: str, params: SearchParams, sources: list[Source], more: Mapping[str, Any], surely_read: int
) -> dict[str, Any]:
    """Return all that the answer depends on, as JSON values by name.

    Parameters
    ----------
    job
        What is made: such as ``dedup`` or ``pairs``.
    params, more
        Of the search, and of the job.
    sources
        The files, in order.
    surely_read
        How many of these are read whatever they contain. The others may lie behind a limit, and are
        not opened here.
    """
    search = {"threshold": params.threshold, **params.removal_keywords, **more}
    return described_run(job, search, sources, surely_read)


def described_run(
    job: str, decided: Mapping[str, Any], sources: list[Source], surely_read: int
) -> dict[str, Any]:
    """Return the same of any run; `decided` has a shingler among what the answer depends on."""
    decided = dict(decided)
    cut = {
        name if name == "key" else f"shingler.{name}": value
        for name, value in plain_shingler(decided.pop("shingler")).items()
    }
    return {
        VERSION: FORMAT, "fastlsh": __version__, "byte order": sys.byteorder, "job": job,
        **decided, **cut, "inputs": fingerprints(sources, surely_read),
    }  # fmt: skip


def plain_shingler(shingler: Shingler) -> dict[str, Any]:
    """Return the parameters of shingles as JSON values.

    A secret key is there by its fingerprint, and ignored shingles by their digest.
    """
    values = {field.name: _plain(getattr(shingler, field.name)) for field in fields(shingler)}
    key, ignored = values.pop("key"), values.pop("ignored")
    if ignored is not None:
        values["ignored"] = ignored.digest
    return values if key is None else {**values, "key": key.fingerprint}


def fingerprints(sources: list[Source], opened: int) -> list[dict[str, Any]]:
    """Return how files are recognised; only the first so many of them are opened."""
    return [_fingerprint(source, opened=number < opened) for number, source in enumerate(sources)]


def begin(
    work: WorkDirectory, description: dict[str, Any], planned: dict[str, Any], *, restart: bool
) -> bool:
    """Take up the run of a work directory, or begin one; return whether there was one.

    Parameters
    ----------
    work, description
        The directory, and what the run is.
    planned
        What the first process fixes for all others.
    restart
        Whether what a run before has done is thrown away.

    Raises
    ------
    InputError
        It holds a run of something else; the message says of what.
    """
    marks = marks_in(work.path)
    if MANIFEST in marks and not restart:
        version = work.read(MANIFEST).get(VERSION, FORMAT)  # other formats are not touched
        _check_same(work, {VERSION: version}, {VERSION: FORMAT})
    work.clean()
    if not marks and holds_work(work.path):
        if not restart:
            work.read(MANIFEST)  # which says that it is damaged or missing
        work.give_up()
    if OVER in marks or FINISHED in marks or restart:
        work.empty()
        work.drop(FINISHED)
    if restart or not work.has(MANIFEST):  # a directory of that name may have come back
        work.begin({**description, **planned})
        return False
    saved = work.read(MANIFEST)
    _check_same(work, saved, {**description, **fixed(saved)})
    return True


def _check_same(work: WorkDirectory, saved: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    """Raise InputError if the saved description is not that of the run that is asked for."""
    if difference := _difference(saved, asked):
        raise InputError(
            work.path,
            f"holds a run of another job: {difference}. Give restart=True to start"
            " over, or another directory as work=",
        )


def join(
    work: WorkDirectory,
    description: dict[str, Any],
    planned: dict[str, Any],
    *,
    stage: str | None,
    first: str,
) -> Mapping[str, Any]:
    """Take part in the run of a directory that processes share; return its manifest.

    If the run is over, it is the description of it with its result. The other parameters are those
    of `begin`; in the first stage, the run may be begun.

    Raises
    ------
    InputError
        It holds a run of something else, or none; or it belongs to another program.
    """
    name = FINISHED if work.has(FINISHED) else MANIFEST
    if not work.has(name):
        if stage != first:
            reason = f"no run has begun here: the first stage is stage={first!r}"
            raise InputError(work.path, reason)
        work.begin({**description, **planned})
    try:
        saved: Mapping[str, Any] = work.read(name)
    except InputError:
        check_ours(work.path)
        raise
    if difference := _difference(saved, {**fixed(saved), **description}):
        start_over = "Remove this directory to start over, or give another one as work="
        if saved.get(VERSION, FORMAT) != FORMAT:
            start_over = (
                "Give another directory as work=, or start over in this one with restart=True,"
                " which is for a run in one process"
            )
        raise InputError(work.path, f"holds a run of another job: {difference}. {start_over}")
    return saved


OUTPUT_PATH = "output path"
"""What a description calls the path of the output."""
RESULT = "result"
"""What is added to the description of a run that is over."""
_PLANNED = ("run", "units", "range", "budget", "threads", "parts", RESULT)
_PATHS = (
    OUTPUT_PATH, "convert_to", "removed", "clusters", "report", "save_index", "index_texts", "hits",
    "components",
)  # fmt: skip
"""Where outputs are written, which only processes that share a directory must agree about."""


_FILES = {"inputs": "input", "evals": "evaluation file"}
"""What a description calls lists of files, and how a message calls one of them."""


def fixed(saved: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the first process of a run has fixed for all others."""
    return {name: saved[name] for name in (*_PLANNED, *_PATHS) if name in saved}


def check_unchanged(work: WorkDirectory, sources: list[Source]) -> None:
    """Raise InputError if one of the first files is no longer what it was when the run began."""
    for source, saved in zip(sources, work.read(MANIFEST)["inputs"], strict=False):
        if _fingerprint(source, opened="checksum" in saved) != saved:
            raise source.error(f"changed during the run: {work.start_over}")


def _difference(saved: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """Return what differs first, in words; empty if nothing does."""
    for name in {**asked, **saved}:
        before, now = saved.get(name), asked.get(name)
        if before == now:
            continue
        if name not in _FILES:
            return f"{name} was {before}, and is {now}"
        if len(before or ()) != len(now or ()):
            return f"there were {len(before or ())} {_FILES[name]}s, and are {len(now or ())}"
        for old, new in zip(before or (), now or (), strict=True):
            if old["path"] != new["path"]:
                return f"an {_FILES[name]} was {old['path']}, and is {new['path']}"
            if old.get("options") != new.get("options"):
                return _difference(old["options"], new["options"])
            if old != new:
                return f"{new['path']} has changed since"
    return ""


ROWS = fields(Options)
"""The options that decide which documents a file has."""


def _fingerprint(source: Source, *, opened: bool) -> dict[str, Any]:
    file_identity = identity(source)
    if file_identity is None and not exists(source.path):
        raise source.error(os.strerror(errno.ENOENT))
    if file_identity is None:
        raise source.error("not a regular file, and a run on disk reads its inputs several times")
    facts = {
        "path": source.path,
        "options": {field.name: _plain(getattr(source.options, field.name)) for field in ROWS},
        "size": file_identity.size,
        "time": file_identity.time,
    }
    if not opened:
        return facts
    try:
        with open_raw(source.path) as file:
            head = file.read(ENDS)
            file.seek(max(file_identity.size - ENDS, 0))
            tail = file.read(ENDS)
    except OSError as error:
        raise source.error(error.strerror or str(error)) from error
    return {**facts, "checksum": crc32(tail, crc32(head))}


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; a function by its name."""
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(value))}"
    if isinstance(value, (tuple, list, set, frozenset)):
        return sorted(map(str, value)) if isinstance(value, (set, frozenset)) else list(value)
    return value
