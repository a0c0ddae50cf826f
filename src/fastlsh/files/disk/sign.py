"""Sign: every file is read once, and what its documents are found by is written, run by run."""

from collections.abc import Generator, Iterator, Mapping, Sequence
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
from fastlsh.files.budget import BASE, PER_BATCH, PER_PIECE, least_memory, saying_memory
from fastlsh.files.cutting import SpanCutting
from fastlsh.files.disk.gathered import encoded_texts
from fastlsh.files.disk.signed_runs import (
    SIGNED,
    BlockRecord,
    RunWriter,
    SignedBlock,
    SignedRun,
    check_number,
    finished_runs,
    groups_and_sizes,
    halves_of,
    narrowed,
    numbered,
    reread_signed_blocks,
    runs_of_inputs,
    runs_of_unit,
    units_of,
)
from fastlsh.files.disk.sorted_keys import keep_first_bits, repeated_values, repetitions
from fastlsh.files.run.job import Job
from fastlsh.files.run.manifest import Unit
from fastlsh.files.run.repair import BROKEN, FailedUnitError, broken_file, in_unit, remember_broken
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


def sign_block(job: Job, source: int, block: Block) -> SignedBlock:
    """Sign the documents of a block."""
    documents = block.documents()
    documents.check(skip=job.skip)
    if job.request.saves_ids and source >= job.first_input:
        ids = Ids()
        ids.add(job.sources[source].path, documents.ids, documents.rows)
        ids.check(refusal_of_id)
    counts = echoes = contexts = None
    keys: NDArray[Any]
    identities = identity_hashes(None if job.request.group else documents.ids)
    if job.request.group is not None:
        keys, empty, short = _groups_and_sizes(documents, job.request.group), 0, 0
    elif job.params.partitions:
        keys, short = _minima(documents, job)
        empty = int((keys[job.params.num_perm] == 0).sum())
    elif job.cutting is None:
        keys, short = _keys(documents, job)
        empty = int((keys[0] == 0).sum())
    else:
        pieces, of_pieces, echoes, short = job.cutting.signed(documents, job.params)
        keep_first_bits(of_pieces)
        keys = of_pieces
        counts = np.bincount(pieces.bounds[:, 0], minlength=len(documents)).astype(np.int32)
        empty = int((of_pieces[0] == 0).sum())
        if (most := PER_PIECE * int(counts.max(initial=0))) > job.budget.memory - BASE:
            row = int(documents.rows[counts.argmax()])
            raise LongRowError(job.sources[source].path, most, row, f"cut into {job.cutting.by}s")
        if echoes is not None:
            contexts = narrowed(pieces.bounds)
    characters = 0
    if isinstance(job.cutting, SpanCutting):
        texts = as_texts(documents.texts)
        characters = int(characters_of(texts, job.params.shingler, RunOptions.of(1)).sum())
    bad = tuple(error.row or 1 for error in documents.bad)
    size = _text_bytes(documents.texts)
    record = BlockRecord(source, block.extent, keys.shape[1], bad, size)
    return SignedBlock(
        record,
        keys,
        identities,
        empty,
        short,
        documents.bad,
        block.next_row,
        documents.slow,
        not len(documents) or are_integer_ids(documents.ids),
        counts,
        echoes,
        _columns(job, source, documents),
        contexts,
        characters,
        documents.priorities,
    )


def _columns(job: Job, source: int, documents: BlockDocuments) -> list[NDArray[Any]]:
    """Return the columns that are saved; documents of `against` have none."""
    if source < job.first_input or job.request.group is not None:
        return []
    read = job.request.read
    labels = [documents.labels[name] for name in read.labels]
    return labels + [rounded(documents.numbers[name]) for name in read.counts]


def _groups_and_sizes(documents: BlockDocuments, group: str) -> NDArray[np.uint32]:
    """Return the halves of the hash of each row's group, and of the size of its text."""
    _, sizes, _ = encoded_texts(documents.texts, np.arange(len(documents)))
    halves = halves_of(documents.labels[group]), halves_of(np.asarray(sizes, np.uint64))
    return np.vstack([*halves[0], *halves[1]])


def _keys(documents: BlockDocuments, job: Job) -> tuple[NDArray[np.uint64], int]:
    """Return the band keys, uint64 (bands, n), and how many documents are shorter than a shingle.

    Each value of a dictionary is read once.
    """
    distinct, inverse = without_repetition(documents.texts)
    signed = sign_batch(distinct, job.params, text_hashes=False, threads=1)
    keys, short = _repeated(signed.keys, inverse), _count(signed.short, inverse)
    groups = job.request.groups(documents.labels)
    if groups is not None:
        keys = keys_apart(keys, groups)
    keep_first_bits(keys)
    return keys, short


def _minima(documents: BlockDocuments, job: Job) -> tuple[NDArray[np.uint32], int]:
    """Return what the keys by size are made of, uint32 (num_perm + 1 or + 3, n); and as `_keys`.

    The former are the minima of each hash function, then the steps of the sizes, and, if only
    documents of a group are compared, the lower and upper halves of the groups.
    """
    distinct, inverse = without_repetition(documents.texts)
    prepared = job.params.shingler.prepared(as_texts(distinct))
    signed, steps = sign_with_steps(prepared, job.params, RunOptions.of(1))
    minima = _repeated(np.vstack([signed.signatures.T, steps]), inverse)
    groups = job.request.groups(documents.labels)
    if groups is not None:
        minima = np.vstack([minima, *halves_of(groups)])
    return minima, _count(signed.short, inverse)


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


REASONS = 10
"""So many bad rows are described."""
SAMPLE = 4096
READ_AGAIN = 3
"""Runs that are read again for the files of a repeated id."""
OF_DECOMPRESSOR = 1 << 26
"""Bytes of memory for which a compressed file is read beside others, with its window."""


class Summary(NamedTuple):
    """Counts and properties of all documents."""

    documents: int
    n_against: int
    """Those of `against`, which come first."""
    empty: int
    """Of the others; lines and paragraphs that are not compared count, too."""
    against_filled: int
    """Documents of `against` with a unit."""
    skipped: int
    reasons: list[tuple[str, str, int | None]]
    repeated: int
    """Documents with the id of an earlier one."""
    repeated_example: str
    """One of these ids, and the files that have it."""
    runs: list[int]
    """How many runs each unit has."""
    integers: bool
    """Whether all ids are integers of 64 bits."""
    text: int
    """Bytes of all texts, about."""
    files: int
    """Those that were read, without those of `against`: all unless there is a limit."""
    slow: int
    """Rows of JSON lines that the json module has read."""
    characters: int
    """Of the documents of the inputs, where passages are looked for."""
    short: int
    """Documents with fewer units than a shingle, without those of `against`."""
    against_short: int
    """The same, of those of `against`."""
    missing_priorities: int
    """Documents of the inputs without a priority, if there is a column of these."""

    @property
    def not_empty(self) -> int:
        """Documents with a unit, without those of `against`."""
        return self.documents - self.n_against - self.empty


NOTHING = Summary(0, 0, 0, 0, 0, [], 0, "", [], False, 0, 0, 0, 0, 0, 0, 0)
"""Of a stage that does not end the run."""


def sign_inputs(job: Job) -> Summary:
    """Sign all documents; goes on behind the runs that are there.

    Raises
    ------
    InputError
        A file that cannot be read, or a bad row unless these are skipped. The files before it are
        not signed again when it has been mended.
    """
    if not job.work.has(SIGNED):
        sign_units(job)
        job.work.drop(BROKEN)  # from here on, no file may change
        job.work.write(SIGNED, _summary(job)._asdict())
    summary = job.work.read_as(Summary, SIGNED)
    finished_runs(job)  # an error if one is missing
    if summary.skipped and not job.skip:  # but it was when a run before this one read the row
        raise InputError(*summary.reasons[0])
    if job.stage in (None, "unite"):  # the stages that follow read the summary again, in each part
        counts = (summary.short, summary.not_empty), (summary.against_short, summary.against_filled)
        name = "document" if job.cutting is None else job.cutting.by
        warn_of_long_shingles(counts, job.params.shingler, name)
    return summary


def sign_units(job: Job) -> None:
    """Sign the files of this process's part, several units at a time if that is possible."""
    units = dict(job.part.share(list(enumerate(units_of(job)))))
    numbers = [number for unit in units.values() for number in unit.files]
    _check_batches(job, [job.sources[number] for number in numbers if number < job.surely_read])
    sources = [job.sources[number] for number in numbers]
    in_turns = _are_in_turns(job, sources)
    wide = 1 if in_turns else _width(job, units, sources)
    if wide > 1:
        with suppress(LongRowError):  # a row must be in memory alone, without what the error holds
            _sign(job, units, wide, 1)
            return
    _sign(job, units, 1, len(units) if in_turns or wide > 1 else 1)


def _are_in_turns(job: Job, sources: Sequence[Source]) -> bool:
    """Whether one unit is signed after the other.

    They are if files are read as a whole, if it is not known which of them are read, and where
    processes share the work: those with the same part must end their runs behind the same blocks.
    """
    formats = {source.format for source in sources}
    return job.stage is not None or job.limit is not None or not formats.isdisjoint(COLUMNAR)


def _width(job: Job, units: Mapping[int, Unit], sources: Sequence[Source]) -> int:
    """Return how many units may be signed at a time."""
    wide = min(job.options.threads, len(units))
    compressions = {source.compression for source in sources} - {None}
    if compressions:
        wide = min(wide, job.budget.memory // OF_DECOMPRESSOR)
    return 1 if "xz" in compressions else max(wide, 1)


def _sign(job: Job, units: Mapping[int, Unit], wide: int, in_sequence: int) -> None:
    """Sign units, `wide` at a time; of several files that cannot be read, the first one raises.

    `in_sequence`: the blocks of so many units are one sequence, in which threads need not wait at
    the end of a unit.

    Raises
    ------
    LongRowError
        There are several at a time, and a row must be in memory alone.
    """
    done = {unit: runs_of_unit(job, unit) for unit in units}
    tell = job.byte_progress("signing" if job.request.group is None else "reading")
    limit = _limit(job)
    failed: dict[int, InputError] = {}

    def sign(start: int, stop: int) -> Iterator[None]:
        mine = {unit: units[unit] for unit in [*units][start:stop]}
        writer = None
        if failed and min(failed) < min(mine):
            return
        with closing(_signed(job, mine, done, wide, limit)) as blocks:
            try:
                for unit, signed in blocks:
                    if writer is None or writer.unit != unit:
                        if writer is not None:
                            writer.close(last=True)
                        writer = RunWriter(job, unit, done[unit], wide)
                    writer.add(signed)
                    if wide == 1:
                        tell(job.sources[signed.record.source], signed.record.extent)
                    yield
                    if failed and min(failed) < unit:
                        return
            except FailedUnitError as failure:
                unit = failure.unit
                source = job.sources[units[unit].files.start]
                failed[unit] = with_row_of_file(source, units[unit].within, failure.error)
                broken = broken_file(job, failure.error)
                if writer is not None and writer.unit < unit:
                    writer.close(last=True)
                elif writer is not None and broken is not None:
                    writer.close(broken)
                return
        if writer is not None:
            writer.close(last=True)

    if wide > 1 and 0 in units:  # a warning names its caller only in the calling thread
        for _ in islice(_first_blocks(job, units[0], done[0], limit), 1):
            pass
    try:
        parts = tell.by_parts(len(units)) if wide > 1 else None
        run_batches(sign, batches(len(units), max(in_sequence, 1)), wide, parts)
        if failed:
            remember_broken(job, failed[min(failed)])
            raise failed[min(failed)]
    finally:
        failed.clear()  # an error holds its frames, and with these open files
    tell.end()


def _signed(
    job: Job,
    units: Mapping[int, Unit],
    done: Mapping[int, list[SignedRun]],
    wide: int,
    limit: Limit,
) -> Generator[tuple[int, SignedBlock], None, None]:
    """Sign the blocks of units behind their finished runs."""

    def blocks() -> Iterator[tuple[int, int, Block]]:
        for unit, files in units.items():
            find = _first_blocks if unit == 0 and wide == 1 else partial(_blocks, wide=wide)
            with in_unit(unit):
                for source, block in find(job, files, done[unit], limit):
                    yield unit, source, block

    def signed(item: tuple[int, int, Block]) -> tuple[int, SignedBlock]:
        unit, source, block = item
        with in_unit(unit):
            return unit, sign_block(job, source, block)

    return ordered_map(
        blocks(), signed, job.options.threads // wide,
        alone=lambda item: job.is_large(item[1], item[2].extent),
    )  # fmt: skip


def _blocks(
    job: Job, unit: Unit, runs: list[SignedRun], limit: Limit, wide: int = 1
) -> Iterator[tuple[int, Block]]:
    """Yield the blocks of a unit behind its finished runs, each with its file."""
    if runs and runs[-1].last:
        return
    after = runs[-1].blocks[-1] if runs else None
    files, within = unit
    first = files.start if after is None else after.source
    for number in range(first, files.stop):
        if limit.reached:
            return
        if number >= job.surely_read:
            _check_batches(job, [job.sources[number]])
        extent = after.extent if after is not None and number == after.source else None
        blocks = _cut(job, number, extent, within, wide)
        for block in blocks if number < job.first_input else limit.first(blocks):
            yield number, block


def _limit(job: Job) -> Limit:
    """Return how many documents are still wanted."""
    if job.limit is None:
        return Limit(None)
    runs, group = runs_of_inputs(job), job.request.group
    if group is not None:
        begun = {group_id for run in runs for group_id in groups_and_sizes(job, run)[0].tolist()}
        return Limit(job.limit - len(begun), group, begun)
    if job.cutting is None:
        done = sum(run.documents for run in runs)
    else:
        done = sum(len(job.work.load(f"{run.name}/pieces.npy")) for run in runs)
    return Limit(job.limit - done)


def _check_batches(job: Job, sources: list[Source]) -> None:
    """Raise InputError if a batch of an Arrow file, which is read as a whole, is too large."""
    budget = job.budget
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


def _cut(
    job: Job, number: int, after: BlockExtent | None, within: ByteRange, wide: int = 1
) -> Iterator[Block]:
    """Cut a file; say how much memory a row needs that is too long.

    Raises
    ------
    LongRowError
        Several files are read at a time, and a row must be in memory alone.
    """
    budget = job.budget
    max_row = budget.row if wide == 1 else min(budget.row, budget.large)
    all_columns = job.rows_written and number >= job.first_input
    with nullcontext() if wide > 1 else saying_memory(budget.memory, budget.row):
        yield from read_blocks(
            job.sources[number], budget.block, after=after, max_row=max_row, within=within,
            all_columns=all_columns,
        )  # fmt: skip


def _summary(job: Job) -> Summary:
    units = [runs_of_unit(job, unit) for unit in range(len(units_of(job)))]
    if job.stage is not None:
        for unit, runs_of_one in zip(units_of(job), units, strict=True):
            _check_whole(job, unit.files, runs_of_one)
    names = [run.name for unit in units for run in unit]
    runs = [job.work.read(f"{name}/blocks.json") for name in names]
    blocks = [(source, n) for run in runs for source, _, n, _, _ in run["blocks"]]
    signed = finished_runs(job)
    bad = sum(len(rows) for run in runs for *_, rows, _ in run["blocks"])
    reasons = [
        (path, reason, row and row + counted.next_row - run["next_row"])
        for run, counted in zip(runs, signed, strict=True)
        for path, reason, row in run["reasons"]
    ]
    first = sum(run["blocks"][0][0] < job.first_input for run in runs)  # of `against`
    stop = max((source + 1 for source, _ in blocks), default=job.first_input)
    identities = [job.work.load(f"{name}/identities.npy") for name in names]
    # Each collection by itself, as in memory.
    collections = [slice(0, first), slice(first, None)]
    repeated = [repetitions(identities[part], job.budget.rows) for part in collections]
    examples = [
        _repeated_example(job, signed[part], identities[part])
        for part, count in zip(collections, repeated, strict=True)
        if count
    ]
    documents = sum(n for _, n in blocks)
    n_against = sum(n for source, n in blocks if source < job.first_input)
    empty, against_empty = _of_both(job, runs, "empty")
    short, against_short = _of_both(job, runs, "short")
    check_number(documents)
    priorities = [
        (job.sources[source].path, PriorityRecord(*record))
        for run in runs
        for source, record in run["priorities"]
    ]
    return Summary(
        documents=documents,
        n_against=n_against,
        empty=empty,
        against_filled=n_against - against_empty,
        skipped=bad,
        reasons=reasons[:REASONS],
        repeated=sum(repeated),
        repeated_example=next(iter(examples), ""),
        runs=list(map(len, units)),
        integers=documents > 0 and all(run["integers"] for run in runs),
        text=sum(size for run in runs for *_, size in run["blocks"]),
        files=stop - job.first_input,
        slow=sum(run["slow"] for run in runs),
        characters=sum(run["characters"] for run in runs[first:]),
        short=short,
        against_short=against_short,
        missing_priorities=missing_in(str(job.request.read.priority), priorities),
    )


def _of_both(job: Job, runs: list[Any], name: str) -> tuple[int, int]:
    """Return the sums of a count of the runs, of the inputs and of `against`."""
    sums = [0, 0]
    for record in runs:
        for source, n in record[name]:
            sums[source < job.first_input] += n
    return sums[0], sums[1]


def _repeated_example(
    job: Job, runs: Sequence[SignedRun], identities: Sequence[NDArray[np.uint64]]
) -> str:
    """Return what `Ids.repeated_example` does; few of the runs that have the id are read again."""
    lowest = next(keys[:1] for keys in repeated_values([*identities], job.budget.rows) if len(keys))
    have = [
        run
        for run, hashes in zip(runs, identities, strict=True)
        if lowest[0] in hashes[hashes.searchsorted(lowest[0]) :][:1]
    ]
    ids = Ids()
    records = [record for run in have[:READ_AGAIN] for record in numbered(run)]
    for _, record, block in reread_signed_blocks(job, records):
        documents = block.documents()
        path = job.sources[record.source].path
        ids.add(path, *ids_with(documents.ids, documents.rows, lowest))
    return ids.repeated_example()


def _check_whole(job: Job, files: range, runs: list[SignedRun]) -> None:
    """Raise InputError unless the runs of a unit have all blocks of its files, each once."""
    expected = files.start, 0
    for entry in runs:
        for record in entry.blocks:
            position = record.source, record.extent.index
            begins = expected[1] and position == (expected[0] + 1, 0)  # with the next file
            if position != expected and not begins:
                raise InputError(job.work / entry.name, f"does not continue: {job.work.start_over}")
            expected = record.source, record.extent.index + 1
    if expected[0] != files.stop - 1:
        advice = job.work.start_over
        raise InputError(job.work / runs[-1].name, f"does not end its unit: {advice}")


def _first_blocks(
    job: Job, unit: Unit, runs: list[SignedRun], limit: Limit
) -> Iterator[tuple[int, Block]]:
    """Do as `_blocks`, and warn if most comparisons of the first documents will be needless."""
    blocks = _blocks(job, unit, runs, limit)
    are_documents = job.cutting is None and job.request.group is None
    if not runs and are_documents and not job.params.finds_equal:
        for number, block in islice(blocks, 1):
            documents = block.documents()
            texts = job.params.shingler.prepared(as_texts(documents.texts[:SAMPLE]))
            signatures = hasher_for(job.params, job.options).sign(texts)
            warn_of_needless_comparisons(texts, signatures, job.params, job.options)
            yield number, block
    yield from blocks
