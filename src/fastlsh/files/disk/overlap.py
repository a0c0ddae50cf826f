"""The overlap of data sets on disk: counts of each part, and the lengths of all documents."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.files.data_sets import DataSets, names_at
from fastlsh.files.disk.decide import GatheredPart, answer_name, each_part, prepared_texts
from fastlsh.files.disk.documents import gathered_texts
from fastlsh.files.disk.segments import saved_columns
from fastlsh.files.disk.staged import Search, execute, search_stages
from fastlsh.files.run.manifest import OUTPUT_PATH
from fastlsh.files.run.records import Summary
from fastlsh.files.run.run import Run
from fastlsh.files.run.stages import Ended, Stage
from fastlsh.io import reread_blocks
from fastlsh.parallel import Stopwatch, ordered_map
from fastlsh.results import Overlap
from fastlsh.search import check_data_sets
from fastlsh.stages import MOST_DATA_SETS, Part, Shared, added_up, characters_of, shared_counts
from fastlsh.texts import as_texts

Numbers = NDArray[np.int64]

TOTALS = "totals.npy"
"""Documents and characters of each data set."""
DATA_SETS = "data-sets.json"
"""The hashes and names of the values of a column, in the order in which they occur."""


class CountsFound(NamedTuple):
    """What a run has counted, as JSON can have it."""

    summary: Summary
    names: list[str]
    totals: Sequence[Sequence[int]]
    """Documents and characters of each data set."""
    counts: Sequence[Sequence[int]]
    """Rows of `Shared`."""

    def overlap(self, run: Run) -> Overlap:
        """Return the overlap of the data sets."""
        documents, characters = np.array(self.totals, np.int64).reshape(2, -1)
        counts = np.array([tuple(row) for row in self.counts], Shared)
        return Overlap(
            self.names, documents, characters, counts, empty=self.summary.empty,
            short=self.summary.short, params=run.params.lsh,
        )  # fmt: skip


def run_overlap(
    run: Run,
    data_sets: DataSets | None,
    max_pairs: int,
    output: str | None,
    page: str | None,
    write: Callable[[Overlap, int], None],
    clock: Stopwatch,
) -> tuple[Overlap, Summary]:
    """Count, or go on where a run before was ended, and write.

    Parameters
    ----------
    data_sets
        Which one each document is of; None: the values of the column that is read.
    max_pairs
        As for `overlap_files`.
    output, page
        Where the table and the page are written.
    write
        Writes what is asked for, given how many rows were skipped; then the work is removed.
    clock
        Takes the time of each stage.

    Returns
    -------
    Overlap, Summary
        Nothing is counted after a stage that does not end the run.
    """
    decided: dict[str, Any] = {"max_pairs": max_pairs, "source": None}
    if data_sets is None:
        (decided["source"],) = run.request.read.labels
    else:
        sizes = np.bincount(data_sets.of_file, minlength=len(data_sets.names)).tolist()
        decided["files of each data set"] = sizes

    def stages(run: Run) -> list[Stage]:
        @cache
        def sets() -> DataSets:
            try:
                return data_sets or _of_column(run, decided["source"])
            except ValueError:  # with this column, no run can go on
                if run.stage is None:
                    run.work.empty()
                raise

        @clock("decisions")
        def decide() -> None:
            _count_parts(run, sets(), max_pairs)

        def finish() -> Ended:
            names = sets().names
            with clock("counting"):
                totals = _totals(run, len(names), _of_documents(run, sets()))
            tables = [run.work.load(answer_name(number)) for number in range(run.linked.parts)]
            counts = added_up(np.concatenate([np.empty(0, Shared), *tables]))
            found = CountsFound(run.summary, names, totals.tolist(), counts.tolist())
            with clock("writing"):
                write(found.overlap(run), run.summary.skipped)
            return Ended(found, [path for path in (output, page) if path is not None])

        return search_stages(run, clock, decide, finish)

    names = [] if data_sets is None else data_sets.names
    nothing: tuple[Any, ...] = names, np.zeros((2, len(names)), np.int64), []
    search = Search("overlap", decided, {OUTPUT_PATH: output}, stages)
    counts = execute(run, search, clock, CountsFound, *nothing)
    return counts.overlap(run), counts.summary


def _count_parts(run: Run, data_sets: DataSets, max_pairs: int) -> None:
    """Count what the documents of each part share that has not been worked on yet."""
    of_documents = _of_documents(run, data_sets)

    def count(part: GatheredPart) -> tuple[NDArray[Any], NDArray[np.int64]]:
        numbers = np.ascontiguousarray(part.rows["number"])
        lengths = characters_of(as_texts(part.texts), run.params.shingler, run.options)
        signed = Part.of(
            prepared_texts(run, part), numbers, run.params, run.options.threads, part.scratch
        ).sign()
        shared = shared_counts(signed, of_documents(numbers), lengths, max_pairs)
        return shared, np.empty(0, np.int64)

    each_part(run, gathered_texts(run), count, "comparing")


def _of_column(run: Run, column: str) -> DataSets:
    """Return the values of a column as data sets; their names are read where each is first."""
    path = run.sources[0].path
    if not run.work.has(DATA_SETS):
        firsts: dict[int, int] = {}
        for segment, values in zip(run.segments, run.arrays("column-0"), strict=True):
            different, rows = np.unique(values, return_index=True)
            for value, row in zip(different.tolist(), rows.tolist(), strict=True):
                firsts.setdefault(value, segment.first + row)
            if len(firsts) > MOST_DATA_SETS:
                DataSets.of_values(dict.fromkeys(firsts, ""), path, column, MOST_DATA_SETS)
        ordered = sorted(firsts, key=firsts.__getitem__)
        run.work.write(DATA_SETS, {value: _value(run, column, firsts[value]) for value in ordered})
    names = {int(value): name for value, name in run.work.read(DATA_SETS).items()}
    data_sets = DataSets.of_values(names, path, column, MOST_DATA_SETS)
    check_data_sets(data_sets.names)
    return data_sets


def _value(run: Run, column: str, number: int) -> str:
    """Return the value that a column has in a document."""
    record = next(record for record in run.blocks if number < record.stop)
    source = run.sources[record.source]
    of_column = replace(source, options=replace(source.options, id=column))
    (block,) = reread_blocks(of_column, [record.extent], set(record.bad))
    return names_at(block.documents(), np.array([number - record.first]))[0]


def _of_documents(run: Run, data_sets: DataSets) -> Callable[[Numbers], Numbers]:
    """Return a function that gives the data set of each of some documents."""
    if data_sets.column is not None:
        labels = saved_columns(run)[0][data_sets.column]
        return lambda numbers: data_sets.of_labels(labels[numbers])
    sets = np.array([data_sets.of_file[record.source] for record in run.blocks], np.int64)
    return lambda numbers: sets[np.searchsorted(run.block_starts, numbers, "right") - 1]


def _totals(run: Run, count: int, of_documents: Callable[[Numbers], Numbers]) -> Numbers:
    """Return the documents and the characters of each data set, int64 (2, count)."""
    if not run.work.has(TOTALS):
        total = np.zeros((2, count), np.int64)
        tell = run.byte_progress("counting")
        plain = replace(run.options, threads=1)

        def measured(item: Any) -> tuple[Any, Numbers, Numbers]:
            record, block = item
            lengths = characters_of(as_texts(block.documents().texts), run.params.shingler, plain)
            return record, of_documents(np.arange(record.first, record.stop)), lengths

        for record, data_set, lengths in ordered_map(
            run.reread(run.blocks), measured, run.options.threads,
            alone=lambda item: run.is_large(item[0].source, item[0].extent),
        ):  # fmt: skip
            np.add.at(total[0], data_set, 1)
            np.add.at(total[1], data_set, lengths)
            tell(run.sources[record.source], record.extent)
        tell.end()
        run.work.save(TOTALS, total)
    return run.work.load(TOTALS)
