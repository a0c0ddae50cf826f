"""Sign: every file is read once, and what its documents are found by is written, by segments."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext, suppress
from functools import partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._texts import TextColumn
from fastlsh.arrays import rounded
from fastlsh.candidates import keys_apart
from fastlsh.errors import InputError, LongRowError
from fastlsh.files.budget import BASE, PER_BATCH, PER_PIECE, PER_WINDOW, least_memory, saying_memory
from fastlsh.files.cutting import SpanCutting
from fastlsh.files.disk.gathered import encoded_texts
from fastlsh.files.disk.segments import (
    BandKeys,
    KeysWriter,
    Minima,
    RowGroups,
    SegmentWriter,
    SignedBlock,
    check_number,
    narrowed,
)
from fastlsh.files.disk.sorted_keys import repeated_values, repetitions
from fastlsh.files.run.manifest import Unit
from fastlsh.files.run.records import SIGNED, BlockRecord, Segment, Summary
from fastlsh.files.run.run import (
    BROKEN,
    FailedUnitError,
    Run,
    broken_file,
    in_unit,
    remember_broken,
)
from fastlsh.index import refusal_of_id
from fastlsh.io import (
    COLUMNAR,
    Block,
    BlockDocuments,
    BlockExtent,
    ByteRange,
    Ids,
    Limit,
    Source,
    are_integer_ids,
    identity_hashes,
    ids_with,
    largest_batch,
    read_blocks,
    with_row_of_file,
    without_repetition,
)
from fastlsh.parallel import RunOptions, amount, batches, ordered_map, run_batches
from fastlsh.priorities import PriorityRecord, missing_in
from fastlsh.search import warn_of_long_shingles, warn_of_needless_comparisons
from fastlsh.stages import characters_of, hasher_for, sign_batch, sign_with_steps
from fastlsh.texts import as_texts

T = TypeVar("T", np.uint32, np.uint64)

SAMPLE_OF_BLOCK = 64
"""Texts of a block whose length is measured."""


def sign_block(run: Run, source: int, block: Block) -> SignedBlock:
    """Sign the documents of a block."""
    documents = block.documents()
    documents.check(skip=run.skip)
    if run.request.saves_ids and source >= run.first_input:
        ids = Ids()
        ids.add(run.sources[source].path, documents.ids, documents.rows)
        ids.check(refusal_of_id)
    counts = echoes = contexts = None
    keys: NDArray[Any]
    identities = identity_hashes(None if run.request.group else documents.ids)
    if run.request.group is not None:
        keys, empty, short = _groups_and_sizes(documents, run.request.group), 0, 0
    elif run.params.partitions:
        keys, short = _minima(documents, run)
        empty = int((keys[run.params.num_perm] == 0).sum())
    elif run.cutting is None:
        keys, short = _keys(documents, run)
        empty = int((keys[0] == 0).sum())
    else:
        pieces, of_pieces, echoes, short = run.cutting.signed(documents, run.params)
        keys = BandKeys.stored(of_pieces)
        counts = np.bincount(pieces.bounds[:, 0], minlength=len(documents)).astype(np.int32)
        empty = int((keys[0] == 0).sum())
        per_piece = PER_PIECE + PER_WINDOW * (run.cutting.window > 1)
        if (most := per_piece * int(counts.max(initial=0))) > run.budget.memory - BASE:
            row = int(documents.rows[counts.argmax()])
            raise LongRowError(run.sources[source].path, most, row, f"cut into {run.cutting.name}s")
        if echoes is not None:
            contexts = narrowed(pieces.bounds)
    characters = 0
    if isinstance(run.cutting, SpanCutting):
        texts = as_texts(documents.texts)
        characters = int(characters_of(texts, run.params.shingler, RunOptions.of(1)).sum())
    bad = tuple(error.row or 1 for error in documents.bad)
    size = _text_bytes(documents.texts)
    if documents.also is not None:
        size += _text_bytes(documents.also)
    record = BlockRecord(source, block.extent, keys.shape[1], bad, size, len(documents))
    integers = not len(documents) or are_integer_ids(documents.ids)
    return SignedBlock(
        record, keys, identities, empty, short, documents.bad, block.next_row, documents.slow,
        integers, counts, echoes, _columns(run, source, documents), contexts, characters,
        documents.priorities,
    )  # fmt: skip


def _columns(run: Run, source: int, documents: BlockDocuments) -> list[NDArray[Any]]:
    """Return the columns that are saved; documents of `against` have none."""
    if source < run.first_input or run.request.group is not None:
        return []
    read = run.request.read
    labels = [documents.labels[name] for name in read.labels]
    return labels + [rounded(documents.numbers[name]) for name in read.counts]


def _groups_and_sizes(documents: BlockDocuments, group: str) -> NDArray[np.uint32]:
    """Return the hash of each row's group, and the size of its text, as they are stored."""
    _, sizes, _ = encoded_texts(documents.texts, np.arange(len(documents)))
    return RowGroups.stored(documents.labels[group], sizes)


def _keys(documents: BlockDocuments, run: Run) -> tuple[NDArray[np.uint64], int]:
    """Return the band keys, uint64 (bands, n), and how many documents are shorter than a shingle.

    Each value of a dictionary is read once.
    """
    distinct, inverse = without_repetition(documents.texts)
    signed = sign_batch(distinct, run.params, text_hashes=False, threads=1)
    keys, short = _repeated(signed.keys, inverse), _count(signed.short, inverse)
    groups = run.request.groups(documents.labels)
    if groups is not None:
        keys = keys_apart(keys, groups)
    return BandKeys.stored(keys), short


def _minima(documents: BlockDocuments, run: Run) -> tuple[NDArray[np.uint32], int]:
    """Return what the keys by size are made of, as `Minima` are stored; and as `_keys`."""
    distinct, inverse = without_repetition(documents.texts)
    prepared = run.params.shingler.prepared(as_texts(distinct))
    signed, steps = sign_with_steps(prepared, run.params, RunOptions.of(1))
    minima = _repeated(np.vstack([signed.signatures.T, steps]), inverse)
    groups = run.request.groups(documents.labels)
    return Minima.stored(minima, groups), _count(signed.short, inverse)


def _count(flags: NDArray[np.bool_] | None, inverse: NDArray[np.int64] | None) -> int:
    """Return of how many documents a flag of their values is set; that of null is not."""
    if flags is None:
        return 0
    return int((flags if inverse is None else np.append(flags, False)[inverse]).sum())


def _repeated(values: NDArray[T], inverse: NDArray[np.int64] | None) -> NDArray[T]:
    """Return the columns of values for each document; that of null, the last one, is 0."""
    return values if inverse is None else np.pad(values, ((0, 0), (0, 1)))[:, inverse]


def _text_bytes(texts: Any) -> int:
    """Return about how many bytes of UTF-8 the texts of a block take."""
    if isinstance(texts, TextColumn):
        return texts.nbytes
    step = len(texts) // SAMPLE_OF_BLOCK + 1
    if not hasattr(texts, "nbytes"):
        sample = texts[::step]
    elif str(texts.type).startswith("dictionary"):
        sample = texts.take(np.arange(0, len(texts), step)).to_pylist()
    else:
        return int(texts.nbytes)
    size = sum(len((text or "").encode("utf-8", "surrogatepass")) for text in sample)
    return size * len(texts) // max(len(sample), 1)


class BlockWork(NamedTuple):
    """What is made of each block when the files are read for the first time."""

    block: Callable[[Run, int, Block], Any]
    """Given the number of the file and a block, returns its part of a segment."""
    writer: Callable[..., SegmentWriter[Any]]
    progress: str


def _signing(run: Run) -> BlockWork:
    """Return what is made of blocks for a search, or of those of rows which are put together."""
    return BlockWork(sign_block, KeysWriter, "reading" if run.request.group else "signing")


REASONS = 10
"""So many bad rows are described."""
SAMPLE = 4096
READ_AGAIN = 3
"""Runs that are read again for the files of a repeated id."""
OF_DECOMPRESSOR = 1 << 26
"""Bytes of memory for which a compressed file is read beside others, with its window."""


def all_signed(run: Run) -> Summary:
    """Return the counts of all documents, which are written when all have been signed."""
    if not run.work.has(SIGNED):
        run.work.drop(BROKEN)  # from here on, no file may change
        run.work.write(SIGNED, _summary(run)._asdict())
    summary = run.summary
    counts = (summary.short, summary.not_empty), (summary.against_short, summary.against_filled)
    name = "document" if run.cutting is None else run.cutting.name
    warn_of_long_shingles(counts, run.params.shingler, name)
    return summary


def sign_units(run: Run, work: BlockWork | None = None) -> None:
    """Sign the files of this process's part, several units at a time if that is possible.

    Goes on behind the segments that are there.

    Raises
    ------
    InputError
        A file that cannot be read, or a bad row unless these are skipped. The files before it are
        not signed again when it has been mended.
    """
    work = work or _signing(run)
    units = dict(run.part.share(list(enumerate(run.units))))
    numbers = [number for unit in units.values() for number in unit.files]
    _check_batches(run, [run.sources[number] for number in numbers if number < run.surely_read])
    sources = [run.sources[number] for number in numbers]
    in_turns = _are_in_turns(run, sources)
    wide = 1 if in_turns else _width(run, units, sources)
    if wide > 1:
        with suppress(LongRowError):  # a row must be in memory alone, without what the error holds
            _sign(run, work, units, wide, 1)
            return
    _sign(run, work, units, 1, len(units) if in_turns or wide > 1 else 1)


def _are_in_turns(run: Run, sources: Sequence[Source]) -> bool:
    """Whether one unit is signed after the other.

    They are if files are read as a whole, if it is not known which of them are read, and where
    processes share the work: those with the same part must end their runs behind the same blocks.
    """
    formats = {source.format for source in sources}
    return run.stage is not None or run.limit is not None or not formats.isdisjoint(COLUMNAR)


def _width(run: Run, units: Mapping[int, Unit], sources: Sequence[Source]) -> int:
    """Return how many units may be signed at a time."""
    wide = min(run.options.threads, len(units))
    compressions = {source.compression for source in sources} - {None}
    if compressions:
        wide = min(wide, run.budget.memory // OF_DECOMPRESSOR)
    return 1 if "xz" in compressions else max(wide, 1)


def _sign(
    run: Run, work: BlockWork, units: Mapping[int, Unit], wide: int, in_sequence: int
) -> None:
    """Sign units, `wide` at a time; of several files that cannot be read, the first one raises.

    `in_sequence`: the blocks of so many units are one sequence, in which threads need not wait at
    the end of a unit.

    Raises
    ------
    LongRowError
        There are several at a time, and a row must be in memory alone.
    """
    done = {unit: run.segments_of_unit(unit) for unit in units}
    tell = run.byte_progress(work.progress)
    limit = _limit(run)
    failed: dict[int, InputError] = {}

    def sign(start: int, stop: int) -> Iterator[None]:
        mine = {unit: units[unit] for unit in [*units][start:stop]}
        writer = None
        if failed and min(failed) < min(mine):
            return
        with closing(_signed(run, work, mine, done, wide, limit)) as blocks:
            try:
                for unit, signed in blocks:
                    if writer is None or writer.unit != unit:
                        if writer is not None:
                            writer.close(last=True)
                        writer = work.writer(run, unit, done[unit], wide)
                    writer.add(signed)
                    if wide == 1:
                        tell(run.sources[signed.record.source], signed.record.extent)
                    yield
                    if failed and min(failed) < unit:
                        return
            except FailedUnitError as failure:
                unit = failure.unit
                source = run.sources[units[unit].files.start]
                failed[unit] = with_row_of_file(source, units[unit].within, failure.error)
                broken = broken_file(run, failure.error)
                if writer is not None and writer.unit < unit:
                    writer.close(last=True)
                elif writer is not None and broken is not None:
                    writer.close(broken)
                return
        if writer is not None:
            writer.close(last=True)

    if wide > 1 and 0 in units:  # a warning names its caller only in the calling thread
        for _ in islice(_first_blocks(run, units[0], done[0], limit), 1):
            pass
    try:
        parts = tell.by_parts(len(units)) if wide > 1 else None
        run_batches(sign, batches(len(units), max(in_sequence, 1)), wide, parts)
        if failed:
            remember_broken(run, failed[min(failed)])
            raise failed[min(failed)]
    finally:
        failed.clear()  # an error holds its frames, and with these open files
    tell.end()


def _signed(
    run: Run,
    work: BlockWork,
    units: Mapping[int, Unit],
    done: Mapping[int, list[Segment]],
    wide: int,
    limit: Limit,
) -> Generator[tuple[int, Any], None, None]:
    """Sign the blocks of units behind their finished segments."""

    def blocks() -> Iterator[tuple[int, int, Block]]:
        for unit, files in units.items():
            find = _first_blocks if unit == 0 and wide == 1 else partial(_blocks, wide=wide)
            with in_unit(unit):
                for source, block in find(run, files, done[unit], limit):
                    yield unit, source, block

    def signed(item: tuple[int, int, Block]) -> tuple[int, Any]:
        unit, source, block = item
        with in_unit(unit):
            return unit, work.block(run, source, block)

    return ordered_map(
        blocks(), signed, run.options.threads // wide,
        alone=lambda item: run.is_large(item[1], item[2].extent),
    )  # fmt: skip


def _blocks(
    run: Run, unit: Unit, segments: list[Segment], limit: Limit, wide: int = 1
) -> Iterator[tuple[int, Block]]:
    """Yield the blocks of a unit behind its finished segments, each with its file."""
    if segments and segments[-1].last:
        return
    after = segments[-1].blocks[-1] if segments else None
    files, within = unit
    first = files.start if after is None else after.source
    for number in range(first, files.stop):
        if limit.reached:
            return
        if number >= run.surely_read:
            _check_batches(run, [run.sources[number]])
        extent = after.extent if after is not None and number == after.source else None
        blocks = cut_file(run, number, extent, within, wide)
        for block in blocks if number < run.first_input else limit.first(blocks):
            yield number, block


def _limit(run: Run) -> Limit:
    """Return how many documents are still wanted."""
    if run.limit is None:
        return Limit(None)
    segments = [segment for segment in run.segments_so_far() if run.is_of_inputs(segment)]
    group = run.request.group
    if group is not None:
        rows = (RowGroups(run, segment) for segment in segments)
        begun = {group_id for keys in rows for group_id in keys.groups.tolist()}
        return Limit(run.limit - len(begun), group, begun)
    done = sum(record.uncut for segment in segments for record in segment.blocks)
    return Limit(run.limit - done)


def _check_batches(run: Run, sources: list[Source]) -> None:
    """Raise InputError if a batch of an Arrow file, which is read as a whole, is too large."""
    budget = run.budget
    for source in sources:
        if source.format != "arrow":
            continue
        size, number = largest_batch(source)
        if size > budget.batch:
            raise source.error(
                f"batch {number} takes {amount(size)}, and with {amount(budget.memory)} of memory"
                f" a batch may take {amount(budget.batch)}: give at least"
                f' memory="{least_memory(size, PER_BATCH)}", or write the file in smaller batches'
            )


def cut_file(
    run: Run, number: int, after: BlockExtent | None, within: ByteRange, wide: int = 1
) -> Iterator[Block]:
    """Cut a file; say how much memory a row needs that is too long.

    Raises
    ------
    LongRowError
        Several files are read at a time, and a row must be in memory alone.
    """
    budget = run.budget
    max_row = budget.row if wide == 1 else min(budget.row, budget.large)
    all_columns = run.rows_written and number >= run.first_input
    with nullcontext() if wide > 1 else saying_memory(budget.memory, budget.row):
        yield from read_blocks(
            run.sources[number], budget.block, after=after, max_row=max_row, within=within,
            all_columns=all_columns,
        )  # fmt: skip


def _summary(run: Run) -> Summary:
    counts = [len(run.segments_of_unit(number)) for number in range(len(run.units))]
    segments, blocks = run.segments, run.blocks
    if run.stage is not None:
        rest = iter(segments)
        for unit, count in zip(run.units, counts, strict=True):
            _check_whole(run, unit.files, list(islice(rest, count)))
    first = sum(not run.is_of_inputs(segment) for segment in segments)
    identities = run.arrays("identities")
    # Each collection by itself, as in memory.
    collections = [slice(0, first), slice(first, None)]
    repeated = [repetitions(identities[part], run.budget.rows) for part in collections]
    examples = [
        _repeated_example(run, segments[part], identities[part])
        for part, count in zip(collections, repeated, strict=True)
        if count
    ]
    n_against = sum(segment.documents for segment in segments[:first])
    empty, against_empty = _of_both(run, "empty")
    short, against_short = _of_both(run, "short")
    check_number(run.signed)
    reasons = [
        (path, reason, row and row + segment.rows_before)
        for segment in segments
        for path, reason, row in segment.counts["reasons"]
    ]
    priorities = [
        (run.sources[source].path, PriorityRecord(*record))
        for segment in segments
        for source, record in segment.counts["priorities"]
    ]
    stop = max((record.source + 1 for record in blocks), default=run.first_input)
    return Summary(
        documents=run.signed, n_against=n_against, empty=empty,
        against_filled=n_against - against_empty,
        skipped=sum(len(record.bad) for record in blocks), reasons=reasons[:REASONS],
        repeated=sum(repeated), repeated_example=next(iter(examples), ""), segments=counts,
        integers=run.signed > 0 and all(segment.counts["integers"] for segment in segments),
        text=sum(record.text for record in blocks), files=stop - run.first_input,
        slow=sum(segment.counts["slow"] for segment in segments),
        characters=sum(segment.counts["characters"] for segment in segments[first:]),
        short=short, against_short=against_short,
        missing_priorities=missing_in(str(run.request.read.priority), priorities),
    )  # fmt: skip


def _of_both(run: Run, name: str) -> tuple[int, int]:
    """Return the sums of a count of the segments, of the inputs and of `against`."""
    sums = [0, 0]
    for segment in run.segments:
        for source, n in segment.counts[name]:
            sums[source < run.first_input] += n
    return sums[0], sums[1]


def _repeated_example(
    run: Run, segments: Sequence[Segment], identities: Sequence[NDArray[np.uint64]]
) -> str:
    """Return what `Ids.repeated_example` does; few segments with the id are read again."""
    lowest = next(keys[:1] for keys in repeated_values([*identities], run.budget.rows) if len(keys))
    have = [
        segment
        for segment, hashes in zip(segments, identities, strict=True)
        if lowest[0] in hashes[hashes.searchsorted(lowest[0]) :][:1]
    ]
    ids = Ids()
    records = [record for segment in have[:READ_AGAIN] for record in segment.blocks]
    for record, block in run.reread(records):
        documents = block.documents()
        path = run.sources[record.source].path
        ids.add(path, *ids_with(documents.ids, documents.rows, lowest))
    return ids.repeated_example()


def _check_whole(run: Run, files: range, segments: list[Segment]) -> None:
    """Raise InputError unless the segments of a unit have all blocks of its files, each once."""
    expected = files.start, 0
    for entry in segments:
        for record in entry.blocks:
            position = record.source, record.extent.index
            begins = expected[1] and position == (expected[0] + 1, 0)  # with the next file
            if position != expected and not begins:
                raise InputError(run.work / entry.name, f"does not continue: {run.work.start_over}")
            expected = record.source, record.extent.index + 1
    if expected[0] != files.stop - 1:
        advice = run.work.start_over
        raise InputError(run.work / segments[-1].name, f"does not end its unit: {advice}")


def _first_blocks(
    run: Run, unit: Unit, segments: list[Segment], limit: Limit
) -> Iterator[tuple[int, Block]]:
    """Do as `_blocks`, and warn if most comparisons of the first documents will be needless."""
    blocks = _blocks(run, unit, segments, limit)
    are_documents = run.cutting is None and run.request.group is None
    if not segments and are_documents and not run.params.finds_equal:
        for number, block in islice(blocks, 1):
            documents = block.documents()
            texts = run.params.shingler.prepared(as_texts(documents.texts[:SAMPLE]))
            signatures = hasher_for(run.params, run.options).sign(texts)
            warn_of_needless_comparisons(texts, signatures, run.params, run.options)
            yield number, block
    yield from blocks
