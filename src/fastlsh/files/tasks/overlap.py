"""The overlap of data sets in files: the same answer in memory and on disk."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_integer
from fastlsh.errors import InputError
from fastlsh.files.answers import left_out, named_files, short_documents
from fastlsh.files.data_sets import DataSets, names_at
from fastlsh.files.disk.decide import GatheredPart, answer_name, each_part, prepared_texts
from fastlsh.files.disk.gathered import gathered_texts
from fastlsh.files.disk.segments import saved_columns
from fastlsh.files.execution import Search, search_stages
from fastlsh.files.held import Held
from fastlsh.files.plan import EngineChoice, prepared, select_engine
from fastlsh.files.requests import SHARED, Engine, Path, Request, paths, search_params
from fastlsh.files.results import FileOverlap, counts_of, shared_fields
from fastlsh.files.run.manifest import OUTPUT_PATH
from fastlsh.files.run.records import NOTHING, Summary
from fastlsh.files.run.run import Run
from fastlsh.files.run.stages import Ended, Stage, check_pair_stage
from fastlsh.io import (
    STANDARD,
    Paths,
    Source,
    check_target,
    identity,
    recover_outputs,
    replacing_together,
    reread_blocks,
    table_format,
    write_table,
    write_text,
)
from fastlsh.keywords import Prepared, checkable, shares
from fastlsh.parallel import Stopwatch, ordered_map
from fastlsh.parameters import SearchParams
from fastlsh.reporting import check_report, overlap_page
from fastlsh.results import Overlap
from fastlsh.search import check_countable, check_data_sets, overlap_of_texts
from fastlsh.stages import MOST_DATA_SETS, Part, Shared, added_up, characters_of, shared_counts
from fastlsh.texts import as_texts

if TYPE_CHECKING:
    from fastlsh.files.requests import FilePairKeywords
    from fastlsh.keywords import Unpack


Numbers = NDArray[np.int64]


TOTALS = "totals.npy"
"""Documents and characters of each data set."""

DATA_SETS = "data-sets.json"
"""The hashes and names of the values of a column, in the order in which they occur."""


@shares(*SHARED, command="overlap")
@checkable
def overlap_files(
    inputs: Paths,
    output: Path | None = None,
    threshold: float = 0.8,
    *,
    max_pairs: int = 100_000_000,
    source: str | None = None,
    report: Path | None = None,
    **keywords: "Unpack[FilePairKeywords]",
) -> Prepared[FileOverlap]:
    """Count the documents of each data set that have a near-duplicate in each other data set.

    The answer is that of `fastlsh.overlap`, with either engine. Documents are counted, and no pairs
    of them are stored.

    Parameters
    ----------
    inputs
        Files, directories and patterns as in `deduplicate_files`: each is a data set, from 2 to 64.
    output
        A table with a row for each two data sets (.tsv .csv .jsonl .parquet); None: no file is
        written.
    threshold
        As in `deduplicate_files`.
    max_pairs
        Raise once more pairs of different texts have been compared; on disk, in one part.
    source
        A column: its values are the data sets, in the order in which they occur, instead of the
        inputs. In memory, these are read once more before the search.
    report
        An HTML file that shows both counts as matrices.

    Returns
    -------
    FileOverlap
        The overlap, counts and times. Nothing is counted by a stage before "finish".

    Raises
    ------
    InputError, TypeError, ValueError
        As in `deduplicate_files`.
    TooManyPairsError
        More than `max_pairs` are needed.

    Examples
    --------
    >>> import json
    >>> for name, texts in {"old": ["some text", "others"], "new": ["some text"]}.items():
    ...     with open(f"{name}.jsonl", "w") as file:
    ...         for text in texts:
    ...             print(json.dumps({"text": text}), file=file)
    >>> done = overlap_files(["old.jsonl", "new.jsonl"])
    >>> done.overlap.shared_documents.tolist(), done.overlap.names
    ([[0, 1], [1, 0]], ['old.jsonl', 'new.jsonl'])
    """
    params, tokens = search_params(threshold, keywords)
    if tokens:
        raise ValueError("an overlap counts characters, which token ids do not have: give texts")
    check_countable(params)
    max_pairs = check_integer(max_pairs, "max_pairs")
    labels = () if source is None else (source,)
    request = Request.of(inputs, (), params, keywords, labels=labels)
    check_pair_stage(request.engine.stage, "an overlap")
    if source is None:
        check_data_sets(request.inputs)
    target, page = (None if path is None else paths([path])[0] for path in (output, report))
    search = OverlapSearch(request.inputs, source, target, page, max_pairs)
    return prepared(
        request, target or STANDARD, lambda request: _planned(request, search),
        lambda request, planned: OverlapTask(search, planned[0], Stopwatch()).result(
            request, planned[1]
        ),
        twice=request.engine.engine is Engine.DISK or source is not None,
    )  # fmt: skip


@dataclass(frozen=True)
class OverlapSearch:
    """What is compared, and what is written."""

    names: list[str]
    """The inputs as they were given; for pipes, copies may be read."""
    source: str | None
    output: str | None
    page: str | None
    max_pairs: int

    def write(self, table: Overlap, request: Request, skipped: int, clock: Stopwatch) -> None:
        """Write the files that were asked for."""
        with replacing_together() as together:
            if self.output is not None:
                write_table(self.output, table.columns(), together)
            if self.page is not None:
                outputs = {} if self.output is None else {"table": self.output}
                notes = {**left_out(skipped), **named_files(request, "", outputs)}
                notes |= short_documents(
                    table.short, int(table.documents.sum()) - table.empty, request.search.shingler
                )
                threshold = request.search.threshold
                page = overlap_page(table, threshold, notes, clock)
                write_text(self.page, page, together)


def _planned(request: Request, search: OverlapSearch) -> tuple[DataSets | None, EngineChoice]:
    """Find the data sets, unless a column has them, check the outputs, and choose the engine."""
    files_of_inputs = [request.files_of([path]) for path in request.inputs]
    data_sets = None
    if search.source is None:
        _check_different_files(search.names, files_of_inputs)
        data_sets = DataSets.of_inputs(search.names, files_of_inputs)
    sources = request.input_files()
    _check_paths(request, search, sources)
    request.check_used(sources)
    target = search.output or STANDARD
    return data_sets, select_engine(request, sources, 0, target, rows_written=False)


def _sets_in_memory(request: Request, search: OverlapSearch) -> DataSets:
    """Return the values of the column as data sets."""
    assert search.source is not None
    data_sets = DataSets.of_column(request.inputs, request.read, search.source, MOST_DATA_SETS)
    check_data_sets(data_sets.names)
    return data_sets


def _check_different_files(names: list[str], files: list[list[Source]]) -> None:
    """Raise InputError if a file is in two data sets: all of its documents would be shared."""
    seen: dict[Any, tuple[str, str]] = {}
    for name, sources in zip(names, files, strict=True):
        for source in sources:
            path, other = seen.setdefault(identity(source) or source.path, (source.path, name))
            if other != name:
                raise InputError(
                    source.path,
                    f"is the same file as {path}, and belongs to two data sets, {other} and {name}",
                )


def _check_paths(request: Request, search: OverlapSearch, sources: list[Source]) -> None:
    """Raise InputError unless everything can be written, and nothing is written over."""
    run_paths = request.run_paths(sources, [])
    run_paths.writes("output", search.output)
    run_paths.writes("report", search.page)
    run_paths.deletes("work", request.engine.work_of(search.output))
    run_paths.check()
    if request.engine.recovers_outputs:
        recover_outputs([search.output, search.page])
    if search.output is not None:
        table_format(search.output)
        check_target(search.output)
    if search.page is not None:
        check_report(search.page)


class CountsFound(NamedTuple):
    """What a run has counted, as JSON can have it."""

    summary: Summary = NOTHING
    names: Sequence[str] = ()
    totals: Sequence[Sequence[int]] = ()
    """Documents and characters of each data set."""
    counts: Sequence[Sequence[int]] = ()
    """Rows of `Shared`."""

    def overlap(self, params: SearchParams) -> Overlap:
        """Return the overlap of the data sets."""
        documents, characters = np.array(self.totals, np.int64).reshape(2, -1)
        counts = np.array([tuple(row) for row in self.counts], Shared)
        return Overlap(
            list(self.names), documents, characters, counts, empty=self.summary.empty,
            short=self.summary.short, params=params.lsh,
        )  # fmt: skip


@dataclass(frozen=True)
class OverlapTask(Search[CountsFound]):
    """A comparison of data sets."""

    search: OverlapSearch
    data_sets: DataSets | None
    """Which one each document is of; None: the values of the column that is read."""
    clock: Stopwatch

    kind = "overlap"
    found = CountsFound

    def result(self, request: Request, choice: EngineChoice) -> FileOverlap:
        """Count and write; return what was found, with the counts and times."""
        more = {"max_pairs": self.search.max_pairs, "source": self.search.source}
        shared = shared_fields(request, choice, self.clock, **more)
        counts = self.find(request, choice)
        overlap = counts.overlap(request.search)
        return FileOverlap(
            documents=int(overlap.documents.sum()), empty=overlap.empty, overlap=overlap,
            **counts_of(counts.summary), **shared,
        )  # fmt: skip

    def in_memory(self, held: Held) -> CountsFound:
        """Count in the documents in memory, and write."""
        request, collection, search = held.request, held.collection, self.search
        with self.clock("search"):
            params, texts = request.search, as_texts(collection.texts)
            if self.data_sets is None:
                sets = _sets_in_memory(request, search)
                data_set = sets.of_labels(collection.labels[sets.column or ""])
            else:
                sets, documents = self.data_sets, [part.documents for part in collection.parts]
                data_set = np.repeat(sets.of_file, documents)
            overlap = overlap_of_texts(
                params.shingler.prepared(texts), data_set,
                characters_of(texts, params.shingler, request.run), sets.names, params,
                request.run, max_pairs=search.max_pairs,
            )  # fmt: skip
        with self.clock("writing"):
            search.write(overlap, request, held.skipped, self.clock)
        totals = overlap.documents.tolist(), overlap.characters.tolist()
        summary = held.summary(empty=overlap.empty, short=overlap.short)
        return CountsFound(summary, sets.names, totals, overlap.counts.tolist())

    def decided(self, request: Request) -> dict[str, Any]:
        """Return all that the answer depends on, besides the request."""
        decided = {"max_pairs": self.search.max_pairs, "source": self.search.source}
        if self.data_sets is None:
            return decided
        sizes = np.bincount(self.data_sets.of_file, minlength=len(self.data_sets.names))
        return {**decided, "files of each data set": sizes.tolist()}

    @property
    def outputs(self) -> dict[str, str | None]:
        """Where everything is written, as it was given."""
        return {OUTPUT_PATH: self.search.output}

    def stages(self, run: Run) -> list[Stage]:
        """Return the table of the stages of a run on disk."""
        search = self.search

        @cache
        def sets() -> DataSets:
            try:
                return self.data_sets or _sets_on_disk(run, search.source or "")
            except ValueError:  # with this column, no run can go on
                if run.stage is None:
                    run.work.empty()
                raise

        @self.clock("decisions")
        def decide() -> None:
            _count_parts(run, sets(), search.max_pairs)

        def finish() -> Ended:
            names = sets().names
            with self.clock("counting"):
                totals = _totals(run, len(names), _of_documents(run, sets()))
            tables = [run.work.load(answer_name(number)) for number in range(run.linked.parts)]
            counts = added_up(np.concatenate([np.empty(0, Shared), *tables]))
            found = CountsFound(run.summary, names, totals.tolist(), counts.tolist())
            with self.clock("writing"):
                search.write(
                    found.overlap(run.params), run.request, run.summary.skipped, self.clock
                )
            paths = (search.output, search.page)
            return Ended(found, [path for path in paths if path is not None])

        return search_stages(run, self.clock, decide, finish)


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


def _sets_on_disk(run: Run, column: str) -> DataSets:
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
