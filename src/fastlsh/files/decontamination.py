"""Decontamination of files of any size: one pass finds, a second one writes."""

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fastlsh.errors import InputError
from fastlsh.evaluation import ContaminationRecall, recall_of_items
from fastlsh.files.contamination import (
    ContaminationColumns,
    Findings,
    find_in_files,
    sample_of_files,
    write_what_is_left,
)
from fastlsh.files.evaluation_items import ItemFiles, read_items
from fastlsh.files.plan import OutputPlan
from fastlsh.files.requests import READ_ONLY_INSIDE, EngineOptions, Path, paths
from fastlsh.files.results import FileDecontamination
from fastlsh.io import (
    Lookup,
    Paths,
    ReadKeywords,
    ReadOptions,
    RunPaths,
    Source,
    check_target,
    check_used,
    contamination_columns,
    expand,
    is_folder_output,
    read_files,
    recover_outputs,
    replacing_together,
    spooled_inputs,
    table_format,
    write_table,
)
from fastlsh.keywords import made, shares
from fastlsh.parallel import RunKeywords, RunOptions, Stopwatch
from fastlsh.search import (
    ContaminationKeywords,
    ContaminationParams,
    boilerplate_of,
    grams_of_items,
    not_searched,
    without_boilerplate,
)
from fastlsh.stages import ItemGrams, Tally
from fastlsh.texts import plain_strings

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack

SELF_TEST = 20_000
"""Documents that a self-test reads, at most."""


class FileDecontaminationKeywords(ContaminationKeywords, ReadKeywords, RunKeywords, total=False):
    """The shared keyword arguments of `decontaminate_files`, for type checkers."""


@shares(ContaminationParams.of, ReadOptions, RunOptions.of, without=READ_ONLY_INSIDE)
def decontaminate_files(
    inputs: Paths,
    evals: Paths,
    output: Path | None,
    *,
    fields: Sequence[str] | None = None,
    item_id: str | None = None,
    hits: Path | None = None,
    convert_to: str | None = None,
    **keywords: "Unpack[FileDecontaminationKeywords]",
) -> FileDecontamination:
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
        The rows that are left, as in `deduplicate_files`; None: nothing is written but `hits`.
    fields
        The names of the fields of an item, ``a.b`` for key b in a. By default, every string of a
        row is a field, at any depth, but its id; of the logs of lm-evaluation-harness and
        lighteval, every string under ``doc``.
    item_id
        The name of the ids of items; by default ``id`` where there is one, else ``FILE:ROW``.
    hits
        A table of the places where items are found: id, item_file, item_id, share, longest_run,
        field, start and end, in code points of the original text.

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
    if output is None and hits is None:
        raise ValueError("nothing would be written: give an output, or hits=")
    if output is None and convert_to is not None:
        raise ValueError("convert_to has no effect without an output")
    if isinstance(fields, str) or (fields is not None and not list(fields)):
        raise ValueError("fields must be a list of one or more names")
    with spooled_inputs(paths(inputs), read.format, lambda _: None, twice=True) as readable:
        mixed = output is None or is_folder_output(output)
        sources = expand(readable, read.format, read, recursive=read.recursive, mixed=mixed)
        check_used(read, sources)
        items = read_items(paths(evals), fields, item_id, read)
        targets = _targets(readable, sources, items, read, output, hits, convert_to)
        if targets is not None and params.rule == "annotate":
            targets.check_columns()
        return _decontaminated(sources, items, targets, hits, read, params, options)


@shares(ContaminationParams.of, ReadOptions, RunOptions.of, without=READ_ONLY_INSIDE)
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
    most = min(params.sample, SELF_TEST)
    first = replace(read, limit=min(most, read.limit or most))
    collection = read_files(inputs, first, mixed=True, threads=options.threads)
    return recall_of_items(
        plain_strings(collection.texts), items.items, params, options, item_ids=items.ids,
        trials=trials, seed=seed,
    )  # fmt: skip


def _targets(
    inputs: list[str],
    sources: list[Source],
    items: ItemFiles,
    read: ReadOptions,
    output: Path | None,
    hits: Path | None,
    convert_to: str | None,
) -> OutputPlan | None:
    run_paths = RunPaths(format=read.format, recursive=read.recursive)
    run_paths.reads(None, inputs, sources)
    run_paths.reads("evals", [source.path for source in items.sources], items.sources)
    if output is None:
        assert hits is not None
        run_paths.writes("hits", hits)
        run_paths.check()
        recover_outputs([hits])
        table_format(hits)
        check_target(hits)
        return None
    engine = EngineOptions.of(engine="memory")
    return OutputPlan.of(sources, run_paths, engine, output, convert_to, hits, None, None)


def _decontaminated(
    sources: list[Source],
    items: ItemFiles,
    targets: OutputPlan | None,
    hits: Path | None,
    read: ReadOptions,
    params: ContaminationParams,
    options: RunOptions,
) -> FileDecontamination:
    clock = Stopwatch()
    with clock("items"):
        grams = grams_of_items(items.items, params)
        _check_searchable(grams, items)
    with clock("sample"):
        tally, sample = sample_of_files(sources, grams, params, options, read.limit)
        grams = without_boilerplate(grams, tally, sample, params)
    with clock("finding"):
        findings = find_in_files(
            sources, grams, params, options, limit=read.limit, strict=read.on_error == "fail",
            uniform=targets is not None and not targets.folders,
        )  # fmt: skip
    with clock("writing"), replacing_together() as together:
        if hits is not None:
            write_table(os.fspath(hits), _hits(findings, grams, items), together)
        if targets is not None:
            added = None
            if params.rule == "annotate":
                found = findings.found
                added = ContaminationColumns(
                    found, found.grams / grams.sizes[found.item], items.ids
                )
            write_what_is_left(findings, targets, params, options, together, added)
    return _result(findings, grams, tally, items, targets, params, clock)


def _check_searchable(grams: ItemGrams, items: ItemFiles) -> None:
    if not grams.sizes.any():
        raise InputError(
            items.sources[0].path,
            "no evaluation item can be searched: each has too few words, or only n-grams that more"
            " items share than max_items allows",
        )


def _hits(findings: Findings, grams: ItemGrams, items: ItemFiles) -> dict[str, Any]:
    found = findings.found
    row = found.spans[:, 0]
    item = found.item[row]
    return contamination_columns(
        Lookup(findings.ids, row), Lookup(items.files, item), Lookup(items.ids, item),
        (found.grams / grams.sizes[found.item])[row], found.run[row],
        Lookup(items.items.names, found.spans[:, 1]), found.spans[:, 2], found.spans[:, 3],
    )  # fmt: skip


def _result(
    findings: Findings,
    grams: ItemGrams,
    tally: Tally,
    items: ItemFiles,
    targets: OutputPlan | None,
    params: ContaminationParams,
    clock: Stopwatch,
) -> FileDecontamination:
    found, cuts = findings.found, findings.cuts
    dropped = len(findings.dropped)
    return FileDecontamination(
        documents=findings.documents,
        contaminated=len(np.unique(found.document)),
        written=0 if targets is None else findings.documents - dropped,
        dropped=dropped,
        changed=len(np.unique(cuts[:, 0])),
        n_hits=len(found.spans),
        items=items.items.n_items,
        items_found=len(np.unique(found.item)),
        not_searched=not_searched(grams, items.ids),
        boilerplate=boilerplate_of(grams, tally),
        rule=params.rule,
        skipped=findings.skipped,
        skipped_reasons=[str(reason) for reason in findings.reasons],
        outputs=(
            [] if targets is None
            else targets.outputs(sum(part.is_read for part in findings.parts))
        ),
        seconds=clock,
    )  # fmt: skip
