"""``fastlsh explain``: why two documents are found as near-duplicates or not."""

import argparse
import json
import os
import shutil
import sys

from fastlsh.cli.keywords import read_inputs, search_keywords
from fastlsh.cli.messages import warn_of_rows
from fastlsh.cli.parser import Command
from fastlsh.cli.paths import check_outputs
from fastlsh.files import tokens_as_words
from fastlsh.io import STANDARD, replacing_together, write_text

HELP = "Explain why two documents are found or not, and show where their texts agree."
EXAMPLES = """\
examples:
  fastlsh explain notices.jsonl n129 n182
  fastlsh explain notices.jsonl n129 n182 --threshold 0.7 --html why.html
"""


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from fastlsh import explain

    keywords, _ = tokens_as_words(search_keywords(arguments))
    for name in ("verify", "threads"):  # which pairs has, and here change nothing
        keywords.pop(name, None)
    check_outputs(arguments, arguments.html, arguments.json)
    # On no documents: wrong parameters are refused before the long work.
    explain(None, None, **keywords)
    collection = read_inputs(arguments)
    warn_of_rows(collection)
    names = (arguments.id_a, arguments.id_b)
    a, b = (collection.text(collection.find(name)) for name in names)
    result = explain(a, b, **keywords)
    with replacing_together() as together:
        if arguments.html is not None:
            write_text(arguments.html, result.to_html(names), together)
        if arguments.json is not None:
            figures = {"id_a": names[0], "id_b": names[1], **result.to_dict()}
            text = json.dumps(figures, indent=1, allow_nan=False) + "\n"
            write_text(arguments.json, text, together)
    if arguments.json == STANDARD:
        return
    colour = wants_colour()
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    _print(result.to_terminal(colour, width, names))


def wants_colour() -> bool:
    """Whether the standard output is a terminal that shows colours, and they are wanted."""
    # https://no-color.org
    return (
        sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def _print(text: str) -> None:
    """Print text that the encoding of the output may not have."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), flush=True)


COMMAND = Command("explain", HELP, EXAMPLES, run)
