"""New files against an index: what is new stays, and is in the index afterwards."""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from fastlsh.errors import InputError, RoomError
from fastlsh.files.answers import notes
from fastlsh.files.estimate import choose_for_index
from fastlsh.files.plan import (
    EngineChoice,
    OutputPlan,
    RemovalRules,
    RequestedOutputs,
    changing_over,
)
from fastlsh.files.requests import Engine, EngineOptions, Path, ReadBudget, Request
from fastlsh.files.results import FileDeduplication
from fastlsh.files.tasks.dedup import Dedup
from fastlsh.index import Index, check_counted, finish_outputs, location_of
from fastlsh.io import Paths, ReadOptions, is_folder_output, is_remote, is_written_in_place
from fastlsh.keywords import shares
from fastlsh.parallel import RunOptions, Stopwatch
from fastlsh.stages import check_keep

if TYPE_CHECKING:
    from fastlsh.files.requests import FileKeywords
    from fastlsh.keywords import Unpack


@shares(
    ReadOptions, EngineOptions.of, RunOptions.of, command="dedup", refused="index index_stage",
    without={"engine"},
)  # fmt: skip
def deduplicate_with_index(
    index: Index,
    inputs: Paths,
    output: Path,
    *,
    keep: str = "first",
    priority: str | None = None,
    convert_to: str | None = None,
    removed: Path | None = None,
    clusters: Path | None = None,
    report: Path | None = None,
    annotate: bool = False,
    source: str | None = None,
    count: str | Sequence[str] = (),
    max_candidates: int = 1000,
    **keywords: "Unpack[FileKeywords]",
) -> FileDeduplication:
    """Write the rows that are new to an index, and insert them: both or neither.

    The parameters of the search are those of the index. Only the new documents, and those of the
    index that share a bucket with one of them, are in memory. If the process ends in between, the
    next command with this index completes the outputs. If a server goes away before it has
    answered, nobody knows whether it made the change: the files that were written stay hidden
    beside the outputs, for the next command to complete or remove.

    Parameters
    ----------
    index
        An index that is always saved, from `Index.open`.
    inputs
        The new files, as in `deduplicate_files`.
    output
        A file for the kept rows, or a directory, as in `deduplicate_files`.
    keep, priority, convert_to, removed, clusters, report, annotate, max_candidates
        As in `deduplicate_files`. A document of the index is always kept.
    source, count
        As in `deduplicate_files`, and the index counts them, too, if they are given from its first
        document on, by its first run or with `save_index`: for each of its documents, over all
        runs, the number of different sources and the sums. How many documents have come is always
        counted. `fastlsh index export` writes these counts.

    Returns
    -------
    FileDeduplication
        Counts, times and paths.

    Raises
    ------
    InputError
        A file or row cannot be used, two rows have the same id, an output cannot be written, or
        the files are too large for the memory. A repeated id is refused before the search.
    ValueError
        An id of a kept row is in the index; an output is no file of this machine; a sum does not
        fit in 64 bits; or the index counts other columns.

    Examples
    --------
    >>> import json
    >>> with open("today.jsonl", "w") as file:
    ...     for number, text in enumerate(("some text", "another text")):
    ...         print(json.dumps({"id": number, "text": text}), file=file)
    >>> with Index.open("seen.db", 0.8) as index:
    ...     index.insert("yesterday", "some text")
    ...     done = deduplicate_with_index(index, "today.jsonl", "new.jsonl")
    >>> done.n_kept, done.documents
    (1, 2)
    """
    check_keep(keep, with_priority=priority is not None)
    search = index.search_params
    written = [os.fspath(path) for path in (output, removed, clusters, report) if path is not None]
    for path in written:
        if is_remote(path) or (is_written_in_place(path) and not is_folder_output(path)):
            raise ValueError(f"{path}: with an index, an output must be a plain file")
    removal = RemovalRules.of(
        keep, max_candidates, annotate, None, None, source, count, has_clusters=True
    )
    request = Request.of(
        inputs, (), search, keywords, priority=priority, tokens=search.shingler.unit == "token",
        counts=removal.counts, labels=removal.labels,
    )  # fmt: skip
    in_memory = replace(request.engine, engine=Engine.MEMORY)
    request = replace(request, engine=in_memory, saves_ids=True)
    requested = RequestedOutputs(output, convert_to, removed, clusters, report)
    try:
        return changing_over(
            lambda request: _deduplicated(request, index, requested, removal),
            request, output, twice=True,
        )  # fmt: skip
    except RoomError as error:
        raise InputError(
            error.path,
            "the files have more text than estimated, and too much for the memory: give fewer files"
            " at a time, or more memory=",
        ) from error


def _deduplicated(
    request: Request, index: Index, requested: RequestedOutputs, removal: RemovalRules
) -> FileDeduplication:
    sources = request.input_files()
    paths = request.run_paths(sources, [])
    paths.changes("index", location_of(index))
    targets = OutputPlan.of(
        sources, paths, request.engine, requested, recovers=partial(_finish, index)
    )
    request.check_used(sources)
    targets.check_joined(sources, request.read, request.engine, request.run.threads)
    if removal.annotate:
        targets.check_columns()
    counted = check_counted(
        index, removal.counted, is_required=not removal.annotate and targets.clusters is None
    )
    estimate = choose_for_index(request, sources)
    budget = ReadBudget.of(request.engine.memory, estimate.per_document(request.search))
    choice = EngineChoice(estimate.reason, None, budget)
    lines = {**notes(request, targets), "index": "its texts are shown normalised, as it keeps them"}
    task = Dedup(targets, removal, lines, Stopwatch(), (index, counted))
    return task.result(request, choice)


def _finish(index: Index, outputs: list[str]) -> None:
    """Complete or remove what an interrupted run with this index has left beside the outputs."""
    finish_outputs(index, {os.path.dirname(os.path.realpath(path)) for path in outputs})
