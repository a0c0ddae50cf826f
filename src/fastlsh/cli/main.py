"""Choosing the command, and what its end means to the shell."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from fastlsh._version import __version__
from fastlsh.cli import dedup, evaluate, explain, pairs, tune
from fastlsh.cli.messages import say, warnings_as_lines

COMMANDS = (pairs, dedup, tune, evaluate, explain)

OK, FAILED, BAD_INPUT, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141


class _Parser(argparse.ArgumentParser):
    """A parser that complains in one line, like everything else here."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage."""
        raise ValueError(f"{message} (see {self.prog} --help)")


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    top = _Parser(prog="fastlsh", description="Find near-duplicate texts.", allow_abbrev=False)
    top.add_argument("--version", action="version", version=f"fastlsh {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        name = command.__name__.rpartition(".")[2]
        sub = commands.add_parser(name, help=command.HELP, description=command.HELP)
        sub.allow_abbrev = False
        command.add_arguments(sub)
        sub.set_defaults(run=command.run)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments, by default those of the process.

    Returns
    -------
    int
        0 if all is well; 1 if the system failed (a full disk); 2 if an input or a parameter is
        wrong, which one line on the standard error tells; 130 if interrupted; 141 if the reader
        of the standard output went away. Anything else that is raised is an error of fastlsh.
    """
    with warnings_as_lines():
        try:
            arguments = parser().parse_args(argv)
            arguments.run(arguments)
        except (ValueError, TypeError) as error:
            say(str(error))
            return BAD_INPUT
        except KeyboardInterrupt:
            say("interrupted")
            return INTERRUPTED
        except BrokenPipeError:
            # Nothing may be flushed into the closed pipe at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return BROKEN_PIPE
        except OSError as error:
            say(str(error))
            return FAILED
    return OK
