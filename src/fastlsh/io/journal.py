"""The journals of a run: hidden files beside its outputs, so that a kill leaves all or nothing."""

import errno
import json
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple


def try_lock(number: int) -> bool:
    """Lock an open file until it is closed; False: somebody else has, or it cannot be locked."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


# From so many files or folders on, all are forced to the disk together, if the system waits for it.
MANY = 64 if sys.platform == "linux" else sys.maxsize
JOURNAL = re.compile(r"\.fastlsh-([0-9]+-[0-9a-f]{16})\.journal")
# An index in SQLite has files of its own beside it.
TEMPORARY = re.compile(r"\.fastlsh-([0-9]+-[0-9a-f]{16})-[0-9]+\.tmp(?:-journal|-wal|-shm)?")
_CANNOT_SYNC = (errno.EACCES, errno.EINVAL, errno.ENOTSUP)


class Journal:
    """The journals of one run, from the first folder that gets an output."""

    def __init__(self) -> None:
        self.run = f"{os.getpid()}-{secrets.token_hex(8)}"
        self._undecided = 0
        self._folders: dict[str, bool] = {}
        self._number = -1
        self._count = 0

    @property
    def lead(self) -> str:
        """The folder of the first journal; empty if there is none yet."""
        return next(iter(self._folders), "")

    def has(self, folder: str) -> bool:
        """Whether a folder has a journal."""
        return folder in self._folders

    def begin(self, folder: str, *, made: bool = False) -> None:
        """Make the journal of a directory that exists; `made`: by this run."""
        lead = self.lead
        if lead:
            _append(self._number, {"folder": folder})
            if len(self._folders) < MANY:
                os.fsync(self._number)
        self._folders[folder] = made  # before there is a file: an interrupt may come right after
        path = journal_path(folder, self.run)
        while True:
            number = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_APPEND, 0o600)
            try_lock(number)
            if is_at(number, path):
                break
            os.close(number)  # before it was locked, another run took it for abandoned
        if not lead:
            self._number = number
        try:
            _append(number, {"lead": lead or None, "made": made})
            if len(self._folders) < MANY:
                os.fsync(number)
                synchronise(folder)
                if made:
                    synchronise(os.path.dirname(folder))
        finally:
            if lead:
                os.close(number)

    def temporary(self, folder: str) -> str:
        """Return a name for a new file in a folder that has a journal."""
        self._count += 1
        return os.path.join(folder, f".fastlsh-{self.run}-{self._count}.tmp")

    def prepare(
        self, files: Iterable[tuple[str, str]], absent: Iterable[str], index: str | None
    ) -> None:
        """Write down that all temporary files are complete, and what is going to happen to them.

        The order is that of the renames. Where an index decides, `index` names it.
        """
        entries: dict[str, dict[str, Any]] = {}
        for order, (temporary, target) in enumerate(files):
            folder, name = os.path.split(target)
            written = os.path.basename(temporary)
            move = [order, written, name, inode_of(temporary), inode_of(target)]
            entries.setdefault(folder, {}).setdefault("files", []).append(move)
        for path in absent:
            folder, name = os.path.split(path)
            entries.setdefault(folder, {}).setdefault("absent", []).append([name, inode_of(path)])
        if index is not None:
            entries.setdefault(self.lead, {})["index"] = index
        for folder, entry in entries.items():
            if folder == self.lead:
                _append(self._number, entry)
                continue
            number = os.open(journal_path(folder, self.run), os.O_WRONLY | os.O_APPEND)
            try:
                _append(number, entry)
                if len(entries) < MANY:
                    os.fsync(number)
            finally:
                os.close(number)
        os.fsync(self._number)
        synchronise_all(self._folders)

    def decide(self) -> None:
        """Write down that all files appear."""
        self._undecided = os.fstat(self._number).st_size
        _append(self._number, {"decided": True})
        os.fsync(self._number)

    def revoke(self) -> None:
        """Take back the decision, if there was one: none of the files has appeared."""
        if self._undecided and self._number >= 0:
            os.ftruncate(self._number, self._undecided)
            os.fsync(self._number)

    def leave(self) -> None:
        """Let the next run complete, or undo, what has not been done."""
        number, self._number = self._number, -1
        self._folders = {}
        if number >= 0:
            os.close(number)

    def end(self) -> None:
        """Remove the journals that there are, and directories in which nothing has appeared."""
        synchronise_all(self._folders)
        self._remove()

    def discard(self) -> None:
        """Do the same after an error, even on a disk that refuses to synchronise."""
        with suppress(OSError):
            synchronise_all(self._folders)
        self._remove()

    def _remove(self) -> None:
        number, self._number = self._number, -1
        remove_journals(self.run, self._folders, number)
        self._folders = {}


def journal_path(folder: str, run: str) -> str:
    """Return the path of a run's journal in a folder."""
    return os.path.join(folder, f".fastlsh-{run}.journal")


def remove_journals(run: str, folders: dict[str, bool], number: int) -> None:
    """Remove the journals in some folders, the open lead, which is the first one, at last."""
    for i, (folder, made) in reversed(list(enumerate(folders.items()))):
        if not i and number >= 0 and os.name == "nt":  # which cannot remove an open file
            os.close(number)
        with suppress(OSError):
            os.unlink(journal_path(folder, run))
        if not i and number >= 0 and os.name != "nt":  # not before: another run might lock it
            os.close(number)
        if made:
            with suppress(OSError):  # what has appeared in it stays
                os.rmdir(folder)


def inode_of(path: str) -> list[int] | None:
    """Return the identity of a file or of a link; None if there is none.

    Nobody who sends files in an archive can know the number or the time beforehand.
    """
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return [status.st_ino, status.st_ctime_ns, status.st_size]


def is_at(number: int, path: str) -> bool:
    """Whether an open file still has its name."""
    try:
        return os.path.samestat(os.fstat(number), os.lstat(path))
    except OSError:
        return False


def synchronise(folder: str) -> None:
    """Bring the names in a directory to the disk, where the system can."""
    if os.name == "nt":
        return
    try:
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise


def synchronise_all(folders: Iterable[str]) -> None:
    """Bring the names in some directories to the disk."""
    paths = list(folders)
    if len(paths) >= MANY:
        os.sync()
        return
    for folder in paths:
        if os.path.isdir(folder):
            synchronise(folder)


def _append(number: int, entry: dict[str, Any]) -> None:
    """Add a line, or nothing of it."""
    line = json.dumps(entry).encode() + b"\n"
    before = os.fstat(number).st_size
    try:
        if os.write(number, line) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except BaseException:
        with suppress(OSError):
            os.ftruncate(number, before)
        raise


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


def _is_ours(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) and (os.name == "nt" or status.st_uid == os.geteuid())


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


def checked_folder(folder: Any, location: str) -> str:
    """Return a folder that a journal names, if looking there does no harm."""
    drive = os.path.splitdrive(folder)[0]
    if not os.path.isabs(folder) or (len(drive) > 2 and drive != os.path.splitdrive(location)[0]):
        raise Refused(f"it names the folder {folder!r}")  # a share, for one, gets to see passwords
    return str(folder)


def temporaries(part: JournalPart, run: str) -> set[str]:
    """Return the names of the run's temporary files in a folder."""
    names = set()
    with suppress(OSError), os.scandir(part.folder) as entries:
        for entry in entries:
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
