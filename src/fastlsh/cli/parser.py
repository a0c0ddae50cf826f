"""The parser of all commands: its help, and how it complains."""

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from textwrap import fill
from typing import Any, NamedTuple, NoReturn

from fastlsh._version import __version__
from fastlsh.cli.options import add_options

DESCRIPTION = "Find near-duplicate texts."
EXAMPLES = """\
examples:
  fastlsh pairs notices.jsonl --threshold 0.8
  fastlsh dedup data/*.jsonl.gz -o clean/ --removed removed.tsv
"""


class Parser(argparse.ArgumentParser):
    """A parser that complains in one line, like everything else here."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing the usage."""
        raise ValueError(f"{message}{self._hint(message)} (see {self.prog} --help)")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, keep the arguments for the hint of an error, and refuse unknown ones."""
        self._given: Sequence[str] = args or ()
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return parsed, unknown

    def _hint(self, message: str) -> str:
        if "required: INPUT" in message and "--against" in self._given:
            return "; all files behind --against belong to it: give INPUT before it"
        from difflib import get_close_matches

        commands = [
            name
            for action in self._actions
            if isinstance(action, argparse._SubParsersAction)
            for name in action.choices
        ]
        for word in self._given:
            name = word.partition("=")[0]
            is_option = name.startswith("--")
            names = list(self._option_string_actions) if is_option else commands
            if name not in names and (close := get_close_matches(name, names, 1, 0.7)):
                return f"; {name}: did you mean {close[0]}?"
            if commands and not is_option:  # what follows is for the command
                break
        return ""

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write a help or a version; argparse takes no notice if it cannot be written."""
        (file or sys.stderr).write(message)

    def format_help(self) -> str:
        """Return the help, and where more is said."""
        return f"{super().format_help()}\ndocumentation: {documentation()}\n"


def show_first(parser: argparse.ArgumentParser, *names: str) -> None:
    """Let the help begin with some options, in this order, and not with the usage of all."""
    for name in names:
        action = parser._option_string_actions[f"--{name}"]
        for group in parser._action_groups:
            if action in group._group_actions:
                group._group_actions.remove(action)
        parser._optionals._group_actions.append(action)
    parser.usage = f"{parser.prog} [options] INPUT [INPUT ...]"


def documentation() -> str:
    """Return the address of the documentation."""
    metadata = import_module("importlib.metadata")
    try:
        urls = metadata.metadata("fastlsh").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        urls = []
    addresses = {
        name.strip().lower(): url.strip() for name, _, url in (u.partition(",") for u in urls)
    }
    return str(addresses.get("documentation", "docs/command-line.md, in the repository of fastlsh"))


class Command(NamedTuple):
    """A command: its name, what its help begins and ends with, and what runs it."""

    name: str
    help: str
    examples: str
    run: Callable[[argparse.Namespace], None]
    add_arguments: Callable[[argparse.ArgumentParser], None] | None = None
    """Adds the arguments of a command whose arguments are not only those of the table."""


def parser_of(commands: Sequence[Command]) -> argparse.ArgumentParser:
    """Return the parser of some commands."""
    top = Parser(
        prog="fastlsh", description=DESCRIPTION, epilog=EXAMPLES, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    top.add_argument("--version", action="version", version=f"fastlsh {__version__}")
    subparsers = top.add_subparsers(required=True, metavar="COMMAND")
    for command in commands:
        sub = subparsers.add_parser(
            command.name, help=command.help, description=fill(command.help, 79),
            epilog=command.examples, formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        sub.allow_abbrev = False
        if command.add_arguments is None:
            add_options(sub, command.name)
        else:
            command.add_arguments(sub)
        sub.set_defaults(run=command.run, parser=top)
    return top
