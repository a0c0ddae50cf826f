"""What a folder has, in an order that is the same on every machine."""

import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import NamedTuple

_WITHOUT_ROWS = (
    ".*", "_SUCCESS", "*.crc", "*.lock", "*.md", "README*", "LICENSE*", "dataset_info*.json",
    "state.json", "_metadata", "_common_metadata",
)  # fmt: skip
"""Names of files that stand beside data and have no rows."""


class Listing(NamedTuple):
    """What is in a folder.

    Parameters
    ----------
    files : list of str
        Paths, in order of their bytes; of folders inside only if these are listed too.
    others : list of str
        What is neither a file nor a folder: pipes, devices.
    folders : list of str
        Those that were not entered.
    passed_over : list of str
        Files that have no rows by their names, and hidden folders.
    """

    files: list[str]
    others: list[str]
    folders: list[str]
    passed_over: list[str]


class Identity(NamedTuple):
    """Identity of a file while it is worked on, as plain integers."""

    size: int
    time: int
    """Of the last change, in nanoseconds."""
    number: int
    """The inode; of an object, a checksum of its tag."""


def is_left_out(name: str, *, folder: bool = False) -> bool:
    """Whether a file has no rows by its name, or a folder is not entered: ``_temporary``."""
    if folder:
        return name.startswith((".", "_"))
    return any(fnmatchcase(name, each) for each in _WITHOUT_ROWS)


def sorted_paths(paths: Iterable[str]) -> list[str]:
    """Sort by the bytes of the paths, with slashes: as object storage lists them."""
    return sorted(paths, key=_bytes)


def _bytes(path: str) -> bytes:
    # What is no UTF-8 (no UTF-16 on Windows) in a local name came as lone surrogates.
    errors = "surrogatepass" if os.name == "nt" else "surrogateescape"
    return path.replace(os.sep, "/").encode("utf-8", errors)
