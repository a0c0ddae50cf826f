"""``fastlsh pairs`` and ``fastlsh overlap``: what is near-duplicate, in files or in data sets."""

import argparse

from fastlsh import near_duplicate_files, overlap_files
from fastlsh.cli.engines import called
from fastlsh.cli.job_plans import Call, print_plan
from fastlsh.cli.keywords import files_of, search_keywords
from fastlsh.cli.messages import LAST, summarise, warn_of_rows
from fastlsh.cli.options import refuse
from fastlsh.cli.parser import Command
from fastlsh.io import write_table
from fastlsh.parallel import plural

PAIRS_HELP = "Find all pairs of near-duplicates and print id_a, id_b and their Jaccard similarity."
PAIRS_EXAMPLES = """\
examples:
  fastlsh pairs notices.jsonl --threshold 0.8 > pairs.tsv
  fastlsh pairs theirs.csv --against ours.csv --best -o matches.tsv
"""
OVERLAP_HELP = (
    "Count the documents of each data set that have near-duplicates in each other data set."
)
OVERLAP_EXAMPLES = """\
examples:
  fastlsh overlap wiki/ web/ books/ --report overlap.html
  fastlsh overlap old.jsonl new.jsonl -o shared.tsv
"""


def _call(arguments: argparse.Namespace) -> Call:
    function = near_duplicate_files if arguments.command == "pairs" else overlap_files
    return function, {**files_of(arguments), **search_keywords(arguments, "reading")}


def run_pairs(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if arguments.exact:
        refuse(arguments, "exact")
    if arguments.report is not None:
        refuse(arguments, "report")
    if print_plan(arguments, _call):
        return
    result, record = called(arguments, _call)
    warn_of_rows(result)
    summarise(arguments, record, plural(record["pairs"], "pair"))


def run_overlap(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if print_plan(arguments, _call):
        return
    result, record = called(arguments, _call)
    if arguments.output is None and arguments.stage in LAST:
        write_table(None, result.overlap.columns())
    warn_of_rows(result)
    summarise(arguments, record, plural(len(record["data_sets"]), "data set"))


PAIRS = Command("pairs", PAIRS_HELP, PAIRS_EXAMPLES, run_pairs)
OVERLAP = Command("overlap", OVERLAP_HELP, OVERLAP_EXAMPLES, run_overlap)
