"""Sign: every file is read once, and what its documents are found by is written, run by run."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import TextColumn
from fastlsh.candidates import keys_apart
from fastlsh.errors import InputError, LongRowError
from fastlsh.files.budget import PER_BATCH, least_memory, too_long
from fastlsh.files.disk.signed_runs import (
    SIGNED,
    BlockRecord,
    RunWriter,
    SignedBlock,
    SignedRun,
    check_number,
    finished_runs,
    runs_of_inputs,
    runs_of_unit,
    units_of,
)
from fastlsh.files.disk.sorted_keys import keep_first_bits, repetitions
from fastlsh.files.run.job import Job
from fastlsh.files.run.repair import BROKEN, remember_broken
from fastlsh.io import (
    Block,
    BlockDocuments,
    BlockExtent,
    Limit,
    Source,
    are_integer_ids,
    identity_hashes,
    largest_batch,
    read_blocks,
    without_repetition,
)
from fastlsh.parallel import RunOptions, amount, ordered_map
from fastlsh.search import warn_of_needless_comparisons
from fastlsh.stages import hasher_for, sign_batch, sign_with_steps
from fastlsh.texts import as_texts

T = TypeVar("T", np.uint32, np.uint64)

REASONS = 10
"""So many bad rows are described."""
SAMPLE = 4096
SAMPLE_OF_BLOCK = 64
"""Texts of a block whose length is measured."""


class Summary(NamedTuple):
    """Counts and properties of all documents."""

    documents: int
    n_against: int
    """Those of `against`, which come first."""
    empty: int
    """Of the others."""
    skipped: int
    reasons: list[tuple[str, str, int | None]]
    repeated: int
    """Documents with the id of an earlier one."""
    runs: list[int]
    """How many runs each unit has."""
    integral: bool
    """Whether all priorities are integers."""
    integers: bool
    """Whether all ids are integers of 64 bits."""
    text: int
    """Bytes of all texts, about."""
    files: int
    """Those that were read, without those of `against`: all unless there is a limit."""
    slow: int
    """Rows of JSON lines that the json module has read."""


NOTHING = Summary(0, 0, 0, 0, [], 0, [], False, False, 0, 0, 0)
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
    return summary


def sign_units(job: Job) -> None:
    """Sign the files of this process's part."""
    units = dict(job.part.share(list(enumerate(units_of(job)))))
    numbers = [number for files in units.values() for number in files]
    _check_batches(job, [job.sources[number] for number in numbers if number < job.surely_read])
    tell = job.byte_progress("signing")
    done = {unit: runs_of_unit(job, unit) for unit in units}
    writer = RunWriter(job, done, sum(run.documents for run in finished_runs(job)))
    blocks = _blocks(job, units, done)
    is_first = 0 in units and not done[0]
    if is_first and job.cutting is None and not job.params.finds_equal:
        blocks = _warned(job, blocks)
    found = ordered_map(
        blocks, lambda item: (item[0], _sign(job, *item[1:])), job.options.threads,
        alone=lambda item: job.is_large(item[1], item[2].extent),
    )  # fmt: skip
    try:
        for unit, signed in found:
            writer.add(unit, signed)
            tell(job.sources[signed.record.source], signed.record.extent)
    except InputError as error:
        # Processes with the same part must end their runs of keys behind the same blocks.
        if job.stage is None and (broken := remember_broken(job, error)) is not None:
            writer.close(broken)
        raise
    writer.close(last=True)
    tell.end()


def _blocks(
    job: Job, units: Mapping[int, range], done: Mapping[int, list[SignedRun]]
) -> Iterator[tuple[int, int, Block]]:
    """Yield all blocks of some units, each with its unit and its file, behind the finished runs."""
    columns, path = None, ""
    limit = _limit(job)
    for unit, files in units.items():
        runs = done[unit]
        if runs and runs[-1].last:
            continue
        after = runs[-1].blocks[-1] if runs else None
        first = files.start if after is None else after.source
        if job.uniform and columns is None and first >= job.first_input:
            before = range(job.first_input, first + (after is not None))
            columns, path = _first_columns(job, before)
        for number in range(first, files.stop):
            if limit.reached:
                return
            if number >= job.surely_read:
                _check_batches(job, [job.sources[number]])
            extent = after.extent if after is not None and number == after.source else None
            found = None
            blocks = _cut(job, number, extent)
            for block in blocks if number < job.first_input else limit.first(blocks):
                found = block.head.layout
                yield unit, number, block
            if job.uniform and number >= job.first_input:
                if columns is None:
                    columns, path = found, job.sources[number].path
                if found is not None and found != columns:
                    raise job.sources[number].error(f"its columns differ from those of {path}")


def _limit(job: Job) -> Limit:
    """Return how many documents are still wanted."""
    if job.limit is None:
        return Limit(None)
    runs = runs_of_inputs(job)
    if job.cutting is None:
        done = sum(run.documents for run in runs)
    else:
        done = sum(len(job.work.load(f"{run.name}/pieces.npy")) for run in runs)
    return Limit(job.limit - done)


def _first_columns(job: Job, numbers: Iterable[int]) -> tuple[Any, str]:
    """Return the columns of the first file that has any, and its path."""
    for number in numbers:
        for block in islice(_cut(job, number, None), 1):
            if block.head.layout is not None:
                return block.head.layout, job.sources[number].path
    return None, ""


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


def _cut(job: Job, number: int, after: BlockExtent | None) -> Iterator[Block]:
    """Cut a file; say how much memory a row needs that is too long."""
    try:
        yield from read_blocks(
            job.sources[number], job.budget.block, after=after, max_row=job.budget.row
        )
    except LongRowError as error:
        raise too_long(error, job.budget.memory, job.budget.row) from error


def _sign(job: Job, source: int, block: Block) -> SignedBlock:
    documents = block.documents()
    if documents.bad and not job.skip:
        raise documents.bad[0]
    counts = echoes = None
    keys: NDArray[Any]
    if job.params.partitions:
        keys = _minima(documents.texts, job)
        empty = int((keys[-1] == 0).sum())
    elif job.cutting is None:
        keys = _keys(documents, job)
        empty = int((keys[0] == 0).sum())
    else:
        pieces, of_pieces, echoes = job.cutting.signed(documents, job.params)
        keep_first_bits(of_pieces)
        keys = of_pieces
        counts = np.bincount(pieces.bounds[:, 0], minlength=len(documents)).astype(np.int32)
        empty = int((counts == 0).sum())
    bad = tuple(error.row or 1 for error in documents.bad)
    size = _text_bytes(documents.texts)
    record = BlockRecord(source, block.extent, keys.shape[1], bad, size)
    priority = documents.numbers.get(job.request.read.priority or "")
    return SignedBlock(
        record,
        keys,
        identity_hashes(documents.ids),
        empty,
        documents.bad,
        documents.slow,
        priority is None or priority.dtype.kind in "iu",
        not len(documents) or are_integer_ids(documents.ids),
        counts,
        echoes,
        _columns(job, source, documents),
    )


def _columns(job: Job, source: int, documents: BlockDocuments) -> list[NDArray[Any]]:
    """Return the columns that are saved; documents of `against` have none."""
    if source < job.first_input:
        return []
    read = job.request.read
    labels = [documents.labels[name] for name in read.labels]
    return labels + [documents.numbers[name] for name in read.counts]


def _keys(documents: BlockDocuments, job: Job) -> NDArray[np.uint64]:
    """Return the band keys, uint64 (bands, n); each value of a dictionary is read once."""
    distinct, inverse = without_repetition(documents.texts)
    keys = sign_batch(distinct, job.params, text_hashes=False, threads=1).keys
    keys = _repeated(keys, inverse)
    groups = job.request.groups(documents.labels)
    if groups is not None:
        keys = keys_apart(keys, groups)
    keep_first_bits(keys)
    return keys


def _minima(texts: Any, job: Job) -> NDArray[np.uint32]:
    """Return what the keys by size are made of, uint32 (num_perm + 1, n).

    These are the minima of each hash function, and in the last row the steps of the sizes.
    """
    distinct, inverse = without_repetition(texts)
    prepared = job.params.shingler.prepared(as_texts(distinct))
    signed, steps = sign_with_steps(prepared, job.params, RunOptions.of(1))
    return _repeated(np.vstack([signed.signatures.T, steps]), inverse)


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
    found = sum(len((text or "").encode("utf-8", "surrogatepass")) for text in sample)
    return found * len(texts) // max(len(sample), 1)


def _summary(job: Job) -> Summary:
    units = [runs_of_unit(job, unit) for unit in range(len(units_of(job)))]
    if job.stage is not None:
        for files, found in zip(units_of(job), units, strict=True):
            _check_whole(job, files, found)
    names = [run.name for unit in units for run in unit]
    runs = [job.work.read(f"{name}/blocks.json") for name in names]
    blocks = [(source, n) for run in runs for source, _, n, _, _ in run["blocks"]]
    bad = sum(len(rows) for run in runs for *_, rows, _ in run["blocks"])
    reasons = [tuple(reason) for run in runs for reason in run["reasons"]]
    first = sum(run["blocks"][0][0] < job.first_input for run in runs)  # of `against`
    stop = max((source + 1 for source, _ in blocks), default=job.first_input)
    identities = [job.work.load(f"{name}/identities.npy") for name in names]
    # Each collection by itself, as in memory.
    repeated = [
        repetitions(part, job.budget.rows) for part in (identities[:first], identities[first:])
    ]
    documents = sum(n for _, n in blocks)
    check_number(documents)
    return Summary(
        documents=documents,
        n_against=sum(n for source, n in blocks if source < job.first_input),
        empty=sum(n for run in runs for source, n in run["empty"] if source >= job.first_input),
        skipped=bad,
        reasons=reasons[:REASONS],
        repeated=sum(repeated),
        runs=list(map(len, units)),
        integral=all(run["integral"] for run in runs),
        integers=documents > 0 and all(run["integers"] for run in runs),
        text=sum(size for run in runs for *_, size in run["blocks"]),
        files=stop - job.first_input,
        slow=sum(run["slow"] for run in runs),
    )


def _check_whole(job: Job, files: range, runs: list[SignedRun]) -> None:
    """Raise InputError unless the runs of a unit have all blocks of its files, each once."""
    expected = files.start, 0
    for run in runs:
        for record in run.blocks:
            found = record.source, record.extent.index
            begins = expected[1] and found == (expected[0] + 1, 0)  # with the next file
            if found != expected and not begins:
                raise InputError(job.work / run.name, f"does not continue: {job.work.start_over}")
            expected = record.source, record.extent.index + 1
    if expected[0] != files.stop - 1:
        advice = job.work.start_over
        raise InputError(job.work / runs[-1].name, f"does not end its unit: {advice}")


def _warned(job: Job, blocks: Iterator[tuple[int, int, Block]]) -> Iterator[tuple[int, int, Block]]:
    """Pass blocks on; warn if most comparisons of the first documents will be needless."""
    for unit, number, block in islice(blocks, 1):
        documents = block.documents()
        texts = job.params.shingler.prepared(as_texts(documents.texts[:SAMPLE]))
        signatures = hasher_for(job.params, job.options).sign(texts)
        warn_of_needless_comparisons(texts, signatures, job.params, job.options)
        yield unit, number, block
    yield from blocks
