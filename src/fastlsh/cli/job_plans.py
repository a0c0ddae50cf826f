"""Plans: scripts that hand the stages of a command to a scheduler."""

import argparse
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fastlsh.cli.keywords import keywords_of, span_shingler
from fastlsh.cli.options import refuse
from fastlsh.cli.paths import check_paths, how_files_are_found, without_warnings
from fastlsh.files import StageJob, parse_memory, stage_jobs
from fastlsh.io import InputError, Source, check_target, files_to_read, identity
from fastlsh.keywords import made
from fastlsh.options import takes
from fastlsh.parallel import amount
from fastlsh.stages import CutRules, SearchParams

Call = tuple[Any, dict[str, Any]]
"""A function on files, which has a method `check`, and its keyword arguments."""


def search_jobs(
    arguments: argparse.Namespace, sources: list[Source], memory: int
) -> list[StageJob]:
    """Return the jobs of a search in some files, for `print_plan`."""
    spans: dict[str, Any] = {}
    if arguments.by == "span":
        keywords = keywords_of(arguments, "keyword")
        spans = {"shingler": span_shingler(arguments), "rules": made(CutRules.of, keywords)}
        if arguments.min_length is not None:
            spans["min_length"] = arguments.min_length
    return stage_jobs(
        sources, SearchParams.of(0.8), memory, arguments.parts,
        pairs=not takes(arguments.command, "convert_to"),
        by=arguments.by, **spans, annotate=bool(arguments.annotate),
        group=arguments.group is not None,
        counted=any((arguments.source, arguments.count, arguments.copies_per)),
    )  # fmt: skip


def print_plan(
    arguments: argparse.Namespace,
    call_of: Callable[[argparse.Namespace], Call],
    jobs_of: Callable[[argparse.Namespace, list[Source], int], list[StageJob]] = search_jobs,
) -> bool:
    """Print the script that ``--plan`` asks for; return whether it asks for a script.

    Parameters
    ----------
    arguments
        The options.
    call_of
        Returns the function that the command calls, and its keyword arguments.
    jobs_of
        Returns the jobs for some files, with so many bytes of memory each.

    Raises
    ------
    InputError, ValueError
        An option is missing that all jobs must share, or contradicts a plan; or the first job
        would raise it before it begins.
    """
    if arguments.plan is None:
        if arguments.parts is not None:
            raise ValueError("--parts is for --plan, and --part I/N for a stage")
        return False
    if arguments.parts is None or arguments.parts < 1:
        raise ValueError("--plan needs --parts N, at least 1")
    for reason in ("common", "plan"):
        refuse(arguments, reason)
    for name in ("work", "memory", "threads"):
        if getattr(arguments, name) is None:
            raise ValueError(f"--plan needs --{name}, which all jobs share")
    writes_rows = takes(arguments.command, "convert_to")  # without -o, it only counts
    if arguments.output == "-" or (arguments.output is None and not writes_rows):
        raise ValueError("--plan needs -o, a file or a directory: no job has this standard output")
    if arguments.limit is not None:
        raise ValueError("--limit is for a run in one process, which counts documents")
    if arguments.index is not None:
        raise ValueError("documents are compared with an index in one process: leave out --index")
    how = how_files_are_found(vars(arguments))
    files = [*(arguments.against or ()), *arguments.inputs]
    with without_warnings():
        sources = files_to_read(files, how, mixed=True)
    for source in sources:
        if identity(source) is None:
            raise InputError(source.path, "the jobs of a plan need files, not a pipe")
    check_paths(arguments)
    jobs = jobs_of(arguments, sources, parse_memory(arguments.memory))
    if arguments.summary is not None:
        check_target(arguments.summary)
    function, keywords = call_of(arguments)
    function.check(**keywords, stage=jobs[0].stage)
    script = {"slurm": _slurm, "sh": _sh}[arguments.plan]
    print("\n".join(script(list(_without_plan(arguments.command_line)), jobs, arguments.threads)))
    return True


def _without_plan(command_line: Sequence[str]) -> Iterator[str]:
    """Yield the arguments of a command without its plan, and without the memory of each job."""
    words = iter(command_line)
    for word in words:
        if word == "--":
            yield word
            yield from words
            return
        name, equals, _ = word.partition("=")
        if name not in ("--plan", "--parts", "--memory"):
            yield word
        elif not equals:
            next(words, None)


def _of_stage(command: Sequence[str], job: StageJob, part: str) -> str:
    """Return the command of a stage, as a line for the shell; `part` is not quoted."""
    name, *words = command
    line = shlex.join(
        ["fastlsh", name, "--memory", f"{-(-job.memory >> 20)}M", "--stage", job.stage]
    )
    part = "" if job.parts == 1 else f" --part {part}/{job.parts}"
    return f"{line}{part} {shlex.join(words)}"  # no option may stand behind --


def _megabytes(job: StageJob) -> int:
    """Return what a scheduler should grant: a quarter more, for what the system keeps of files."""
    return -(-job.memory * 5 // 4 >> 20)


def _summary(jobs: Sequence[StageJob]) -> Iterator[str]:
    for job in jobs:
        yield f"#   {job.stage:<7} {job.parts:>5} x {amount(job.memory)}"
    yield ""


def _slurm(command: Sequence[str], jobs: Sequence[StageJob], threads: int) -> Iterator[str]:
    yield "#!/bin/bash"
    yield "# Run it with bash where sbatch works. After a failure, run it again."
    yield from _summary(jobs)
    yield "set -euo pipefail"
    before = ""
    for job in jobs:
        array = f" --array=1-{job.parts}" if job.parts > 1 else ""
        line = shlex.quote("exec " + _of_stage(command, job, "$SLURM_ARRAY_TASK_ID"))
        yield (
            f"{job.stage}=$(sbatch --parsable --job-name=fastlsh-{job.stage}{array}"
            f" --cpus-per-task={threads} --mem={_megabytes(job)}M --requeue{before} \\\n"
            f"  --wrap={line})"
        )
        before = f' --kill-on-invalid-dep=yes --dependency="afterok:${job.stage}"'
    yield 'echo "the last job is $finish"'


def _sh(command: Sequence[str], jobs: Sequence[StageJob], threads: int) -> Iterator[str]:
    yield "#!/bin/sh"
    yield "# All parts of a stage at once on this machine. After a failure, run the same again."
    yield from _summary(jobs)
    yield "set -eu"
    for job in jobs:
        if job.parts == 1:
            yield _of_stage(command, job, "1")
            continue
        yield "jobs="
        yield f"for part in {' '.join(map(str, range(1, job.parts + 1)))}; do"
        yield f"  {_of_stage(command, job, '$part')} &"
        yield '  jobs="$jobs $!"'
        yield "done"
        yield 'for job in $jobs; do wait "$job"; done'
