"""Outputs of rows that are read again from the inputs; several are written side by side."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from fastlsh.errors import InputError
from fastlsh.io.batches import MOST_BYTES
from fastlsh.io.blocks import (
    AddedColumns,
    Block,
    BlockExtent,
    Head,
    KeyedBlock,
    own_columns,
    plain_block,
    with_keys,
)
from fastlsh.io.byte_progress import ByteProgress
from fastlsh.io.convert import Conversion, JsonColumns, Rest, json_as_rows
from fastlsh.io.formats import COLUMNAR, DELIMITED
from fastlsh.io.replacement import Replacements
from fastlsh.io.shards import Output
from fastlsh.io.sources import Source
from fastlsh.parallel import background_calls, batches, ordered_map, run

_PER_TABLE = 4 * MOST_BYTES
"""Bytes that writing a file of batches takes: a batch, and what becomes of it on its way."""

TABLES = 1 << 28
"""Bytes that writing Parquet and Arrow files may take, where nothing else is said."""


class Reread(NamedTuple):
    """A block that has been read again."""

    source: Source
    block: Block
    key: Any
    """What `Rewriting.rest` knows the block by."""


def _none(_: Reread) -> bool:
    return False


@dataclass(frozen=True)
class Rewriting:
    """An output, and what goes into it."""

    output: Output
    sources: Sequence[Source]
    """The inputs, in order."""
    blocks: Callable[[], Iterator[Reread]]
    """Reads them again, in order."""
    rest: Callable[[Any, Block], Rest]
    """Returns what is written of a block, by its key; in any thread."""
    added: AddedColumns | None = None
    """The columns that rows get behind their own, without values."""
    lines: Iterable[bytes] = field(default=())
    """Rows that are not read again; then there are no blocks."""
    is_large: Callable[[Reread], bool] = _none
    """Whether no other block is to be held beside this one."""
    alone: bool = False
    """Whether no other output is to be written beside this one."""
    max_row: int | None = None
    """Bytes that a row may have; see `Block.check_objects`."""

    @property
    def makes_objects(self) -> bool:
        """Whether rows of tables become text, for which Python has an object of each value."""
        return self.output.format not in COLUMNAR and any(
            source.format in COLUMNAR for source in self.sources
        )

    @property
    def is_of_tables(self) -> bool:
        """Whether rows of tables stay such."""
        return {self.output.format, *(source.format for source in self.sources)} <= {*COLUMNAR}

    def rest_of(self, source: Source, block: Block, key: Any) -> Rest:
        """Return what is written of a block; LongRowError if a row needs too much memory."""
        there, written = source.format, self.output.format
        is_joined = len(self.sources) > 1 and written in DELIMITED
        if self.max_row and (there != written or is_joined) and not {there, written} <= {*COLUMNAR}:
            block.check_objects(self.max_row, 1 + (written in COLUMNAR))
        return self.rest(key, block)


def write_again(
    outputs: Sequence[Rewriting],
    files: Replacements,
    *,
    folders: bool,
    threads: int,
    tell: ByteProgress,
    memory: int = TABLES,
) -> None:
    """Write outputs, as many at a time as there are threads; one alone with all of them.

    Parameters
    ----------
    outputs : sequence of Rewriting
        In the order in which they appear.
    files : Replacements
        What they appear with.
    folders : bool
        Whether directories that are missing are made.
    threads : int
        How many; they never change what is written.
    tell : ByteProgress
        The progress; it is advanced in the calling thread.
    memory : int
        Bytes that they may take; Parquet and Arrow files are gathered in batches.

    Raises
    ------
    InputError
        If an input has changed, or a value has no place in another format.
    """
    if folders:
        outputs = [*map(_without_keys, outputs)]
    wide = min(threads, len(outputs))
    if any(each.output.format in COLUMNAR for each in outputs):
        wide = min(wide, memory // _PER_TABLE)
    if any(each.alone or each.makes_objects for each in outputs):
        wide = 1
    if any(each.alone and each.is_of_tables for each in outputs):
        threads = 1  # a batch that is written would be beside the one that is read
    wide = max(wide, 1)
    at_once = threads // wide  # of what is compressed for an output
    if any(each.output.format in COLUMNAR for each in outputs):
        at_once = max(min(at_once, memory // wide // _PER_TABLE), 1)
    done: list[Source] = []

    def write(start: int, stop: int) -> Generator[None, None, None]:
        for place, each in enumerate(outputs[start:stop], start + 1):
            with (
                files.file(each.output.path, folders=folders, place=place) as temporary,
                closing(_written(each, temporary, threads // wide, at_once)) as blocks,
            ):
                source = None
                for source, extent in blocks:
                    if wide == 1:
                        tell(source, extent)
                    yield
            if source is not None:
                done.append(source)

    def advance(_: int) -> None:
        while done:
            tell.whole(done.pop())

    run(write, batches(len(outputs), 1), wide, advance if wide > 1 else None)


def _without_keys(each: Rewriting) -> Rewriting:
    """Return an output whose rows do not get the columns of the paths of their files."""

    def blocks() -> Iterator[Reread]:
        return (item._replace(block=plain_block(item.block)) for item in each.blocks())

    return replace(each, sources=[*map(own_columns, each.sources)], blocks=blocks)


def _written(
    each: Rewriting, temporary: str, threads: int, compressing: int
) -> Generator[tuple[Source, BlockExtent], None, None]:
    """Write an output, and yield each block that is done; so many threads compress it."""
    conversion = Conversion(
        each.output, each.sources, each.added, partial(_learn, each, threads=threads), threads
    )

    def piece(item: Reread) -> tuple[Source, BlockExtent, Head, Any, int]:
        source, block, _ = item
        rest = each.rest_of(*item)
        rows = conversion.piece(source, block, rest)
        return source, block.extent, block.head, rows, int(rest.kept.sum())

    with closing(ordered_map(each.blocks(), piece, threads, each.is_large)) as pieces:
        written = 0
        try:
            first = [*islice(pieces, 1)]
            head = conversion.head(first[0][2] if first else Head())
            with (
                conversion.open(temporary, head, compressing) as writer,
                background_calls(min(threads - 1, 1)) as soon,
            ):
                for line in each.lines:
                    writer.write(conversion.piece_of_json(line))
                    written += 1
                behind = head.missing_end(head.header)
                while first or (first := [*islice(pieces, 1)]):
                    source, extent, head, rows, count = first.pop()
                    for some in conversion.pieces(rows) if len(rows) else ():
                        # The last row of a file need not have an end.
                        soon(writer.write, behind + some if behind else some)
                        behind = b"" if hasattr(some, "schema") else head.missing_end(some)
                    written += count
                    yield source, extent
        except InputError as error:
            if error.path != each.output.path or error.row is None:
                raise
            raise InputError(error.path, error.reason, error.row + written) from error.__cause__


def _learn(each: Rewriting, columns: JsonColumns, threads: int) -> None:
    """Learn the columns of the rows that are JSON, from all of them."""

    def rows_of(item: Reread) -> tuple[Source, list[Any], int]:
        source, block, _ = item
        rest = each.rest_of(*item)
        rows = []
        if source.format == "jsonl":
            is_keyed = isinstance(block, KeyedBlock)
            keys = with_keys(None, source, len(rest.kept)) if is_keyed else None
            rows = json_as_rows(block.rows(rest.kept, rest.texts, keys))
        return source, rows, int(rest.kept.sum())

    written = 0
    with closing(ordered_map(each.blocks(), rows_of, threads, each.is_large)) as found:
        for source, rows, count in found:
            columns.learn(source, rows, written + 1)
            written += count
