"""The two passes of a decontamination of files: one finds, the other writes what is left."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import unique
from fastlsh.errors import InputError
from fastlsh.files.plan import OutputPlan
from fastlsh.io import (
    AddedColumns,
    Block,
    BlockDocuments,
    ByteProgress,
    Identity,
    Ids,
    InputFile,
    Limit,
    Output,
    Replacements,
    Reread,
    Rest,
    Rewriting,
    Source,
    identity,
    texts_of_ids,
    write_again,
)
from fastlsh.parallel import RunOptions, ordered_map
from fastlsh.search import ContaminationParams, cuts_of, items_in, most_contained
from fastlsh.stages import Found, ItemGrams, Matches, Tally, matches_in
from fastlsh.texts import as_texts, texts_without_spans

SAMPLED_FILES = 100
"""The most files whose beginnings are searched for boilerplate."""

REASONS = 10
"""Bad rows whose reasons are kept."""

Cutter = Callable[[Source, Identity | None], Generator[Block, None, None]]
"""Cuts a file into blocks, if it still is what it was, or whatever it is."""


class BlockFindings(NamedTuple):
    """What a block of documents contains."""

    found: Found
    ids: list[Any]
    """Of the document of each row of `found`."""
    cuts: NDArray[np.int64]
    """int64 (m, 3): what is cut out of which document."""
    dropped: NDArray[np.int64]
    """int64, ascending: documents that go as a whole."""

    def behind(self, start: int) -> "BlockFindings":
        """Return the same if the first document of the block has this number."""
        moved = self.found._replace(document=self.found.document + start)
        return BlockFindings(
            moved, self.ids, np.add(self.cuts, (start, 0, 0)), self.dropped + start
        )

    @classmethod
    def joined(cls, blocks: "Sequence[BlockFindings]") -> "BlockFindings":
        """Return those of all blocks, in their order."""
        return cls(
            Found.joined([block.found for block in blocks]),
            [name for block in blocks for name in block.ids],
            np.concatenate([NOTHING.cuts, *(block.cuts for block in blocks)]),
            np.concatenate([NOTHING.dropped, *(block.dropped for block in blocks)]),
        )


NOTHING = BlockFindings(Found.joined([]), [], np.empty((0, 3), np.int64), np.empty(0, np.int64))


@dataclass(frozen=True)
class Findings:
    """What consecutive files contain, and where their rows are."""

    first: int
    """The number of the first file."""
    parts: list[InputFile]
    contents: BlockFindings
    """Documents are counted from the first one of these files."""
    skipped: int
    reasons: list[InputError]

    @property
    def documents(self) -> int:
        """How many there are."""
        return sum(part.documents for part in self.parts)

    @classmethod
    def joined(cls, some: "Sequence[Findings]") -> "Findings":
        """Return those of consecutive files as one."""
        starts = np.cumsum([0, *(each.documents for each in some)]).tolist()
        return cls(
            some[0].first,
            [part for each in some for part in each.parts],
            BlockFindings.joined(
                [each.contents.behind(start) for each, start in zip(some, starts, strict=False)]
            ),
            sum(each.skipped for each in some),
            [reason for each in some for reason in each.reasons][:REASONS],
        )


def sample_of_files(
    sources: Sequence[Source],
    grams: ItemGrams,
    params: ContaminationParams,
    options: RunOptions,
    limit: int | None,
    read: Cutter,
) -> tuple[Tally, int]:
    """Count the n-grams in a sample: documents at the beginnings of files; and how many these are.

    Each of the files gives as many, of very many files some that are evenly spread. With a limit,
    the first documents are the sample.
    """
    tally = Tally.empty(grams)
    if params.boilerplate_share is None:
        return tally, 0
    chosen = np.unique(np.linspace(0, len(sources) - 1, SAMPLED_FILES).astype(np.int64)).tolist()
    each = -(-params.sample // len(chosen))
    total = 0

    def beginnings() -> Iterator[Block]:
        if limit is not None:
            first = Limit(min(limit, params.sample))
            for source in sources:
                if first.reached:
                    return
                yield from first.first(read(source, None))
            return
        for number in chosen:
            yield from Limit(each).first(read(sources[number], None))

    def match(block: Block) -> tuple[int, list[Matches]]:
        texts = as_texts(block.documents().texts)
        return len(texts), list(matches_in(grams, texts, 0, len(texts)))

    with closing(ordered_map(beginnings(), match, options.threads)) as found:
        for count, of_block in found:
            total += count
            for matches in of_block:
                tally.add(grams, matches)
    return tally, total


def find_in_files(
    sources: Sequence[Source],
    files: range,
    grams: ItemGrams,
    params: ContaminationParams,
    threads: int,
    *,
    limit: int | None,
    strict: bool,
    uniform: bool,
    read: Cutter,
    tell: ByteProgress,
) -> Findings:
    """Find items in the documents of files.

    Parameters
    ----------
    sources, files
        All files, and the numbers of those which are read.
    limit
        How many documents are read; None: all.
    strict
        Whether a bad row raises.
    uniform
        Whether the files must have the same columns.
    read
        Cuts a file into blocks.
    """
    parts = [InputFile(sources[number]) for number in files]
    found_blocks: list[BlockFindings] = []
    documents_read = skipped = 0
    reasons: list[InputError] = []
    layout = _first_layout(sources[: files.start], read) if uniform else None

    def find(item: tuple[InputFile, Block]) -> tuple[InputFile, Block, Any, BlockFindings]:
        part, block = item
        documents = block.documents()
        return part, block, documents, _found_in_block(part.source, documents, grams, params)

    blocks = _blocks(parts, limit, uniform, layout, read)
    with closing(ordered_map(blocks, find, threads)) as results:
        for part, block, documents, found in results:
            for error in documents.bad:
                if strict:
                    raise error
                part.bad.append(error.row or 1)
                skipped += 1
                reasons = [*reasons, error][:REASONS]
            part.extents.append(block.extent)
            part.counts.append(len(documents))
            if len(found.found.item):
                found_blocks.append(found.behind(documents_read))
            documents_read += len(documents)
            tell(part.source, block.extent)
    return Findings(files.start, parts, BlockFindings.joined(found_blocks), skipped, reasons)


Layout = tuple[str, Any]
"""A file, and the columns that it has."""


def _first_layout(sources: Sequence[Source], read: Cutter) -> Layout | None:
    """Return the columns of the first file that has any."""
    for source in sources:
        with closing(read(source, None)) as blocks:
            for block in blocks:
                if block.head.layout is not None:
                    return source.path, block.head.layout
                break
    return None


def _blocks(
    parts: list[InputFile],
    limit: int | None,
    uniform: bool,
    first: Layout | None,
    read: Cutter,
) -> Iterator[tuple[InputFile, Block]]:
    left = Limit(limit)
    for part in parts:
        if left.reached:
            return
        part.identity = identity(part.source)
        for block in left.first(read(part.source, part.identity)):
            part.head = block.head
            yield part, block
        if not uniform or part.head.layout is None:
            continue
        if first is None:
            first = part.source.path, part.head.layout
        if part.head.layout != first[1]:
            raise part.source.error(f"its columns differ from those of {first[0]}")


def _found_in_block(
    source: Source, documents: BlockDocuments, grams: ItemGrams, params: ContaminationParams
) -> BlockFindings:
    texts = as_texts(documents.texts)
    found = items_in(grams, texts, matches_in(grams, texts, 0, len(texts)), params)
    if not len(found.item):
        return NOTHING
    ids = Ids()
    ids.add(source.path, documents.ids, documents.rows)
    cuts, dropped = cuts_of(texts, found, params)
    return BlockFindings(found, ids.take(found.document), cuts, dropped)


def _again(part: InputFile) -> Iterator[Block]:
    return part.blocks() if part.is_read else iter(())


class ContaminationColumns:
    """The columns that tell in the row of each document which item it contains most of.

    Parameters
    ----------
    found
        The items in all documents.
    share
        float64 (n,): how much of an item each row of it has.
    ids
        The ids of the items.
    """

    TYPES: ClassVar[dict[str, str]] = {
        "contaminated_by": "string", "contamination_share": "double", "contamination_run": "int64",
    }  # fmt: skip

    def __init__(self, found: Found, share: NDArray[np.float64], ids: Sequence[Any]) -> None:
        first = most_contained(found, share)
        self._document, self._item = found.document[first], found.item[first]
        self._share, self._run, self._ids = share[first], found.run[first], ids

    def __call__(self, start: int, stop: int) -> AddedColumns:
        """Return the columns of the documents from `start` to `stop` - 1."""
        rows = slice(*np.searchsorted(self._document, (start, stop)))
        names: list[str | None] = [None] * (stop - start)
        share, run = np.zeros(stop - start), np.zeros(stop - start, np.int64)
        there = self._document[rows] - start
        share[there], run[there] = self._share[rows], self._run[rows]
        ids = texts_of_ids([self._ids[item] for item in self._item[rows].tolist()])
        for document, name in zip(there.tolist(), ids, strict=True):
            names[document] = name
        columns = (names, share.tolist(), run.tolist())
        return AddedColumns(self.TYPES, dict(zip(self.TYPES, columns, strict=True)))


def write_what_is_left(
    findings: Findings,
    targets: OutputPlan,
    params: ContaminationParams,
    threads: int,
    together: Replacements,
    tell: ByteProgress,
    added: ContaminationColumns | None = None,
) -> list[str]:
    """Write the rows that are left of some files, read once more; return the paths.

    Parameters
    ----------
    findings
        Of the files of one output, or of some of those that have an output each.
    added
        Further columns.

    Raises
    ------
    InputError
        A file has changed since it was read.
    """
    cuts, dropped = findings.contents.cuts, unique(findings.contents.dropped)
    begin = findings.first
    starts = np.cumsum([0, *(part.documents for part in findings.parts)]).tolist()

    def is_dropped(number: int) -> bool:
        first, last = np.searchsorted(dropped, (starts[number], starts[number + 1]))
        return bool(last - first == starts[number + 1] - starts[number])

    def blocks(output: Output) -> Iterator[Reread]:
        for number in output.sources:
            part, start = findings.parts[number - begin], starts[number - begin]
            for count, block in zip(part.counts, _again(part), strict=True):
                yield Reread(part.source, block, (start, start + count))
                start += count

    def rest(key: tuple[int, int], block: Block) -> Rest:
        start, stop = key
        kept = np.ones(stop - start, np.bool_)
        kept[dropped[slice(*np.searchsorted(dropped, key))] - start] = False
        own = cuts[slice(*np.searchsorted(cuts[:, 0], key))] - (start, 0, 0)
        changed: Mapping[int, str] = {}
        if len(own):
            changed = texts_without_spans(as_texts(block.documents().texts), own, params.join)
        return Rest(kept, changed, None if added is None else added(start, stop))

    outputs = []
    paths = []
    for output in targets.plan:
        number = output.sources[0] - begin
        if not 0 <= number < len(findings.parts):
            continue
        first = findings.parts[number]
        if not first.is_read:  # because of a limit
            continue
        paths.append(output.path)
        if output.format == "txt" and is_dropped(number):
            together.absent(output.path)
            continue
        columns = None if added is None else added(0, 0)
        outputs.append(Rewriting(output, first.source, partial(blocks, output), rest, columns))
    write_again(outputs, together, folders=targets.folders, threads=threads, tell=tell)
    return paths
