"""Blocks of files whose paths have columns: see `io.partitions`."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import numbers_of
from fastlsh.io.blocks.added import head_with, with_keys
from fastlsh.io.blocks.contract import Block, BlockDocuments, Flags
from fastlsh.io.blocks.csv_columns import Columns
from fastlsh.io.blocks.json_columns import ABSENT
from fastlsh.io.columns import as_list
from fastlsh.io.identities import label_hashes
from fastlsh.io.partitions import as_integer
from fastlsh.io.sources import Key, Source
from fastlsh.priorities import Priorities, PriorityRecord, read_priorities


def without_keys(source: Source) -> Source:
    """Return a file that is read without the columns of its path, but for those that it has."""
    options, keys = source.options, source.optional
    return replace(source, options=replace(
        options,
        id=None if options.id in keys else options.id,
        priority=None if options.priority in keys else options.priority,
        counts=tuple(name for name in options.counts if name not in keys),
        labels=tuple(name for name in options.labels if name not in keys),
    ))  # fmt: skip


def own_columns(source: Source) -> Source:
    """Return a file as if its path had no columns; options that name one of these name none."""
    return replace(without_keys(source), keys=())


class KeyedBlock:
    """Rows of a file, with the columns of its path.

    Parameters
    ----------
    source
        The file.
    inner
        The rows as they are there.
    again
        `reread_blocks`.
    """

    def __init__(self, source: Source, inner: Block, again: Callable[..., Iterator[Block]]) -> None:
        self.source = source
        self.inner = inner
        self.extent, self.next_row, self.rows = inner.extent, inner.next_row, inner.rows
        self.check_objects = inner.check_objects
        self.head = head_with(inner.head, with_keys(None, source, 0), source)
        self._again = again

    def first(self, documents: int) -> Iterator["KeyedBlock"]:
        """Yield the rows up to a document; see `Block`."""
        for part in self.inner.first(documents):
            yield KeyedBlock(self.source, part, self._again)

    def documents(self, wanted: Flags | None = None) -> BlockDocuments:
        """Parse the rows; see `Block`."""
        found, options = self.inner.documents(wanted), self.source.options
        keys = {key.name: key for key in self.source.keys}
        for key in self.source.keys:
            self._check(key, found)
        count = len(found)
        numbers = {n: np.repeat(self._number(keys[n]), count) for n in options.counts if n in keys}
        hashes = {n: np.repeat(_hash(keys[n]), count) for n in options.labels if n in keys}
        labels = {n: hashes[n] if n in keys else found.labels[n] for n in options.labels}
        ids = [keys[options.id].value] * count if options.id in keys else found.ids
        record = found.priorities
        if options.priority in keys:
            ranked = self._ranked(keys[options.priority])
            numbers[options.priority] = np.repeat(ranked.values, count)
            record = PriorityRecord(count, ranked.missing * count, ranked.kind, "")
        numbers = {**found.numbers, **numbers}
        return replace(found, ids=ids, numbers=numbers, labels=labels, priorities=record)

    def _number(self, key: Key) -> NDArray[Any]:
        if key.value is None:
            raise self.source.error(f"{key.name!r} is null, not a number")
        return numbers_of([Columns(self.source).number(str(key.value), key.name, None)])

    def _ranked(self, key: Key) -> Priorities:
        """Return the priority of all rows."""
        ranked = read_priorities([key.value])
        for reason in ranked.unreadable.values():
            raise self.source.error(f"{key.name!r} is {reason}")
        return ranked

    def _check(self, key: Key, found: BlockDocuments) -> None:
        """Raise InputError if a row has another value itself."""
        own = found.labels.get(key.name)
        wrong = np.flatnonzero([] if own is None else ~np.isin(own, _same(key)))
        if not len(wrong):
            return
        options = replace(
            self.source.options, id=key.name, labels=(key.name,), priority=None, counts=()
        )
        of_column = replace(self.source, options=options, keys=())
        row = int(found.rows[wrong[0]])
        others = {error.row for error in found.bad} | {*found.rows.tolist()} - {row}
        (block,) = self._again(of_column, [self.extent], others)
        ids = block.documents(np.ones(1, np.bool_)).ids
        value = None if ids is None else as_list(ids)[0]
        reason = (
            f"{key.name!r} is {value!r}, and the path of the file says {key.value!r}: correct the"
            f" row, or put the file into a directory that is not called {key.name}=..."
        )
        raise self.source.error(reason, row)


def plain_block(block: Block) -> Block:
    """Return a block without the columns of the path of its file."""
    return block.inner if isinstance(block, KeyedBlock) else block


def _hash(key: Key) -> NDArray[np.uint64]:
    """Return the hash of a value, alike in collections whose other values differ."""
    return label_hashes([as_integer(key.value)])


def _same(key: Key) -> NDArray[np.uint64]:
    """Return the hashes of the values with which a row agrees: a number need not be written so."""
    values: list[Any] = [ABSENT, key.value]
    if key.value is not None:
        text = str(key.value)
        values += [text, {"true": True, "false": False}.get(text.lower(), text)]
        for parse in (int, float, date.fromisoformat, datetime.fromisoformat):
            with suppress(ValueError):
                value = parse(text)
                values += [value, str(value)]
    return label_hashes(values)
