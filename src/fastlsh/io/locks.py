"""Locks that a process holds on an open file, and that end with it, by a kill too."""

import os


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
