"""Outputs and inputs that are no regular files."""

import os

from fastlsh.io.filesystems import STANDARD


def is_special(name: str) -> bool:
    """Whether this is a device or a pipe."""
    return os.path.exists(name) and not os.path.isfile(name)


def descriptor(name: str) -> int | None:
    """Return the number of the open file that an output like ``/dev/stdout`` or ``-`` is."""
    if name == STANDARD:
        return 1
    path = os.path.abspath(name)
    folder, _, number = path.rpartition("/")
    if folder in ("/dev/fd", "/proc/self/fd") and number.isdecimal():
        return int(number)
    return {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}.get(path)


def is_written_in_place(name: str) -> bool:
    """Whether this is a device, a pipe or an open file, which is written to and never replaced."""
    return descriptor(name) is not None or is_special(name)
