"""Which files an input stands for, and in which format."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fastlsh.errors import InputError
from fastlsh.io import places
from fastlsh.io.errors import reading
from fastlsh.io.folders import files_of_folder
from fastlsh.io.formats import COLUMNAR, Kind, Told, kind_of_file, told
from fastlsh.io.special import is_special

WITH_LISTS = "give .parquet, .arrow or .jsonl"

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True)
class Options:
    """How rows become documents; the parameters of :func:`fastlsh.io.read`."""

    text: str | None = None
    id: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    header: bool = True
    quotes: bool = True
    priority: str | None = None
    tokens: bool = False

    def __post_init__(self) -> None:
        """Refuse what no file could be read with."""
        try:
            "".encode(self.encoding)
        except (LookupError, ValueError) as error:
            raise ValueError(f"unknown encoding {self.encoding!r}") from error
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise ValueError(
                f"the delimiter must be one character and no quote or line end,"
                f" not {self.delimiter!r}"
            )


@dataclass(frozen=True)
class Source:
    """One file of a collection.

    Parameters
    ----------
    path : str
        A path of this machine, or a URL.
    format, compression : str
        What it is read as; no compression is None.
    options : Options
        How.
    folder : str
        From where on its path names its output: the directory that was given, if one was, else
        the one it lies in.
    """

    path: str
    format: str
    compression: str | None
    options: Options
    folder: str = ""

    def error(self, reason: str, row: int | None = None) -> InputError:
        """Return (not raise) the error that names this file."""
        return InputError(self.path, reason, row)


def expand(
    inputs: Paths,
    kind: str | None = None,
    options: Options | None = None,
    *,
    recursive: bool = False,
    mixed: bool = False,
) -> list[Source]:
    """Find the files that `inputs` stand for.

    Parameters
    ----------
    inputs : path or iterable of paths
        Files, directories and patterns (``*``, ``?``, ``[...]``, and ``**`` for any number of
        folders), here or behind a URL. What a pattern or a directory stands for is in order of
        the bytes of the paths. A file whose name is the pattern wins. Of a directory, files
        of known formats are read; hidden ones and those whose name, or folder inside, begins
        with an underscore are not; a warning tells what else is not.
    kind : str, optional
        ``jsonl``, ``csv``, ``tsv``, ``parquet``, ``arrow`` or ``txt``, with a compression
        (``jsonl.gz``) if the name does not tell it; by default the suffix decides.
    options : Options, optional
        Kept with each source.
    recursive : bool
        Whether the directories inside a directory are read.
    mixed : bool
        Whether the files of a directory may have several formats.

    Returns
    -------
    list of Source

    Raises
    ------
    InputError
        If an input is missing or its format unknown, or nothing matches a pattern.
    ValueError
        If there is no input, or no such format.
    """
    forced = told(kind)
    options = options or Options()
    sources = []
    for path, is_folder in resolve(inputs):
        if is_folder:
            for inside, found in _files_inside(path, forced, recursive=recursive, mixed=mixed):
                sources.append(Source(inside, *found, options, path))
        else:
            sources.append(Source(path, *_kind(path, forced), options, places.parent(path)))
    if not sources:
        raise ValueError("there is no input")
    for source in sources if options.tokens else ():
        if source.format not in (*COLUMNAR, "jsonl"):
            raise source.error(f"a {source.format} file has no lists of token ids: {WITH_LISTS}")
    return sources


def resolve(inputs: Paths) -> Iterator[tuple[str, bool]]:
    """Yield the files and directories that are given or match patterns, and which are the latter.

    Raises
    ------
    InputError
        If a path is missing, or nothing matches a pattern.
    """
    for each in [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs:
        given = os.fspath(each)
        with reading(given):
            if not places.is_pattern(given) or places.exists(given):
                found = [(given, places.is_folder(given))]
            else:
                found = places.matches(given)
                if "**" in given:  # it matches the files in these directories, too
                    found = [(path, is_folder) for path, is_folder in found if not is_folder]
            if not found:
                raise InputError(given, "no file matches this pattern")
        yield from found


def folders_of(inputs: Paths) -> list[str]:
    """Return those of the inputs that are directories."""
    return [path for path, is_folder in resolve(inputs) if is_folder]


def _files_inside(
    folder: str, forced: Told, *, recursive: bool, mixed: bool
) -> list[tuple[str, Kind]]:
    with reading(folder):
        listing = places.listing(folder, recursive=recursive)
    files = files_of_folder(folder, listing, forced, mixed=mixed)
    for path, _ in files:
        _check_link(path)
    return files


def _kind(path: str, forced: Told) -> Kind:
    _check_link(path)
    kind = kind_of_file(path, forced)
    if kind[0] in COLUMNAR and is_special(path):
        raise InputError(path, f"{kind[0]} is not read from a pipe or device: give a regular file")
    return kind


def _check_link(path: str) -> None:
    if os.path.islink(path):  # of what was listed, only links can lead to nothing
        with reading(path):
            os.stat(path)
