"""Which files of a folder are inputs, and the formats that the names of files tell."""

import os
from collections import Counter

from fastlsh.errors import InputError, warn_caller
from fastlsh.io.errors import listed
from fastlsh.io.filesystems import STANDARD, Listing, is_left_out

COMPRESSIONS = ("gz", "bz2", "xz", "zst")
COLUMNAR = ("parquet", "arrow")
DELIMITED = ("csv", "tsv")
SPLIT = ("lines", "paragraphs")
"""What plain text of several documents is: no suffix says so."""
FORMATS = ("jsonl", "csv", "tsv", *COLUMNAR, "txt")
_ALIASES = {
    "json": "jsonl", "jsonlines": "jsonl", "ndjson": "jsonl", "pq": "parquet", "feather": "arrow",
    "ipc": "arrow",
}  # fmt: skip
_SUFFIXES = {**{name: name for name in FORMATS}, **_ALIASES}

Kind = tuple[str, str | None]  # a format and a compression
PartialKind = tuple[str | None, str | None]  # the same, where they need not be known


def split_suffix(name: str) -> PartialKind:
    """Return the format and the compression that a file name's suffixes stand for."""
    suffixes = _suffixes(name)
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else None
    return _SUFFIXES.get(suffixes[-1]) if suffixes else None, compression


def stem(name: str) -> str:
    """Return a file name without the suffixes that `split_suffix` knows."""
    kind, compression = split_suffix(name)
    for suffix in (compression, kind):
        name = name if suffix is None else name.rpartition(".")[0]
    return name


def parse_format(kind: str | None) -> PartialKind:
    """Return the format and the compression that a user names, as in ``jsonl.gz``.

    Raises
    ------
    ValueError
        If there is no such format.
    """
    if kind is None:
        return None, None
    parts = split_suffix(f"input.{kind}")
    if parts[0] is None:
        raise ValueError(f"unknown format {kind!r}: choose one of json, {', '.join(FORMATS)}")
    return parts


def kind_of_file(path: str, forced: PartialKind = (None, None)) -> Kind:
    """Return the format and the compression of a file by its name, or those that are forced.

    The standard input is JSON, unless another format is forced.

    Raises
    ------
    InputError
        If the format is unknown, or not read in this compression.
    """
    format_name, compression = split_suffix(path)
    format_name, compression = forced[0] or format_name, forced[1] or compression
    if format_name is None and path == STANDARD:
        format_name = "jsonl"
    if format_name is None:
        readable = (
            f".json {' '.join('.' + name for name in FORMATS)}, compressed as .gz .bz2 .xz .zst"
        )
        raise InputError(
            path,
            f"unknown format: give a file ending in {readable}, or name its format, such as"
            ' format="txt" for plain text and source code',
        )
    if compression and format_name in COLUMNAR:
        raise InputError(path, f"{format_name} cannot be read through .{compression}")
    return format_name, compression


def is_json(path: str | os.PathLike[str]) -> bool:
    """Whether a name ends with ``.json``, compressed or not."""
    name = os.fspath(path)
    kind, compression = split_suffix(name)
    return kind == "jsonl" and _suffixes(name)[-2 if compression else -1] == "json"


def _suffixes(path: str) -> list[str]:
    name = os.path.basename(path).lstrip(".")
    return name.lower().split(".")[1:]


_NAMED = 3


def files_of_folder(
    folder: str, listing: Listing, forced: PartialKind, *, mixed: bool, skip_unknown: bool = False
) -> list[tuple[str, Kind]]:
    """Choose the files that are read, and warn of what is not.

    Parameters
    ----------
    folder : str
        The folder, for messages.
    listing : Listing
        What is in it.
    forced : tuple of str or None
        The format and compression that the user names: those of files whose names tell no format.
        Files of other formats are left out.
    mixed : bool
        Whether the files may have several formats.
    skip_unknown : bool
        Whether files of unknown formats are left out.

    Returns
    -------
    list of (str, (str, str or None))
        The path, the format and the compression of each.

    Raises
    ------
    InputError
        If there are none, or of several formats, or one of an unknown format.
    """
    chosen: list[tuple[str, Kind]] = []
    unknown: list[str] = []
    rest = [*listing.others]
    for path in listing.files:
        name = os.path.basename(path)
        if is_input(name, forced, skip_unknown=skip_unknown):
            chosen.append((path, kind_of_file(path, _forced(path, forced))))
        else:
            (rest if split_suffix(name)[0] else unknown).append(path)
    if unknown and not skip_unknown:
        raise InputError(
            unknown[0],
            "unknown format: name it with format=, give a pattern instead of the directory, or"
            " leave out files of unknown formats with skip_unknown=True"
            + (f" (there are {len(unknown):,} of them)" if len(unknown) > 1 else ""),
        )
    if not chosen:
        raise InputError(folder, _nothing(folder, listing, forced))
    counts = Counter(kind for _, (kind, _) in chosen)
    if len(counts) > 1 and not mixed:
        number = ", ".join(f"{count} .{kind}" for kind, count in sorted(counts.items()))
        raise InputError(
            folder,
            f"the directory has files of several formats ({number}):"
            f" choose one with format=, or with a pattern like *.{chosen[0][1][0]}",
        )
    _warn(folder, listing, rest, unknown)
    return chosen


def is_input(name: str, forced: PartialKind, *, skip_unknown: bool = False) -> bool:
    """Whether a file of this name, met in a folder, is read."""
    if is_left_out(name):
        return False
    kind, _ = split_suffix(name)
    if kind is None:
        return forced[0] is not None and not skip_unknown
    return forced[0] in (None, kind)


def _forced(path: str, forced: PartialKind) -> PartialKind:
    # What a name tells of its compression is right, in a folder where others may have another one.
    _, compression = split_suffix(path)
    return forced[0], compression or forced[1]


def _nothing(folder: str, listing: Listing, forced: PartialKind) -> str:
    kind = "file of a known format" if forced[0] is None else f".{forced[0]} file"
    reason = f"the directory has no {kind}"
    if listing.folders:
        reason += ", but directories: recursive=True reads what is in them"
    names = [*listing.files, *listing.passed_over]
    return f"{reason} (there is: {_list(folder, names)})" if names else reason


def _list(folder: str, paths: list[str]) -> str:
    start = len(folder.rstrip("/")) + 1
    return listed([path[start:].strip("/") for path in paths], _NAMED)


def _warn(folder: str, listing: Listing, rest: list[str], unknown: list[str]) -> None:
    if count := len(listing.passed_over):
        names = _list(folder, listing.passed_over)
        reason = f"{count:,} without rows, by their names ({names})"
        warn_caller(f"passed over in {folder}: {reason}", UserWarning)
    if unknown:
        paths = listed(unknown, _NAMED)
        warn_caller(f"skipped {paths}: unknown format; give format=", UserWarning)
    reasons = []
    if rest:
        reasons.append(f"other files: {_list(folder, rest)}")
    if listing.folders:
        reasons.append(f"directories, which recursive=True reads: {_list(folder, listing.folders)}")
    if reasons:
        warn_caller(f"left out of {folder}: {'; '.join(reasons)}", UserWarning)
