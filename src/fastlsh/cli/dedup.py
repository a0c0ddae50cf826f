"""``fastlsh dedup``: the documents without their near-duplicates."""

import argparse
import warnings

from fastlsh import deduplicate_files
from fastlsh._kernels import REMEMBERED
from fastlsh.cli import dedup_index
from fastlsh.cli.engines import add_engine_options, engine_keywords, watched
from fastlsh.cli.messages import summarise, warn_of_rows
from fastlsh.cli.options import (
    add_input_options,
    add_search_options,
    integer,
    reading_keywords,
    search_keywords,
)

HELP = "Write the rows of the documents that remain when near-duplicates are removed."
EXAMPLES = """\
examples:
  fastlsh dedup notices.jsonl -o kept.jsonl --removed removed.tsv --report report.html
  zcat raw.jsonl.gz | fastlsh dedup - -o - --threshold 0.7 | gzip > kept.jsonl.gz
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_input_options(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="KEPT",
        required=True,
        help="whole rows: a file in the format of the inputs (.jsonl for .txt), or a directory"
        " (DIR/), which takes a file of the same name for each input",
    )
    parser.add_argument(
        "--convert-to",
        metavar="F",
        help="write rows as parquet, jsonl or csv (also jsonl.zst, csv.gz...), not as they came",
    )
    parser.add_argument(
        "--removed",
        metavar="FILE",
        help="id, kept_id and jaccard (or containment) of each removed document (.tsv .csv .jsonl"
        " .parquet)",
    )
    parser.add_argument(
        "--clusters",
        metavar="FILE",
        help="id and cluster of each kept document that others were removed for, and of these",
    )
    parser.add_argument(
        "--keep", choices=["first", "last", "longest"], help="of near-duplicates (default: first)"
    )
    parser.add_argument(
        "--priority",
        metavar="COL",
        help="instead of --keep: a column of numbers, higher is kept, ties go to the earlier row",
    )
    parser.add_argument(
        "--against",
        metavar="FILE",
        nargs="+",
        action="extend",
        default=[],
        help="also remove what is a near-duplicate of a document of these",
    )
    parser.add_argument(
        "--index",
        metavar="INDEX",
        help="also remove what is a near-duplicate of a document of this index (see `fastlsh index"
        " build`), and add what is kept: both, or neither; the parameters are those of the index",
    )
    parser.add_argument("--report", metavar="FILE", help="a page about the run (.html)")
    add_search_options(parser)
    parser.add_argument(
        "--rule",
        choices=["jaccard", "contained"],
        help="contained: a document goes only if enough of its shingles are in the kept one"
        " (default: jaccard)",
    )
    parser.add_argument(
        "--containment", metavar="C", type=float, help="with --rule contained (default: 1.0, all)"
    )
    parser.add_argument(
        "--max-candidates", metavar="N", type=integer, help="verified a document (default: 1000)"
    )
    add_engine_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if arguments.index is not None:
        dedup_index.run(arguments)
        return
    keywords = search_keywords(arguments, "keep", "max_candidates", "rule", "containment")
    with watched(arguments) as watch:
        result = deduplicate_files(
            arguments.inputs,
            arguments.output,
            against=arguments.against,
            priority=arguments.priority,
            convert_to=arguments.convert_to,
            removed=arguments.removed,
            clusters=arguments.clusters,
            report=arguments.report,
            **reading_keywords(arguments),
            **{**keywords, **engine_keywords(arguments, watch)},
        )
        watch.result(result)
    warn_of_rows(result)
    if result.limited:
        warnings.warn(
            f"{result.limited} documents were kept without a comparison with every candidate: there"
            f" were more than --max-candidates, or than the {REMEMBERED} that a bucket remembers",
            stacklevel=2,
        )
    summarise(
        arguments,
        result,
        f"{result.kept} kept, {result.removed} removed"
        f" (duplicate ratio {result.duplicate_ratio:.4f})",
    )
