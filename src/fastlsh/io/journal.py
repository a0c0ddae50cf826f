"""What a run is about to put in place, kept beside it, so that a kill leaves nothing half done.

A journal is a hidden file that its process keeps locked. It names each temporary file before that
is made, and at last says that all of them are whole. A journal that nobody locks any more is that
of a process that was killed: `recover` renames what is whole, or removes what is not.
"""

import glob
import json
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from fastlsh.errors import InputError, warn_caller
from fastlsh.io.locks import try_lock
from fastlsh.io.places import is_remote
from fastlsh.io.special import is_written_in_place

_NAMED = 3


class Journal:
    """The journal of this process, in a folder of one of its outputs, once it has begun."""

    def __init__(self) -> None:
        self._path = ""
        self._number = -1

    @property
    def has_begun(self) -> bool:
        """Whether there is a file."""
        return self._number >= 0

    def begin(self, folder: str) -> None:
        """Make it, in a directory that exists."""
        while True:
            # What is interrupted right after the file is made knows its name.
            name = f".fastlsh-{os.getpid()}-{secrets.token_hex(4)}.journal"
            self._path = os.path.join(folder, name)
            number = os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
            try_lock(number)
            if _is_at(number, self._path):
                self._number = number
                return
            os.close(number)  # before it was locked, another run took it for abandoned

    def add(self, **entry: Any) -> None:
        """Write down what is going to be made."""
        line = json.dumps(entry).encode() + b"\n"
        if os.write(self._number, line) < len(line):
            raise OSError(28, "No space left on device")

    def whole(self, files: Iterable[tuple[str, str]], absent: Iterable[str]) -> None:
        """Write down that all files are whole, in the order in which they are renamed."""
        self.add(
            files=[(temporary, target, _known(target)) for temporary, target in files],
            absent=list(absent),
        )
        os.fsync(self._number)

    def leave(self) -> None:
        """Let the next run complete what has not been renamed."""
        number, self._number = self._number, -1
        self._path = ""
        os.close(number)

    def end(self) -> None:
        """Remove it, if it is there."""
        path, self._path = self._path, ""
        number, self._number = self._number, -1
        if path and os.name != "nt":  # the other way round, another run might lock it in between
            with suppress(OSError):
                os.unlink(path)
        if number >= 0:
            os.close(number)
        if path and os.name == "nt":  # where what is open cannot be removed
            with suppress(OSError):
                os.unlink(path)


def recover(folders: Iterable[str]) -> None:
    """Complete, or undo, what processes that were killed were about to put into some folders.

    Whatever was done to a target since then stays as it is.

    Raises
    ------
    InputError
        If a file that is whole cannot be renamed.
    """
    for folder in sorted(set(folders)):
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), ".fastlsh-*.journal"))):
            with _abandoned(path) as entries:
                _settle(entries)
            for entry in reversed(entries):
                if "folder" in entry:
                    with suppress(OSError):  # what has appeared in it stays
                        os.rmdir(entry["folder"])


def recover_outputs(paths: Iterable[str | os.PathLike[str] | None]) -> None:
    """Complete, or undo, what a run that was killed was about to put where outputs will be.

    Parameters
    ----------
    paths : iterable of path or None
        All outputs; those that are not files of this machine are passed over.

    Raises
    ------
    InputError
        If an output that is whole cannot be renamed.
    """
    local = {os.fspath(path) for path in paths if path is not None}
    local = {path for path in local if not (is_remote(path) or is_written_in_place(path))}
    folders = {os.path.dirname(os.path.abspath(path)) for path in local}
    folders |= {os.path.dirname(os.path.realpath(path)) for path in local if os.path.islink(path)}
    recover(map(os.path.realpath, folders))


@contextmanager
def _abandoned(path: str) -> Iterator[list[dict[str, Any]]]:
    """Give the entries of a journal that nobody works with; it is removed in the end."""
    try:
        number = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
    except OSError:  # it is gone, or somebody else's
        yield []
        return
    try:
        if not (_is_ours(number) and try_lock(number) and _is_at(number, path)):
            yield []
            return
        with open(os.dup(number), "rb") as file:
            lines = file.read().split(b"\n")[:-1]  # the last one may be cut
        yield [json.loads(line) for line in lines]
        os.unlink(path) if os.name != "nt" else None
    finally:
        os.close(number)
    if os.name == "nt":
        os.unlink(path)


def _settle(entries: list[dict[str, Any]]) -> None:
    whole = next((entry for entry in entries if "files" in entry), None)
    if whole is not None:
        left = [each for each in whole["files"] if os.path.lexists(each[0])]
        if all(_known(target) == known for _, target, known in left):
            _complete(left, whole["absent"])
    temporaries = [entry["temporary"] for entry in entries if "temporary" in entry]
    left_over = [path for path in temporaries if os.path.lexists(path)]
    for path in left_over:
        with suppress(OSError):
            os.unlink(path)
    if left_over:
        warn_caller(
            f"removed temporary files of a run that was killed: {len(left_over)}", UserWarning
        )


def _complete(left: list[tuple[str, str, Any]], absent: list[str]) -> None:
    for temporary, target, _ in left:
        try:
            os.replace(temporary, target)
        except OSError as error:  # noqa: PERF203
            reason = (
                f"is whole since a run that was killed, and cannot be renamed: {error.strerror}"
            )
            raise InputError(target, reason) from error
    for path in absent if left else ():
        with suppress(OSError):
            os.unlink(path)
    if left:
        names = ", ".join(target for _, target, _ in left[:_NAMED])
        more = f" and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
        warn_caller(f"completed the outputs of a run that was killed: {names}{more}", UserWarning)


def _known(path: str) -> list[int] | None:
    """Return what a target is known by, None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return [found.st_ino, found.st_mtime_ns, found.st_size]


def _is_ours(number: int) -> bool:
    # In a folder for everybody, another user's journal could name any file of ours.
    found = os.fstat(number)
    return stat.S_ISREG(found.st_mode) and (os.name == "nt" or found.st_uid == os.geteuid())


def _is_at(number: int, path: str) -> bool:
    """Whether an open file still has its name."""
    try:
        return os.path.samestat(os.fstat(number), os.stat(path, follow_symlinks=False))
    except OSError:
        return False
