"""``fastlsh dedup``: the documents without their near-duplicates."""

import argparse
from typing import Any

from fastlsh import deduplicate_files
from fastlsh.cli import dedup_index, dedup_lines
from fastlsh.cli.engines import add_engine_options, engine_keywords, watched
from fastlsh.cli.job_plans import print_plan, search_jobs
from fastlsh.cli.messages import summarise, warn_of_limits, warn_of_rows
from fastlsh.cli.options import (
    RULE,
    add_against_option,
    add_input_options,
    add_rule_options,
    add_search_options,
    add_texts_option,
    add_within_option,
    check_rule_options,
    integer,
    option_of,
    options_given,
    reading_keywords,
    search_keywords,
)
from fastlsh.cli.parser import group_of, show_first
from fastlsh.parallel import plural

HELP = "Remove near-duplicates and write the rows of the documents that are kept."
EXAMPLES = """\
examples:
  fastlsh dedup notices.jsonl -o kept.jsonl --removed removed.tsv
  zcat raw.jsonl.gz | fastlsh dedup - -o - --threshold 0.7 | gzip > kept.gz
"""
FIRST = (
    "output", "removed", "threshold", "text", "id", "against", "keep", "priority", "by", "preset",
    "memory", "report",
)  # fmt: skip
"""The options that most runs need."""


class _CopiesPer(argparse.Action):
    """Takes a column and a number."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        """Set the option, or end with a message."""
        column, number = values
        try:
            setattr(namespace, self.dest, (column, integer(number)))
        except ValueError:
            raise argparse.ArgumentError(self, f"invalid int value: {number!r}") from None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_input_options(parser, limit=True)
    output, indexes = (parser.add_argument_group(title) for title in ("output", "indexes"))
    parser.add_argument(
        "-o",
        "--output",
        metavar="KEPT",
        help="the kept rows: a file in the format of the inputs (.jsonl for .txt), or a directory"
        " (DIR/), which gets a file of the same name for each input (default: count only)",
    )
    output.add_argument(
        "--convert-to",
        metavar="F",
        help="the format of a directory or -: parquet, jsonl, json, csv, arrow, tsv (or csv.gz...)",
    )
    parser.add_argument(
        "--removed",
        metavar="FILE",
        help="id, kept_id and jaccard (or containment) of each removed document (.tsv .csv .jsonl"
        " .parquet)",
    )
    output.add_argument(
        "--clusters",
        metavar="FILE",
        help="id, cluster and cluster_size of each kept document with duplicates, and of the"
        " duplicates",
    )
    output.add_argument(
        "--annotate",
        action="store_true",
        default=None,
        help="write all rows, with the columns duplicate_of (the id of the kept document),"
        " similarity and cluster_size; with --by span, with the column repeated_spans",
    )
    output.add_argument(
        "--source",
        metavar="COL",
        help="count the different values of a column in each cluster: --annotate and --clusters get"
        " the column cluster_sources; with --index and --save-index, the index counts them",
    )
    output.add_argument(
        "--count",
        metavar="COL",
        action="append",
        help="sum a column of numbers over each cluster: --annotate and --clusters get the column"
        " cluster_COL; may be given several times; the index sums it, too",
    )
    output.add_argument(
        "--max-copies",
        metavar="N",
        type=integer,
        help="write up to N documents of each cluster, by priority (default: 1)",
    )
    output.add_argument(
        "--copies-per",
        metavar=("COL", "N"),
        nargs=2,
        action=_CopiesPer,
        help="of each cluster, write up to N documents for each value of a column; a document of"
        " --against counts for every value; with --max-copies, a document must be allowed by both",
    )
    parser.add_argument(
        "--keep",
        choices=["first", "last", "longest"],
        help="which near-duplicate to keep (default: first)",
    )
    parser.add_argument(
        "--priority",
        metavar="COL",
        help="instead of --keep: a column of numbers or dates; the row with the highest number or"
        " the latest date is kept, or the earlier one of equals; rows without a value come last",
    )
    add_against_option(
        parser,
        "also remove near-duplicates of the documents in these files; with --by, lines or"
        " paragraphs that occur in them",
    )
    indexes.add_argument(
        "--index",
        metavar="INDEX",
        help="also remove near-duplicates of the documents in this index (see `fastlsh index"
        " build`), and add the kept documents to it: both, or neither; the index determines the"
        " parameters",
    )
    parser.add_argument("--report", metavar="FILE", help="write a page about the run (.html)")
    indexes.add_argument(
        "--save-index",
        metavar="NEW",
        help="make an index of the kept documents, in a new file, for --index of later runs",
    )
    add_within_option(parser)
    add_texts_option(indexes, "with --save-index")
    add_search_options(parser)
    add_rule_options(
        parser,
        equal="contained: remove a document only if enough of its shingles are in the kept one;"
        " equal: only if the texts are equal, once they are normalised (default: jaccard)",
    )
    group_of(parser, "search").add_argument(
        "--max-candidates",
        metavar="N",
        type=integer,
        help="most comparisons per document (default: 1000)",
    )
    dedup_lines.add_line_options(parser)
    add_engine_options(parser)
    show_first(parser, *FIRST)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if print_plan(arguments, run, search_jobs(arguments, pairs=False)):
        return
    if arguments.by is not None:
        dedup_lines.run(arguments)
        return
    dedup_lines.refuse_line_options(arguments)
    if arguments.index is not None:
        dedup_index.run(arguments)
        return
    if arguments.texts is not None and arguments.save_index is None:
        raise ValueError("--texts says how --save-index keeps texts: give both")
    own = ("keep", "max_copies", "max_candidates", *RULE)
    check_rule_options(arguments)
    if arguments.rule == "equal":
        _refuse_similarity(arguments)
    keywords = search_keywords(arguments, *own)
    with watched(arguments) as watch:
        result = deduplicate_files(
            arguments.inputs,
            arguments.output,
            against=arguments.against,
            group=arguments.group,
            priority=arguments.priority,
            convert_to=arguments.convert_to,
            removed=arguments.removed,
            clusters=arguments.clusters,
            report=arguments.report,
            save_index=arguments.save_index,
            within=arguments.within,
            index_texts=arguments.texts or "full",
            annotate=bool(arguments.annotate),
            source=arguments.source,
            count=arguments.count or (),
            copies_per=arguments.copies_per,
            **reading_keywords(arguments),
            **{**keywords, **engine_keywords(arguments, watch)},
        )
        record = watch.result(result)
    warn_of_rows(result)
    warn_of_limits(result.limited)
    summarise(
        arguments,
        record,
        f"{record['kept']:,} kept, {record['removed']:,} removed"
        f" (duplicate ratio {record['duplicate_ratio']:.4f})",
        *_further_copies(arguments, result.further_copies),
    )


def _further_copies(arguments: argparse.Namespace, count: int) -> list[str]:
    """Return a line about near-duplicates that were not removed, if there are any."""
    options = " and ".join(options_given(arguments, ("max_copies", "copies_per")))
    return [f"{plural(count, 'near-duplicate')} kept by {options}"] if count else []


def _refuse_similarity(arguments: argparse.Namespace) -> None:
    """Raise ValueError if an option is given that only similar documents have a use for."""
    for name in ("threshold", "preset", *dedup_lines.SIMILAR):
        value = getattr(arguments, name)
        if value is not None and name not in ("unit", "words"):  # which say what is empty
            raise ValueError(
                f"{option_of(name)} has no effect with --rule equal, which compares texts"
            )
