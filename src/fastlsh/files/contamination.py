"""The two passes of a decontamination of files: one finds, the other writes what is left."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
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
    read_blocks,
    texts_of_ids,
    write_again,
)
from fastlsh.parallel import RunOptions, ordered_map
from fastlsh.search import ContaminationParams, cuts_of, items_in
from fastlsh.stages import Found, ItemGrams, Matches, Tally, matches_in
from fastlsh.texts import as_texts, texts_without_spans

SAMPLED_FILES = 100
"""Files at whose beginnings is looked for boilerplate, at most."""

REASONS = 10
"""Bad rows whose reasons are kept."""


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


NOTHING = BlockFindings(Found.joined([]), [], np.empty((0, 3), np.int64), np.empty(0, np.int64))


@dataclass
class Findings:
    """What files contain, and where their rows are."""

    parts: list[InputFile]
    blocks: list[BlockFindings] = field(default_factory=list)
    """Those of blocks that contain an item."""
    documents: int = 0
    skipped: int = 0
    reasons: list[InputError] = field(default_factory=list)

    @property
    def found(self) -> Found:
        """What all of them contain."""
        return Found.joined([block.found for block in self.blocks])

    @property
    def ids(self) -> list[Any]:
        """The id of the document of each row of `found`."""
        return [name for block in self.blocks for name in block.ids]

    @property
    def cuts(self) -> NDArray[np.int64]:
        """What is cut out of documents, int64 (m, 3)."""
        return np.concatenate([NOTHING.cuts, *(block.cuts for block in self.blocks)])

    @property
    def dropped(self) -> NDArray[np.int64]:
        """The documents that go as a whole, int64, ascending."""
        return np.concatenate([NOTHING.dropped, *(block.dropped for block in self.blocks)])


def sample_of_files(
    sources: Sequence[Source],
    grams: ItemGrams,
    params: ContaminationParams,
    options: RunOptions,
    limit: int | None,
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
                yield from first.first(read_blocks(source))
            return
        for number in chosen:
            yield from Limit(each).first(read_blocks(sources[number]))

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
    grams: ItemGrams,
    params: ContaminationParams,
    options: RunOptions,
    *,
    limit: int | None,
    strict: bool,
    uniform: bool,
) -> Findings:
    """Find items in the documents of files.

    Parameters
    ----------
    limit
        How many documents are read; None: all.
    strict
        Whether a bad row raises.
    uniform
        Whether the files must have the same columns.
    """
    findings = Findings([InputFile(source) for source in sources])
    tell = ByteProgress("decontaminating", list(sources), options.progress.function)

    def find(item: tuple[InputFile, Block]) -> tuple[InputFile, Block, Any, BlockFindings]:
        part, block = item
        documents = block.documents()
        return part, block, documents, _found_in_block(part.source, documents, grams, params)

    blocks = _blocks(findings.parts, limit, uniform)
    with closing(ordered_map(blocks, find, options.threads)) as results:
        for part, block, documents, found in results:
            for error in documents.bad:
                if strict:
                    raise error
                part.bad.append(error.row or 1)
                findings.skipped += 1
                findings.reasons = [*findings.reasons, error][:REASONS]
            part.extents.append(block.extent)
            part.counts.append(len(documents))
            if len(found.found.item):
                findings.blocks.append(found.behind(findings.documents))
            findings.documents += len(documents)
            tell(part.source, block.extent)
    tell.end()
    return findings


def _blocks(
    parts: list[InputFile], limit: int | None, uniform: bool
) -> Iterator[tuple[InputFile, Block]]:
    left = Limit(limit)
    for part in parts:
        if left.reached:
            return
        part.identity = identity(part.source)
        for block in left.first(read_blocks(part.source, expected=part.identity)):
            part.head = block.head
            yield part, block
        if not uniform or part.head.layout is None:
            continue
        first = next(each for each in parts if each.head.layout is not None)
        if part.head.layout != first.head.layout:
            raise part.source.error(f"its columns differ from those of {first.source.path}")


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
        order = np.lexsort((found.item, -share, found.document))
        first = order[np.diff(found.document[order], prepend=-1) != 0]
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
    options: RunOptions,
    together: Replacements,
    added: ContaminationColumns | None = None,
) -> None:
    """Write the rows that are left, read once more from the inputs; `added` are further columns.

    Raises
    ------
    InputError
        A file has changed since it was read.
    """
    cuts, dropped = findings.cuts, unique(findings.dropped)
    sources = [part.source for part in findings.parts]
    tell = ByteProgress("writing", sources, options.progress.function)
    starts = np.cumsum([0, *(part.documents for part in findings.parts)]).tolist()

    def is_dropped(number: int) -> bool:
        first, last = np.searchsorted(dropped, (starts[number], starts[number + 1]))
        return bool(last - first == starts[number + 1] - starts[number])

    def blocks(output: Output) -> Iterator[Reread]:
        for number in output.sources:
            part, start = findings.parts[number], starts[number]
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
    for output in targets.plan:
        first = findings.parts[output.sources[0]]
        if not first.is_read:  # because of a limit
            continue
        if output.format == "txt" and is_dropped(output.sources[0]):
            together.absent(output.path)
            continue
        columns = None if added is None else added(0, 0)
        outputs.append(Rewriting(output, first.source, partial(blocks, output), rest, columns))
    write_again(outputs, together, folders=targets.folders, threads=options.threads, tell=tell)
    tell.end()
