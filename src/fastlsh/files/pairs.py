"""Pairs of near-duplicates in files: the same answer in memory and on disk."""

from typing import Any

from fastlsh.arguments import check_integer
from fastlsh.files.counts import counts_of, counts_of_summary
from fastlsh.files.disk import documents as on_disk
from fastlsh.files.memory import documents as in_memory
from fastlsh.files.plan import Machine, Path, Search, Tell, changing_over, chosen, paths
from fastlsh.files.reading import Reading, tokens_as_words, within
from fastlsh.files.results import FilePairs
from fastlsh.io import STANDARD, Paths, check_target, recover_outputs, table_format
from fastlsh.parallel import ProgressOption, Stopwatch
from fastlsh.parameters import check_pair_params


def near_duplicate_files(
    inputs: Paths,
    output: Path | None,
    threshold: float = 0.8,
    *,
    max_pairs: int = 100_000_000,
    estimates: bool = False,
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
) -> FilePairs:
    """Find all pairs of near-duplicates in files of any size.

    The answer is that of `fastlsh.near_duplicates` for the documents of all inputs, to the bit,
    with either engine.

    Parameters
    ----------
    inputs, threshold, text, id, format, encoding, delimiter, header, quotes, split,
    recursive, on_error, limit, engine, memory, work, keep_work, restart, threads, progress, tell
        As in `deduplicate_files`.
    output
        A table of the pairs: id_a, id_b and jaccard (.tsv .csv .jsonl .parquet); None: TSV on the
        standard output.
    max_pairs
        Raise instead of writing more pairs.
    estimates
        Whether the table has a column ``estimate``: the share of equal minima of each pair, to be
        compared with its exact similarity.

    Returns
    -------
    FilePairs
        Counts and times.

    Raises
    ------
    InputError, TypeError, ValueError
        As in `deduplicate_files`.
    TooManyPairsError
        There are more pairs than `max_pairs`.
    """
    search, tokens = tokens_as_words(search)
    reading = Reading(
        text, id, format, encoding, delimiter, header, quotes, recursive, on_error,
        tokens=tokens, split=split, limit=limit,
    )  # fmt: skip
    most = check_integer(max_pairs, "max_pairs")
    looking = Search.of(threshold, search, threads, progress)
    check_pair_params(looking.params)
    machine = Machine.of(engine, memory, work, keep_work=keep_work, restart=restart)
    given = paths(inputs)
    target = None if output is None else paths(output)[0]
    with reading.spooled(given, tell, twice=machine.engine == "disk"):
        return changing_over(
            lambda machine: _pairs(given, target, reading, looking, machine, most, estimates, tell),
            machine, target, tell,
        )  # fmt: skip


def _pairs(
    given: list[str],
    target: str | None,
    reading: Reading,
    looking: Search,
    machine: Machine,
    most: int,
    estimates: bool,
    tell: Tell | None,
) -> FilePairs:
    sources = reading.expand(given, mixed=True)
    run_paths = reading.paths(looking.params.shingler.key, given, sources)
    run_paths.writes("output", STANDARD if target is None else target)
    run_paths.deletes("work", machine.work_of(target))
    run_paths.check()
    if target is not None:
        recover_outputs([target])
        table_format(target)
        check_target(target)
    reading.check_used(sources)
    engine_for = chosen(machine, looking, sources, 0, reading, target, tell)
    clock = Stopwatch()
    shared: dict[str, Any] = {
        "threshold": looking.params.threshold,
        "params": looking.params.lsh,
        "reason": engine_for.reason,
        "seconds": clock,
    }
    if engine_for.job is None:
        reading = within(reading, machine.memory, engine_for.per_document)
        keywords = {**looking.keywords, "max_pairs": most, "estimates": estimates}
        pairs, collection = in_memory.run_pairs(
            given, target, reading, keywords, looking.options, clock
        )
        return FilePairs(
            documents=pairs.documents, n_pairs=len(pairs), empty=pairs.empty, engine="memory",
            **counts_of(collection), **shared,
        )  # fmt: skip
    summary, found = on_disk.run_pairs(
        engine_for.job, max_pairs=most, estimates=estimates, output=target, machine=machine,
        clock=clock,
    )  # fmt: skip
    return FilePairs(
        documents=summary.documents, n_pairs=found, empty=summary.empty, engine="disk",
        **counts_of_summary(summary), **shared,
    )  # fmt: skip
