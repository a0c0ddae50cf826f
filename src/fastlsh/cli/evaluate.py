"""``fastlsh evaluate``: what near_duplicates finds of what there is."""

import argparse
import json
from typing import Any

from fastlsh.cli.keywords import progress_of, read_inputs, search_keywords
from fastlsh.cli.messages import documents_read, warn_of_rows
from fastlsh.cli.options import refuse
from fastlsh.cli.parser import Command
from fastlsh.cli.paths import check_outputs
from fastlsh.files import tokens_as_words
from fastlsh.io import (
    STANDARD,
    Collection,
    Replacements,
    pair_columns,
    replacing_together,
    table_format,
    write_table,
    write_text,
)
from fastlsh.parallel import plural

HELP = "Find all pairs exactly, compare the answer with them, and print recall and precision."
EXAMPLES = """\
examples:
  fastlsh evaluate data/ --sample 5000 --missed missed.tsv --plot recall.svg
  fastlsh evaluate data/ --threshold 0.17 --bandings 100x2,50x4
"""


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from fastlsh import compare_bandings, evaluate

    keywords, _ = tokens_as_words(search_keywords(arguments))
    measure: Any = evaluate
    if arguments.bandings is not None:
        refuse(arguments, "bandings")
        for name in ("bands", "rows"):  # of a preset
            keywords.pop(name, None)
        measure = compare_bandings
    check_outputs(arguments, arguments.json, arguments.missed, arguments.plot, arguments.report)
    if arguments.missed is not None:
        table_format(arguments.missed)
    if arguments.report is not None:
        from fastlsh.reporting import check_report

        check_report(arguments.report)
    if arguments.plot is not None:
        from fastlsh.plots import check_plot

        check_plot(arguments.plot)
    # On no documents: wrong parameters are refused before the long work.
    measure([], **keywords)
    collection = read_inputs(arguments)
    warn_of_rows(collection)
    result = measure(collection.texts, **keywords, progress=progress_of(arguments))
    is_limited = len(collection) == arguments.limit
    if is_limited and arguments.json != STANDARD:
        print(f"only {documents_read(arguments, len(collection))} (--limit)")
    if arguments.json != STANDARD:
        print(result, flush=True)  # before other outputs that may go to the same file
    with replacing_together() as together:
        _write(arguments, result, collection, together, is_limited=is_limited)


def _write(
    arguments: argparse.Namespace,
    result: Any,
    collection: Collection,
    together: Replacements,
    *,
    is_limited: bool,
) -> None:
    if arguments.json is not None:
        figures = {"limit": arguments.limit} if is_limited else {}
        figures |= result.to_dict()
        text = json.dumps(figures, indent=1, allow_nan=False) + "\n"
        write_text(arguments.json, text, together)
    if arguments.missed is not None:
        missed = result.missed
        columns = pair_columns(collection.ids, missed.left, missed.right, missed.similarity)
        write_table(arguments.missed, columns, together)
    if arguments.report is not None:
        from fastlsh.reporting import About, Collections, report_page

        title = f"Evaluation of {plural(result.documents, 'document')}"
        limit = {"limit": f"the first {arguments.limit:,} documents"} if is_limited else {}
        notes = {"input": ", ".join(arguments.inputs), **limit}
        read = Collections(collection.texts, ids=collection.ids)
        page = report_page(result, read, About(title, notes, result.seconds))
        write_text(arguments.report, page, together)
    if arguments.plot is not None:
        from fastlsh.plots import draw, plot_evaluation

        with together.file(arguments.plot) as name:
            draw(plot_evaluation(result), arguments.plot, name)


COMMAND = Command("evaluate", HELP, EXAMPLES, run)
