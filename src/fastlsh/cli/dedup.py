"""``fastlsh dedup``: documents, lines or passages without near-duplicates; also by an index."""

import argparse

from fastlsh import deduplicate_files, deduplicate_line_files, deduplicate_span_files
from fastlsh.cli.engines import watched
from fastlsh.cli.index import opened
from fastlsh.cli.job_plans import print_plan
from fastlsh.cli.keywords import keywords_of, search_keywords, span_shingler
from fastlsh.cli.messages import (
    Record,
    documents_read,
    recall_text,
    say_counts,
    says_stage,
    summarise,
    warn_of_limits,
    warn_of_rows,
)
from fastlsh.cli.options import add_options, check_rule, refuse
from fastlsh.cli.parser import Command, show_first
from fastlsh.files import deduplicate_with_index
from fastlsh.index import shown
from fastlsh.keywords import taken
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_options(parser, "dedup")
    show_first(parser, *FIRST)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if print_plan(arguments, run):
        return
    if arguments.by == "span":
        _run_spans(arguments)
    elif arguments.by is not None:
        _run_lines(arguments)
    elif arguments.index is not None:
        _run_with_index(arguments)
    else:
        _run_documents(arguments)


def _run_documents(arguments: argparse.Namespace) -> None:
    _refuse_pieces(arguments)
    if arguments.save_index is None:
        refuse(arguments, "new_index")
    check_rule(arguments)
    if arguments.rule == "equal":
        refuse(arguments, "equal")
    keywords = search_keywords(arguments, "reading")
    with watched(arguments) as watch:
        result = deduplicate_files(arguments.inputs, arguments.output, **keywords, **watch.keywords)
        record = watch.result(result)
    warn_of_rows(result)
    warn_of_limits(result.limited)
    counts = [_kept(record, f" (duplicate ratio {record['duplicate_ratio']:.4f})")]
    if result.further_copies:
        limits = (("--max-copies", arguments.max_copies), ("--copies-per", arguments.copies_per))
        options = " and ".join(option for option, value in limits if value is not None)
        counts.append(f"{plural(result.further_copies, 'near-duplicate')} kept by {options}")
    summarise(arguments, record, *counts)


def _run_with_index(arguments: argparse.Namespace) -> None:
    _refuse_pieces(arguments)
    for reason in ("index_stage", "index"):
        refuse(arguments, reason)
    if arguments.output is None:
        raise ValueError("--index gets the kept documents, whose rows would be lost: give -o")
    if arguments.engine == "disk":
        raise ValueError("--index and --engine disk cannot be given together: it works in memory")
    with watched(arguments) as watch, opened(arguments) as index:
        keywords = taken(deduplicate_with_index, keywords_of(arguments, "keyword", "reading"))
        result = deduplicate_with_index(
            index, arguments.inputs, arguments.output, **keywords, **watch.keywords
        )
        record = watch.result(result)
        size = len(index)
    warn_of_rows(result)
    warn_of_limits(result.limited)
    documents = f"{shown(arguments.index)} has {plural(size, 'document')}"
    summarise(arguments, record, _kept(record), documents)


def _kept(record: Record, ratio: str = "") -> str:
    return f"{record['kept']:,} kept, {record['removed']:,} removed{ratio}"


def _refuse_pieces(arguments: argparse.Namespace) -> None:
    """Raise ValueError if there are options for pieces of documents, but these are not cut."""
    for reason in ("documents", "empty", "no_span"):
        refuse(arguments, reason)


def _run_lines(arguments: argparse.Namespace) -> None:
    for reason in ("first", "no_span", "lines"):
        refuse(arguments, reason)
    if arguments.unit == "token":
        raise ValueError(f"--by {arguments.by} needs texts, not token ids")
    keywords = search_keywords(arguments, "reading")
    if keywords.get("threshold", 1.0) == 1.0:
        refuse(arguments, "equal_pieces")
    with watched(arguments) as watch:
        result = deduplicate_line_files(
            arguments.inputs, arguments.output, arguments.by, **keywords, **watch.keywords
        )
        record = watch.result(result)
    warn_of_rows(result)
    warn_of_limits(result.limited)
    if not arguments.quiet and not says_stage(arguments, record):
        _summarise_lines(arguments, record)


def _summarise_lines(arguments: argparse.Namespace, record: Record) -> None:
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


def _run_spans(arguments: argparse.Namespace) -> None:
    refuse(arguments, "span")
    keywords = keywords_of(arguments, "keyword", "reading")
    with watched(arguments) as watch:
        result = deduplicate_span_files(
            arguments.inputs, arguments.output, shingler=span_shingler(arguments), **keywords,
            **watch.keywords,
        )  # fmt: skip
        record = watch.result(result)
    if says_stage(arguments, record):
        return
    warn_of_rows(result)
    if not arguments.quiet:
        _summarise_spans(arguments, record)


def _summarise_spans(arguments: argparse.Namespace, record: Record) -> None:
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


COMMAND = Command("dedup", HELP, EXAMPLES, run, add_arguments)
