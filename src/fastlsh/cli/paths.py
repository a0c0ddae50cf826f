"""All paths that a command was given, compared before it opens any of them."""

import argparse
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from fastlsh.files import work_directory
from fastlsh.io import (
    STANDARD,
    InputError,
    ReadOptions,
    RunPaths,
    check_target,
    files_to_read,
    is_folder_output,
    plan_outputs,
    recover_outputs,
)
from fastlsh.keyed import KEY_FILE
from fastlsh.options import options_of, takes

READ = ("key", "stop_words", "vocabulary", "answers")
WRITTEN = (
    "removed", "hits", "clusters", "components", "report", "html", "json", "missed", "plot", "page",
    "summary",
)  # fmt: skip


def check_paths(arguments: argparse.Namespace) -> None:
    """Raise InputError if a command would overwrite, mix or delete files by using a path twice.

    Parameters
    ----------
    arguments : argparse.Namespace
        Of any command. An input that cannot be found is not reported here, but where it is read.
    """
    options, command = vars(arguments), arguments.command
    index = options["index"]
    if index is not None and os.path.isdir(index):
        raise InputError(index, "it is a directory, not an index of fastlsh")
    inputs = options["inputs"] or []
    if options["keep_work"] and STANDARD in inputs:
        raise ValueError("--keep-work is for files: a run of the standard input cannot go on later")
    paths = RunPaths(how_files_are_found(options))
    outputs = _outputs(options, inputs)
    for name, files in (
        (None, inputs), ("--against", options["against"] or []),
        ("--evals", options["evals"] or []), ("--ignore", options["ignore"] or []),
    ):  # fmt: skip
        with suppress(InputError, ValueError), without_warnings():
            paths.reads(name, files)
    for option in options_of(command):
        if option.name in READ:
            paths.reads_file(option.spelled, options[option.name])
    paths.reads_file(KEY_FILE, os.environ.get(KEY_FILE))
    paths.writes("-o", outputs)
    for name in WRITTEN:
        paths.writes(f"--{name}", options[name])
    paths.writes("--log", options["log"], "the log")
    paths.changes("--save-index", options["save_index"])
    paths.changes("--index" if command == "dedup" else "INDEX", index)
    if takes(command, "engine") and index is None:
        engine = options["engine"] or "auto"
        paths.deletes("--work", work_directory(engine, options["work"], options["output"]))
    elif takes(command, "evals"):
        paths.deletes("--work", options["work"])
    paths.check()


def check_outputs(arguments: argparse.Namespace, *outputs: str | None) -> None:
    """Raise what `check_paths` does, or if an output cannot be written.

    An interrupted command may have left outputs unfinished, which are completed first.
    """
    check_paths(arguments)
    recover_outputs(outputs)
    for path in filter(None, outputs):
        check_target(path)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Look at files without the warnings that the run gives when it reads them, unless it fails."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def how_files_are_found(options: dict[str, Any]) -> ReadOptions:
    """Return the options of a command that decide which files its inputs stand for."""
    names = ("split", "format", "recursive", "skip_unknown")
    return ReadOptions(**{name: options[name] for name in names if options[name] is not None})


def _outputs(options: dict[str, Any], inputs: list[str]) -> list[str]:
    """Return the files that ``-o`` names, which may be a directory."""
    command, output = options["command"], options["output"]
    if not takes(command, "output"):
        return []
    writes_rows = takes(command, "convert_to")
    if output is None:  # of tables, the standard output; rows are not written
        return [] if writes_rows else [STANDARD]
    if not writes_rows or not is_folder_output(output):
        return [output]
    with suppress(InputError, ValueError):
        sources = files_to_read(inputs, how_files_are_found(options), mixed=True)
        return [
            output_plan.path for output_plan in plan_outputs(sources, output, options["convert_to"])
        ]
    return []
