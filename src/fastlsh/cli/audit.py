"""``fastlsh audit``: people judge a sample of removals, and learn the precision."""

import argparse
from typing import Any

import numpy as np

from fastlsh import Audit, Shingler, audit_files
from fastlsh.cli.keywords import keywords_of, shingler_of
from fastlsh.cli.messages import say
from fastlsh.cli.parser import Command
from fastlsh.cli.paths import check_paths
from fastlsh.evaluation import threshold_text
from fastlsh.files import answers_of
from fastlsh.io import STANDARD, exists, write_table, write_text
from fastlsh.parallel import plural
from fastlsh.reporting import audit_page, check_report

HELP = "Judge a sample of removed documents on a page, and print the precision of the run."
EXAMPLES = """\
examples:
  fastlsh audit data/ --removed removed.tsv --page audit.html
  fastlsh audit data/ --removed removed.tsv --answers answers.jsonl --results
"""

PRECISION = 0.95
"""The precision of the threshold that is named, if no other is given."""


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    precision = PRECISION if arguments.precision is None else arguments.precision
    if not 0 < precision < 1:
        raise ValueError(f"--precision must be between 0 and 1, got {precision:g}")
    if bool(arguments.results) != (arguments.answers is not None):
        raise ValueError("--answers and --results need each other")
    if arguments.page is None and not arguments.results:
        raise ValueError(
            "give --page FILE.html to judge the sample, or --answers FILE --results for what the"
            " answers tell"
        )
    shingler = shingler_of(arguments, Shingler())
    check_paths(arguments)
    if arguments.page is not None:
        check_report(arguments.page)
    keywords = keywords_of(arguments, "keyword", "reading")
    audit = audit_files(arguments.inputs, arguments.removed, **keywords)
    if arguments.page is not None:
        write_text(arguments.page, audit_page(audit.pairs, shingler))
        say(f"{plural(len(audit.pairs), 'pair')}: open {arguments.page} in a browser")
    if arguments.results:
        _print_results(audit, arguments.answers, precision)


def _print_results(audit: Audit, path: str, precision: float) -> None:
    answers: list[bool | None] = [None] * len(audit.pairs)
    if path == STANDARD or exists(path):
        answers, others = answers_of(audit.pairs, path)
        if others:
            say(f"warning: {plural(others, 'answer')} of {path} for other pairs")
    else:
        say(f"warning: {path} does not exist: no pair is judged")
    precisions = audit.precisions(answers)
    columns: dict[str, Any] = {
        name: np.array([getattr(entry, name) for entry in precisions])
        for name in precisions[0]._fields
    }
    write_table(None, columns)
    say(threshold_text(precisions, precision))


COMMAND = Command("audit", HELP, EXAMPLES, run)
