"""A temporary file that becomes an output."""

import errno
import os
import stat

NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)
"""What a file system says that has no hard links."""


class LocalFile:
    """An output on this machine, and the temporary file that becomes it."""

    def __init__(self, target: str, place: int) -> None:
        self.target = target
        self.place = place
        self.temporary = ""
        self._mode = _mode(target) if os.path.exists(target) else None

    def begin(self) -> None:
        """Make the temporary file, if only its owner may read it until it is complete."""
        if self._mode is not None:
            os.close(os.open(self.temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))

    def finish(self, *, sync: bool) -> None:
        """Give the complete file its mode, and bring it to the disk."""
        if sync:
            with open(self.temporary, "rb+") as file:
                os.fsync(file.fileno())
        if self._mode is not None and _mode(self.temporary) != self._mode:
            os.chmod(self.temporary, self._mode)


def give_name(temporary: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Give a complete file its name; FileExistsError if another file has it.

    On a file system without hard links, a file of that name that appears at the same moment may be
    replaced.
    """
    try:
        os.link(temporary, path)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        if os.path.lexists(path):
            reason = os.strerror(errno.EEXIST)
            raise FileExistsError(errno.EEXIST, reason, os.fspath(path)) from None
        os.rename(temporary, path)


def _mode(name: str) -> int:
    return stat.S_IMODE(os.stat(name).st_mode) & 0o777
