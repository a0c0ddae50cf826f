"""The formats of files, recognised by their names."""

import os

from fastlsh.errors import InputError
from fastlsh.io.filesystems import STANDARD

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
    found = split_suffix(f"input.{kind}")
    if found[0] is None:
        raise ValueError(f"unknown format {kind!r}: choose one of {', '.join(FORMATS)}")
    return found


def kind_of_file(path: str, forced: PartialKind = (None, None)) -> Kind:
    """Return the format and the compression of a file by its name, or those that are forced.

    The standard input is JSON, unless another format is forced.

    Raises
    ------
    InputError
        If the format is unknown, or not read in this compression.
    """
    found, compression = split_suffix(path)
    found, compression = forced[0] or found, forced[1] or compression
    if found is None and path == STANDARD:
        found = "jsonl"
    if found is None:
        readable = (
            f".json {' '.join('.' + name for name in FORMATS)}, compressed as .gz .bz2 .xz .zst"
        )
        raise InputError(
            path,
            f"unknown format: give a file ending in {readable}, or name its format, such as"
            ' format="txt" for plain text and source code',
        )
    if compression and found in COLUMNAR:
        raise InputError(path, f"{found} cannot be read through .{compression}")
    return found, compression


def is_json(path: str | os.PathLike[str]) -> bool:
    """Whether a name ends with ``.json``, compressed or not."""
    name = os.fspath(path)
    kind, compression = split_suffix(name)
    return kind == "jsonl" and _suffixes(name)[-2 if compression else -1] == "json"


def _suffixes(path: str) -> list[str]:
    name = os.path.basename(path).lstrip(".")
    return name.lower().split(".")[1:]
