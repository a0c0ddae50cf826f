"""What a journal says that a process has left, as far as it is to be believed."""

import json
import os
import stat
from contextlib import suppress
from typing import Any, NamedTuple

from fastlsh.io.journal import TEMPORARY, is_at, journal_path
from fastlsh.io.locks import try_lock

_MOST_BYTES = 1 << 27


class Refused(Exception):  # noqa: N818
    """A journal is left alone, for this reason."""


class JournalPart(NamedTuple):
    """A journal, and what it says about its folder."""

    folder: str
    lead: Any
    made: bool
    entries: list[dict[str, Any]]
    device: int


def read_journal(folder: str, run: str) -> JournalPart | None:
    """Return what a journal says; None if it is gone, or somebody else's."""
    number = _open(journal_path(folder, run), os.O_RDONLY)
    if number is None:
        return None
    try:
        return parsed(folder, number)
    except OSError:  # Windows: it is locked
        return None
    finally:
        os.close(number)


def lock_journal(path: str) -> int | None:
    """Open and lock a journal; None if it is gone, somebody else's, or its process is at work."""
    number = _open(path, os.O_RDWR)
    if number is not None and not (try_lock(number) and is_at(number, path)):
        os.close(number)
        return None
    return number


def _open(path: str, flags: int) -> int | None:
    """Open a regular file of this user; None if it is anything else, and nothing waits for it."""
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"):
        flags |= getattr(os, name, 0)
    try:
        number = os.open(path, flags)
    except OSError:
        return None
    if _is_ours(os.fstat(number)):
        return number
    os.close(number)
    return None


def _is_ours(found: os.stat_result) -> bool:
    return stat.S_ISREG(found.st_mode) and (os.name == "nt" or found.st_uid == os.geteuid())


def parsed(folder: str, number: int) -> JournalPart:
    """Return what an open journal says."""
    if os.fstat(number).st_size > _MOST_BYTES:
        raise Refused("it is too large")
    with open(os.dup(number), "rb") as file:
        lines = file.read().split(b"\n")[:-1]  # the last one may be cut
    entries = []
    for line_number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            entry = None
        if not isinstance(entry, dict):
            raise Refused(f"line {line_number} is not a JSON object")
        entries.append(entry)
    # With no line yet, there are no temporary files that it could be about.
    head = entries[0] if entries else {"lead": None, "made": False}
    return JournalPart(folder, head["lead"], bool(head["made"]), entries, os.fstat(number).st_dev)


def checked_folder(folder: Any, own: str) -> str:
    """Return a folder that a journal names, if looking there does no harm."""
    drive = os.path.splitdrive(folder)[0]
    if not os.path.isabs(folder) or (len(drive) > 2 and drive != os.path.splitdrive(own)[0]):
        raise Refused(f"it names the folder {folder!r}")  # a share, for one, gets to see passwords
    return str(folder)


def temporaries(part: JournalPart, run: str) -> set[str]:
    """Return the names of the run's temporary files in a folder."""
    names = set()
    with suppress(OSError), os.scandir(part.folder) as found:
        for entry in found:
            match = TEMPORARY.fullmatch(entry.name)
            if match and match[1] == run:
                status = os.lstat(entry.path)
                if _is_ours(status) and status.st_dev == part.device:
                    names.add(entry.name)
    return names


def inside(part: JournalPart, name: str) -> str:
    """Return the path of a file that lies directly in the folder of a journal."""
    if name in ("", os.curdir, os.pardir) or name != os.path.basename(name):
        raise Refused(f"it names the file {name!r}")
    return os.path.join(part.folder, name)
