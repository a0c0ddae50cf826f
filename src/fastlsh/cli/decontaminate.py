"""``fastlsh decontaminate``: training documents without evaluation items."""

import argparse
import sys
from collections import Counter
from typing import Any

from fastlsh import FileDecontamination, decontaminate_files
from fastlsh.cli.engines import add_outcome_options, watched
from fastlsh.cli.job_plans import add_stage_options, is_checked, print_plan
from fastlsh.cli.messages import (
    Record,
    documents_read,
    rows_skipped,
    say,
    says_stage,
    warn_of_skipped,
)
from fastlsh.cli.options import (
    MESSAGES,
    add_input_options,
    integer,
    option_of,
    options_given,
    reading_keywords,
)
from fastlsh.cli.parser import group_of
from fastlsh.cli.paths import check_paths
from fastlsh.cli.shingling import add_text_options, shingler_of, text
from fastlsh.files import contamination_jobs, evaluate_decontamination_files
from fastlsh.parallel import plural
from fastlsh.presets import DECONTAMINATION_PRESETS, decontamination_preset
from fastlsh.search import DEFAULT_SHINGLER

HELP = "Find evaluation items in training documents, and write the documents without them."
EXAMPLES = """\
examples:
  fastlsh decontaminate train/ --evals evals/ -o clean/ --hits hits.parquet
  fastlsh decontaminate train/ --evals evals/ --self-test
"""
PARAMETERS = (
    "step", "min_share", "min_run", "max_items", "boilerplate_share", "boilerplate_documents",
    "sample", "rule", "around", "min_piece", "max_pieces", "join",
)  # fmt: skip
"""The options that are keyword arguments by the same names."""

WRITING = (
    "output", "hits", "convert_to", "work", "restart", "stage", "part", "parts", "memory", "plan",
    "log", "summary", "fail_above",
)  # fmt: skip
"""The options of a run that writes."""

SHOWN = 5
"""Examples that the summary names."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_input_options(parser, limit=True)
    parser.add_argument(
        "--evals",
        metavar="FILE",
        nargs="+",
        action="extend",
        required=True,
        help="evaluation files: .jsonl (as lm-evaluation-harness and lighteval log them, too), .csv"
        " .tsv .txt .parquet .arrow, or directories of these",
    )
    parser.add_argument(
        "--field",
        metavar="NAME",
        nargs="+",
        action="extend",
        help="the fields of an item that are looked for; a.b is key b in a (default: every string"
        " of a row)",
    )
    parser.add_argument(
        "--item-id", metavar="NAME", help="the ids of items (default: id if present, else FILE:ROW)"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="CLEAN",
        help="the rows that are left: a file in the format of the inputs, or a directory (DIR/)",
    )
    parser.add_argument(
        "--convert-to",
        metavar="F",
        help="the format of a directory or -: parquet, jsonl, json, csv, arrow, tsv (or csv.gz...)",
    )
    parser.add_argument(
        "--hits",
        metavar="FILE",
        help="id, item_file, item_id, share, longest_run, field, start and end of each place where"
        " an item is found (.tsv .csv .jsonl .parquet)",
    )
    parser.add_argument(
        "--self-test",
        action="store_true",
        help="write nothing: put items into documents of the inputs, in several ways, and print how"
        " many are found; exit status 2 if an item cannot be found at all",
    )
    _add_rules(parser)
    group = parser.add_argument_group("normalisation of texts, in this order")
    add_text_options(group, DEFAULT_SHINGLER.words)
    parser.add_argument(
        "--threads", metavar="N", type=integer, help="number of threads (default: all processors)"
    )
    group = parser.add_argument_group("memory and disk")
    group.add_argument(
        "--memory",
        metavar="SIZE",
        help="most memory to use, such as 4G, besides the items (default: half of what is free)",
    )
    group.add_argument(
        "--work",
        metavar="DIR",
        help="a directory that keeps what is done until the end: the same command continues an"
        " interrupted run (default: nothing is kept)",
    )
    group.add_argument(
        "--restart", action="store_true", help="discard the work of an earlier run in --work"
    )
    add_stage_options(parser, "sample, find, write, finish")
    add_outcome_options(parser)
    group_of(parser, MESSAGES).add_argument(
        "-q", "--quiet", action="store_true", help="show warnings, but no progress and no summary"
    )
    parser.set_defaults(key_file=None)


def _add_rules(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what counts as found")
    group.add_argument(
        "--preset",
        metavar="NAME",
        choices=DECONTAMINATION_PRESETS,
        help=f"a published way, which other options override: {', '.join(DECONTAMINATION_PRESETS)}",
    )
    group.add_argument("--unit", choices=["char", "word"], help="unit of n-grams (default: word)")
    group.add_argument("--size", metavar="N", type=integer, help="units per n-gram (default: 13)")
    group.add_argument(
        "--step", metavar="N", type=integer, help="use every Nth n-gram of an item (default: 1)"
    )
    group.add_argument(
        "--min-share",
        metavar="S",
        type=float,
        help="share of an item's n-grams that a document must contain (default: one n-gram)",
    )
    group.add_argument(
        "--min-run",
        metavar="N",
        type=integer,
        help="words of the longest run that both must have in common (default: one n-gram)",
    )
    group.add_argument(
        "--max-items",
        metavar="N",
        type=integer,
        help="an n-gram that more items have does not count (default: 100)",
    )
    group.add_argument(
        "--boilerplate-share",
        metavar="S",
        type=float,
        help="an n-gram does not count if this share of the sample contains it, mostly without the"
        " rest of the item (default: 0.01)",
    )
    group.add_argument(
        "--boilerplate-documents",
        metavar="N",
        type=integer,
        help="and so many documents (default: 100)",
    )
    group.add_argument(
        "--no-boilerplate", action="store_true", help="every n-gram counts, however common it is"
    )
    group.add_argument(
        "--sample", metavar="N", type=integer, help="documents of the sample (default: 20000)"
    )
    group = parser.add_argument_group("what is removed")
    group.add_argument(
        "--rule",
        choices=["document", "span", "annotate"],
        help="span: cut out what a document has in common with items; annotate: keep all rows and"
        " add the columns contaminated_by, contamination_share and contamination_run (default:"
        " document)",
    )
    group.add_argument(
        "--around",
        metavar="N",
        type=integer,
        help="with --rule span: cut out N characters on both sides, too (default: 0)",
    )
    group.add_argument(
        "--min-piece",
        metavar="N",
        type=integer,
        help="with --rule span: drop remaining pieces of fewer characters (default: 0)",
    )
    group.add_argument(
        "--max-pieces",
        metavar="N",
        type=integer,
        help="with --rule span: drop documents that are cut into more pieces",
    )
    group.add_argument(
        "--join",
        metavar="TEXT",
        type=text,
        help="with --rule span: write this in place of each cut (default: nothing)",
    )


def _keywords(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the keyword arguments of the API; what was not given is left to its defaults."""
    keywords: dict[str, Any] = {"shingler": DEFAULT_SHINGLER}
    if arguments.preset is not None:
        keywords = decontamination_preset(arguments.preset)
    options = {
        name: value for name in PARAMETERS if (value := getattr(arguments, name)) is not None
    }
    keywords = {**keywords, **options, "shingler": shingler_of(arguments, keywords["shingler"])}
    if arguments.no_boilerplate:
        sample = () if arguments.self_test else ("sample",)  # the self-test puts items into it
        for name in ("boilerplate_share", "boilerplate_documents", *sample):
            if getattr(arguments, name) is not None:
                raise ValueError(f"{option_of(name)} has no effect with --no-boilerplate")
        keywords["boilerplate_share"] = None
    if keywords.get("rule", "document") != "span":
        for name in ("around", "min_piece", "max_pieces", "join"):
            if getattr(arguments, name) is not None:
                raise ValueError(f"{option_of(name)} is for --rule span")
            keywords.pop(name, None)
    return {
        **keywords, "fields": arguments.field, "item_id": arguments.item_id,
        "threads": arguments.threads,
    }  # fmt: skip


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    keywords = {**reading_keywords(arguments), **_keywords(arguments)}
    if arguments.self_test:
        _test(arguments, keywords)
        return
    if print_plan(arguments, run, lambda _, memory: contamination_jobs(memory, arguments.parts)):
        return
    with watched(arguments) as watch:
        result = decontaminate_files(
            arguments.inputs, arguments.evals, arguments.output, hits=arguments.hits,
            convert_to=arguments.convert_to, progress=watch.progress, memory=arguments.memory,
            work=arguments.work, restart=arguments.restart, stage=arguments.stage,
            part=arguments.part, on_message=is_checked if arguments.only_checked else watch.tell,
            **keywords,
        )  # fmt: skip
        record = watch.result(result)
    if says_stage(arguments, record):
        return
    warn_of_skipped(result)
    _summarise(arguments, result, record)


def _test(arguments: argparse.Namespace, keywords: dict[str, Any]) -> None:
    for option in options_given(arguments, WRITING):
        raise ValueError(f"{option} has no effect with --self-test: nothing is written")
    check_paths(arguments)
    measured = evaluate_decontamination_files(arguments.inputs, arguments.evals, **keywords)
    sys.stdout.write(f"{measured}\n")
    if measured.not_searched:
        raise ValueError(
            f"{len(measured.not_searched):,} of {plural(measured.items, 'item')} cannot be found at"
            f" all: {_of_each_reason(measured.not_searched)}"
        )


REASONS = {
    "short": "too short",
    "shared": "made of n-grams that more than --max-items items, or 100 fields of one, have",
    "boilerplate": "made of boilerplate",
}


def _of_each_reason(items: list[Any]) -> str:
    counts = Counter(item.reason for item in items)
    texts = []
    for reason, count in counts.items():
        names = [str(item.item) for item in items if item.reason == reason]
        more = ", ..." if count > SHOWN else ""
        texts.append(f"{count:,} {REASONS[reason]} ({', '.join(names[:SHOWN])}{more})")
    return "; ".join(texts)


def _summarise(arguments: argparse.Namespace, result: FileDecontamination, record: Record) -> None:
    items = plural(record["items"], "item")
    if result.not_searched:
        say(
            f"warning: {len(result.not_searched):,} of {items} are not"
            f" searched: {_of_each_reason(result.not_searched)}"
        )
    if arguments.quiet:
        return
    summary = (
        f"{record['items_found']:,} of {items} found in"
        f" {plural(record['contaminated'], 'document')}, at {plural(record['hits'], 'place')}"
    )
    if record["outputs"]:
        cut = f"; {plural(record['changed'], 'text')} cut" if record["rule"] == "span" else ""
        summary += (
            f"; {plural(record['written'], 'row')} written, {record['dropped']:,} left out{cut}"
        )
    documents = documents_read(arguments, record["documents"])
    say(f"{documents}{rows_skipped(record)}: {summary}")
    for gram in result.boilerplate[:SHOWN]:
        say(f"boilerplate, in {plural(gram.documents, 'document')} of the sample: {gram.text}")
    if len(result.boilerplate) > SHOWN:
        say(f"and {len(result.boilerplate) - SHOWN:,} more n-grams that are boilerplate")
