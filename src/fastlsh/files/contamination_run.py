"""A decontamination of files from start to end: sample, find, write."""

from dataclasses import asdict
from typing import Any

import numpy as np

from fastlsh.errors import InputError
from fastlsh.files.budget import saying_memory
from fastlsh.files.contamination import (
    ContaminationColumns,
    find_in_files,
    sample_of_files,
    write_what_is_left,
)
from fastlsh.files.contamination_job import ContaminationJob
from fastlsh.files.disk.staged import StageDoneError, end_of_stage, ended
from fastlsh.files.evaluation_items import ItemFiles
from fastlsh.files.findings import Findings
from fastlsh.files.results import FileDecontamination
from fastlsh.files.run.manifest import plain_shingler
from fastlsh.io import (
    ByteProgress,
    Lookup,
    Replacements,
    contamination_columns,
    replacing_together,
    write_table,
)
from fastlsh.parallel import Stopwatch
from fastlsh.results import Boilerplate, NotSearched
from fastlsh.search import boilerplate_of, grams_of_items, not_searched, without_boilerplate
from fastlsh.stages import ItemGrams, Tally


def run_decontamination(job: ContaminationJob) -> FileDecontamination:
    """Find and write, or go on where a run before was ended."""
    clock = Stopwatch()
    with clock("items"):
        grams = grams_of_items(job.items.items, job.params)
        _check_searchable(grams, job.items)
    with job.begun():
        with clock("sample"):
            tally, sample = _sampled(job, grams)
            _end_of_stage(job, "sample")
            grams = without_boilerplate(grams, tally, sample, job.params)
        with clock("finding"):
            found = _find(job, grams) if job.is_stage("find") else []
            _end_of_stage(job, "find")
        with clock("writing"):
            if job.writes_units and job.is_stage("write"):
                _write_units(job, grams)
            _end_of_stage(job, "write")
            if not found:
                found = [job.saved_findings(*each) for each in enumerate(job.units())]
            findings = Findings.joined(found)
            with replacing_together() as together:
                if job.hits is not None:
                    write_table(job.hits, _hits(findings, grams, job.items), together)
                if job.targets is not None and not job.writes_units:
                    tell = job.byte_progress("writing", job.sources)
                    _write(job, findings, grams, together, tell)
                    tell.end()
        result = _result(job, findings, grams, tally, clock)
        if job.place is not None and job.place.stage is not None:
            tables = [] if job.hits is None else [job.hits]
            ended(job.place, {**asdict(result), "seconds": {}}, [*result.outputs, *tables])
    return result


def _end_of_stage(job: ContaminationJob, stage: str) -> None:
    """Raise StageDoneError if this was the only stage of this process."""
    if job.place is not None:
        end_of_stage(job.place, stage)


def result_of_stage(done: StageDoneError, rule: str) -> FileDecontamination:
    """Return the result of a stage: the counts, if it ends the run."""
    if done.found is None:
        return FileDecontamination(
            documents=0, contaminated=0, written=0, dropped=0, changed=0, n_hits=0, items=0,
            items_found=0, not_searched=[], boilerplate=[], rule=rule, skipped=0,
            skipped_reasons=[], outputs=[],
        )  # fmt: skip
    found: dict[str, Any] = dict(done.found)
    return FileDecontamination(
        **{
            **found,
            "not_searched": [NotSearched(*each) for each in found["not_searched"]],
            "boilerplate": [Boilerplate(*each) for each in found["boilerplate"]],
        }
    )


def _sampled(job: ContaminationJob, grams: ItemGrams) -> tuple[Tally, int]:
    saved = job.saved_sample(grams)
    if saved is not None:
        return saved
    found = sample_of_files(
        job.sources, grams, job.params, job.options, job.read.limit, job.sizes.read
    )
    job.save_sample(*found)
    return found


def _find(job: ContaminationJob, grams: ItemGrams) -> list[Findings]:
    """Find items in the units of this process's part."""
    own = job.own(list(enumerate(job.units())))
    numbers = dict.fromkeys(number for _, unit in own for number in unit.files)
    files = [job.sources[number] for number in numbers]
    tell = job.byte_progress("decontaminating", files)
    every = []
    for number, unit in own:
        if not job.has_findings(number):
            findings = find_in_files(
                job.sources, unit, grams, job.params, job.options.threads, limit=job.read.limit,
                strict=job.read.on_error == "fail", read=job.sizes.read,
                tell=tell,
            )  # fmt: skip
            job.save_findings(number, findings)
        elif job.is_alone:
            findings = job.saved_findings(number, unit)
        if job.is_alone:
            every.append(findings)
    tell.end()
    return every


def _write_units(job: ContaminationJob, grams: ItemGrams) -> None:
    """Write the rows of the units of this process's part; those of a unit appear together."""
    own = [numbers for numbers in job.own(job.units_written()) if not job.is_written(numbers)]
    units = job.units()
    files = [job.sources[i] for each in own for i in units[each[0]].files]
    tell = job.byte_progress("writing", files)
    for numbers in own:
        findings = Findings.joined([job.saved_findings(n, units[n]) for n in numbers])
        with job.written_together(numbers) as together:
            _write(job, findings, grams, together, tell)
    tell.end()


def _write(
    job: ContaminationJob,
    findings: Findings,
    grams: ItemGrams,
    together: Replacements,
    tell: ByteProgress,
) -> None:
    assert job.targets is not None
    added = None
    if job.params.rule == "annotate":
        found = findings.contents.found
        share = found.grams / grams.sizes[found.item]
        added = ContaminationColumns(found, share, job.items.ids)
    with saying_memory(job.sizes.memory, job.sizes.row):
        write_what_is_left(
            findings, job.targets, job.params, job.options.threads, together, tell, added,
            job.sizes.row,
        )  # fmt: skip


def _check_searchable(grams: ItemGrams, items: ItemFiles) -> None:
    if not grams.sizes.any():
        raise InputError(
            items.sources[0].path,
            "no evaluation item can be searched: each has too few words, or only n-grams that more"
            " items share than max_items allows",
        )


def _hits(findings: Findings, grams: ItemGrams, items: ItemFiles) -> dict[str, Any]:
    found = findings.contents.found
    row = found.spans[:, 0]
    item = found.item[row]
    return contamination_columns(
        Lookup(findings.ids(), row), Lookup(items.files, item), Lookup(items.ids, item),
        (found.grams / grams.sizes[found.item])[row], found.run[row],
        Lookup(items.items.names, found.spans[:, 1]), found.spans[:, 2], found.spans[:, 3],
    )  # fmt: skip


def _result(
    job: ContaminationJob, findings: Findings, grams: ItemGrams, tally: Tally, clock: Stopwatch
) -> FileDecontamination:
    found, cuts = findings.contents.found, findings.contents.cuts
    targets, items = job.targets, job.items
    dropped = len(findings.contents.dropped)
    read = sum(part.is_read for part in findings.parts)
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
        rule=job.params.rule,
        skipped=findings.skipped,
        skipped_reasons=[str(reason) for reason in findings.reasons],
        outputs=[] if targets is None else targets.outputs(read),
        seconds=clock,
        parameters={**asdict(job.params), "shingler": plain_shingler(job.params.shingler)},
    )
