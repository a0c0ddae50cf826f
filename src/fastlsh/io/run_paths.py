"""All paths of a run, compared before any of them is opened, and whether outputs can be written."""

import os
from collections.abc import Sequence
from typing import NamedTuple

from fastlsh.errors import InputError
from fastlsh.io import filesystems
from fastlsh.io.errors import reading
from fastlsh.io.files import Paths, are_keys, files_to_read, folders_of
from fastlsh.io.folders import is_input, parse_format
from fastlsh.io.same_file import FileIdentities, descriptor, is_written_in_place
from fastlsh.io.sources import ReadOptions, Source


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


Path = str | os.PathLike[str]

_INPUTS, _OTHERS = "one of the inputs", "one of the files of"
"""What a path of a collection is called if it is another path, too."""


class _Used(NamedTuple):
    path: str
    name: str
    """Of the option or argument."""
    what: str
    """What an error calls the file: "the output"."""
    phrase: str
    """What another path names if it is the same file: "one of the inputs"."""


class RunPaths:
    """The paths of a run: what it reads, writes, changes and deletes.

    Names are those that the user knows: options of a command, arguments of a function.

    Parameters
    ----------
    options : ReadOptions
        How files are found and read.
    """

    def __init__(self, options: ReadOptions = ReadOptions()) -> None:  # noqa: B008
        self._options = options
        self._read: list[_Used] = []
        self._written: list[_Used] = []
        self._folders: list[str] = []
        self._work: _Used | None = None
        self._identities = FileIdentities()

    def reads(
        self, name: str | None, inputs: Paths, sources: Sequence[Source] | None = None
    ) -> None:
        """Add a collection.

        Parameters
        ----------
        name : str or None
            None: the inputs.
        inputs : path or iterable of paths
            As for `files_to_read`.
        sources : sequence of Source, optional
            The files that `inputs` stand for, if they are known already.
        """
        patterns = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
        if not patterns:
            return
        if sources is None:
            sources = files_to_read(patterns, self._options, mixed=True)
        phrase = _INPUTS if name is None else f"{_OTHERS} {name}"
        self._read += [
            _Used(source.path, name or "the input", "the file", phrase) for source in sources
        ]
        self._folders += folders_of(patterns)

    def reads_file(self, name: str, path: Path | None) -> None:
        """Add a file that is read, and whose path ``-`` is no stream: a key."""
        if path is not None:
            named = os.fspath(path)
            inside = os.path.join(os.curdir, named) if named == filesystems.STANDARD else named
            self._read.append(_used(name, inside))

    def writes(self, name: str, paths: Path | list[str] | None, what: str = "the output") -> None:
        """Add files that are written; None is none."""
        listed = paths if isinstance(paths, list) else [] if paths is None else [paths]
        self._written += [_used(name, path, what) for path in listed]

    def changes(self, name: str, path: str | None) -> None:
        """Add an index, which has further files beside it if it is a database of this machine."""
        if path is None:
            return
        self._written.append(_used(name, path, "the index"))
        if not filesystems.is_remote(path):
            self._read += [
                _Used(beside, name, "the index", f"a file of {name}")
                for beside in database_files(path)
            ]

    def deletes(self, name: str, folder: Path | None) -> None:
        """Add the work directory, whose contents are deleted when a run is complete."""
        if folder is not None:
            self._work = _used(name, folder, "the work directory")

    def check(self) -> None:
        """Compare all paths with each other.

        Raises
        ------
        InputError
            A file would be written twice, or written and read; an input is also a file of the other
            collection; an output would be among the inputs of a directory; or something would lie
            in the work directory, or inside a file.
        """
        self._check_collections()
        read = {self._identities.of(used.path, standard=0): used for used in reversed(self._read)}
        read.pop(None, None)
        written: dict[object, _Used] = {}
        for used in self._written:
            identity = self._identities.of(used.path, standard=1)
            if (input_path := read.get(identity)) is not None:
                where = "" if input_path.path == used.path else f": {input_path.path}"
                verb = "is" if input_path.phrase.startswith("one of") else "names"
                subject = used.what if verb == "is" else used.name
                raise InputError(used.path, f"{subject} {verb} {input_path.phrase}{where}")
            other = used if identity is None else written.setdefault(identity, used)
            if other is not used:
                where = "" if other.path == used.path else f": {other.path}"
                raise InputError(used.path, f"{used.name} names {other.phrase}{where}")
            self._check_folders(used)
        for used in (*self._written, *([] if self._work is None else [self._work])):
            self._check_above(used, written)
        if self._work is not None:
            self._check_work(self._work)

    def _check_collections(self) -> None:
        """Raise if a file is compared with itself: all of its documents would be found in it."""
        same = self._identities.of
        inputs = {
            same(used.path, standard=0): used for used in self._read if used.phrase == _INPUTS
        }
        inputs.pop(None, None)
        for used in self._read if inputs else ():
            input_path = inputs.get(same(used.path, standard=0))
            if input_path is not None and used.phrase.startswith(_OTHERS):
                where = "" if input_path.path == used.path else f", as {used.path}"
                raise InputError(
                    input_path.path,
                    f"it is one of the inputs and also {used.phrase}{where}, so that all of its"
                    " documents would be found: leave it out of one of the two",
                )

    def _check_folders(self, used: _Used) -> None:
        """Raise if a file would be read as an input another time."""
        for folder in self._folders:
            names = self._identities.relative(used.path, folder)
            if names and self._is_input(names):
                raise InputError(
                    used.path, f"{used.what} would lie among the inputs of the directory {folder}"
                )

    def _is_input(self, names: list[str]) -> bool:
        forced = parse_format(self._options.format)
        known = is_input(names[-1], forced, skip_unknown=self._options.skip_unknown)
        return known and self._is_entered(names[:-1])

    def _is_entered(self, folders: list[str]) -> bool:
        hidden = any(filesystems.is_left_out(name, folder=True) for name in folders)
        return not hidden and (self._options.recursive or not folders or are_keys(folders))

    def _check_above(self, used: _Used, written: dict[object, _Used]) -> None:
        """Raise if one of the folders that a path lies in is to be a file."""
        for identity in self._identities.above(used.path):
            if (other := written.get(identity)) is not None:
                raise InputError(
                    used.path, f"{used.name} lies inside {other.path}, which {other.name} writes"
                )

    def _check_work(self, work: _Used) -> None:
        identity = self._identities.of(work.path)
        for used in (*self._written, *self._read):
            same = self._identities.of(used.path, standard=-1) == identity
            if same or self._identities.relative(used.path, work.path) is not None:
                where = "is" if same else "lies in"
                raise InputError(
                    used.path,
                    f"{used.name} {where} the work directory {work.path}, which is deleted when the"
                    f" run is complete: give another path, or another {work.name}",
                )
        for folder in self._folders:
            names = self._identities.relative(work.path, folder)
            if names and self._is_entered(names):
                raise InputError(
                    work.path,
                    f"{work.name} would lie among the inputs of the directory {folder}: give"
                    " another one, or a name that begins with a dot or an underscore",
                )


DATABASE_ENDINGS = ("-wal", "-shm", "-journal")
"""What SQLite adds to the name of a database, for files that it keeps beside it."""


def database_files(path: str) -> list[str]:
    """Return the paths of the files that SQLite keeps beside a database."""
    return [os.path.realpath(path) + ending for ending in DATABASE_ENDINGS]


def _used(name: str, path: Path, what: str = "the file") -> _Used:
    named = os.fspath(path)
    if not named:
        raise ValueError(f"{name} must name a file or directory, not ''")
    return _Used(named, name, what, f"the same file as {name}")
