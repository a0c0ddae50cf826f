"""The options of a command, as the table has them: argparse, refusals, and how words are read."""

import argparse
import math
from contextlib import suppress
from typing import Any

from fastlsh.options import OPTIONS, REFUSALS, Kind, options_of

SHORT = {"output": "-o", "quiet": "-q", "verbose": "-v"}


def add_options(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the options of a command.

    In the namespace, an option that is not given is None, and so is one of other commands only.
    """
    parser.set_defaults(command=command, **dict.fromkeys(option.name for option in OPTIONS))
    for option in options_of(command):
        names = [option.name]
        more: dict[str, Any] = {"help": option.full_help, **_parsing(option.kind)}
        if option.spelled:
            names = [SHORT[option.name]] if option.name in SHORT else []
            names.append(option.spelled)
            more |= {"dest": option.name, "required": option.required}
            if option.kind.values == "several":
                more["action"] = "extend"
        (group_of(parser, option.group) if option.group else parser).add_argument(*names, **more)


def _parsing(kind: Kind) -> dict[str, Any]:
    """Return what argparse has to know of a kind of values."""
    if kind.name == "flag":
        return {"action": "store_const", "const": kind.value}
    parsing: dict[str, Any] = {"metavar": kind.metavar, "choices": kind.choices or None}
    if kind.name in PARSERS:
        parsing["type"] = PARSERS[kind.name]
    if kind.name in ACTIONS:
        parsing["action"] = ACTIONS[kind.name]
    if kind.values == "repeated":
        parsing["action"] = "append"
    if kind.values == "several":
        parsing["nargs"] = "+"
    elif isinstance(kind.metavar, tuple):
        parsing["nargs"] = len(kind.metavar)
    return parsing


def group_of(parser: argparse.ArgumentParser, title: str) -> argparse._ArgumentGroup:
    """Return the group of options with a title."""
    groups = [group for group in parser._action_groups if group.title == title]
    return groups[0] if groups else parser.add_argument_group(title)


def refuse(arguments: argparse.Namespace, reason: str) -> None:
    """Raise ValueError if an option was given that a reason of the table refuses."""
    for option in options_of(arguments.command):
        if reason in option.refused.split() and getattr(arguments, option.name) is not None:
            raise ValueError(REFUSALS[reason].format(option=option.spelled, by=arguments.by))


def check_rule(arguments: argparse.Namespace) -> None:
    """Raise ValueError for a threshold that nothing uses."""
    if arguments.search == "containment" and arguments.threshold is not None:
        raise ValueError("--threshold has no effect with --search containment")


def integer(value: str) -> int:
    """Return an option's number, or raise what argparse tells with the option's name."""
    number = int(value)
    if abs(number) >= 2**63:
        raise argparse.ArgumentTypeError(f"{value} is too large")
    return number


def _number(value: str) -> float:
    """Return a number, which may be a percentage: 5% is 0.05."""
    try:
        return float(f"{value[:-1]}e-2" if value.endswith("%") else value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, got {value!r}") from None


def _characters(value: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in value):
        raise argparse.ArgumentTypeError(f"{value!r} has a byte that is no UTF-8")
    return value


def _escaped(value: str) -> str:
    return _characters(value).replace("\\n", "\n").replace("\\t", "\t")


def _delimiter(value: str) -> str:
    return "\t" if value == "\\t" else _characters(value)


def _names(value: str) -> list[str]:
    return [part.strip() for part in value.split(",")]


def _share(value: str) -> float:
    try:
        share = _number(value)
    except argparse.ArgumentTypeError:
        share = math.nan
    if not 0 <= share < 1:
        raise argparse.ArgumentTypeError(f"must be from 0 to below 1, got {value!r}")
    return share


def _part(value: str) -> tuple[int, int]:
    number, slash, of = value.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal()):
        raise argparse.ArgumentTypeError(f"must be like 3/64, got {value!r}")
    return int(number), int(of)


def _bandings(value: str) -> list[tuple[int, int]]:
    try:
        pairs = [pair.split("x") for pair in value.split(",")]
        return [(integer(bands), integer(rows)) for bands, rows in pairs]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{value!r} is not a list of bands x rows, such as 100x2,50x4"
        ) from None


class _CopiesPer(argparse.Action):
    """Takes a column and a number."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        """Set the option, or end with a message."""
        column, number = values
        try:
            setattr(namespace, self.dest, (column, integer(number)))
        except ValueError:
            raise argparse.ArgumentError(self, f"invalid int value: {number!r}") from None


class _Also(argparse.Action):
    """Takes a column, and behind a colon the least similarity."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        """Set both options; a colon without a number behind it belongs to the column."""
        namespace.also = values
        column, _, least = values.rpartition(":")
        with suppress(argparse.ArgumentTypeError):
            if column:
                namespace.also_threshold, namespace.also = _number(least), column


ACTIONS = {"copies": _CopiesPer, "also": _Also}
"""What takes the words of an option, by the kind of the value."""

PARSERS = {
    "integer": integer, "number": _number, "characters": _characters, "escaped text": _escaped,
    "delimiter": _delimiter, "list of names": _names, "share": _share, "part": _part,
    "bandings": _bandings,
}  # fmt: skip
"""What reads a word of the command line, by the kind of the value; other words stay as they are."""
