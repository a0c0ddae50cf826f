"""Which files an input stands for, in which format, and the columns of paths as in Hive."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from urllib.parse import unquote

from fastlsh.errors import InputError, warn_caller
from fastlsh.io import filesystems
from fastlsh.io.errors import listed, reading
from fastlsh.io.folders import (
    COLUMNAR,
    Kind,
    PartialKind,
    files_of_folder,
    kind_of_file,
    parse_format,
    split_suffix,
)
from fastlsh.io.sources import Key, Options, ReadOptions, Source

_KEY = re.compile(r"([^=/]+)=([^/]*)")
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_NULL = "__HIVE_DEFAULT_PARTITION__"


def are_keys(folders: Sequence[str]) -> bool:
    """Whether there are folders, and the name of each is ``key=value``."""
    names = [folder.replace(os.sep, "/").rstrip("/").rpartition("/")[2] for folder in folders]
    return bool(names) and all(map(_KEY.fullmatch, names))


def with_keys(
    sources: Sequence[Source], starts: Mapping[str, int], options: Options
) -> list[Source]:
    """Return files with the keys in their paths.

    A key counts if it is below a directory that was given or matched by a pattern, if its values
    differ, or if an option names it.

    Parameters
    ----------
    sources : sequence of Source
        All files of a collection.
    starts : mapping of str to int
        How many names at the beginning of each path were given as they are.
    options : Options
        The columns that are read.

    Returns
    -------
    list of Source
        A column has integers if all of its values but null are written so, and else texts.
    """
    keys_of_paths = [_keys_of(source.path) for source in sources]
    named = {options.id, *options.further}
    kinds: dict[str, str] = {}
    for name in dict.fromkeys(chain.from_iterable(keys_of_paths)):
        values = {keys[name][1] for keys in keys_of_paths if name in keys}
        inside = any(
            name in keys and keys[name][0] >= starts[source.path]
            for source, keys in zip(sources, keys_of_paths, strict=True)
        )
        if name in named or inside or len(values) > 1:
            texts = [value for value in values if value is not None]
            are_integers = texts and all(isinstance(as_integer(text), int) for text in texts)
            kinds[name] = "int64" if are_integers else "string"
    return [
        replace(source, keys=tuple(
            Key(name, as_integer(value) if kinds[name] == "int64" else value, kinds[name])
            for name, (_, value) in keys.items() if name in kinds
        ))
        for source, keys in zip(sources, keys_of_paths, strict=True)
    ]  # fmt: skip


def as_integer(value: str | int | None) -> str | int | None:
    """Return the integer of 64 bits that a value is written as, or the value if it is none."""
    if not isinstance(value, str) or not _INTEGER.fullmatch(value):
        return value
    return int(value) if -(1 << 63) <= int(value) < 1 << 63 else value


def values_in_path(source: Source) -> dict[str, str | int | None]:
    """Return all keys in the path of a file, whether they count or not, and their values."""
    # A key that does not count has the same value everywhere, which alone decides about its type.
    every = {name: as_integer(value) for name, (_, value) in _keys_of(source.path).items()}
    return every | {key.name: key.value for key in source.keys}


def _keys_of(path: str) -> dict[str, tuple[int, str | None]]:
    """Return the keys in a path: which of its names each is, and the value."""
    keys = {}
    for number, folder in enumerate(path.replace(os.sep, "/").split("/")[:-1]):
        if match := _KEY.fullmatch(folder):
            name, value = map(_decoded, match.groups())
            keys[name] = number, None if value == _NULL else value
    return keys


def _decoded(name: str) -> str:
    return unquote(name).encode("utf-8", "backslashreplace").decode()


_LINKS = 3
WITH_LISTS = "give .parquet, .arrow or .jsonl"

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


def expand(
    inputs: Paths,
    kind: str | None = None,
    options: Options | None = None,
    *,
    recursive: bool = False,
    mixed: bool = False,
    skip_unknown: bool = False,
) -> list[Source]:
    """Find the files that `inputs` stand for.

    Parameters
    ----------
    inputs : path or iterable of paths
        Files, directories and patterns (``*``, ``?``, ``[...]``, and ``**`` for any number of
        folders), here or behind a URL. What a pattern or a directory stands for is in order of
        the bytes of the paths. A file whose name is the pattern wins. Of a directory, files
        of known formats are read; those that have no rows by their names, and folders inside
        that are hidden or begin with an underscore, are not, as a warning tells. What links
        lead to several times is read once.
    kind : str, optional
        ``jsonl``, ``csv``, ``tsv``, ``parquet``, ``arrow`` or ``txt``, with a compression
        (``jsonl.gz``) if the name does not tell it; by default the suffix decides.
    options : Options, optional
        Kept with each source.
    recursive : bool
        Whether the directories inside a directory are read; those that are all named like
        ``key=value`` are in any case.
    mixed : bool
        Whether the files of a directory may have several formats.
    skip_unknown : bool
        Whether files of unknown formats in a directory are left out, and no error.

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
    forced = parse_format(kind)
    options = options or Options()
    sources = []
    starts: dict[str, int] = {}
    how = {"recursive": recursive, "mixed": mixed, "skip_unknown": skip_unknown}
    for pattern, path, is_folder in resolve(inputs):
        folder = path if is_folder else filesystems.parent(path)
        files = _files_inside(path, forced, **how) if is_folder else [(path, _kind(path, forced))]
        for inside, kind_of_path in files:
            sources.append(Source(inside, *kind_of_path, options, folder))
            starts[inside] = _names_as_given(pattern, path)
    if not sources:
        raise ValueError("there is no input")
    sources = with_keys(_each_once(sources), starts, options)
    for source in sources if options.tokens else ():
        if source.format not in (*COLUMNAR, "jsonl"):
            raise source.error(f"a {source.format} file has no lists of token ids: {WITH_LISTS}")
    if options.split is not None:
        return [replace(s, format=options.split) if s.format == "txt" else s for s in sources]
    return sources


def files_to_read(inputs: Paths, read: ReadOptions, *, mixed: bool = False) -> list[Source]:
    """Find the files that `inputs` stand for, as the options say; see `expand`."""
    return expand(
        inputs, read.format, read, recursive=read.recursive, mixed=mixed,
        skip_unknown=read.skip_unknown,
    )  # fmt: skip


def expand_one(path: str | os.PathLike[str], kind: str | None = None) -> Source:
    """Find the one file that a path stands for; InputError if it stands for several."""
    sources = expand(path, kind)
    if len(sources) > 1:
        raise InputError(path, f"stands for {len(sources):,} files: give one file")
    return sources[0]


@contextmanager
def spooled_inputs(
    inputs: Sequence[str],
    kind: str | None,
    tell: Callable[[str], None],
    *,
    twice: bool,
    is_enough: Callable[[str], bool] | None = None,
) -> Iterator[list[str]]:
    """Copy those inputs that are pipes and must be read more than once to temporary files.

    Parameters
    ----------
    inputs : sequence of str
        As given to `expand`, those of all that are read.
    kind : str, optional
        As for `expand`.
    tell : callable
        Is called with a message about what is copied.
    twice : bool
        Whether all of them are read again; tables, and what is given twice, are in any case.
    is_enough : callable, optional
        As for `filesystems.spooled`.

    Yields
    ------
    list of str
        The inputs; those that are copied know where.
    """
    piped = [
        path for path in inputs if not filesystems.is_remote(path) and filesystems.is_piped(path)
    ]
    forced = parse_format(kind)
    again = [
        path
        for path in piped
        if twice or piped.count(path) > 1 or (forced[0] or split_suffix(path)[0]) in COLUMNAR
    ]
    with filesystems.spooled(again, tell, is_enough) as copied:
        yield [copied.get(path, path) for path in inputs]


def _names_as_given(pattern: str, path: str) -> int:
    """Return how many names at the beginning of a path were not matched by a pattern."""
    names = pattern.replace(os.sep, "/").rstrip("/").split("/")
    if path == pattern:
        return len(names)
    return next(n for n, name in enumerate(names) if filesystems.is_pattern(name))


def _each_once(sources: list[Source]) -> list[Source]:
    """Leave out files that links lead to by an earlier path, in the order of the bytes."""
    paths = {source.path for source in sources if not filesystems.is_remote(source.path)}
    firsts: dict[str, str] = {}
    again: dict[str, str] = {}
    for path in filesystems.sorted_paths(filter(filesystems.is_regular, paths)):
        first = firsts.setdefault(filesystems.canonical(path), path)
        if filesystems.absolute(first) != filesystems.absolute(path):
            again[path] = first
    if again:
        links = listed(dict.fromkeys(map(_shown, again.values(), again)), _LINKS)
        warn_caller(f"read once, though links lead there by several paths: {links}", UserWarning)
    return [source for source in sources if source.path not in again]


def _shown(first: str, again: str) -> str:
    """Return two paths without the names at their ends that are the same."""
    while os.path.basename(first) == os.path.basename(again):
        first, again = os.path.dirname(first), os.path.dirname(again)
    return f"{first or os.curdir} (also {again or os.curdir})"


def resolve(inputs: Paths) -> Iterator[tuple[str, str, bool]]:
    """Yield what is given, a file or directory that it stands for, and whether it is the latter.

    Raises
    ------
    InputError
        If a path is missing, or nothing matches a pattern.
    """
    for entry in [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs:
        pattern = os.fspath(entry)
        with reading(pattern):
            if not filesystems.is_pattern(pattern) or filesystems.exists(pattern):
                paths = [(pattern, filesystems.is_folder(pattern))]
            else:
                paths = filesystems.matches(pattern)
                if "**" in pattern:  # it matches the files in these directories, too
                    paths = [(path, is_folder) for path, is_folder in paths if not is_folder]
            if not paths:
                raise InputError(pattern, "no file matches this pattern")
        yield from ((pattern, path, is_folder) for path, is_folder in paths)


def folders_of(inputs: Paths) -> list[str]:
    """Return those of the inputs that are directories."""
    return [path for _, path, is_folder in resolve(inputs) if is_folder]


def _files_inside(
    folder: str, forced: PartialKind, *, recursive: bool, mixed: bool, skip_unknown: bool
) -> list[tuple[str, Kind]]:
    with reading(folder):
        listing = filesystems.listing(folder, recursive=recursive)
        if are_keys(listing.folders):
            listing = filesystems.listing(folder, recursive=True)
    files = files_of_folder(folder, listing, forced, mixed=mixed, skip_unknown=skip_unknown)
    for path, _ in files:
        _check_link(path)
    return files


def _kind(path: str, forced: PartialKind) -> Kind:
    _check_link(path)
    return kind_of_file(path, forced)


def _check_link(path: str) -> None:
    if os.path.islink(path):  # of what was listed, only links can lead to nothing
        with reading(path):
            os.stat(path)
