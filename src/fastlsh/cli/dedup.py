"""``fastlsh dedup``: the documents without their near-duplicates."""

import argparse
import os
import warnings

import numpy as np

from fastlsh.cli.messages import summarise, warn_about
from fastlsh.cli.options import add_input_options, add_search_options, read_inputs, search_keywords
from fastlsh.io import (
    InputError,
    Lookup,
    check_rows_output,
    check_target,
    table_format,
    write_rows,
    write_table,
)

HELP = "Write the rows of the documents that remain when near-duplicates are removed."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_input_options(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="KEPT",
        required=True,
        help="whole rows, in the format of the inputs (.jsonl for .txt)",
    )
    parser.add_argument(
        "--removed",
        metavar="FILE",
        help="id, kept_id and jaccard of each removed document (.tsv .csv .jsonl .parquet)",
    )
    parser.add_argument(
        "--keep", choices=["first", "last", "longest"], help="of near-duplicates (default: first)"
    )
    parser.add_argument(
        "--against",
        metavar="FILE",
        nargs="+",
        action="extend",
        default=[],
        help="also remove what is a near-duplicate of a document of these",
    )
    add_search_options(parser)
    parser.add_argument(
        "--max-candidates", metavar="N", type=int, help="verified a document (default: 1000)"
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from fastlsh import deduplicate

    keywords = search_keywords(arguments, "keep", "max_candidates")
    _check(arguments)
    # On no documents: wrong parameters are refused before the long work.
    deduplicate([], **{**keywords, "progress": False})
    collection = read_inputs(arguments, arguments.inputs, uniform=True)
    warn_about(collection)
    ids = collection.ids
    if arguments.against:
        against = read_inputs(arguments, arguments.against)
        warn_about(against)
        keywords["against"] = against.texts
        ids = ids + against.ids
    result = deduplicate(collection.texts, **keywords)
    if arguments.removed is not None:
        gone = np.flatnonzero(~result.kept)
        # Where a document of --against is the reason, its id comes behind those of the inputs.
        outside = result.against_index[gone]
        reason = np.where(outside < 0, result.kept_index[gone], len(collection) + outside)
        columns = {
            "id": Lookup(ids, gone),
            "kept_id": Lookup(ids, reason),
            "jaccard": result.similarity[gone],
        }
        write_table(arguments.removed, columns)
    write_rows(collection, result.kept, arguments.output)
    if result.limited:
        warnings.warn(
            f"{result.limited} documents were kept without a comparison with every candidate: there"
            " were more than --max-candidates, or than the 64 that a bucket remembers",
            stacklevel=2,
        )
    kept = int(result.kept.sum())
    summarise(
        arguments,
        keywords["threshold"],
        collection,
        result,
        f"{kept} kept, {len(collection) - kept} removed"
        f" (duplicate ratio {result.duplicate_ratio:.4f})",
    )


def _check(arguments: argparse.Namespace) -> None:
    inputs = arguments.inputs + arguments.against
    check_rows_output(arguments.inputs, arguments.output, format=arguments.format)
    check_target(arguments.output, inputs)
    if arguments.removed is not None:
        table_format(arguments.removed)
        check_target(arguments.removed, inputs)
        if os.path.realpath(arguments.removed) == os.path.realpath(arguments.output):
            raise InputError(arguments.removed, "--removed is the file of -o")
