"""The overlap of data sets in files: the same answer in memory and on disk."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastlsh.arguments import check_integer
from fastlsh.errors import InputError
from fastlsh.files.answers import left_out, named_files, short_documents
from fastlsh.files.data_sets import DataSets
from fastlsh.files.disk.overlap import run_overlap
from fastlsh.files.memory.documents import summary_of, threads_and_progress
from fastlsh.files.plan import EngineChoice, prepared, select_engine
from fastlsh.files.requests import (
    SHARED,
    Engine,
    Path,
    ReadBudget,
    Request,
    paths,
    search_params,
)
from fastlsh.files.results import FileOverlap, counts_of, shared_fields
from fastlsh.files.run.records import Summary
from fastlsh.files.run.stages import check_pair_stage
from fastlsh.io import (
    STANDARD,
    Collection,
    Paths,
    Source,
    check_target,
    identity,
    recover_outputs,
    replacing_together,
    table_format,
    write_table,
    write_text,
)
from fastlsh.keywords import Prepared, checkable, shares
from fastlsh.parallel import Stopwatch
from fastlsh.reporting import check_report, overlap_page
from fastlsh.results import Overlap
from fastlsh.search import check_countable, check_data_sets, overlap_of_texts
from fastlsh.stages import MOST_DATA_SETS, characters_of
from fastlsh.texts import as_texts

if TYPE_CHECKING:
    from fastlsh.files.requests import FilePairKeywords
    from fastlsh.keywords import Unpack


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
    target, page = (None if path is None else paths(path)[0] for path in (output, report))
    search = OverlapSearch(request.inputs, source, target, page, max_pairs)
    return prepared(
        request, target or STANDARD, lambda request: _planned(request, search),
        lambda request, planned: _overlap(request, search, *planned),
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


def _overlap(
    request: Request, search: OverlapSearch, data_sets: DataSets | None, choice: EngineChoice
) -> FileOverlap:
    clock = Stopwatch()
    more = {"max_pairs": search.max_pairs, "source": search.source}
    shared = shared_fields(request, choice, clock, **more)
    if choice.run is None:
        if data_sets is None:
            data_sets = _of_column(request, search)
        overlap, summary = _in_memory(request, choice.read_budget, search, data_sets, clock)
        with clock("writing"):
            search.write(overlap, request, summary.skipped, clock)
    else:
        overlap, summary = run_overlap(
            choice.run, data_sets, search.max_pairs, search.output, search.page,
            lambda overlap, skipped: search.write(overlap, request, skipped, clock), clock,
        )  # fmt: skip
    return FileOverlap(
        documents=int(overlap.documents.sum()), empty=overlap.empty, overlap=overlap,
        **counts_of(summary), **shared,
    )  # fmt: skip


def _of_column(request: Request, search: OverlapSearch) -> DataSets:
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


def _in_memory(
    request: Request,
    budget: ReadBudget,
    search: OverlapSearch,
    data_sets: DataSets,
    clock: Stopwatch,
) -> tuple[Overlap, Summary]:
    with clock("reading"):
        how = threads_and_progress(request.run)
        collection = budget.read(request.inputs, request.read, mixed=True, **how)
    with clock("search"):
        params, texts = request.search, as_texts(collection.texts)
        if data_sets.column is None:
            documents = [part.documents for part in collection.parts]
            data_set = np.repeat(data_sets.of_file, documents)
        else:
            data_set = data_sets.of_labels(collection.labels[data_sets.column])
        characters = characters_of(texts, params.shingler, request.run)
        overlap = overlap_of_texts(
            params.shingler.prepared(texts), data_set, characters, data_sets.names, params,
            request.run, max_pairs=search.max_pairs,
        )  # fmt: skip
    return overlap, summary_of(collection, Collection(), empty=overlap.empty)
