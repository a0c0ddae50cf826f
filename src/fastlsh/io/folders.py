"""Which files of a folder are inputs."""

import os
from collections import Counter

from fastlsh.errors import InputError, warn_caller
from fastlsh.io.errors import listed
from fastlsh.io.filesystems import Listing, is_left_out, joined
from fastlsh.io.formats import COMPRESSIONS, Kind, PartialKind, kind_of_file, split_suffix

_NAMED = 3


def files_of_folder(
    folder: str, listing: Listing, forced: PartialKind, *, mixed: bool
) -> list[tuple[str, Kind]]:
    """Choose the files that are read, and warn of what is not.

    Parameters
    ----------
    folder : str
        The folder, for messages.
    listing : Listing
        What is in it.
    forced : tuple of str or None
        The format and compression that the user names: then files of other formats are left out,
        and those without any suffix are of this one.
    mixed : bool
        Whether the files may have several formats.

    Returns
    -------
    list of (str, (str, str or None))
        The path, the format and the compression of each.

    Raises
    ------
    InputError
        If there are none, or of several formats.
    """
    chosen = [
        (path, kind_of_file(path, _forced(path, forced)))
        for path in listing.files
        if is_input(os.path.basename(path), forced)
    ]
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
    read = {path for path, _ in chosen}
    rest = [*(path for path in listing.files if path not in read), *listing.others]
    _warn(folder, rest, listing.folders, _remedy(folder, rest, len(read)))
    return chosen


def is_input(name: str, forced: PartialKind) -> bool:
    """Whether a file of this name, met in a folder, is read."""
    if is_left_out(name):
        return False
    kind, _ = split_suffix(name)
    if forced[0] is None:
        return kind is not None
    return kind == forced[0] or _is_bare(name)


def _is_bare(name: str) -> bool:
    """Whether a name has no suffix, or only that of a compression: ``part-00000.gz``."""
    stem, dot, suffix = name.rpartition(".")
    return not dot or (suffix.lower() in COMPRESSIONS and "." not in stem)


def _forced(path: str, forced: PartialKind) -> PartialKind:
    # What a name tells of its compression is right, in a folder where others may have another one.
    _, compression = split_suffix(path)
    return forced[0], compression or forced[1]


def _nothing(folder: str, listing: Listing, forced: PartialKind) -> str:
    kind = "file of a known format" if forced[0] is None else f".{forced[0]} file"
    reason = f"the directory has no {kind}"
    if listing.folders:
        reason += ", but directories: recursive=True reads what is in them"
    if listing.files:
        reason += f" (there is: {_list(listing.files)}{_remedy(folder, listing.files, 0)})"
    return reason


def _remedy(folder: str, files: list[str], read: int) -> str:
    """Return how the files with the commonest suffix are read, if they are more than were read."""
    suffixes = Counter(os.path.splitext(path)[1] for path in files)
    del suffixes[""]
    ((suffix, count),) = suffixes.most_common(1) or [("", 0)]
    if count <= read:
        return ""
    pattern = joined(folder, f"**/*{suffix}")
    return f"; as plain text: the pattern '{pattern}' as the input, with format=\"txt\""


def _list(paths: list[str]) -> str:
    return listed([os.path.basename(path.rstrip("/")) for path in paths], _NAMED)


def _warn(folder: str, rest: list[str], folders: list[str], remedy: str) -> None:
    reasons = []
    if rest:
        reasons.append(f"no input by their names: {_list(rest)}{remedy}")
    if folders:
        reasons.append(f"directories, which recursive=True reads: {_list(folders)}")
    if reasons:
        warn_caller(f"left out of {folder}: {'; '.join(reasons)}", UserWarning)
