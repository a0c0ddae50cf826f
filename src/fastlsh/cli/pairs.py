"""``fastlsh pairs``: every pair of near-duplicates."""

import argparse

from fastlsh.cli.messages import summarise, warn_about
from fastlsh.cli.options import (
    add_input_options,
    add_search_options,
    integer,
    known_inputs,
    read_inputs,
    search_keywords,
)
from fastlsh.io import check_target, pair_columns, table_format, write_table

HELP = "Find all pairs of near-duplicates and print id_a, id_b and their Jaccard similarity."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_input_options(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help=".tsv .csv .jsonl .parquet (default: TSV on the standard output)",
    )
    add_search_options(parser)
    parser.add_argument(
        "--max-pairs", metavar="N", type=integer, help="refuse to find more (default: 100000000)"
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from fastlsh import near_duplicates

    keywords = search_keywords(arguments, "max_pairs")
    if arguments.output is not None:
        table_format(arguments.output)
        check_target(arguments.output, known_inputs(arguments))
    # On no documents: wrong parameters are refused before the long work.
    near_duplicates([], **{**keywords, "progress": False})
    collection = read_inputs(arguments, arguments.inputs)
    warn_about(collection)
    found = near_duplicates(collection.texts, **keywords)
    columns = pair_columns(collection.ids, found.left, found.right, found.similarity)
    write_table(arguments.output, columns)
    summarise(arguments, keywords["threshold"], collection, found, f"{len(found)} pairs")
