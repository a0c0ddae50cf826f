"""The parser of all commands: its help, and how it complains."""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from textwrap import fill
from types import ModuleType
from typing import Any, NoReturn

from fastlsh._version import __version__

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


def group_of(parser: argparse.ArgumentParser, title: str) -> argparse._ArgumentGroup:
    """Return the group of options with a title, which several functions may add options to."""
    groups = [group for group in parser._action_groups if group.title == title]
    return groups[0] if groups else parser.add_argument_group(title)


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


def parser_of(commands: Sequence[ModuleType]) -> argparse.ArgumentParser:
    """Return the parser of some commands: modules with HELP, EXAMPLES, add_arguments and run."""
    top = Parser(
        prog="fastlsh", description=DESCRIPTION, epilog=EXAMPLES, allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    top.add_argument("--version", action="version", version=f"fastlsh {__version__}")
    subparsers = top.add_subparsers(required=True, metavar="COMMAND")
    for command in commands:
        name = command.__name__.rpartition(".")[2]
        sub = subparsers.add_parser(
            name, help=command.HELP, description=fill(command.HELP, 79), epilog=command.EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        sub.allow_abbrev = False
        command.add_arguments(sub)
        sub.set_defaults(run=command.run, parser=top)
    return top
