"""Removal of repeated passages from files: the same answer in memory and on disk."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from fastlsh.files.answers import notes as notes_of
from fastlsh.files.cutting import SpanCutting
from fastlsh.files.disk.pieces import run_spans_on_disk
from fastlsh.files.estimate import first_documents
from fastlsh.files.memory.pieces import run_spans_in_memory
from fastlsh.files.plan import EngineChoice, OutputPlan, RequestedOutputs, plan_removal, prepared
from fastlsh.files.requests import SHARED, FileKeywords, Path, Request
from fastlsh.files.results import (
    FileSpanDeduplication,
    counts_of,
    shared_fields,
    warn_if_none_left,
)
from fastlsh.files.run.run import Run
from fastlsh.io import Paths
from fastlsh.keywords import Prepared, checkable, made, shares
from fastlsh.parallel import Stopwatch
from fastlsh.parameters import SearchParams
from fastlsh.search import check_length
from fastlsh.stages import CutKeywords, CutRules
from fastlsh.texts import Shingler, WordTexts, as_texts, check_traceable

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack


TOKENISED = 64
"""So many documents are tokenised twice, before all others are read."""


class FileSpanKeywords(CutKeywords, FileKeywords, total=False):
    """The shared keyword arguments of `deduplicate_span_files`, for type checkers."""


@shares(CutRules.of, *SHARED[1:], command="dedup", refused="span")
@checkable
def deduplicate_span_files(
    inputs: Paths,
    output: Path | None = None,
    min_length: int = 500,
    *,
    against: Paths = (),
    shingler: Shingler | None = None,
    convert_to: str | None = None,
    removed: Path | None = None,
    report: Path | None = None,
    annotate: bool = False,
    **keywords: "Unpack[FileSpanKeywords]",
) -> Prepared[FileSpanDeduplication]:
    """Remove every passage that occurred before from files of any size.

    The answer is that of `fastlsh.deduplicate_spans` for the documents of all inputs, to the bit,
    with either engine.

    Parameters
    ----------
    inputs, output, convert_to
        As in `deduplicate_files`. Every row is written, with all that it has besides its text, but
        for those that `keep_least` drops.
    min_length, shingler
        As in `deduplicate_spans`.
    against
        Files of a reference collection: passages that occur in them are removed, too. They count
        as earlier than all inputs, and nothing of them is written.
    removed
        A table of the removed spans: id, start, end (in code points of the original text),
        kept_id and kept_start; if `against` is given, also against: whether kept_id is the id of
        a document there. What lies between two cuts (`merge_gap`) has a kept_start of -1.
    report
        A page about the run (.html): what was removed most often, with its context, and how much of
        each file.
    annotate
        Every row is written as it came, with the column repeated_spans: where the cuts would
        begin and end, as "[[25,256],[300,420]]", or null.

    Returns
    -------
    FileSpanDeduplication
        Counts, times and paths.

    Raises
    ------
    InputError, TypeError, ValueError
        As in `deduplicate_files`.

    Notes
    -----
    Work directory: 8 bytes for each 240 characters, up to 60 if they are repeated, and the text of
    repeated passages with up to `min_length` characters around each. Memory on disk, besides what
    `memory` allows: about 150 bytes for each document, and for each repetition of the passage that
    is repeated most often.

    Examples
    --------
    >>> import json
    >>> with open("pages.jsonl", "w") as file:
    ...     for text in ("a licence of words", "a licence of words, again"):
    ...         print(json.dumps({"text": text}), file=file)
    >>> done = deduplicate_span_files("pages.jsonl", "clean.jsonl", 10)
    >>> done.n_removed, done.characters
    (1, 18)
    """
    plain = check_traceable(Shingler() if shingler is None else shingler)
    cutting = SpanCutting("span", check_length(min_length), plain)
    rules = made(CutRules.of, keywords)
    if annotate and (rules.join or rules.keep_least):
        raise ValueError("join and keep_least have no effect with annotate=True: no text is cut")
    search = SearchParams.of(shingler=plain, rule="equal")
    request = Request.of(inputs, against, search, keywords, cutting=cutting)
    requested = RequestedOutputs(output, convert_to, removed, report=report)
    return prepared(
        request, output,
        lambda request: plan_removal(request, requested, annotate=annotate),
        lambda request, planned: _deduplicated(request, *planned, cutting, rules, annotate),
        ended=lambda result: warn_if_none_left(request, result.documents, result.written),
    )  # fmt: skip


def _check_tokenizer(run: Run, shingler: Shingler) -> None:
    """Raise, before a file is written, if the tokens of the first documents cannot be used."""
    if shingler.tokenizer is None or run.stage not in (None, "sign"):
        return
    for source in run.sources:
        documents = first_documents(source, run.request.engine.memory)
        if documents is not None and len(documents):
            texts = as_texts(documents.texts)
            WordTexts.of(shingler, shingler.plain_texts(texts, 0, min(len(texts), TOKENISED)))
            return


def _deduplicated(
    request: Request,
    targets: OutputPlan,
    choice: EngineChoice,
    cutting: SpanCutting,
    rules: CutRules,
    annotate: bool,
) -> FileSpanDeduplication:
    if choice.run is not None:  # in memory, nothing is written before all texts are compared
        _check_tokenizer(choice.run, cutting.shingler)
    clock, notes = Stopwatch(), notes_of(request, targets)
    shared = shared_fields(request, choice, clock, min_length=cutting.min_length)
    shared["parameters"] |= asdict(rules)
    shared["min_length"] = cutting.min_length
    for name in ("threshold", "params", "recall_at_threshold"):  # of a search for similar texts
        del shared[name]
    if choice.run is None:
        counts = run_spans_in_memory(
            request, choice.read_budget, targets, cutting, rules, annotate, notes, clock
        )
    else:
        counts = run_spans_on_disk(
            choice.run, targets, rules=rules, annotate=annotate, notes=notes, clock=clock
        )
    return FileSpanDeduplication(
        documents=counts.documents, written=counts.documents - counts.dropped, common=counts.common,
        changed=counts.changed, dropped=counts.dropped, n_removed=counts.removed,
        characters=counts.characters, characters_read=counts.summary.characters,
        **{**counts_of(counts.summary), "against_documents": counts.against}, **shared,
        outputs=targets.outputs(counts.summary.files),
    )  # fmt: skip
