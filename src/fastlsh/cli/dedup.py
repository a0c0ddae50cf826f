"""``fastlsh dedup``: documents, lines or passages without near-duplicates; also by an index."""

import argparse

from fastlsh import deduplicate_files, deduplicate_line_files, deduplicate_span_files
from fastlsh.cli.engines import called, watched
from fastlsh.cli.index import opened
from fastlsh.cli.job_plans import Call, print_plan
from fastlsh.cli.keywords import files_of, keywords_of, search_keywords, span_shingler
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
from fastlsh.results import piece_name

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
    if print_plan(arguments, _call):
        return
    if arguments.by is None and arguments.index is not None:
        _run_with_index(arguments)
        return
    result, record = called(arguments, _call)
    if says_stage(arguments, record):
        return
    warn_of_rows(result)
    if arguments.by != "span":
        warn_of_limits(result.limited)
    if arguments.quiet:
        return
    if arguments.by == "span":
        _summarise_spans(arguments, record)
    elif arguments.by is not None:
        _summarise_lines(arguments, record)
    else:
        _summarise_documents(arguments, record, result.further_copies)


def _call(arguments: argparse.Namespace) -> Call:
    """Return the function for whole documents or pieces, and its keyword arguments."""
    if arguments.by == "span":
        refuse(arguments, "span")
        keywords = keywords_of(arguments, "keyword", "reading")
        keywords["shingler"] = span_shingler(arguments)
        return deduplicate_span_files, {**files_of(arguments), **keywords}
    if arguments.by is not None:
        for reason in ("first", "no_span", "common", "lines"):
            refuse(arguments, reason)
        if arguments.unit == "token":
            raise ValueError(f"--by {arguments.by} needs texts, not token ids")
        keywords = {"by": arguments.by, **search_keywords(arguments, "reading")}
        if keywords.get("threshold", 1.0) == 1.0:
            refuse(arguments, "equal_pieces")
        return deduplicate_line_files, {**files_of(arguments), **keywords}
    _refuse_pieces(arguments)
    if arguments.save_index is None:
        refuse(arguments, "new_index")
    check_rule(arguments)
    if arguments.rule == "equal":
        refuse(arguments, "equal")
    keywords = search_keywords(arguments, "reading")
    return deduplicate_files, {**files_of(arguments), **keywords}


def _run_with_index(arguments: argparse.Namespace) -> None:
    _refuse_pieces(arguments)
    for reason in ("common", "index_stage", "index"):
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


def _summarise_documents(arguments: argparse.Namespace, record: Record, further: int) -> None:
    counts = [_kept(record, f" (duplicate ratio {record['duplicate_ratio']:.4f})")]
    if further:
        limits = (("--max-copies", arguments.max_copies), ("--copies-per", arguments.copies_per))
        options = " and ".join(option for option, value in limits if value is not None)
        counts.append(f"{plural(further, 'near-duplicate')} kept by {options}")
    summarise(arguments, record, *counts)


def _summarise_lines(arguments: argparse.Namespace, record: Record) -> None:
    by = piece_name(record["by"], record["parameters"].get("window", 1))
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
