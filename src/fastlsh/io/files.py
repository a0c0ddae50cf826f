"""Which files an input stands for, and in which format."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath

from fastlsh.errors import InputError
from fastlsh.io.errors import reading

COMPRESSIONS = ("gz", "bz2", "xz", "zst")
COLUMNAR = ("parquet", "arrow")
FORMATS = ("jsonl", "csv", "tsv", *COLUMNAR, "txt")
_ALIASES = {"ndjson": "jsonl", "feather": "arrow", "ipc": "arrow"}
_SUFFIXES = {**{name: name for name in FORMATS}, **_ALIASES}


@dataclass(frozen=True)
class Options:
    """How rows become documents; the parameters of :func:`fastlsh.io.read`."""

    text: str | None = None
    id: str | None = None
    encoding: str = "utf-8"
    delimiter: str | None = None
    header: bool = True
    quotes: bool = True

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
    """One file of a collection."""

    path: str
    format: str
    compression: str | None
    options: Options

    def error(self, reason: str, row: int | None = None) -> InputError:
        """Return (not raise) the error that names this file."""
        return InputError(self.path, reason, row)


def split_suffix(name: str) -> tuple[str | None, str | None]:
    """Return the format and the compression that a file name's suffixes stand for."""
    suffixes = [suffix[1:].lower() for suffix in PurePath(name).suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else None
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None, compression


def is_special(name: str) -> bool:
    """Whether this is a device or a pipe."""
    return os.path.exists(name) and not os.path.isfile(name)


def expand(
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    kind: str | None = None,
    options: Options | None = None,
) -> list[Source]:
    """Find the files that `inputs` stand for; a directory gives its ``*.txt`` by name.

    Parameters
    ----------
    inputs : path or iterable of paths
        Files and directories.
    kind : str, optional
        ``jsonl``, ``csv``, ``tsv``, ``parquet``, ``arrow`` or ``txt``, with a compression
        (``jsonl.gz``) if the name does not tell it; by default the suffix decides.
    options : Options, optional
        Kept with each source.

    Returns
    -------
    list of Source

    Raises
    ------
    InputError
        If an input is missing or its format unknown.
    ValueError
        If there is no input, or no such format.
    """
    forced: tuple[str | None, str | None] = (None, None)
    if kind is not None:
        forced = split_suffix(f"input.{kind}")
        if forced[0] is None:
            raise ValueError(f"unknown format {kind!r}: there are {', '.join(FORMATS)}")
    if isinstance(inputs, (str, os.PathLike)):
        inputs = [inputs]
    sources = [
        Source(path, *kind_of_file, options or Options())
        for given in inputs
        for path, kind_of_file in _files(os.fspath(given), forced)
    ]
    if not sources:
        raise ValueError("there is no input")
    return sources


def _files(
    path: str, forced: tuple[str | None, str | None]
) -> Iterator[tuple[str, tuple[str, str | None]]]:
    with reading(path):
        os.stat(path)
        names = sorted(os.listdir(path)) if os.path.isdir(path) else None
    if names is None:
        yield path, _kind_of_file(path, forced)
        return
    if forced[0] not in (None, "txt"):
        raise InputError(path, f"a directory is read as .txt files, not as {forced[0]}")
    texts = [os.path.join(path, name) for name in names if name.lower().endswith(".txt")]
    texts = [text for text in texts if os.path.isfile(text)]
    if not texts:
        raise InputError(path, "the directory has no .txt file")
    for text in texts:
        yield text, ("txt", None)


def _kind_of_file(path: str, forced: tuple[str | None, str | None]) -> tuple[str, str | None]:
    found, compression = split_suffix(path)
    found, compression = forced[0] or found, forced[1] or compression
    if found is None:
        known = f"{' '.join('.' + name for name in FORMATS)}, compressed as .gz .bz2 .xz .zst"
        array = ".json" in [suffix.lower() for suffix in PurePath(path).suffixes[-2:]]
        reason = ".json is not JSON lines (one object a line)" if array else "unknown format"
        raise InputError(path, f"{reason}: read are {known}; --format names it for other files")
    if compression and found in COLUMNAR:
        raise InputError(path, f"{found} is not read through .{compression}")
    if found in COLUMNAR and is_special(path):
        raise InputError(path, f"{found} is not read from a pipe or device: give a regular file")
    return found, compression
