"""``fastlsh decontaminate``: training documents without evaluation items."""

import argparse
import sys
from collections import Counter
from typing import Any

from fastlsh import FileDecontamination, decontaminate_files
from fastlsh.cli.engines import called
from fastlsh.cli.job_plans import Call, print_plan
from fastlsh.cli.keywords import files_of, keywords_of, shingler_of
from fastlsh.cli.messages import (
    Record,
    documents_read,
    rows_skipped,
    say,
    says_stage,
    warn_of_skipped,
)
from fastlsh.cli.options import refuse
from fastlsh.cli.parser import Command
from fastlsh.cli.paths import check_paths
from fastlsh.files import StageJob, contamination_jobs, evaluate_decontamination_files
from fastlsh.parallel import plural
from fastlsh.presets import decontamination_preset
from fastlsh.search import DEFAULT_SHINGLER

HELP = "Find evaluation items in training documents, and write the documents without them."
EXAMPLES = """\
examples:
  fastlsh decontaminate train/ --evals evals/ -o clean/ --hits hits.parquet
  fastlsh decontaminate train/ --evals evals/ --self-test
"""
CUTTING = ("around", "min_piece", "max_pieces", "join")
"""What only --rule span has a use for."""

SHOWN = 5
"""Examples that the summary names."""


def _keywords(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the keyword arguments of the API; what was not given is left to its defaults."""
    chosen: dict[str, Any] = {"shingler": DEFAULT_SHINGLER}
    if arguments.preset is not None:
        chosen = decontamination_preset(arguments.preset)
    keywords = {**chosen, **keywords_of(arguments, "keyword", "reading")}
    keywords["shingler"] = shingler_of(arguments, chosen["shingler"])
    if arguments.no_boilerplate:
        refuse(arguments, "no_boilerplate")
        if not arguments.self_test:  # which puts items into the sample
            refuse(arguments, "no_sample")
        keywords["boilerplate_share"] = None
    if keywords.get("rule", "document") != "span":
        refuse(arguments, "no_cut")
        for name in CUTTING:  # of the preset
            keywords.pop(name, None)
    return keywords


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    keywords = _keywords(arguments)
    if arguments.self_test:
        _test(arguments, keywords)
        return
    call: Call = (
        decontaminate_files, {**files_of(arguments), "evals": arguments.evals, **keywords},
    )  # fmt: skip
    if print_plan(arguments, lambda _: call, _jobs):
        return
    result, record = called(arguments, lambda _: call)
    if says_stage(arguments, record):
        return
    warn_of_skipped(result)
    _summarise(arguments, result, record)


def _jobs(arguments: argparse.Namespace, _: object, memory: int) -> list[StageJob]:
    return contamination_jobs(memory, arguments.parts)


def _test(arguments: argparse.Namespace, keywords: dict[str, Any]) -> None:
    refuse(arguments, "self_test")
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


COMMAND = Command("decontaminate", HELP, EXAMPLES, run)
