"""A run on files that people and programs watch: progress, log, summary, and the share found."""

import argparse
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fastlsh._version import __version__
from fastlsh.cli.job_plans import Call
from fastlsh.cli.messages import LAST, Log, Record, say, with_options
from fastlsh.cli.paths import check_paths
from fastlsh.errors import one_line
from fastlsh.files import FileDecontamination, FileResult, record_of
from fastlsh.io import check_target, recover_outputs, write_text
from fastlsh.parallel import Display


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

    @property
    def keywords(self) -> dict[str, Any]:
        """The functions that a run reports to, by their keyword arguments."""
        return {"on_message": self.tell, "progress": self.progress}

    def close(self) -> None:
        """End the log."""
        if self._log is not None:
            self._log.close()


def called(
    arguments: argparse.Namespace, call_of: Callable[[argparse.Namespace], Call]
) -> tuple[Any, Record]:
    """Call the function of a command; return its result, and the record of it."""
    function, keywords = call_of(arguments)
    with watched(arguments) as watch:
        result = function(**keywords, **watch.keywords)
        return result, watch.result(result)
