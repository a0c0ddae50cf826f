"""What a folder has, in an order that is the same on every machine."""

import os
from collections.abc import Iterable
from typing import NamedTuple


class Listing(NamedTuple):
    """What is in a folder, without hidden names and those that begin with an underscore.

    Parameters
    ----------
    files : list of str
        Paths, in order of their bytes; of folders inside only if these are listed too.
    others : list of str
        What is neither a file nor a folder: pipes, devices.
    folders : list of str
        Those that were not entered.
    """

    files: list[str]
    others: list[str]
    folders: list[str]


class Identity(NamedTuple):
    """Identity of a file while it is worked on, as plain integers."""

    size: int
    time: int
    """Of the last change, in nanoseconds."""
    number: int
    """The inode; of an object, a checksum of its tag."""


def is_left_out(name: str) -> bool:
    """Whether a name is hidden, or begins with an underscore as ``_SUCCESS`` and ``_temporary``."""
    return name.startswith((".", "_"))


def sorted_paths(paths: Iterable[str]) -> list[str]:
    """Sort by the bytes of the paths, with slashes: as object storage lists them."""
    return sorted(paths, key=_bytes)


def _bytes(path: str) -> bytes:
    # What is no UTF-8 (no UTF-16 on Windows) in a local name came as lone surrogates.
    errors = "surrogatepass" if os.name == "nt" else "surrogateescape"
    return path.replace(os.sep, "/").encode("utf-8", errors)
