"""``fastlsh dedup``: documents, lines or passages without near-duplicates; also by an index."""

import argparse
from typing import Any

from fastlsh import deduplicate_files, deduplicate_line_files, deduplicate_span_files
from fastlsh.cli.engines import add_engine_options, engine_keywords, watched
from fastlsh.cli.index import opened
from fastlsh.cli.job_plans import print_plan, search_jobs
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
from fastlsh.cli.options import (
    RULE,
    SEARCH,
    add_against_option,
    add_input_options,
    add_rule_options,
    add_search_options,
    add_texts_option,
    add_within_option,
    check_rule_options,
    integer,
    option_of,
    options_given,
    reading_keywords,
    search_keywords,
)
from fastlsh.cli.parser import group_of, show_first
from fastlsh.cli.shingling import span_shingler, text
from fastlsh.files import deduplicate_with_index
from fastlsh.index import shown
from fastlsh.parallel import plural

REFUSED_WITH_INDEX = (
    "group",
    "stage", "part", "against", "against_text", "against_id", "save_index", "max_copies",
    "copies_per", "work", "keep_work", "restart", "within", "texts",
)  # fmt: skip


def run_with_index(arguments: argparse.Namespace) -> None:
    """Run the command."""
    for option in options_given(arguments, REFUSED_WITH_INDEX):
        raise ValueError(f"--index and {option} cannot be given together")
    if arguments.output is None:
        raise ValueError("--index gets the kept documents, whose rows would be lost: give -o")
    if arguments.engine == "disk":
        raise ValueError("--index and --engine disk cannot be given together: it works in memory")
    with watched(arguments) as watch, opened(arguments) as index:
        names = ("keep", "max_candidates")
        options = {name: getattr(arguments, name) for name in names}
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
            **{name: value for name, value in options.items() if value is not None},
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


REFUSED_OF_LINES = (
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
    add_span_options(group)


def refuse_line_options(arguments: argparse.Namespace) -> None:
    """Raise if there are options for pieces of documents, but these are not cut."""
    if arguments.min_length is not None:
        raise ValueError("--min-length is for --by line, --by paragraph or --by span")
    if arguments.drop_empty is not None:
        raise ValueError("--drop-empty is for --by line or --by paragraph")
    refuse_span_options(arguments)


def run_lines(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if arguments.by == "span":
        run_spans(arguments)
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
        _summarise_lines(arguments, record)


def _keywords(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the keyword arguments of the API, or raise if an option would be ignored."""
    for name in ("keep", "priority"):
        if getattr(arguments, name) is not None:
            raise ValueError(
                f"{option_of(name)} is for whole documents: with --by, the first occurrence of a"
                f" {arguments.by} is kept. Put the input whose {arguments.by}s should stay first,"
                " or give it as --against"
            )
    refuse_span_options(arguments)
    for option in options_given(arguments, REFUSED_OF_LINES):
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


TEXT_OPTIONS = ("tokenizer",)
"""Options that only passages have, and that say what their units are."""

OPTIONS = ("join", "keep_least", "merge_gap", "snap", "max_share")
"""Options that only passages have."""

REFUSED_OF_SPANS = (
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


def run_spans(arguments: argparse.Namespace) -> None:
    """Run the command."""
    for option in options_given(arguments, REFUSED_OF_SPANS):
        raise ValueError(f"{option} has no effect with --by span, and cannot be given")
    options = {name: getattr(arguments, name) for name in ("min_length", "threads", *OPTIONS)}
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
            **{name: value for name, value in options.items() if value is not None},
            **reading,
            **engine_keywords(arguments, watch),
        )
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


class _CopiesPer(argparse.Action):
    """Takes a column and a number."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        """Set the option, or end with a message."""
        column, number = values
        try:
            setattr(namespace, self.dest, (column, integer(number)))
        except ValueError:
            raise argparse.ArgumentError(self, f"invalid int value: {number!r}") from None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add_input_options(parser, limit=True)
    output, indexes = (parser.add_argument_group(title) for title in ("output", "indexes"))
    parser.add_argument(
        "-o",
        "--output",
        metavar="KEPT",
        help="the kept rows: a file in the format of the inputs (.jsonl for .txt), or a directory"
        " (DIR/), which gets a file of the same name for each input (default: count only)",
    )
    output.add_argument(
        "--convert-to",
        metavar="F",
        help="the format of a directory or -: parquet, jsonl, json, csv, arrow, tsv (or csv.gz...)",
    )
    parser.add_argument(
        "--removed",
        metavar="FILE",
        help="id, kept_id and jaccard (or containment) of each removed document (.tsv .csv .jsonl"
        " .parquet)",
    )
    output.add_argument(
        "--clusters",
        metavar="FILE",
        help="id, cluster and cluster_size of each kept document with duplicates, and of the"
        " duplicates",
    )
    output.add_argument(
        "--annotate",
        action="store_true",
        default=None,
        help="write all rows, with the columns duplicate_of (the id of the kept document),"
        " similarity and cluster_size; with --by span, with the column repeated_spans",
    )
    output.add_argument(
        "--source",
        metavar="COL",
        help="count the different values of a column in each cluster: --annotate and --clusters get"
        " the column cluster_sources; with --index and --save-index, the index counts them",
    )
    output.add_argument(
        "--count",
        metavar="COL",
        action="append",
        help="sum a column of numbers over each cluster: --annotate and --clusters get the column"
        " cluster_COL; may be given several times; the index sums it, too",
    )
    output.add_argument(
        "--max-copies",
        metavar="N",
        type=integer,
        help="write up to N documents of each cluster, by priority (default: 1)",
    )
    output.add_argument(
        "--copies-per",
        metavar=("COL", "N"),
        nargs=2,
        action=_CopiesPer,
        help="of each cluster, write up to N documents for each value of a column; a document of"
        " --against counts for every value; with --max-copies, a document must be allowed by both",
    )
    parser.add_argument(
        "--keep",
        choices=["first", "last", "longest"],
        help="which near-duplicate to keep (default: first)",
    )
    parser.add_argument(
        "--priority",
        metavar="COL",
        help="instead of --keep: a column of numbers or dates; the row with the highest number or"
        " the latest date is kept, or the earlier one of equals; rows without a value come last",
    )
    add_against_option(
        parser,
        "also remove near-duplicates of the documents in these files; with --by, lines or"
        " paragraphs that occur in them",
    )
    indexes.add_argument(
        "--index",
        metavar="INDEX",
        help="also remove near-duplicates of the documents in this index (see `fastlsh index"
        " build`), and add the kept documents to it: both, or neither; the index determines the"
        " parameters",
    )
    parser.add_argument("--report", metavar="FILE", help="write a page about the run (.html)")
    indexes.add_argument(
        "--save-index",
        metavar="NEW",
        help="make an index of the kept documents, in a new file, for --index of later runs",
    )
    add_within_option(parser)
    add_texts_option(indexes, "with --save-index")
    add_search_options(parser)
    add_rule_options(
        parser,
        equal="contained: remove a document only if enough of its shingles are in the kept one;"
        " equal: only if the texts are equal, once they are normalised (default: jaccard)",
    )
    group_of(parser, "search").add_argument(
        "--max-candidates",
        metavar="N",
        type=integer,
        help="most comparisons per document (default: 1000)",
    )
    add_line_options(parser)
    add_engine_options(parser)
    show_first(parser, *FIRST)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    if print_plan(arguments, run, search_jobs(arguments, pairs=False)):
        return
    if arguments.by is not None:
        run_lines(arguments)
        return
    refuse_line_options(arguments)
    if arguments.index is not None:
        run_with_index(arguments)
        return
    if arguments.texts is not None and arguments.save_index is None:
        raise ValueError("--texts says how --save-index keeps texts: give both")
    own_options = ("keep", "max_copies", "max_candidates", *RULE)
    check_rule_options(arguments)
    if arguments.rule == "equal":
        _refuse_similarity(arguments)
    keywords = search_keywords(arguments, *own_options)
    with watched(arguments) as watch:
        result = deduplicate_files(
            arguments.inputs,
            arguments.output,
            against=arguments.against,
            group=arguments.group,
            priority=arguments.priority,
            convert_to=arguments.convert_to,
            removed=arguments.removed,
            clusters=arguments.clusters,
            report=arguments.report,
            save_index=arguments.save_index,
            within=arguments.within,
            index_texts=arguments.texts or "full",
            annotate=bool(arguments.annotate),
            source=arguments.source,
            count=arguments.count or (),
            copies_per=arguments.copies_per,
            **reading_keywords(arguments),
            **{**keywords, **engine_keywords(arguments, watch)},
        )
        record = watch.result(result)
    warn_of_rows(result)
    warn_of_limits(result.limited)
    summarise(
        arguments,
        record,
        f"{record['kept']:,} kept, {record['removed']:,} removed"
        f" (duplicate ratio {record['duplicate_ratio']:.4f})",
        *_further_copies(arguments, result.further_copies),
    )


def _further_copies(arguments: argparse.Namespace, count: int) -> list[str]:
    """Return a line about near-duplicates that were not removed, if there are any."""
    options = " and ".join(options_given(arguments, ("max_copies", "copies_per")))
    return [f"{plural(count, 'near-duplicate')} kept by {options}"] if count else []


def _refuse_similarity(arguments: argparse.Namespace) -> None:
    """Raise ValueError if an option is given that only similar documents have a use for."""
    for name in ("threshold", "preset", *SIMILAR):
        value = getattr(arguments, name)
        if value is not None and name not in ("unit", "words"):  # which say what is empty
            raise ValueError(
                f"{option_of(name)} has no effect with --rule equal, which compares texts"
            )
