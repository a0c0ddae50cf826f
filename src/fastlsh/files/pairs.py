"""Pairs of near-duplicates in files: the same answer in memory and on disk."""

from typing import TYPE_CHECKING

from fastlsh.arguments import check_integer
from fastlsh.files.counts import counts_of, counts_of_summary, shared_fields
from fastlsh.files.disk import documents as on_disk
from fastlsh.files.memory import documents as in_memory
from fastlsh.files.plan import changing_over, select_engine
from fastlsh.files.requests import (
    READ_ONLY_INSIDE,
    SHARED,
    Engine,
    Path,
    Request,
    paths,
    search_params,
)
from fastlsh.files.results import FilePairs
from fastlsh.io import STANDARD, Paths, check_target, recover_outputs, table_format
from fastlsh.keywords import shares
from fastlsh.parallel import Stopwatch
from fastlsh.parameters import REMOVAL_ONLY

if TYPE_CHECKING:
    from fastlsh.files.requests import FilePairKeywords
    from fastlsh.keywords import Unpack


@shares(*SHARED, without=READ_ONLY_INSIDE | REMOVAL_ONLY)
def near_duplicate_files(
    inputs: Paths,
    output: Path | None,
    threshold: float = 0.8,
    *,
    max_pairs: int = 100_000_000,
    estimates: bool = False,
    **keywords: "Unpack[FilePairKeywords]",
) -> FilePairs:
    """Find all pairs of near-duplicates in files of any size.

    The answer is that of `fastlsh.near_duplicates` for the documents of all inputs, to the bit,
    with either engine.

    Parameters
    ----------
    inputs, threshold
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

    Examples
    --------
    >>> import json
    >>> with open("pages.jsonl", "w") as file:
    ...     for text in ("some text", "some text", "another text"):
    ...         print(json.dumps({"text": text}), file=file)
    >>> done = near_duplicate_files("pages.jsonl", "pairs.tsv")
    >>> done.documents, done.n_pairs
    (3, 1)
    """
    params, tokens = search_params(threshold, keywords)
    max_pairs = check_integer(max_pairs, "max_pairs")
    request = Request.of(inputs, (), params, keywords, tokens=tokens)
    target = None if output is None else paths(output)[0]
    return changing_over(
        lambda request: _pairs(request, target, max_pairs, estimates),
        request, target, twice=request.engine.engine is Engine.DISK,
    )  # fmt: skip


def _pairs(request: Request, target: str | None, max_pairs: int, estimates: bool) -> FilePairs:
    sources = request.input_files(mixed=True)
    run_paths = request.run_paths(sources, [])
    run_paths.writes("output", STANDARD if target is None else target)
    run_paths.deletes("work", request.engine.work_of(target))
    run_paths.check()
    if target is not None:
        recover_outputs([target])
        table_format(target)
        check_target(target)
    request.check_used(sources)
    choice = select_engine(request, sources, 0, target, rows_written=False)
    clock = Stopwatch()
    shared = shared_fields(request, choice.reason, clock)
    if choice.job is None:
        pairs, collection = in_memory.run_pairs(
            request, choice.read_budget, target, max_pairs, estimates, clock
        )
        return FilePairs(
            documents=pairs.documents, n_pairs=len(pairs), empty=pairs.empty, engine="memory",
            **counts_of(collection), **shared,
        )  # fmt: skip
    summary, found = on_disk.run_pairs(
        choice.job, max_pairs=max_pairs, estimates=estimates, output=target, clock=clock
    )
    return FilePairs(
        documents=summary.documents, n_pairs=found, empty=summary.empty, engine="disk",
        **counts_of_summary(summary), **shared,
    )  # fmt: skip
