"""``fastlsh dedup --by line|paragraph``: what repeats across documents goes, their rows stay."""

import argparse
from typing import Any

from fastlsh import deduplicate_line_files
from fastlsh.cli import dedup_spans
from fastlsh.cli.engines import engine_keywords, watched
from fastlsh.cli.messages import (
    Record,
    documents_read,
    recall_text,
    say_counts,
    says_stage,
    warn_of_limits,
    warn_of_rows,
)
from fastlsh.cli.options import (
    integer,
    option_of,
    options_given,
    reading_keywords,
    search_keywords,
)
from fastlsh.parallel import plural

REFUSED = (
    "group",
    "annotate", "source", "count", "max_copies", "copies_per", "clusters",
    "containment", "index", "rule", "save_index", "search", "split", "within", "texts",
)  # fmt: skip
SIMILAR = (
    "num_perm", "recall", "bands", "rows", "seed", "scheme", "verify", "unit", "size", "words",
    "empty_words", "max_candidates",
)  # fmt: skip
"""Options that only similarity has a use for."""


def add_line_options(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("lines, paragraphs and passages")
    group.add_argument(
        "--by",
        choices=["line", "paragraph", "span"],
        help="remove repeated lines, paragraphs or passages from the texts, instead of whole"
        " documents; the first occurrence stays. Lines and paragraphs count as repeated if they are"
        " equal or, with --threshold below 1, similar; span removes every passage of --min-length"
        " characters that occurred before. --removed gets id, start, end and kept_id of each, and"
        " jaccard or, of a span, kept_start",
    )
    group.add_argument(
        "--min-length",
        metavar="N",
        type=integer,
        help="never remove lines, paragraphs or passages of fewer characters (default: 0; with"
        " --by span: 500)",
    )
    group.add_argument(
        "--drop-empty",
        action="store_const",
        const=True,
        help="with --by line or paragraph: leave out rows whose text has become empty",
    )
    dedup_spans.add_span_options(group)


def refuse_line_options(arguments: argparse.Namespace) -> None:
    """Raise if there are options for pieces of documents, but these are not cut."""
    if arguments.min_length is not None:
        raise ValueError("--min-length is for --by line, --by paragraph or --by span")
    if arguments.drop_empty is not None:
        raise ValueError("--drop-empty is for --by line or --by paragraph")
    dedup_spans.refuse_span_options(arguments)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if arguments.by == "span":
        dedup_spans.run(arguments)
        return
    keywords = _keywords(arguments)
    with watched(arguments) as watch:
        result = deduplicate_line_files(
            arguments.inputs,
            arguments.output,
            arguments.by,
            against=arguments.against,
            drop_empty=bool(arguments.drop_empty),
            convert_to=arguments.convert_to,
            removed=arguments.removed,
            report=arguments.report,
            **{**keywords, **engine_keywords(arguments, watch)},
        )
        record = watch.result(result)
    warn_of_rows(result)
    warn_of_limits(result.limited)
    if not arguments.quiet and not says_stage(arguments, record):
        _summarise(arguments, record)


def _keywords(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the keyword arguments of the API, or raise if an option would be ignored."""
    for name in ("keep", "priority"):
        if getattr(arguments, name) is not None:
            raise ValueError(
                f"{option_of(name)} is for whole documents: with --by, the first occurrence of a"
                f" {arguments.by} is kept. Put the input whose {arguments.by}s should stay first,"
                " or give it as --against"
            )
    dedup_spans.refuse_span_options(arguments)
    for option in options_given(arguments, REFUSED):
        raise ValueError(f"--by and {option} cannot be given together")
    if arguments.unit == "token":
        raise ValueError(f"--by {arguments.by} needs texts, not token ids")
    keywords = search_keywords(arguments, "max_candidates", "min_length")
    if arguments.threshold is None and arguments.preset is None:
        keywords["threshold"] = 1.0
    for name in SIMILAR if keywords["threshold"] == 1.0 else ():
        if getattr(arguments, name) is not None:
            raise ValueError(
                f"{option_of(name)} is for a --threshold below 1: without one,"
                f" a {arguments.by} is removed if it equals another one"
            )
    reading = reading_keywords(arguments)
    del reading["split"]
    return {**keywords, **reading}


def _summarise(arguments: argparse.Namespace, record: Record) -> None:
    by = record["by"]
    documents = documents_read(arguments, record["documents"])
    counts = [
        f"{plural(record['removed'], by)} removed"
        f" from {plural(record['changed'], 'document')}"
        f" (duplicate ratio {record['duplicate_ratio']:.4f})",
        f"{plural(record['characters'], 'character')} removed",
        f"{plural(record['emptied'], 'text')} became empty",
    ]
    if record["outputs"]:
        counts.append(f"{plural(record['written'], 'row')} written")
    if record["parameters"]["threshold"] < 1:
        counts.append(recall_text(record))
    say_counts(arguments, record, f"{documents}, {plural(record['spans'], by)}", *counts)
