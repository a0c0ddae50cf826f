"""``fastlsh dedup --index``: new documents against an index, which has them afterwards."""

import argparse
import sys

from fastlsh.cli.index import opened
from fastlsh.cli.messages import documents_read, plural, say, warn_of_limits, warn_of_rows
from fastlsh.cli.options import option_of, read_inputs
from fastlsh.cli.paths import check_paths
from fastlsh.files import deduplicate_with_index
from fastlsh.index import shown
from fastlsh.io import check_rows_output, check_target

REFUSED = (
    "stage", "part", "against", "annotate", "max_copies", "priority", "clusters", "report", "work",
    "memory", "rule", "containment", "search", "keep_work", "restart", "log",
)  # fmt: skip


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    for name in REFUSED:
        if getattr(arguments, name):
            raise ValueError(f"--index and {option_of(name)} cannot be given together")
    if arguments.engine == "disk":
        raise ValueError("--index and --engine disk cannot be given together: it works in memory")
    check_paths(arguments)
    check_rows_output(
        arguments.inputs, arguments.output, format=arguments.format,
        recursive=arguments.recursive, convert=arguments.convert_to,
    )  # fmt: skip
    if arguments.removed is not None:
        check_target(arguments.removed)
    max_candidates = arguments.max_candidates
    with opened(arguments) as index:
        collection = read_inputs(arguments, arguments.inputs, uniform=True)
        warn_of_rows(collection)
        result = deduplicate_with_index(
            index, collection, arguments.output, arguments.removed, convert=arguments.convert_to,
            keep=arguments.keep or "first",
            max_candidates=1000 if max_candidates is None else max_candidates,
            threads=arguments.threads,
            progress=sys.stderr.isatty() and not arguments.quiet,
        )  # fmt: skip
        size = len(index)
    warn_of_limits(result.limited)
    if not arguments.quiet:
        kept = len(result.selected)
        say(documents_read(arguments, len(collection)))
        say(f"{kept:,} kept, {len(collection) - kept:,} removed")
        say(f"{shown(arguments.index)} has {plural(size, 'document')}")
