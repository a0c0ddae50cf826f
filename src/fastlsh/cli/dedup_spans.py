"""``fastlsh dedup --by span``: passages that occurred before go, and what is left is written."""

import argparse
from typing import Any

from fastlsh import deduplicate_span_files
from fastlsh.cli.engines import engine_keywords, watched
from fastlsh.cli.messages import Record, documents_read, say_counts, says_stage, warn_of_rows
from fastlsh.cli.options import SEARCH, integer, option_of, options_given, reading_keywords
from fastlsh.cli.shingling import span_shingler, text
from fastlsh.parallel import plural

TEXT_OPTIONS = ("tokenizer",)
"""Options that only passages have, and that say what their units are."""

OPTIONS = ("join", "keep_least", "merge_gap", "snap", "max_share")
"""Options that only passages have."""

REFUSED = (
    "group",
    "max_copies", "preset",
    *(name for name in SEARCH if name != "threads"), "size",
    "empty_words", "max_candidates", "keep", "priority", "clusters", "containment", "index", "rule",
    "save_index", "search", "split", "drop_empty", "within", "texts",
)  # fmt: skip


def add_span_options(group: Any) -> None:
    """Add the options to the group of those for pieces of documents."""
    group.add_argument(
        "--tokenizer",
        metavar="FILE",
        help="with --by span --unit token: the tokenizer.json whose tokens are counted",
    )
    group.add_argument(
        "--join",
        metavar="TEXT",
        type=text,
        help="with --by span: write this in place of each cut (default: nothing)",
    )
    group.add_argument(
        "--keep-least",
        metavar="N",
        type=integer,
        help="with --by span: leave out rows that lost something, and of whose text fewer"
        " characters (or bytes, words) remain (default: 0)",
    )
    group.add_argument(
        "--merge-gap",
        metavar="N",
        type=integer,
        help="with --by span: also remove up to N units between two cuts, unless another"
        " passage stays there (default: 0)",
    )
    group.add_argument(
        "--snap",
        choices=["none", "word", "sentence", "line"],
        help="with --by span: move the ends of cuts inwards, to the next word, sentence or line"
        " (default: none)",
    )
    group.add_argument(
        "--max-share",
        metavar="F",
        type=float,
        help="with --by span: keep what occurs in more than this share of the documents, and say"
        " how much that is (default: 1.0)",
    )


def refuse_span_options(arguments: argparse.Namespace) -> None:
    """Raise if there are options for passages, but these are not looked for."""
    for name in (*TEXT_OPTIONS, *OPTIONS):
        if getattr(arguments, name) is not None:
            raise ValueError(f"{option_of(name)} is for --by span")


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    for option in options_given(arguments, REFUSED):
        raise ValueError(f"{option} has no effect with --by span, and cannot be given")
    given = {name: getattr(arguments, name) for name in ("min_length", "threads", *OPTIONS)}
    reading = reading_keywords(arguments)
    del reading["split"]
    with watched(arguments) as watch:
        result = deduplicate_span_files(
            arguments.inputs,
            arguments.output,
            against=arguments.against,
            shingler=span_shingler(arguments),
            convert_to=arguments.convert_to,
            removed=arguments.removed,
            report=arguments.report,
            annotate=bool(arguments.annotate),
            **{name: value for name, value in given.items() if value is not None},
            **reading,
            **engine_keywords(arguments, watch),
        )
        record = watch.result(result)
    if says_stage(arguments, record):
        return
    warn_of_rows(result)
    if not arguments.quiet:
        _summarise(arguments, record)


def _summarise(arguments: argparse.Namespace, record: Record) -> None:
    unit = "character" if arguments.unit in (None, "char") else arguments.unit
    counts = [
        f"{plural(record['characters'], 'character')} removed in"
        f" {plural(record['removed'], 'span')} of at least {plural(record['min_length'], unit)}"
        f" from {plural(record['changed'], 'document')}"
    ]
    if record["common"]:
        kept = plural(record["common"], "passage")
        counts.append(f"{kept} kept, in more than --max-share of the documents")
    if record["outputs"]:
        left_out = plural(record["dropped"], "row")
        counts.append(f"{plural(record['written'], 'row')} written, {left_out} left out")
    documents = documents_read(arguments, record["documents"])
    say_counts(arguments, record, documents, *counts)
