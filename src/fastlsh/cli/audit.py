"""``fastlsh audit``: people judge a sample of removals, and learn the precision."""

import argparse
from typing import Any

import numpy as np

from fastlsh import Audit, Shingler, audit_files
from fastlsh.cli.messages import say
from fastlsh.cli.options import add_against_option, add_input_options, integer, reading_keywords
from fastlsh.cli.paths import check_paths
from fastlsh.cli.shingling import add_text_options, shingler_of
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_input_options(parser, several="are as many sources")
    parser.add_argument(
        "--removed",
        metavar="FILE",
        required=True,
        help="the table that fastlsh dedup --removed has written for these inputs",
    )
    parser.add_argument(
        "--page",
        metavar="FILE",
        help="write the sample as an HTML page, which takes the answers and downloads them",
    )
    parser.add_argument(
        "--answers", metavar="FILE", help="the answers that the page has downloaded, as JSON lines"
    )
    add_against_option(
        parser,
        "the files that the run had behind --against",
    )
    parser.add_argument(
        "--results",
        action="store_true",
        help="print what the answers of --answers tell",
    )
    group = parser.add_argument_group("sample")
    group.add_argument(
        "--source", metavar="COL", help="column of the sources (default: each input is a source)"
    )
    group.add_argument(
        "--sample",
        metavar="N",
        type=integer,
        default=400,
        help="removals to judge, from all steps of similarity, sizes of clusters and sources"
        " (default: 400)",
    )
    group.add_argument(
        "--seed", metavar="S", type=integer, default=1, help="which sample (default: 1)"
    )
    group.add_argument(
        "--precision",
        metavar="P",
        type=float,
        default=0.95,
        help="name the lowest threshold with this precision (default: 0.95)",
    )
    group = parser.add_argument_group("page")
    group.add_argument(
        "--unit",
        choices=["char", "word"],
        help="unit of the shingles by which differences are found (default: char)",
    )
    group.add_argument("--size", metavar="N", type=integer, help="units per shingle (default: 9)")
    add_text_options(parser.add_argument_group("normalisation of texts, in this order"))
    parser.set_defaults(key_file=None)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if not 0 < arguments.precision < 1:
        raise ValueError(f"--precision must be between 0 and 1, got {arguments.precision:g}")
    if arguments.results != (arguments.answers is not None):
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
    audit = audit_files(
        arguments.inputs, arguments.removed, against=arguments.against, source=arguments.source,
        sample=arguments.sample, seed=arguments.seed, **reading_keywords(arguments),
    )  # fmt: skip
    if arguments.page is not None:
        write_text(arguments.page, audit_page(audit.pairs, shingler))
        say(f"{plural(len(audit.pairs), 'pair')}: open {arguments.page} in a browser")
    if arguments.results:
        _print_results(audit, arguments.answers, arguments.precision)


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
