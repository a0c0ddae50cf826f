"""``fastlsh pairs``: every pair of near-duplicates."""

import argparse

from fastlsh import near_duplicate_files
from fastlsh.cli.engines import add_engine_options, engine_keywords, watched
from fastlsh.cli.job_plans import print_plan, search_jobs
from fastlsh.cli.messages import summarise, warn_of_rows
from fastlsh.cli.options import (
    add_against_option,
    add_input_options,
    add_search_options,
    add_within_option,
    comma_separated,
    integer,
    option_of,
    reading_keywords,
    search_keywords,
)
from fastlsh.parallel import plural

HELP = "Find all pairs of near-duplicates and print id_a, id_b and their Jaccard similarity."
EXAMPLES = """\
examples:
  fastlsh pairs notices.jsonl --threshold 0.8 > pairs.tsv
  fastlsh pairs theirs.csv --against ours.csv --best -o matches.tsv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_input_options(parser, limit=True)
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="write the pairs as .tsv .csv .jsonl .parquet (default: TSV on the standard output)",
    )
    add_against_option(
        parser,
        "find only the pairs of an input, id_a, and a document in these files, id_b",
    )
    parser.add_argument(
        "--best",
        action="store_true",
        help="with --against: only the most similar document for each input document",
    )
    parser.add_argument(
        "--one-to-one",
        action="store_true",
        help="with --against: each document of both sides in one pair at most, the pairs with the"
        " highest similarity first",
    )
    parser.add_argument(
        "--columns",
        metavar="COL,...",
        type=comma_separated,
        default=[],
        help="add columns of the rows of both documents to the table: title as title_a and title_b",
    )
    parser.add_argument(
        "--components",
        metavar="FILE",
        help="id and component of every document: the id of the first document of those that pairs"
        " connect, for splits that have no near-duplicates on both sides (.tsv .csv .jsonl"
        " .parquet)",
    )
    parser.add_argument(
        "--exact",
        action="store_true",
        help="find every pair, without bands; in memory, for up to a few hundred thousand"
        " documents",
    )
    add_within_option(parser)
    add_search_options(parser)
    parser.add_argument(
        "--max-pairs", metavar="N", type=integer, help="fail if there are more (default: 100000000)"
    )
    parser.add_argument(
        "--estimates",
        action="store_true",
        help="add a column with the similarity that the signatures estimate",
    )
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="write a page with the similarities, the pairs by file and the most similar pairs"
        " (.html); in memory",
    )
    parser.add_argument(
        "--most", metavar="N", type=integer, help="pairs that the report shows (default: 1000)"
    )
    add_engine_options(parser)


WITHOUT_BANDS = ("num_perm", "recall", "bands", "rows", "seed", "scheme", "verify")
"""Options that an exact search has no use for."""


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if arguments.exact:
        for name in (*WITHOUT_BANDS, "stage", "part", "plan", "parts"):
            if getattr(arguments, name) is not None:
                raise ValueError(
                    f"{option_of(name)} has no effect with --exact, which has no bands"
                )
    if arguments.report is not None:
        for name in ("stage", "part", "plan", "parts"):
            if getattr(arguments, name) is not None:
                raise ValueError(f"--report works in memory, where {option_of(name)} has no effect")
    if print_plan(arguments, run, search_jobs(arguments, pairs=True)):
        return
    keywords = search_keywords(arguments, "max_pairs")
    with watched(arguments) as watch:
        result = near_duplicate_files(
            arguments.inputs,
            arguments.output,
            against=arguments.against,
            best=arguments.best,
            one_to_one=arguments.one_to_one,
            columns=arguments.columns,
            components=arguments.components,
            most=arguments.most,
            exact=arguments.exact,
            estimates=arguments.estimates,
            report=arguments.report,
            within=arguments.within,
            group=arguments.group,
            **reading_keywords(arguments),
            **{**keywords, **engine_keywords(arguments, watch)},
        )
        record = watch.result(result)
    warn_of_rows(result)
    summarise(arguments, record, plural(record["pairs"], "pair"))
