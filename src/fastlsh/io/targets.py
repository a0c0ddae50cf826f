"""Whether an output can be written, asked before the work whose result it takes."""

import os

from fastlsh.errors import InputError
from fastlsh.io import filesystems
from fastlsh.io.errors import reading
from fastlsh.io.special import descriptor, is_written_in_place


def check_target(path: str | os.PathLike[str], *, folders: bool = False) -> None:
    """Check that a file can be written, before the work whose result it takes.

    Parameters
    ----------
    path : path
        The output.
    folders : bool
        Whether directories that are missing will be made.

    Raises
    ------
    InputError
        If the directory does not exist or cannot be written to, or the output is a directory.
    """
    name = os.fspath(path)
    if filesystems.is_remote(name):
        filesystems.check_writable(name, folder=False)
    else:
        with reading(name):
            _check_location(name, folders=folders)


def _check_location(name: str, *, folders: bool) -> None:
    number = descriptor(name)
    parent = os.path.dirname(os.path.realpath(name))
    if number is not None:
        os.fstat(number)
        return
    if os.path.isdir(name):
        raise InputError(name, "the output is a directory")
    if folders:
        parent = _nearest(parent)
        if not os.path.isdir(parent):
            raise InputError(name, f"{parent} is a file, but must be a directory")
    elif not os.path.isdir(parent):
        raise InputError(name, f"there is no directory {parent}")
    if not is_written_in_place(name) and not os.access(parent, os.W_OK):
        raise InputError(name, f"the directory {parent} cannot be written to")


def _nearest(folder: str) -> str:
    """Return what exists of a path."""
    while not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    return folder
