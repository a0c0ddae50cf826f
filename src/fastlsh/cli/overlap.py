"""``fastlsh overlap``: how much of each data set is in each other one."""

import argparse

from fastlsh import overlap_files
from fastlsh.cli.engines import add_engine_options, engine_keywords, watched
from fastlsh.cli.job_plans import print_plan, search_jobs
from fastlsh.cli.messages import summarise, warn_of_rows
from fastlsh.cli.options import (
    add_input_options,
    add_search_options,
    integer,
    reading_keywords,
    search_keywords,
)
from fastlsh.io import write_table
from fastlsh.parallel import plural

HELP = "Count the documents of each data set that have near-duplicates in each other data set."
EXAMPLES = """\
examples:
  fastlsh overlap wiki/ web/ books/ --report overlap.html
  fastlsh overlap old.jsonl new.jsonl -o shared.tsv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_input_options(parser, several="are as many data sets")
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="write the counts as .tsv .csv .jsonl .parquet (default: TSV on the standard output)",
    )
    parser.add_argument(
        "--report", metavar="FILE", help="write a page with the shares as matrices (.html)"
    )
    parser.add_argument(
        "--source",
        metavar="COL",
        help="the values of this column are the data sets, instead of the inputs",
    )
    add_search_options(parser)
    parser.add_argument(
        "--max-pairs",
        metavar="N",
        type=integer,
        help="fail if more pairs of texts must be compared (default: 100000000)",
    )
    add_engine_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if print_plan(arguments, run, search_jobs(arguments, pairs=True)):
        return
    keywords = search_keywords(arguments, "max_pairs")
    reading = reading_keywords(arguments)
    del reading["limit"]
    with watched(arguments) as watch:
        engine = engine_keywords(arguments, watch)
        result = overlap_files(
            arguments.inputs, arguments.output, source=arguments.source, report=arguments.report,
            **reading, **{**keywords, **engine},
        )  # fmt: skip
        record = watch.result(result)
    if arguments.output is None and arguments.stage in (None, "finish"):
        write_table(None, result.overlap.columns())
    warn_of_rows(result)
    summarise(arguments, record, plural(len(record["data_sets"]), "data set"))
