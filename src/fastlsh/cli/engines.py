"""The options of what works on files of any size: memory or disk, and how much of them."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from fastlsh.cli.job_plans import add_stage_options, is_checked
from fastlsh.cli.log import Log
from fastlsh.cli.messages import say
from fastlsh.cli.paths import check_paths
from fastlsh.cli.wording import with_options
from fastlsh.errors import one_line
from fastlsh.files import FileDecontamination, FileResult
from fastlsh.parallel import Display


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
    parser.add_argument("--log", metavar="FILE", help="append events to this file, as JSON lines")


@contextmanager
def watched(arguments: argparse.Namespace) -> Iterator["Watch"]:
    """Show and log how far a run is; tell the log how it ends."""
    check_paths(arguments)
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

    def result(self, result: FileResult | FileDecontamination) -> None:
        """Tell the log what has come out."""
        self.log("done", **asdict(result))

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
