"""``fastlsh dedup --index``: new documents against an index, which has them afterwards."""

import argparse

from fastlsh.cli.engines import watched
from fastlsh.cli.index import opened
from fastlsh.cli.messages import summarise, warn_of_limits, warn_of_rows
from fastlsh.cli.options import options_given, reading_keywords
from fastlsh.files import deduplicate_with_index
from fastlsh.index import shown
from fastlsh.parallel import plural

REFUSED = (
    "group",
    "stage", "part", "against", "against_text", "against_id", "save_index", "max_copies",
    "copies_per", "work", "keep_work", "restart", "within", "texts",
)  # fmt: skip


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    for option in options_given(arguments, REFUSED):
        raise ValueError(f"--index and {option} cannot be given together")
    if arguments.output is None:
        raise ValueError("--index gets the kept documents, whose rows would be lost: give -o")
    if arguments.engine == "disk":
        raise ValueError("--index and --engine disk cannot be given together: it works in memory")
    with watched(arguments) as watch, opened(arguments) as index:
        names = ("keep", "max_candidates")
        given = {name: getattr(arguments, name) for name in names}
        result = deduplicate_with_index(
            index,
            arguments.inputs,
            arguments.output,
            priority=arguments.priority,
            convert_to=arguments.convert_to,
            removed=arguments.removed,
            clusters=arguments.clusters,
            report=arguments.report,
            annotate=bool(arguments.annotate),
            source=arguments.source,
            count=arguments.count or (),
            **{name: value for name, value in given.items() if value is not None},
            **reading_keywords(arguments),
            memory=arguments.memory,
            threads=arguments.threads,
            on_message=watch.tell,
            progress=watch.progress,
        )
        record = watch.result(result)
        size = len(index)
    warn_of_rows(result)
    warn_of_limits(result.limited)
    kept = f"{record['kept']:,} kept, {record['removed']:,} removed"
    summarise(arguments, record, kept, f"{shown(arguments.index)} has {plural(size, 'document')}")
