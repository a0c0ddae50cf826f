"""Deduplication of the lines or paragraphs of files: the same answer in memory and on disk."""

import os
from typing import Any

from fastlsh.arguments import check_choice, check_integer
from fastlsh.files.counts import counts_of, counts_of_summary
from fastlsh.files.cutting import Cutting
from fastlsh.files.disk.lines import run_on_disk
from fastlsh.files.memory.documents import notes as notes_of
from fastlsh.files.memory.lines import run_in_memory
from fastlsh.files.plan import Machine, Path, Search, Targets, Tell, changing_over, chosen, paths
from fastlsh.files.reading import Reading, within
from fastlsh.files.results import FileLineDeduplication
from fastlsh.io import Paths, is_folder_output
from fastlsh.parallel import ProgressOption, RunOptions, Stopwatch
from fastlsh.stages import piece_params
from fastlsh.texts import Shingler


def deduplicate_line_files(
    inputs: Paths,
    output: Path,
    by: str = "line",
    *,
    against: Paths = (),
    threshold: float = 1.0,
    min_length: int = 0,
    drop_empty: bool = False,
    convert_to: str | None = None,
    removed: Path | None = None,
    report: Path | None = None,
    shingler: Shingler | None = None,
    max_candidates: int = 1000,
    text: str | None = None,
    id: str | None = None,  # noqa: A002
    format: str | None = None,  # noqa: A002
    encoding: str = "utf-8",
    delimiter: str | None = None,
    header: bool = True,
    quotes: bool = True,
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
) -> FileLineDeduplication:
    """Remove the lines or paragraphs that repeat an earlier one from files of any size.

    The answer is that of `fastlsh.deduplicate_lines` for the documents of all inputs, to the bit,
    with either engine.

    Parameters
    ----------
    inputs, output, convert_to, text, id, format, encoding, delimiter, header, quotes, recursive,
    on_error, limit, engine, memory, work, keep_work, restart, threads, progress, tell
        As in `deduplicate_files`. Every row is written, with all that it has besides its text.
    against
        Files of a reference collection: lines that occur in them are removed, too. They count as
        earlier than all inputs, and nothing of them is written.
    by, threshold, min_length, shingler, max_candidates, **search
        As in `deduplicate_lines`.
    drop_empty
        Whether to leave out rows whose text has become empty.
    removed
        A table of the removed spans: id, start, end (in code points of the original text),
        kept_id and jaccard; if `against` is given, also against: whether kept_id is the id of a
        document there.
    report
        A page about the run (.html): what was removed most often, and how much of each document.

    Returns
    -------
    FileLineDeduplication
        Counts, times and paths.

    Raises
    ------
    InputError, TypeError, ValueError
        As in `deduplicate_files`.

    Notes
    -----
    Work directory: 12 bytes per line, and the text of each line that has a duplicate, with 64
    bytes; for a threshold below 1, 8 * (bands + 1) + 4 bytes per line. Memory on disk: about 20
    bytes per line, besides what `memory` allows.

    Examples
    --------
    >>> import fastlsh
    >>> done = fastlsh.deduplicate_line_files("pages/*.jsonl.gz", "clean/")  # doctest: +SKIP
    """
    check_choice(by, "by")
    cutting = Cutting(by, check_integer(min_length, "min_length"))
    most = check_integer(max_candidates, "max_candidates")
    params = piece_params(threshold, shingler=shingler, **search)
    options = RunOptions.of(threads, progress)
    reading = Reading(
        text, id, format, encoding, delimiter, header, quotes, recursive, on_error,
        limit=limit,
    )  # fmt: skip
    machine = Machine.of(engine, memory, work, keep_work=keep_work, restart=restart)
    given, known = paths(inputs), paths(against)
    keywords = {
        "threshold": params.threshold, "shingler": shingler, "max_candidates": most, **search
    }  # fmt: skip
    clock = Stopwatch()

    def run(machine: Machine) -> FileLineDeduplication:
        sources = reading.expand(given, mixed=is_folder_output(output))
        before = reading.expand(known, mixed=True, against=True) if known else []
        run_paths = reading.paths(params.shingler.key, given, sources, known, before)
        targets = Targets.of(sources, run_paths, machine, output, convert_to, removed, None, report)
        reading.check_used([*before, *sources], cut=True)
        engine_for = chosen(
            machine, Search(params, options), [*before, *sources], len(before), reading,
            targets.output, tell, uniform=not targets.folders, cutting=cutting,
        )  # fmt: skip
        shared: dict[str, Any] = {
            "by": by,
            "threshold": params.threshold, "params": params.lsh, "reason": engine_for.reason,
            "seconds": clock,
        }  # fmt: skip
        notes = notes_of(given, known, targets, reading.limit)
        if engine_for.job is None:
            limited = within(reading, machine.memory, engine_for.per_document)
            found, *read, kept = run_in_memory(
                given, known, targets, limited, cutting, drop_empty, keywords, notes, options, clock
            )
            return FileLineDeduplication(
                documents=found.documents, written=kept, changed=len(found.changed),
                emptied=len(found.emptied), spans=found.spans, n_removed=len(found),
                characters=found.characters, limited=found.limited, engine="memory",
                **counts_of(*read), **shared, outputs=targets.outputs(read[0].files_read),
            )  # fmt: skip
        done = run_on_disk(
            engine_for.job, targets, drop_empty=drop_empty, max_candidates=most, notes=notes,
            machine=machine, clock=clock,
        )  # fmt: skip
        return FileLineDeduplication(
            documents=done.documents, written=done.documents - (done.emptied if drop_empty else 0),
            changed=done.changed, emptied=done.emptied, spans=done.spans, n_removed=done.removed,
            characters=done.characters, limited=done.limited, engine="disk",
            **counts_of_summary(done.summary), **shared,
            outputs=targets.outputs(done.summary.files),
        )  # fmt: skip

    with reading.spooled(given, tell, twice=True, against=known):
        return changing_over(run, machine, os.fspath(output), tell)
