"""``fastlsh dedup``: the documents without their near-duplicates."""

import argparse
import warnings
from datetime import datetime
from typing import Any

import numpy as np

from fastlsh import Deduplication, __version__, deduplicate, report
from fastlsh._kernels import REMEMBERED
from fastlsh.cli.messages import progress_of_files, summarise, warn_about
from fastlsh.cli.options import (
    add_input_options,
    add_search_options,
    integer,
    known_inputs,
    read_inputs,
    search_keywords,
)
from fastlsh.io import (
    Collection,
    check_rows_output,
    check_targets,
    is_folder_output,
    proof_columns,
    table_format,
    write_rows,
    write_table,
)
from fastlsh.parallel import Stopwatch
from fastlsh.reporting import check_report

HELP = "Write the rows of the documents that remain when near-duplicates are removed."


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
    parser.add_argument("--report", metavar="FILE", help="a page about the run (.html)")
    add_search_options(parser)
    parser.add_argument(
        "--max-candidates", metavar="N", type=integer, help="verified a document (default: 1000)"
    )


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    keywords = search_keywords(arguments, "keep", "max_candidates")
    _check(arguments)
    # On no documents: wrong parameters are refused before the long work.
    deduplicate([], **{**keywords, "progress": False})
    clock = Stopwatch()
    with clock("reading"):
        # Rows for one file must have the same columns.
        shards = is_folder_output(arguments.output)
        how = {"uniform": not shards, "mixed": shards}
        collection = read_inputs(arguments, arguments.inputs, **how)
        against = read_inputs(arguments, arguments.against) if arguments.against else Collection()
    warn_about(collection)
    warn_about(against)
    result = deduplicate(collection.texts, against=against.texts, **keywords)
    with clock("writing"):
        if arguments.removed is not None:
            write_table(arguments.removed, _proofs(result, collection, against))
        write_rows(
            collection,
            result.kept,
            arguments.output,
            convert=arguments.convert_to,
            threads=arguments.threads,
            progress=progress_of_files(arguments),
        )
    if arguments.report is not None:
        seconds = {"reading": clock["reading"], **result.seconds, "writing": clock["writing"]}
        _write_report(arguments, result, collection, against, seconds)
    if result.limited:
        warnings.warn(
            f"{result.limited} documents were kept without a comparison with every candidate: there"
            f" were more than --max-candidates, or than the {REMEMBERED} that a bucket remembers",
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


def _proofs(result: Deduplication, collection: Collection, against: Collection) -> dict[str, Any]:
    gone = result.filtered
    # Where a document of --against is the reason, its id comes behind those of the inputs.
    outside = result.against_index[gone]
    reason = np.where(outside < 0, result.kept_index[gone], len(collection) + outside)
    return proof_columns(collection.ids + against.ids, gone, reason, result.similarity[gone])


def _write_report(
    arguments: argparse.Namespace,
    result: Deduplication,
    collection: Collection,
    against: Collection,
    seconds: dict[str, float],
) -> None:
    notes = {"input": ", ".join(arguments.inputs)}
    if arguments.against:
        notes["kept before"] = ", ".join(arguments.against)
    skipped = collection.skipped + against.skipped
    if skipped:
        notes["rows left out"] = f"{skipped:,}"
    notes["kept rows"] = arguments.output
    if arguments.removed is not None:
        notes["proofs"] = arguments.removed
    notes["made"] = f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z} by fastlsh {__version__}"
    report(
        result,
        collection.texts,
        arguments.report,
        against=against.texts,
        ids=collection.ids,
        against_ids=against.ids,
        title=f"Deduplication of {len(collection):,} documents",
        notes=notes,
        seconds=seconds,
    )


def _check(arguments: argparse.Namespace) -> None:
    known = known_inputs(arguments, *arguments.against)
    plan = check_rows_output(
        arguments.inputs,
        arguments.output,
        format=arguments.format,
        recursive=arguments.recursive,
        convert=arguments.convert_to,
        known=known,
    )
    if arguments.removed is not None:
        table_format(arguments.removed)
    if arguments.report is not None:
        check_report(arguments.report)
    outputs = {"--removed": arguments.removed, "--report": arguments.report}
    check_targets(outputs, known, [each.path for each in plan])
