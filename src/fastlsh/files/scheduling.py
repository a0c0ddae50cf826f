"""The jobs of a run whose stages are worked on by many processes: parts, and memory of each."""

from typing import NamedTuple

from fastlsh.files.budget import BASE, per_passage
from fastlsh.files.cutting import Cutting, SpanCutting
from fastlsh.files.estimate import estimate
from fastlsh.files.run.stages import (
    CONTAMINATION_STAGES,
    PAIR_STAGES,
    PER_UNITED,
    ROW_STAGES,
    SEARCH_STAGES,
)
from fastlsh.io import Source
from fastlsh.parameters import SearchParams
from fastlsh.stages import CutRules
from fastlsh.texts import Shingler

PER_ANNOTATED = 41
"""Bytes of memory for each document in each process that writes annotations: 40 for each removed
document, and nobody knows before how many these are."""

PER_COUNTED = 70
"""The same where sources, sums or copies for each value of a column are counted, in the stages
"merge", "write" and "finish"; measured."""

PER_DOCUMENT = 150
"""Bytes of memory for each document in a search for passages, in the stages that have all."""

SURPLUS = 1.25
"""The number of documents is estimated, and so many times as many may be there."""


class StageJob(NamedTuple):
    """A job of a scheduler: a stage."""

    stage: str
    parts: int
    memory: int
    """Bytes that each part may take."""


def stage_jobs(
    sources: list[Source],
    params: SearchParams,
    memory: int,
    parts: int,
    *,
    pairs: bool,
    by: str | None = None,
    min_length: int = 500,
    shingler: Shingler | None = None,
    rules: CutRules | None = None,
    annotate: bool = False,
    counted: bool = False,
    group: bool = False,
) -> list[StageJob]:
    """Return the jobs of a run, in order.

    Parameters
    ----------
    sources, params
        The files, and what is searched for in them.
    memory
        Bytes that a process may take; more in a stage that needs more for so many documents.
    parts
        Into how many parts a stage is divided that can be.
    pairs
        Whether pairs are searched for.
    by
        Into which pieces documents are cut: "line", "paragraph", "sentence" or "span"; None: they
        are not.
    min_length, shingler, rules
        Of passages: their least length, how texts are normalised, and what is cut.
    annotate
        Whether rows are annotated.
    counted
        Whether a column is counted: sources, sums, or copies for each value.
    group
        Whether rows of one group are put together.
    """
    cutting = None if by is None else Cutting(by, 1)
    of_documents = 0
    stages = (*(ROW_STAGES if group else ()), *(PAIR_STAGES if pairs else SEARCH_STAGES))
    costs = {stage.name: stage.per_document for stage in stages if stage.per_document}
    costs["write"] = PER_ANNOTATED if annotate else 0
    if by == "span":
        cutting = SpanCutting(by, min_length, shingler or Shingler())
        of_documents = PER_DOCUMENT
        # Of each context, about one passage is removed at most, unless a text has a period.
        costs = {"unite": PER_UNITED, **per_passage(rules or CutRules.of(), cutting.shingler)}
    estimated = estimate(sources, params, cutting)
    signed, documents = int(estimated.signed * SURPLUS), int(estimated.documents * SURPLUS)
    if counted:
        costs |= dict.fromkeys(("merge", "write", "finish"), PER_COUNTED)
    jobs = []
    for stage in stages:
        least = BASE
        if stage.name in costs:
            least += costs[stage.name] * signed + of_documents * documents
        jobs.append(StageJob(stage.name, 1 if stage.is_whole else parts, max(memory, least)))
    return jobs


def contamination_jobs(memory: int, parts: int) -> list[StageJob]:
    """Return the jobs of a decontamination, in order; each may take the same memory."""
    return [
        StageJob(stage.name, 1 if stage.is_whole else parts, memory)
        for stage in CONTAMINATION_STAGES
    ]
