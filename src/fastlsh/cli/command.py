"""Choosing the command, and what its end means to the shell."""

import argparse
import os
import sys
from collections.abc import Sequence

from fastlsh.cli import audit, completion, decontaminate, dedup, evaluate, explain, index, tune
from fastlsh.cli.engines import is_above
from fastlsh.cli.messages import say, warnings_as_lines, with_options
from fastlsh.cli.pairs import OVERLAP, PAIRS
from fastlsh.cli.parser import parser_of
from fastlsh.cli.process import (
    Ended,
    die_by,
    discard,
    ending_raised,
    interrupts_raised,
    named_output,
    open_standard_streams,
)
from fastlsh.io import STANDARD, InputError

COMMANDS = (
    PAIRS, dedup.COMMAND, OVERLAP, decontaminate.COMMAND, index.COMMAND, tune.COMMAND,
    evaluate.COMMAND, explain.COMMAND, audit.COMMAND, completion.COMMAND,
)  # fmt: skip

OK, FAILED, BAD_INPUT, ABOVE, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 3, 130, 141


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    return parser_of(COMMANDS)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments, by default those of the process.

    Returns
    -------
    int
        0 if all is well; 1 if the system failed (a full disk, too little memory); 2 if an input or
        a parameter is wrong, or a run on disk has to wait for room, which one line on the standard
        error tells; 3 if a run has found more than ``--fail-above``; 130 if interrupted; 141 if the
        reader of the standard output went away. A signal that ends the process does so once
        temporary files are removed. Anything else that is raised is an error of fastlsh.
    """
    open_standard_streams()
    try:
        with ending_raised(), warnings_as_lines(), named_output():
            return _run(argv)
    except Ended as ended:
        return die_by(ended.number)


def _run(argv: Sequence[str] | None) -> int:
    try:
        interrupts_raised()
        try:
            command_line = sys.argv[1:] if argv is None else argv
            arguments = parser().parse_args(command_line or ["--help"])
            arguments.command_line = command_line
            arguments.run(arguments)
        finally:  # here, and not at exit, where a failure cannot be reported
            sys.stdout.flush()
    except InputError as error:
        say(str(InputError(error.path, with_options(error.reason), error.row)))
        return BAD_INPUT
    except (ValueError, TypeError) as error:
        say(with_options(str(error)))
        return BAD_INPUT
    except KeyboardInterrupt as error:  # of a run on disk, it says how the run continues
        say(": ".join(filter(None, ("interrupted", with_options(str(error))))))
        return INTERRUPTED
    except BrokenPipeError:
        discard(sys.stdout)
        return BROKEN_PIPE
    except OSError as error:
        standard = f"standard output: {error.strerror or error}"
        say(standard if discard(sys.stdout) else _of_file(error))
        return FAILED
    except MemoryError as error:
        say(f"out of memory: {error}" if str(error) else "out of memory")
        return FAILED
    except RuntimeError as error:
        if "start new thread" not in str(error):  # Python has no class for this
            raise
        say(f"{error}: give fewer --threads")
        return FAILED
    return ABOVE if is_above(arguments) else OK


def _of_file(error: OSError) -> str:
    """Return what is wrong with which file."""
    if error.strerror is None:
        return str(error)
    if error.filename is None:
        return _without_folder() or error.strerror
    name = "standard output" if error.filename == STANDARD else os.fspath(error.filename)
    return f"{name}: {error.strerror}"


def _without_folder() -> str:
    """Return why no relative path can be used, if so."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return "the current directory has been removed: change to another one"
    return ""
