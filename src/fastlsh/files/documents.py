"""Deduplication of files: the same answer in memory and on disk."""

import os
from typing import Any

from fastlsh.arguments import check_integer
from fastlsh.files.counts import counts_of, counts_of_summary
from fastlsh.files.disk import documents as on_disk
from fastlsh.files.memory import documents as in_memory
from fastlsh.files.plan import Machine, Path, Search, Targets, Tell, changing_over, chosen, paths
from fastlsh.files.reading import Reading, tokens_as_words, within
from fastlsh.files.results import FileDeduplication
from fastlsh.io import Paths, is_folder_output
from fastlsh.parallel import ProgressOption, Stopwatch
from fastlsh.stages import check_keep


def deduplicate_files(
    inputs: Paths,
    output: Path,
    threshold: float = 0.8,
    *,
    against: Paths = (),
    keep: str = "first",
    priority: str | None = None,
    convert_to: str | None = None,
    removed: Path | None = None,
    clusters: Path | None = None,
    report: Path | None = None,
    max_candidates: int = 1000,
    text: str | None = None,
    id: str | None = None,  # noqa: A002
    format: str | None = None,  # noqa: A002
    encoding: str = "utf-8",
    delimiter: str | None = None,
    header: bool = True,
    quotes: bool = True,
    split: str | None = None,
    recursive: bool = False,
    on_error: str = "fail",
    limit: int | None = None,
    engine: str = "auto",
    memory: int | str | None = None,
    work: Path | None = None,
    keep_work: bool = False,
    restart: bool = False,
    threads: int | None = None,
    progress: ProgressOption = False,
    tell: Tell | None = None,
    **search: Any,
) -> FileDeduplication:
    """Remove the near-duplicates from files of any size.

    The answer is that of `fastlsh.deduplicate` for the documents of all inputs, to the bit, with
    either engine. On disk, memory stays bounded, and an interrupted run continues when it is
    started again.

    Parameters
    ----------
    inputs
        Files, patterns and directories, which together form one collection, in this order.
    output
        A file for the kept rows, unchanged; or a directory, which gets one file for each input.
    threshold
        As in `deduplicate`, like further keyword arguments: shingler, key, num_perm, seed, recall,
        bands, rows, scheme, verify, rule, containment, search (by containment: in memory only).
    against
        Files of a reference collection, whose documents have the highest priority.
    keep
        "first", "last" or "longest".
    priority
        A column of numbers, instead of `keep`: the document with the highest number is kept, and
        ties go to the earlier one. A row without a number is a bad row.
    convert_to
        "parquet", "jsonl" or "csv", the latter with a compression (jsonl.zst): the format of the
        outputs. None: rows are written unchanged.
    removed
        A table of the removed documents: id, kept_id and jaccard, or containment by that rule; if
        `against` is given, also against: whether kept_id is the id of a document there.
    clusters
        A table of the documents that belong together: id and cluster, which is a number for each
        kept document that has duplicates.
    report
        A page about the run (.html); on disk, it shows texts of the largest clusters only.
    max_candidates
        As in `deduplicate`.
    text, id, format, encoding, delimiter, header, quotes, split, recursive
        How files are read: see the options of the same names in docs/command-line.md.
    on_error
        "fail": a bad row raises. "skip": it is left out and counted.
    limit
        How many documents are read, the first ones, for a trial; not of `against`. Files behind the
        last one are not read and have no output.
    engine
        "memory", "disk", or "auto": on disk if the estimate of the memory that is needed is more
        than `memory`.
    memory
        Bytes, or a text like "4G", that the run may take: at least 256 MB. Default: half of what
        is free.
    work
        The directory of a run on disk; default: the output's name with ``.work`` behind it.
    keep_work
        Whether to keep it after a complete run.
    restart
        Whether to discard the work of an earlier run instead of continuing it.
    threads, progress
        As in `deduplicate`.
    tell
        A function that is called with each message of the run: which engine was chosen, and why;
        or that a family is larger than the memory.

    Returns
    -------
    FileDeduplication
        Counts, times and paths.

    Raises
    ------
    InputError
        A file or row cannot be used, an output cannot be written, or the work directory belongs to
        another run.
    TypeError, ValueError
        An argument is invalid.

    Notes
    -----
    Work directory: 8 * (bands + 1) + 4 bytes per document, and the texts of the documents that
    share a bucket with another one.

    Examples
    --------
    >>> import fastlsh
    >>> done = fastlsh.deduplicate_files("pages/*.jsonl.gz", "kept/", memory="4G")  # doctest: +SKIP
    """
    check_keep(keep, with_priority=priority is not None)
    search, tokens = tokens_as_words(search)
    reading = Reading(
        text, id, format, encoding, delimiter, header, quotes, recursive, on_error, priority,
        tokens, split, limit,
    )  # fmt: skip
    if tokens and keep == "longest":
        raise ValueError(
            'keep="longest" counts characters, which token ids do not have: give a column of'
            " numbers as the priority"
        )
    most = check_integer(max_candidates, "max_candidates")
    looking = Search.of(threshold, search, threads, progress)
    machine = Machine.of(engine, memory, work, keep_work=keep_work, restart=restart)
    given, known = paths(inputs), paths(against)
    outputs = (convert_to, removed, clusters, report)
    with reading.spooled(given, tell, twice=True, against=known):
        return changing_over(
            lambda machine: _deduplicated(
                given, known, output, outputs, reading, looking, machine, keep, most, tell
            ),
            machine, os.fspath(output), tell,
        )  # fmt: skip


def _deduplicated(
    given: list[str],
    known: list[str],
    output: Path,
    outputs: tuple[Any, ...],
    reading: Reading,
    looking: Search,
    machine: Machine,
    keep: str,
    most: int,
    tell: Tell | None,
) -> FileDeduplication:
    sources = reading.expand(given, mixed=is_folder_output(output))
    before = reading.expand(known, mixed=True, against=True) if known else []
    run_paths = reading.paths(looking.params.shingler.key, given, sources, known, before)
    targets = Targets.of(sources, run_paths, machine, output, *outputs)
    reading.check_used([*before, *sources])
    engine_for = chosen(
        machine, looking, [*before, *sources], len(before), reading, targets.output, tell,
        uniform=not targets.folders,
    )  # fmt: skip
    clock = Stopwatch()
    shared: dict[str, Any] = {
        "threshold": looking.params.threshold,
        "params": looking.params.lsh,
        "reason": engine_for.reason,
        "seconds": clock,
    }
    notes = in_memory.notes(given, known, targets, reading.limit)
    if engine_for.job is None:
        reading = within(reading, machine.memory, engine_for.per_document)
        keywords = {
            **looking.keywords, "keep": keep, "max_candidates": most,
            "rule": looking.params.rule, "containment": looking.params.containment,
        }  # fmt: skip
        result, *read = in_memory.run_deduplication(
            given, known, targets, reading, keywords, notes, looking.options, clock
        )
        return FileDeduplication(
            documents=result.documents, n_kept=result.n_kept, empty=result.empty,
            limited=result.limited, engine="memory", **counts_of(*read), **shared,
            outputs=targets.outputs(read[0].files_read),
        )  # fmt: skip
    work_done = on_disk.run_deduplication(
        engine_for.job, targets, keep=None if reading.priority else keep, max_candidates=most,
        notes=notes, machine=machine, clock=clock,
    )  # fmt: skip
    summary = work_done.summary
    documents = summary.documents - summary.known
    return FileDeduplication(
        documents=documents, n_kept=documents - work_done.removed, empty=summary.empty,
        limited=work_done.limited, engine="disk", **counts_of_summary(summary), **shared,
        outputs=targets.outputs(summary.files),
    )  # fmt: skip
