"""Decontamination of files of any size: one pass finds, a second one writes."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from fastlsh.evaluation import ContaminationRecall, recall_of_items
from fastlsh.files.budget import Budget, check_least, longest_row, saying_memory
from fastlsh.files.evaluation_items import ItemFiles, read_items
from fastlsh.files.plan import OutputPlan, RequestedOutputs
from fastlsh.files.requests import (
    EngineOptions,
    OnMessage,
    Path,
    Request,
    check_stage_memory,
    is_all_read,
    paths,
)
from fastlsh.files.results import FileDecontamination
from fastlsh.files.run.run import Run
from fastlsh.files.run.stages import OF_DECONTAMINATION, check_stage
from fastlsh.files.run.workdir import WorkDirectory
from fastlsh.files.tasks.contamination import Decontamination
from fastlsh.io import (
    Paths,
    ReadKeywords,
    ReadOptions,
    RunPaths,
    Source,
    check_content,
    check_target,
    check_used,
    files_to_read,
    is_folder_output,
    is_written_in_place,
    read_files,
    recover_outputs,
    spooled_inputs,
    table_format,
)
from fastlsh.keywords import Prepared, checkable, made, shares
from fastlsh.parallel import RunKeywords, RunOptions, Stopwatch
from fastlsh.parameters import SearchParams
from fastlsh.search import ContaminationKeywords, ContaminationParams
from fastlsh.texts import plain_strings

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack

LARGEST_BLOCK = 1 << 22
"""Bytes of a file that a thread works on at a time, at most: larger ones take no less time."""

SELF_TEST = 20_000
"""Documents that a self-test reads, at most."""


class FileDecontaminationKeywords(ContaminationKeywords, ReadKeywords, RunKeywords, total=False):
    """The shared keyword arguments of `decontaminate_files`, for type checkers."""


@shares(ContaminationParams.of, ReadOptions, RunOptions.of, command="decontaminate")
@checkable
def decontaminate_files(
    inputs: Paths,
    evals: Paths,
    output: Path | None,
    *,
    fields: Sequence[str] | None = None,
    item_id: str | None = None,
    hits: Path | None = None,
    convert_to: str | None = None,
    memory: int | str | None = None,
    work: Path | None = None,
    restart: bool = False,
    stage: str | None = None,
    part: tuple[int, int] | None = None,
    on_message: OnMessage | None = None,
    **keywords: "Unpack[FileDecontaminationKeywords]",
) -> Prepared[FileDecontamination]:
    """Find evaluation items in training files, and write the files without what contains them.

    One pass finds, a second one writes. The memory that is taken grows with the items and with
    what is found, and not with the files.

    Parameters
    ----------
    inputs, convert_to
        As in `deduplicate_files`.
    evals
        The evaluation files: JSON lines, CSV, TSV, Parquet, Arrow or plain text.
    output
        The rows that are left, as in `deduplicate_files`; None: the rows are only
        counted, and nothing is written but `hits`.
    fields
        The names of the fields of an item, ``a.b`` for key b in a. By default, every string of a
        row is a field, at any depth, but its id; of the logs of lm-evaluation-harness and
        lighteval, every string under ``doc``.
    item_id
        The name of the ids of items; by default ``id`` where there is one, else ``FILE:ROW``.
    hits
        A table of the places where items are found: id, item_file, item_id, share, longest_run,
        field, start and end, in code points of the original text.
    memory
        Bytes, or a text like "4G", that may be taken besides the items and what is found: at least
        256 MB. Default: half of the free memory; a stage has no default.
    work
        A directory that keeps what is done, unit by unit, until the end: it is new, empty, or left
        by an earlier run. The same call continues an interrupted run. By default, nothing is kept.
    restart
        Whether to discard the work of an earlier run instead of continuing it.
    stage
        Work on this stage only: "sample", "find", "write" or "finish", in this order. Other
        processes, on other machines, work on the others, in the same directory `work`. Only
        "finish" returns counts.
    part
        With `stage`: (3, 64) is the third of 64 parts of the stage. "sample" and "finish" have one
        part only.
    on_message
        A function that is called with each message of a run with a work directory.

    Returns
    -------
    FileDecontamination
        Counts, times and paths, and the items that cannot be found.

    Raises
    ------
    InputError, TypeError, ValueError
        As in `deduplicate_files`; or no item can be searched.

    Notes
    -----
    The sample that tells what is boilerplate is read before: as many documents from the beginning
    of each file, of more than 100 files from 100 that are evenly spread.

    Examples
    --------
    >>> import fastlsh
    >>> done = fastlsh.decontaminate_files(  # doctest: +SKIP
    ...     "train/*.jsonl.gz", "evals/", "clean/", hits="hits.parquet"
    ... )
    """
    params = made(ContaminationParams.of, keywords)
    options = made(RunOptions.of, keywords)
    cuts = output is not None and params.rule == "span"
    read = made(ReadOptions, {**keywords, "editable": cuts})
    if output is None and convert_to is not None:
        raise ValueError("convert_to has no effect without an output")
    if isinstance(fields, str) or (fields is not None and not list(fields)):
        raise ValueError("fields must be a list of one or more names")
    share = check_stage(stage, part, OF_DECONTAMINATION)
    _check_work(work, restart, stage, read.limit, output, hits)
    if stage is not None:
        check_stage_memory(memory)
    engine = EngineOptions.of("memory" if work is None else "disk", memory, work, restart=restart)
    check_least(engine.memory)
    engine = replace(engine, stage=stage, part=share, on_message=on_message or (lambda _: None))

    @contextmanager
    def planned() -> Iterator[Decontamination]:
        with _readable(paths(inputs), read, engine.work, engine.memory) as (readable, folder):
            sources = files_to_read(readable, read, mixed=True)
            check_used(read, sources)
            check_content(read, sources)
            items = read_items(paths(evals), fields, item_id, read)
            targets = _targets(readable, sources, items, read, output, hits, convert_to, engine)
            if targets is not None and params.rule == "annotate":
                targets.check_columns()
            if targets is not None:
                targets.check_joined(sources, read, engine, options.threads)
            search = SearchParams.of(rule="equal")
            budget = Budget.of(engine.memory, search, options.threads)
            run = Run(
                Request(readable, [], search, read, engine, options),
                WorkDirectory(folder, shared=stage is not None, kept=work is not None),
                sources, 0, replace(budget, block=min(budget.block, LARGEST_BLOCK)),
                rows_written=targets is not None,
            )  # fmt: skip
            yield Decontamination(
                run, work is not None, items, None if fields is None else list(fields), item_id,
                targets, None if hits is None else os.fspath(hits), params, Stopwatch(),
            )  # fmt: skip

    def run() -> FileDecontamination:
        with planned() as task, saying_memory(engine.memory, longest_row(engine.memory)):
            return task.result()

    def check() -> None:
        with planned() as task:
            assert task.grams

    return Prepared(run, check)


@shares(ContaminationParams.of, ReadOptions, RunOptions.of, command="decontaminate")
def evaluate_decontamination_files(
    inputs: Paths,
    evals: Paths,
    *,
    fields: Sequence[str] | None = None,
    item_id: str | None = None,
    trials: int = 500,
    seed: int = 1,
    **keywords: "Unpack[FileDecontaminationKeywords]",
) -> ContaminationRecall:
    """Measure as `evaluate_decontamination` how many items of files are found in the first rows.

    The first `sample` rows are read, and never more than 20,000.

    Parameters
    ----------
    inputs, evals, fields, item_id
        As in `decontaminate_files`.
    trials, seed
        As in `evaluate_decontamination`.
    """
    params = made(ContaminationParams.of, keywords)
    options = made(RunOptions.of, keywords)
    read = made(ReadOptions, keywords)
    items = read_items(paths(evals), fields, item_id, read)
    _run_paths(paths(inputs), None, items, read).check()
    most = min(params.sample, SELF_TEST)
    first = replace(read, limit=min(most, read.limit or most))
    collection = read_files(inputs, first, mixed=True, threads=options.threads)
    return recall_of_items(
        plain_strings(collection.texts), items.items, params, options, item_ids=items.ids,
        trials=trials, seed=seed,
    )  # fmt: skip


def _run_paths(
    inputs: list[str], sources: list[Source] | None, items: ItemFiles, read: ReadOptions
) -> RunPaths:
    """Return what a run reads, for a check of its paths."""
    run_paths = RunPaths(read)
    run_paths.reads(None, inputs, sources)
    run_paths.reads("evals", [source.path for source in items.sources], items.sources)
    return run_paths


def _targets(
    inputs: list[str],
    sources: list[Source],
    items: ItemFiles,
    read: ReadOptions,
    output: Path | None,
    hits: Path | None,
    convert_to: str | None,
    engine: EngineOptions,
) -> OutputPlan | None:
    run_paths = _run_paths(inputs, sources, items, read)
    if output is None:
        run_paths.writes("hits", hits)
        run_paths.deletes("work", engine.work)
        run_paths.check()
        if engine.recovers_outputs:
            recover_outputs([hits])
        if hits is not None:
            table_format(hits)
            check_target(hits)
        return None
    requested = RequestedOutputs(output, convert_to, hits)
    return OutputPlan.of(sources, run_paths, engine, requested)


def _check_work(
    work: Path | None,
    restart: bool,
    stage: str | None,
    limit: int | None,
    output: Path | None,
    hits: Path | None,
) -> None:
    """Raise ValueError if arguments about the work directory contradict each other."""
    if work is None:
        if stage is not None:
            raise ValueError("a stage needs the directory that all stages share: give work=")
        if restart:
            raise ValueError("restart=True has no effect without a work directory: give work=")
        return
    if stage is not None:
        if restart:
            raise ValueError("restart=True is for a run in one process")
        if limit is not None:
            raise ValueError("limit is for a run in one process: leave it out")
    for path in (output, hits):
        if path is not None and not is_folder_output(path) and is_written_in_place(os.fspath(path)):
            raise ValueError("work= needs files or directories as outputs, not a stream")


@contextmanager
def _readable(
    inputs: list[str], read: ReadOptions, work: str | None, memory: int
) -> Iterator[tuple[list[str], str]]:
    """Give files that can be read twice, and the work directory.

    Without one that is kept, it is temporary. Another process, later, cannot read a pipe again.
    """
    if work is not None:
        yield inputs, work
        return
    is_enough = partial(is_all_read, read, memory)
    with (
        TemporaryDirectory(prefix="fastlsh-") as folder,
        spooled_inputs(
            inputs, read.format, lambda _: None, twice=True, is_enough=is_enough
        ) as readable,
    ):
        try:
            yield readable, os.path.join(folder, "work")
        except KeyboardInterrupt as error:
            error.args = ()  # there is nothing to go on with
            raise
