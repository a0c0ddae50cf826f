"""The options of what works on files of any size: memory or disk, and how much of them."""

import argparse
import json
import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastlsh._version import __version__
from fastlsh.cli.job_plans import add_stage_options, is_checked
from fastlsh.cli.messages import Log, say, with_options
from fastlsh.cli.options import MESSAGES
from fastlsh.cli.parser import group_of
from fastlsh.cli.paths import check_paths
from fastlsh.errors import one_line
from fastlsh.files import FileDecontamination, FileResult, record_of
from fastlsh.io import check_target, recover_outputs, write_text
from fastlsh.parallel import Display

LAST = (None, "finish")
"""The stages that end a run."""


def add_engine_options(parser: argparse.ArgumentParser) -> None:
    """Add the options, and those of runs on many machines."""
    group = parser.add_argument_group("memory and disk")
    group.add_argument(
        "--engine",
        choices=["auto", "memory", "disk"],
        default="auto",
        help="where to work; the answer is the same (default: on disk if --memory is too small)",
    )
    group.add_argument(
        "--memory",
        metavar="SIZE",
        help="most memory to use, such as 4G (default: half of what is free)",
    )
    group.add_argument(
        "--work",
        metavar="DIR",
        help="directory of a run on disk, where an interrupted run continues (default: the name"
        " of the output, followed by .work; of a URL in the current directory)",
    )
    group.add_argument("--keep-work", action="store_true", help="keep this directory afterwards")
    group.add_argument("--restart", action="store_true", help="discard the work of an earlier run")
    add_stage_options(parser)
    group_of(parser, MESSAGES).add_argument(
        "-v", "--verbose", action="store_true", help="also print the bands, and why this engine"
    )
    add_outcome_options(parser)


def add_outcome_options(parser: argparse.ArgumentParser) -> None:
    """Add what tells programs how a run went."""
    group = group_of(parser, MESSAGES)
    group.add_argument("--log", metavar="FILE", help="append events to this file, as JSON lines")
    group.add_argument(
        "--summary", metavar="FILE", help="write the counts and parameters of the run as JSON"
    )
    group.add_argument(
        "--fail-above", metavar="SHARE", type=_share,
        help="exit status 3 if more than this share is found (from 0 to below 1): of documents"
        " removed, in a pair, with an item, or in another data set; with --by, of lines,"
        " paragraphs or characters removed; all outputs are written",
    )  # fmt: skip


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 <= share < 1:
        raise argparse.ArgumentTypeError(f"must be from 0 to below 1, got {text!r}")
    return share


def is_above(arguments: argparse.Namespace) -> bool:
    """Say if a run that has come to its end has found more than ``--fail-above``."""
    result, most = getattr(arguments, "result", None), getattr(arguments, "fail_above", None)
    if result is None or most is None or result.share <= most:
        return False
    share = "all" if result.share == 1 else f"{result.share:.6g}"  # not "1 of the documents"
    say(f"{share} {result.GATE[-1]}, which is above --fail-above {most:.6g}")
    return True


@contextmanager
def watched(arguments: argparse.Namespace) -> Iterator["Watch"]:
    """Show and log how far a run is; tell the log how it ends."""
    check_paths(arguments)
    if arguments.summary is not None:
        if arguments.stage in LAST:
            recover_outputs([arguments.summary])
        check_target(arguments.summary)
    watch = Watch(arguments)
    try:
        yield watch
    except BaseException as error:
        watch.log("failed", error=one_line(str(error) or type(error).__name__))
        raise
    finally:
        watch.close()


class Watch:
    """Reports how far a run is, to people and to the log."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self._show = None if arguments.quiet else Display()
        self._log = None if arguments.log is None else Log(arguments.log)
        self._say = not arguments.quiet
        self._arguments = arguments
        self.log("started", inputs=arguments.inputs, output=arguments.output)

    def progress(self, stage: str, done: int, total: int) -> None:
        """Report how far a stage is."""
        if self._show is not None:
            self._show(stage, done, total)
        if self._log is not None:
            self._log.progress(stage, done, total)

    def tell(self, message: str) -> None:
        """Print a line, and write it to the log."""
        if self._say:
            say(with_options(message))
        self.log("message", message=with_options(message))

    def log(self, event: str, **more: Any) -> None:
        """Write to the log only."""
        if self._log is not None:
            self._log.event(event, **more)

    def result(self, result: FileResult | FileDecontamination) -> dict[str, Any]:
        """Write what has come out to ``--summary`` and the log, and return it."""
        arguments = self._arguments
        record = {"command": arguments.command_line[0], "version": __version__, **record_of(result)}
        if arguments.stage in LAST:
            arguments.result = result
            if arguments.summary is not None:
                write_text(
                    arguments.summary, json.dumps(record, indent=1, default=os.fspath) + "\n"
                )
        self.log("done", **record)
        return record

    def close(self) -> None:
        """End the log."""
        if self._log is not None:
            self._log.close()


def engine_keywords(arguments: argparse.Namespace, watch: Watch) -> dict[str, Any]:
    """Return the keyword arguments of the API."""
    return {
        "engine": arguments.engine,
        "memory": arguments.memory,
        "work": arguments.work,
        "keep_work": arguments.keep_work,
        "restart": arguments.restart,
        "stage": arguments.stage,
        "part": arguments.part,
        "on_message": is_checked if arguments.only_checked else watch.tell,
        "progress": watch.progress,
    }
