"""Write: the kept rows, and the documents of an index, read a last time from the inputs."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import unique
from fastlsh.errors import InputError
from fastlsh.files.budget import BASE, PER_COMPARED, least_memory
from fastlsh.files.disk.gathered import starts_of
from fastlsh.files.disk.sorted_keys import repeated_values
from fastlsh.files.plan import OutputPlan
from fastlsh.files.run.manifest import check_unchanged
from fastlsh.files.run.records import BlockRecord, Summary
from fastlsh.files.run.run import Run
from fastlsh.files.run.stages import Units
from fastlsh.files.run.workdir import outputs_there, recording
from fastlsh.files.saved_index import DIFFERENT, IndexBatch
from fastlsh.io import (
    BlockDocuments,
    ByteProgress,
    Ids,
    Output,
    Replacements,
    Reread,
    Rewriting,
    RowsLeft,
    Source,
    ids_with,
    replacing_together,
    together_or_new,
    write_again,
)
from fastlsh.parallel import amount


def check_comparable(run: Run, rows: NDArray[Any], data: NDArray[np.uint8]) -> None:
    """Raise InputError unless any two texts of a part can be compared exactly.

    The longest text decides, with the longest other text that is no copy of it. Second texts are
    compared among themselves.

    Parameters
    ----------
    rows, data
        Of the part: the records of its texts, as `row_of` says, and their bytes.
    """
    starts = starts_of(rows)
    if run.params.verify == "exact":
        _check_sizes(run, rows, data, starts, rows["size"])
    if run.request.read.also is not None:
        _check_sizes(run, rows, data, starts + rows["size"], rows["also"])


def _check_sizes(
    run: Run,
    rows: NDArray[Any],
    data: NDArray[np.uint8],
    starts: NDArray[np.int64],
    size: NDArray[np.int64],
) -> None:
    """Raise InputError unless any two of the texts with these starts and sizes can be compared."""
    max_compared = run.budget.compared
    if int(size.max(initial=0)) <= max_compared // 2:
        return
    order = np.argsort(-size, kind="stable").tolist()
    first, *others = (data[starts[i] : starts[i] + size[i]] for i in order)
    other = next((text for text in others if not np.array_equal(text, first)), first[:0])
    needed = len(first) + len(other)
    if len(other) and needed > max_compared:
        raise error_of_document(
            run,
            int(rows["number"][order[0]]),
            f"the text has {amount(len(first))}, and its comparison with another one needs more"
            f" than {amount(run.budget.memory)} of memory: do the same again with"
            f' memory="{least_memory(needed, PER_COMPARED)}" at least',
        )


def error_of_document(run: Run, number: int, reason: str) -> InputError:
    """Return an error about the row that a document or piece is of."""
    at = int(run.block_starts.searchsorted(number, "right")) - 1
    ((record, block),) = run.reread(run.blocks[at : at + 1])
    documents: BlockDocuments = block.documents()
    row = number - record.first
    if run.cutting is not None:
        row = int(run.cutting.pieces(documents).bounds[row, 0])
    source: Source = run.sources[record.source]
    return source.error(reason, int(documents.rows[row]))


WRITTEN = "written"
"""Outputs that are complete, in files with the number of the first of them."""
_OUTPUTS, _BYTES = 1 << 10, 1 << 30
"""So many outputs of a directory appear together, or so many bytes of their inputs for each thread:
what a kill loses at most."""


@contextmanager
def writing_tables(run: Run, targets: OutputPlan, left: RowsLeft) -> Iterator[Replacements]:
    """Give what the tables appear with, which the caller writes, together with a single output.

    The outputs of a directory have been written before, some together: there may be very many. The
    parameters and errors are those of `write_outputs`.
    """
    check_files(run)
    with replacing_together() as together:
        yield together
        if not targets.folders:
            write_outputs(run.rows or run, targets, left, together)


def write_folder(run: Run, targets: OutputPlan, left: Callable[[], RowsLeft]) -> None:
    """Write the outputs of a directory; the others are those of `writing_tables`."""
    if targets.folders:
        check_files(run)
        write_outputs(run.rows or run, targets, left())


def check_files(run: Run) -> None:
    """Raise InputError if a file whose rows are written has changed during the run."""
    rows = run.rows or run
    check_unchanged(rows.work, rows.sources[: rows.first_input + run.summary.files])


def write_outputs(
    run: Run, targets: OutputPlan, left: RowsLeft, together: Replacements | None = None
) -> None:
    """Write the kept rows; what a run before has completed is not written again.

    Parameters
    ----------
    targets
        Which rows go where; its plan counts the sources behind those of `against`.
    left
        What is written of the documents.
    together
        The outputs appear with these; by default, some together.

    Raises
    ------
    InputError
        A file has changed since it was signed.
    """
    numbers = run.part.share(range(len(targets.plan)))
    done = _written(run, targets, numbers)
    by_source: dict[int, list[BlockRecord]] = {}
    for record in run.blocks:
        by_source.setdefault(record.source - run.first_input, []).append(record)
    tell = run.byte_progress("writing")
    waiting: dict[int, list[BlockRecord]] = {}
    size = 0
    for number in numbers:
        if number in done:
            continue
        sources = targets.plan[number].sources
        records = [record for source in sources for record in by_source.get(source, [])]
        if not records:  # the limit was reached before
            continue
        waiting[number] = records
        size += sum(record.size for record in records)
        if len(waiting) >= _OUTPUTS or size >= _BYTES * run.options.threads:
            _write_together(run, targets, waiting, left, tell, together)
            waiting, size = {}, 0
    if waiting:
        _write_together(run, targets, waiting, left, tell, together)
    tell.end()


def _write_together(
    run: Run,
    targets: OutputPlan,
    outputs: dict[int, list[BlockRecord]],
    left: RowsLeft,
    tell: ByteProgress,
    together: Replacements | None,
) -> None:
    recorded: AbstractContextManager[None] = nullcontext()
    with together_or_new(together, recovers=run.request.engine.recovers_outputs) as files:
        if targets.folders:  # one file appears with the tables, and is always written
            name, paths = _name(min(outputs)), targets.paths(outputs)
            recorded = recording(files, run.work, name, targets.convert, paths)
        written = []
        for number, records in outputs.items():
            output = targets.plan[number]
            start, stop = records[0].first_uncut, records[-1].stop_uncut
            if output.format == "txt" and not left.has_rows(start, stop):
                files.absent(output.path)
            else:
                written.append(_rewriting(run, output, records, left))
        with recorded:
            write_again(
                written, files, folders=targets.folders, threads=run.options.threads,
                memory=run.request.engine.memory - BASE, tell=tell,
            )  # fmt: skip


def _rewriting(run: Run, output: Output, records: list[BlockRecord], left: RowsLeft) -> Rewriting:
    def blocks() -> Iterator[Reread]:
        for record, block in run.reread(records, all_columns=True):
            yield Reread(run.sources[record.source], block, record)

    def is_large(record: BlockRecord) -> bool:
        return run.is_large(record.source, record.extent, output.format)

    return Rewriting(
        output,
        [run.sources[n] for n in sorted({record.source for record in records})],
        blocks,
        lambda record, block: left.rest((record.first_uncut, record.stop_uncut), block),
        left.added and left.added(0, 0),
        is_large=lambda item: is_large(item.key),
        alone=any(is_large(record) for record in records),
        max_row=run.budget.row,
    )


def units_written(run: Run, targets: OutputPlan) -> Units:
    """Return the outputs of a directory, and which have been written."""
    every = range(len(targets.plan))
    written = cache(lambda: _written(run, targets, every))
    return Units(lambda: every, lambda number: number in written())


def _written(run: Run, targets: OutputPlan, numbers: Sequence[int]) -> set[int]:
    """Return which outputs of a directory are complete, by their numbers."""
    recorded = targets.convert, targets.paths(numbers)
    names = map(_name, range(len(targets.plan) if targets.folders else 0))
    elsewhere = run.stage == "finish"
    return set().union(
        *(outputs_there(run.work, name, *recorded, elsewhere=elsewhere) for name in names)
    )


def _name(number: int) -> str:
    return f"{WRITTEN}-{number}.json"


DOUBTFUL = 1000
"""Repeated hashes of ids that are looked at: with so many, some ids are repeated indeed."""


def check_different_ids(run: Run, summary: Summary) -> None:
    """Raise InputError with the row of an id of the inputs that an earlier document has.

    Whether ids may be repeated is known from their hashes. Only then are the files read again.
    """
    if not summary.repeated:
        return
    hashes = run.arrays("identities", run.segments_of_inputs)
    values = [np.empty(0, np.uint64)]
    for repeated in repeated_values(hashes, run.budget.rows):
        values.append(repeated)
        if sum(map(len, values)) >= DOUBTFUL:
            break
    doubtful = unique(np.concatenate(values))[:DOUBTFUL]
    ids = Ids()
    for record, block in run.reread(_records_of_inputs(run)):
        if not len(doubtful):
            return
        documents = block.documents()
        doubtful_ids, rows = ids_with(documents.ids, documents.rows, doubtful)
        ids.add(run.sources[record.source].path, doubtful_ids, rows)
        ids.check_different(DIFFERENT)


def _records_of_inputs(run: Run) -> list[BlockRecord]:
    return [record for record in run.blocks if record.source >= run.first_input]


def reread_kept(run: Run, proofs: NDArray[Any]) -> Iterator[IndexBatch]:
    """Yield the ids and texts of the documents of the inputs without a proof, block by block."""
    records = _records_of_inputs(run)
    tell = run.byte_progress("saving the index")
    for record, block in run.reread(records):
        kept = np.ones(record.documents, np.bool_)
        start, stop = np.searchsorted(proofs["left"], (record.first, record.stop))
        kept[proofs["left"][start:stop] - record.first] = False
        if kept.any():
            source = run.sources[record.source]
            documents = block.documents(kept)
            ids = Ids()
            ids.add(source.path, documents.ids, documents.rows)
            yield list(ids), documents.texts, None
        tell(run.sources[record.source], record.extent)
    tell.end()
