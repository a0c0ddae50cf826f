"""Which outputs a run has written, and whether they still are there: in one place for all jobs."""

import os
from binascii import crc32
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from fastlsh.errors import InputError
from fastlsh.files.run.workdir import WorkDirectory
from fastlsh.io import Replacements, absolute, exists, is_remote, open_raw

Paths = Mapping[int, str]
"""Outputs by number: that of a plan."""


@contextmanager
def recording(
    files: Replacements, work: WorkDirectory, name: str, made: str | None, paths: Paths
) -> Iterator[None]:
    """Keep a record of the outputs that are written inside, before they appear.

    Parameters
    ----------
    files
        What they are written with.
    work, name
        Where the record is kept.
    made
        How they are converted, or what else their bytes depend on besides the manifest.
    paths
        The outputs; one that is not written has no rows.
    """
    written: dict[str, Any] = {}

    def add(path: str, temporary: str) -> None:
        written[path] = _identity(path, temporary), _checksum(temporary)

    files.on_complete = add
    yield
    files.on_complete = None
    outputs = {number: written.get(path) for number, path in paths.items()}
    work.write(name, {"made": made, "outputs": outputs})


def outputs_there(
    work: WorkDirectory, name: str, made: str | None, paths: Paths, *, elsewhere: bool = False
) -> set[int]:
    """Return the numbers of the outputs that a record has, and that are at these paths.

    An output is recognised by its path, length, time, device and inode; if one of these differs, or
    is unknown, a checksum decides.

    Parameters
    ----------
    work, name, made, paths
        As for `recording`.
    elsewhere
        Whether another machine may have written it, where its device has another number: then
        length and time are enough.
    """
    if work.has(name):
        with suppress(InputError):
            saved = work.read(name)
            records = saved["outputs"] if saved["made"] == made else {}
            return {
                number
                for number, path in paths.items()
                if str(number) in records and _is_at(path, records[str(number)], elsewhere)
            }
    return set()


def _is_at(path: str, record: Any, elsewhere: bool) -> bool:
    if record is None or not exists(path):
        return record is None and not exists(path)
    identity, checksum = record
    with suppress(OSError):
        now = identity if is_remote(path) else _identity(path, path)
        same = now[1:3] == identity[1:3] if elsewhere else now == identity and not is_remote(path)
        return same or _checksum(path) == checksum
    return False


def _identity(path: str, file: str) -> list[Any]:
    status = os.stat(file)
    return [absolute(path), status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino]


def _checksum(path: str) -> int:
    checksum = 0
    with open_raw(path) as file:
        while data := file.read(1 << 22):
            checksum = crc32(data, checksum)
    return checksum
