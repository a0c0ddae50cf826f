"""Which files of a folder are inputs."""

import os
from collections import Counter

from fastlsh.errors import InputError, warn_caller
from fastlsh.io.errors import listed
from fastlsh.io.filesystems import Listing, is_left_out
from fastlsh.io.formats import Kind, PartialKind, kind_of_file, split_suffix

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
    there = [*listing.files, *listing.passed_over]
    return f"{reason} (there is: {_list(folder, there)})" if there else reason


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
