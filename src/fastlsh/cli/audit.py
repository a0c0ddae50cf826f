"""``fastlsh audit``: people judge a sample of removals, and learn the precision."""

import argparse
from contextlib import suppress
from time import sleep
from typing import Any

import numpy as np

from fastlsh import Shingler, audit_files
from fastlsh.cli.messages import plural, say
from fastlsh.cli.options import add_against_option, add_input_options, integer, reading_keywords
from fastlsh.cli.paths import check_paths
from fastlsh.cli.shingling import add_text_options, shingler_of
from fastlsh.evaluation import threshold_text
from fastlsh.files import Answers, serving
from fastlsh.io import check_target, write_table

HELP = "Judge a sample of removed documents in the browser, and print the precision of the run."
EXAMPLES = """\
examples:
  fastlsh audit data/ --removed removed.tsv --answers answers.jsonl
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
        "--answers",
        metavar="FILE",
        required=True,
        help="append each answer to this file, as JSON lines; pairs that have one are not asked"
        " for again",
    )
    add_against_option(
        parser,
        "the files that the run had behind --against",
    )
    parser.add_argument(
        "--results",
        action="store_true",
        help="serve no page, and print what the answers tell so far",
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
        "--port", metavar="N", type=integer, default=0, help="port on 127.0.0.1 (default: any)"
    )
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
    if not 0 <= arguments.port < 65536:
        raise ValueError(f"--port must be from 0 to 65535, got {arguments.port}")
    shingler = shingler_of(arguments, Shingler())
    check_paths(arguments)
    if not arguments.results:
        check_target(arguments.answers)
    audit = audit_files(
        arguments.inputs, arguments.removed, against=arguments.against, source=arguments.source,
        sample=arguments.sample, seed=arguments.seed, **reading_keywords(arguments),
    )  # fmt: skip
    answers = Answers(audit.pairs, arguments.answers)
    if answers.others:
        say(f"warning: {plural(answers.others, 'answer')} of {arguments.answers} for other pairs")
    if not arguments.results:
        with serving(audit, answers, shingler, arguments.precision, arguments.port) as url:
            say(f"{plural(len(audit.pairs), 'pair')}, {len(answers):,} judged")
            say(f"open {url} in a browser on this machine; Ctrl-C ends it")
            with suppress(KeyboardInterrupt):
                while True:
                    sleep(3600)
    found = audit.precisions(answers.values())
    columns: dict[str, Any] = {
        name: np.array([getattr(each, name) for each in found]) for name in found[0]._fields
    }
    write_table(None, columns)
    say(threshold_text(found, arguments.precision))
