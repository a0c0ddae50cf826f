"""Deduplication of the lines or paragraphs of files: the same answer in memory and on disk."""

from typing import TYPE_CHECKING

from fastlsh.arguments import check_choice, check_integer
from fastlsh.files.answers import notes as notes_of
from fastlsh.files.cutting import Cutting
from fastlsh.files.disk.pieces import run_lines_on_disk
from fastlsh.files.memory.pieces import run_lines_in_memory
from fastlsh.files.plan import EngineChoice, OutputPlan, RequestedOutputs, plan_removal, prepared
from fastlsh.files.requests import SHARED, Path, Request
from fastlsh.files.results import (
    FileLineDeduplication,
    counts_of,
    shared_fields,
    warn_if_none_left,
)
from fastlsh.io import Paths
from fastlsh.keywords import Prepared, checkable, shares, taken
from fastlsh.parallel import Stopwatch
from fastlsh.parameters import SearchParams
from fastlsh.stages import piece_params

if TYPE_CHECKING:
    from fastlsh.files.requests import FilePairKeywords
    from fastlsh.keywords import Unpack


@shares(*SHARED, command="dedup", refused="lines first")
@checkable
def deduplicate_line_files(
    inputs: Paths,
    output: Path | None = None,
    by: str = "line",
    *,
    against: Paths = (),
    threshold: float = 1.0,
    min_length: int = 0,
    drop_empty: bool = False,
    convert_to: str | None = None,
    removed: Path | None = None,
    report: Path | None = None,
    max_candidates: int = 1000,
    **keywords: "Unpack[FilePairKeywords]",
) -> Prepared[FileLineDeduplication]:
    r"""Remove the lines or paragraphs that repeat an earlier one from files of any size.

    The answer is that of `fastlsh.deduplicate_lines` for the documents of all inputs, to the bit,
    with either engine.

    Parameters
    ----------
    inputs, output, convert_to
        As in `deduplicate_files`. Every row is written, with all that it has besides its text.
    against
        Files of a reference collection: lines that occur in them are removed, too. They count as
        earlier than all inputs, and nothing of them is written.
    by, threshold, min_length, max_candidates
        As in `deduplicate_lines`, also for the parameters of a search by similarity.
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
    >>> import json
    >>> with open("pages.jsonl", "w") as file:
    ...     for text in ("Menu\nA page", "Menu\nAnother page"):
    ...         print(json.dumps({"text": text}), file=file)
    >>> done = deduplicate_line_files("pages.jsonl", "clean.jsonl", removed="spans.tsv")
    >>> done.n_removed, done.changed
    (1, 1)
    """
    check_choice(by, "by")
    cutting = Cutting(by, check_integer(min_length, "min_length"))
    max_candidates = check_integer(max_candidates, "max_candidates")
    params = piece_params(threshold, **taken(SearchParams.of, keywords))
    request = Request.of(inputs, against, params, keywords, cutting=cutting)
    requested = RequestedOutputs(output, convert_to, removed, report=report)
    return prepared(
        request, output, lambda request: plan_removal(request, requested),
        lambda request, planned: _deduplicated(
            request, *planned, cutting, drop_empty, max_candidates
        ),
        ended=lambda result: warn_if_none_left(request, result.spans, result.n_kept, by),
    )  # fmt: skip


def _deduplicated(
    request: Request,
    targets: OutputPlan,
    choice: EngineChoice,
    cutting: Cutting,
    drop_empty: bool,
    max_candidates: int,
) -> FileLineDeduplication:
    clock = Stopwatch()
    more = {"min_length": cutting.min_length, "max_candidates": max_candidates}
    shared = {"by": cutting.by, **shared_fields(request, choice, clock, **more)}
    notes = notes_of(request, targets)
    if choice.run is None:
        counts = run_lines_in_memory(
            request, choice.read_budget, targets, cutting, drop_empty, max_candidates, notes, clock
        )
    else:
        counts = run_lines_on_disk(
            choice.run, targets, drop_empty=drop_empty, max_candidates=max_candidates, notes=notes,
            clock=clock,
        )  # fmt: skip
    return FileLineDeduplication(
        documents=counts.documents, spans=counts.spans, n_removed=counts.removed,
        written=counts.documents - (counts.emptied if drop_empty else 0), changed=counts.changed,
        emptied=counts.emptied, characters=counts.characters, limited=counts.limited,
        **{**counts_of(counts.summary), "against_documents": counts.against}, **shared,
        outputs=targets.outputs(counts.summary.files),
    )  # fmt: skip
