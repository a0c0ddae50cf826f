"""Whether outputs can be written, asked before the work whose result they take."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress

from fastlsh.errors import InputError
from fastlsh.io import places
from fastlsh.io.errors import reading
from fastlsh.io.files import Paths, expand, folders_of
from fastlsh.io.folders import is_input
from fastlsh.io.formats import told
from fastlsh.io.special import descriptor, is_written_in_place


class Inputs:
    """What outputs must not replace, and where they must not lie.

    Parameters
    ----------
    inputs : path or iterable of paths
        As for `expand`.
    format : str, optional
        As for `expand`.
    recursive : bool
        As for `expand`.
    """

    def __init__(
        self,
        inputs: Paths = (),
        *,
        format: str | None = None,  # noqa: A002
        recursive: bool = False,
    ) -> None:
        self._forced = told(format)
        self._recursive = recursive
        self._files: dict[object, str] = {}
        self._folders: list[tuple[str, str]] = []
        given = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
        if given:
            for source in expand(given, format, recursive=recursive, mixed=True):
                if source.path != places.STANDARD:  # which is another stream as an output
                    self._files.setdefault(_identity(source.path), source.path)
            self._folders = [(folder, places.canonical(folder)) for folder in folders_of(given)]

    def check(self, path: str) -> None:
        """Raise if a file at this path would replace an input, or be read as one another time."""
        found = self._files.get(_identity(path))
        if found is not None:
            raise InputError(path, f"the output is one of the inputs{_named(found, path)}")
        place = places.canonical(path) if self._folders else ""
        for folder, known in self._folders:
            inside = places.relative(place, known)
            if inside is not None and self._is_input(inside.split("/")):
                raise InputError(
                    path, f"the output would lie among the inputs of the directory {folder}"
                )

    def _is_input(self, names: list[str]) -> bool:
        if len(names) > 1 and not self._recursive:
            return False
        hidden = any(map(places.is_left_out, names[:-1]))
        return not hidden and is_input(names[-1], self._forced)


def _identity(path: str) -> object:
    """Return what two paths of one file have in common."""
    name = places.canonical(path)
    if not places.is_remote(path):
        with suppress(OSError, ValueError):
            status = os.stat(name)
            return status.st_dev, status.st_ino
    return name


def _named(found: str, path: str) -> str:
    return "" if found == path else f": {found}"


def check_target(
    path: str | os.PathLike[str], inputs: "Paths | Inputs" = (), *, folders: bool = False
) -> None:
    """Check that a file can be written, before the work whose result it takes.

    Parameters
    ----------
    path : path
        The output.
    inputs : path, iterable of paths or Inputs
        Files that it must not replace, and directories among whose files it must not lie.
    folders : bool
        Whether directories that are missing will be made.

    Raises
    ------
    InputError
        If the directory does not exist or cannot be written to, or the output is a directory or
        one of the inputs.
    """
    name = os.fspath(path)
    known = inputs if isinstance(inputs, Inputs) else Inputs(inputs)
    if places.is_remote(name):
        places.check_writable(name, folder=False)
    else:
        with reading(name):
            _check_place(name, folders=folders)
    known.check(name)


def _check_place(name: str, *, folders: bool) -> None:
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


def check_targets(
    outputs: Mapping[str, str | os.PathLike[str] | None],
    inputs: "Paths | Inputs" = (),
    written: Iterable[str] = (),
) -> None:
    """Check several outputs, of which no two may be one file.

    Parameters
    ----------
    outputs : mapping of str to path or None
        Those that are asked for, by the name of the option.
    inputs : path, iterable of paths or Inputs
        As for `check_target`.
    written : iterable of str
        Further files that are written, by ``-o``, and have been checked.

    Raises
    ------
    InputError
        As `check_target`, or if two outputs are one file.
    """
    known = inputs if isinstance(inputs, Inputs) else Inputs(inputs)
    options = {places.canonical(path): "-o" for path in written}
    for option, path in outputs.items():
        if path is None:
            continue
        check_target(path, known)
        other = options.setdefault(places.canonical(os.fspath(path)), option)
        if other != option:
            raise InputError(path, f"{option} names the same file as {other}")
