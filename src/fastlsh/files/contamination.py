"""What documents of files contain of evaluation items, and what is left of them."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import unique
from fastlsh.errors import InputError
from fastlsh.files.cutting import SpanRemainder
from fastlsh.files.plan import OutputPlan
from fastlsh.files.run.manifest import Unit
from fastlsh.io import (
    ALL_BYTES,
    COLUMNAR,
    AddedColumns,
    Block,
    BlockDocuments,
    ByteProgress,
    ByteRange,
    Identity,
    Ids,
    InputFile,
    Limit,
    Replacements,
    Source,
    identity,
    rewritings,
    texts_of_ids,
    with_row_of_file,
    write_again,
)
from fastlsh.parallel import RunOptions, ordered_map
from fastlsh.search import ContaminationParams, cuts_of, items_in, most_contained
from fastlsh.stages import Containments, ItemGrams, Matches, Tally, matches_in
from fastlsh.texts import as_texts

REASONS = 10
"""Bad rows whose reasons are kept."""


class BlockFindings(NamedTuple):
    """What a block of documents contains."""

    containments: Containments
    ids: list[Any]
    """Of the document of each row of `containments`; None: it has none."""
    rows: NDArray[np.int64]
    """int64: the row of that document in its file; in a range of a file, counted from there."""
    cuts: NDArray[np.int64]
    """int64 (m, 3): what is cut out of which document."""
    dropped: NDArray[np.int64]
    """int64, ascending: documents that go as a whole."""

    def behind(self, start: int) -> "BlockFindings":
        """Return the same if the first document of the block has this number."""
        moved = self.containments._replace(document=self.containments.document + start)
        return BlockFindings(
            moved, self.ids, self.rows, np.add(self.cuts, (start, 0, 0)), self.dropped + start
        )

    @classmethod
    def of_blocks(cls, blocks: "Sequence[BlockFindings]") -> "BlockFindings":
        """Return those of all blocks, in their order."""
        return cls(
            Containments.joined([block.containments for block in blocks]),
            [name for block in blocks for name in block.ids],
            np.concatenate([NOTHING.rows, *(block.rows for block in blocks)]),
            np.concatenate([NOTHING.cuts, *(block.cuts for block in blocks)]),
            np.concatenate([NOTHING.dropped, *(block.dropped for block in blocks)]),
        )


_NONE = np.empty(0, np.int64)
NOTHING = BlockFindings(Containments.joined([]), [], _NONE, np.empty((0, 3), np.int64), _NONE)


@dataclass(frozen=True)
class Findings:
    """What consecutive files, or a range of one, contain, and where their rows are."""

    first: int
    """The number of the first file."""
    parts: list[InputFile]
    contents: BlockFindings
    """Documents are counted from the first one of these files."""
    skipped: int
    reasons: list[InputError]
    next_row: int
    """The number of the row behind the last one, as rows are counted in the last file."""

    def ids(self) -> list[Any]:
        """Return the ids of the documents of `containments`; ``FILE:ROW`` where a file has none."""
        contents = self.contents
        ends = np.cumsum([part.documents for part in self.parts])
        files = np.searchsorted(ends, contents.containments.document, "right")
        rows = zip(contents.ids, files.tolist(), contents.rows.tolist(), strict=True)
        return [
            f"{self.parts[file].source.path}:{row}" if name is None else name
            for name, file, row in rows
        ]

    def behind(self, rows: int) -> "Findings":
        """Return those of a range of a file if so many of its rows are before the range."""
        (part,) = self.parts
        return Findings(
            self.first,
            [
                replace(
                    part,
                    extents=[extent._replace(row=extent.row + rows) for extent in part.extents],
                    bad=[row + rows for row in part.bad],
                )
            ],
            self.contents._replace(rows=self.contents.rows + rows),
            self.skipped,
            [
                InputError(error.path, error.reason, error.row and error.row + rows)
                for error in self.reasons
            ],
            self.next_row + rows,
        )

    @property
    def documents(self) -> int:
        """How many there are."""
        return sum(part.documents for part in self.parts)

    @classmethod
    def of_ranges(cls, ranges: "Sequence[Findings]") -> "Findings":
        """Return those of consecutive files, or ranges of files, as one."""
        parts: list[InputFile] = []
        every: list[Findings] = []
        for piece in ranges:
            if every and piece.first < every[0].first + len(parts):  # the next range of the file
                if piece.parts[0].source.format not in COLUMNAR:
                    piece = piece.behind(every[-1].next_row - 1)
                parts[-1] = parts[-1].followed_by(piece.parts[0])
            else:
                parts += piece.parts
            every.append(piece)
        starts = np.cumsum([0, *(piece.documents for piece in every)]).tolist()
        return cls(
            every[0].first,
            parts,
            BlockFindings.of_blocks(
                [piece.contents.behind(start) for piece, start in zip(every, starts, strict=False)]
            ),
            sum(piece.skipped for piece in every),
            [reason for piece in every for reason in piece.reasons][:REASONS],
            every[-1].next_row,
        )


SAMPLED_FILES = 100
"""The most files whose beginnings are searched for boilerplate."""

Cutter = Callable[[Source, Identity | None, ByteRange], Generator[Block, None, None]]
"""Cuts a range of a file into blocks, if it still is what it was, or whatever it is."""


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
    per_file = -(-params.sample // len(chosen))
    total = 0

    def beginnings() -> Iterator[Block]:
        if limit is not None:
            first = Limit(min(limit, params.sample))
            for source in sources:
                if first.reached:
                    return
                yield from first.first(read(source, None, ALL_BYTES))
            return
        for number in chosen:
            yield from Limit(per_file).first(read(sources[number], None, ALL_BYTES))

    def match(block: Block) -> tuple[int, list[Matches]]:
        texts = as_texts(block.documents().texts)
        return len(texts), list(matches_in(grams, texts, 0, len(texts)))

    with closing(ordered_map(beginnings(), match, options.threads)) as blocks:
        for count, of_block in blocks:
            total += count
            for matches in of_block:
                tally.add(grams, matches)
    return tally, total


def find_in_files(
    sources: Sequence[Source],
    unit: Unit,
    grams: ItemGrams,
    params: ContaminationParams,
    threads: int,
    *,
    limit: int | None,
    strict: bool,
    read: Cutter,
    tell: ByteProgress,
) -> Findings:
    """Find items in the documents of files.

    Parameters
    ----------
    sources, unit
        All files, and what is read of them.
    limit
        How many documents are read; None: all.
    strict
        Whether a bad row raises.
    read
        Cuts a file into blocks.
    """
    files, within = unit
    parts = [InputFile(sources[number]) for number in files]
    found_blocks: list[BlockFindings] = []
    documents_read = skipped = 0
    next_row = 1
    reasons: list[InputError] = []

    def find(item: tuple[InputFile, Block]) -> tuple[InputFile, Block, Any, BlockFindings]:
        part, block = item
        documents = block.documents()
        return part, block, documents, _found_in_block(documents, grams, params)

    blocks = _blocks(parts, within, limit, read)
    with closing(ordered_map(blocks, find, threads)) as results:
        for part, block, documents, findings in results:
            try:
                documents.check(skip=not strict)
            except InputError as first:
                raise with_row_of_file(part.source, within, first) from None
            for error in documents.bad:
                part.bad.append(error.row or 1)
                skipped += 1
                reasons = [*reasons, error][:REASONS]
            part.extents.append(block.extent)
            part.counts.append(len(documents))
            if len(findings.containments.item):
                found_blocks.append(findings.behind(documents_read))
            documents_read += len(documents)
            next_row = block.next_row
            tell(part.source, block.extent)
    found_in_all = BlockFindings.of_blocks(found_blocks)
    return Findings(files.start, parts, found_in_all, skipped, reasons, next_row)


def _blocks(
    parts: list[InputFile], within: ByteRange, limit: int | None, read: Cutter
) -> Iterator[tuple[InputFile, Block]]:
    left = Limit(limit)
    for part in parts:
        if left.reached:
            return
        part.identity = identity(part.source)
        for block in left.first(read(part.source, part.identity, within)):
            part.head = block.head
            yield part, block


def _found_in_block(
    documents: BlockDocuments, grams: ItemGrams, params: ContaminationParams
) -> BlockFindings:
    texts = as_texts(documents.texts)
    containments = items_in(grams, texts, matches_in(grams, texts, 0, len(texts)), params)
    if not len(containments.item):
        return NOTHING
    ids = Ids()
    ids.add("", documents.ids, documents.rows)
    cuts, dropped = cuts_of(texts, containments, params)
    rows = documents.rows[containments.document]
    return BlockFindings(containments, ids.take(containments.document), rows, cuts, dropped)


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

    def __init__(
        self, containments: Containments, share: NDArray[np.float64], ids: Sequence[Any]
    ) -> None:
        first = most_contained(containments, share)
        self._document, self._item = containments.document[first], containments.item[first]
        self._share, self._run, self._ids = share[first], containments.run[first], ids

    def __call__(self, start: int, stop: int) -> AddedColumns:
        """Return the columns of the documents from `start` to `stop` - 1."""
        rows = slice(*np.searchsorted(self._document, (start, stop)))
        names: list[str | None] = [None] * (stop - start)
        share, run = np.zeros(stop - start), np.zeros(stop - start, np.int64)
        positions = self._document[rows] - start
        share[positions], run[positions] = self._share[rows], self._run[rows]
        ids = texts_of_ids([self._ids[item] for item in self._item[rows].tolist()])
        for document, name in zip(positions.tolist(), ids, strict=True):
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
    max_row: int | None = None,
) -> None:
    """Write the rows that are left of some files, read once more.

    Parameters
    ----------
    findings
        Of the files of one output, or of some of those that have an output each.
    added
        Further columns.
    max_row
        As for `Rewriting`.

    Raises
    ------
    InputError
        A file has changed since it was read.
    """
    contents = findings.contents
    left = SpanRemainder(unique(contents.dropped), contents.cuts, params.join, added)
    outputs = rewritings(
        findings.parts, targets.plan, left, together, first=findings.first, max_row=max_row
    )
    write_again(
        [rewriting for _, _, rewriting in outputs], together, folders=targets.folders,
        threads=threads, tell=tell,
    )  # fmt: skip
