"""The parser of all commands: its help, and how it complains."""

import argparse
import re
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
        """Parse, and keep what is parsed for the hint of an error."""
        self._given: Sequence[str] = args or ()
        return super().parse_known_args(args, namespace)

    def _hint(self, message: str) -> str:
        if "required: INPUT" in message and "--against" in self._given:
            return "; all files behind --against belong to it: give INPUT before it"
        return ""

    def format_help(self) -> str:
        """Return the help, and where more is said."""
        return f"{super().format_help()}\ndocumentation: {documentation()}\n"


def documentation() -> str:
    """Return the address of the documentation."""
    metadata = import_module("importlib.metadata")
    try:
        urls = metadata.metadata("fastlsh").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        urls = []
    known = {name.strip().lower(): url.strip() for name, _, url in (u.partition(",") for u in urls)}
    return str(known.get("documentation", "docs/command-line.md, in the repository of fastlsh"))


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


_OPTIONS = (
    "num_perm", "max_pairs", "max_candidates", "convert_to", "on_error", "unicode_form",
    "punctuation_characters", "strip_accents", "remove_whitespace", "collapse_whitespace",
    "empty_words", "keep_work", "min_length", "drop_empty", "stop_words",
)  # fmt: skip
_FIRST = (
    "threshold", "recall", "bands", "rows", "seed", "scheme", "verify", "unit", "size", "threads",
    "memory", "engine", "keep", "priority", "limit", "sample", "lowest", "weights", "delimiter",
    "encoding", "split", "words", "numbers", "punctuation", "lowercase",
    "vocabulary",
)  # fmt: skip
_ANYWHERE = re.compile(rf"(?<![\w-])({'|'.join(_OPTIONS)})\b")
_AT_FIRST = re.compile(rf"^({'|'.join(_FIRST)})(?= (?:must|is|needs|has)\b)")
_OTHERS = {"header is for": "--no-header is for", "quotes is for": "--no-quotes is for"}
_OTHERS |= {f"{name} must name": f"--{name} must name" for name in ("text", "id")}


def with_options(message: str) -> str:
    """Return a message of the library in which parameters are called as the options are."""
    for name, option in _OTHERS.items():
        message = re.sub(f"^{name}", option, message)
    message = message.replace("deduplicate()", "fastlsh dedup")
    message = message.replace("give key=", "give --key-file")
    message = message.replace('on_known="replace" replaces', "--replace replaces")
    message = message.replace("fewer of them with sample", "fewer of them with --sample")
    message = message.replace("bands and rows must be", "--bands and --rows must be")
    message = re.sub(r"(?<=saved with )(?=[a-z]+=)", "--", message)
    message = re.sub(r"(?<=, which )(?=recall=)", "--", message)
    message = message.replace('unit="word"', "--unit word")
    message = message.replace('punctuation="space" or "remove"', "--punctuation space or remove")
    message = _AT_FIRST.sub(r"--\1", message)
    message = message.replace("split='lines' or 'paragraphs'", "--split lines or paragraphs")
    return _ANYWHERE.sub(lambda found: f"--{found[1].replace('_', '-')}", message)
