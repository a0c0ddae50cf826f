"""The ``key=value`` directories in the paths of files: columns of their rows, as Hive has them."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from urllib.parse import unquote

from fastlsh.io.sources import Key, Options, Source

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
    found = [_keys_of(source.path) for source in sources]
    named = {options.id, *options.further}
    kinds: dict[str, str] = {}
    for name in dict.fromkeys(chain.from_iterable(found)):
        values = {keys[name][1] for keys in found if name in keys}
        inside = any(
            name in keys and keys[name][0] >= starts[source.path]
            for source, keys in zip(sources, found, strict=True)
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
        for source, keys in zip(sources, found, strict=True)
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
