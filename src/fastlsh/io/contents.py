"""What only the contents of files tell: messages without the wanted roles, lines of plain text."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np

from fastlsh.errors import InputError, warn_caller
from fastlsh.io.blocks.contract import Block
from fastlsh.io.blocks.reading import read_blocks
from fastlsh.io.errors import reading
from fastlsh.io.record_texts import MESSAGES
from fastlsh.io.sources import Options, Source
from fastlsh.io.streams import identity, open_bytes

LOOKS = 16
"""Files that are looked into."""
LOOK = 1 << 18
"""Bytes of each that are looked at."""
_MANY = 20
"""Lines of a plain text that is hardly meant to be one document."""


def check_content(options: Options, inputs: Sequence[Source], *others: Source) -> None:
    """Look into files for what their names do not tell.

    A file of plain text is one document: if it is the only input, and has many lines, a warning
    says so.

    The beginnings of some files are read until all wanted roles were seen. If some are not there,
    a warning names those that are. If none is, all files are read up to the first one. Pipes are
    left out, which can be read only once.

    Parameters
    ----------
    options : Options
        As given.
    inputs, *others : Source
        The inputs, and files beside them whose messages count, too.

    Raises
    ------
    ValueError
        If no message has a wanted role.
    """
    if len(inputs) == 1 and not options.editable and _has_many_lines(inputs[0]):
        warn_caller(
            f"{inputs[0].path} is read as one document, although it has {_MANY} lines or more:"
            " split='lines' or split='paragraphs' makes several of it",
            UserWarning,
        )
    sources = [*others, *inputs]
    if options.roles is None:
        return
    roles, seen = set(options.roles), set[str]()
    files = [source for source in sources if _has_messages(source) and identity(source) is not None]
    for source in files[:: max(len(files) // LOOKS, 1)][:LOOKS]:
        with suppress(InputError):  # it is raised where the file is read
            seen |= _roles(next(read_blocks(source, LOOK)), source.options)
        if roles <= seen:
            return
    everywhere = _all_roles(files, options, seen)
    if seen and not roles & seen and not any(roles & in_block for in_block in everywhere):
        raise ValueError(
            f"roles must name roles of messages: none has {_shown(roles, 'or')}; the roles that"
            f" occur are {_shown(seen, 'and')}"
        )
    if seen and roles - seen:
        warn_caller(
            f"no message at the beginning of the files has the role {_shown(roles - seen, 'or')}:"
            f" the roles that occur are {_shown(seen, 'and')}",
            UserWarning,
        )


def _has_many_lines(source: Source) -> bool:
    """Whether a file of plain text has lines that may be meant to be as many documents."""
    if source.format != "txt" or identity(source) is None:
        return False
    lines, last = 0, b"\n"
    with open_bytes(source) as stream, reading(source.path):
        while lines < _MANY and (piece := stream.read1(LOOK)):
            lines, last = lines + piece.count(b"\n"), piece[-1:]
    return lines + (last != b"\n") >= _MANY


def _all_roles(files: Sequence[Source], options: Options, seen: set[str]) -> Iterator[set[str]]:
    """Yield the roles of each block, and add them to those that were seen."""
    for source in files:
        with suppress(InputError):
            for block in read_blocks(source):
                roles = _roles(block, source.options)
                seen |= roles
                yield roles


def _shown(names: set[str], between: str) -> str:
    *others, last = map(repr, sorted(names)[:10])
    return f"{', '.join(others)} {between} {last}" if others else last


def _has_messages(source: Source) -> bool:
    return source.format in ("jsonl", "parquet", "arrow")


def _roles(block: Block, options: Options) -> set[str]:
    """Return the roles of the messages of the good rows of a block."""
    rows = block.rows(np.ones(len(block.documents()), np.bool_))
    roles = set[str]()
    for value in chain.from_iterable(_values(rows, name) for name in options.texts()):
        for message in value if isinstance(value, list) else ():
            roles.update([message[key] for key, _ in MESSAGES if message.get(key)][:1])
    return roles


def _values(rows: Any, name: str) -> Iterator[Any]:
    """Yield the values of a column, or of a field inside one."""
    records: Iterator[dict[str, Any]]
    if hasattr(rows, "column_names"):
        first = name if name in rows.column_names else name.partition(".")[0]
        records = ({first: value} for value in rows.column(first).to_pylist())
    else:
        records = map(json.loads, filter(bytes.strip, bytes(rows).split(b"\n")))
    for record in records:
        value: Any = record
        for key in (name,) if name in record else name.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        yield value
