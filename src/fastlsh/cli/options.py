"""The options that commands share, and what they are in terms of the API."""

import argparse
import sys
from collections.abc import Iterable
from typing import Any

from fastlsh import Shingler, preset
from fastlsh.cli.messages import progress_of_files, say
from fastlsh.cli.parser import group_of
from fastlsh.cli.shingling import SHINGLING, add_key_option, add_text_options, shingler_of, text
from fastlsh.io import (
    Collection,
    ReadOptions,
    check_content,
    check_used,
    read_files,
    spooled_inputs,
)
from fastlsh.presets import PRESETS

SEARCH = (
    "threshold", "num_perm", "recall", "bands", "rows", "seed", "scheme", "verify", "threads",
)  # fmt: skip
"""The options of every search that are keyword arguments by the same names."""

MESSAGES = "messages and exit status"

RULE = ("rule", "containment", "search")
"""Those of `add_rule_options`."""


def add_input_options(
    parser: argparse.ArgumentParser, *, limit: bool = False, several: str = "form one collection"
) -> None:
    """Add the inputs, what several of them are, and how they are read; how many with `limit`."""
    parser.add_argument(
        "inputs", nargs="+", metavar="INPUT",
        help=".jsonl .json .csv .tsv .txt (also .gz .bz2 .xz .zst), .parquet, .arrow, a directory"
        " of these, a pattern ('data/**/*.jsonl'), a URL (s3://bucket/key), or - for the standard"
        f" input (JSON, unless --format says otherwise); several {several}",
    )  # fmt: skip
    group = group_of(parser, "input")
    group.add_argument(
        "--recursive", action="store_true", help="also read the subdirectories of a directory"
    )
    group.add_argument(
        "--skip-unknown", action="store_true", help="leave out files of unknown formats"
    )
    group.add_argument(
        "--text",
        metavar="COL",
        action="append",
        help="column of the texts (default: text); a.b is key b in a; given several times: these"
        " columns as one text; a column may have lists of messages",
    )
    group.add_argument(
        "--join-with",
        metavar="S",
        type=_escaped,
        help=r"what stands between the columns, or the messages, of a text (default: \n)",
    )
    group.add_argument(
        "--roles", metavar="R", type=comma_separated,
        help="roles of which messages are read, separated by commas (default: all)",
    )  # fmt: skip
    group.add_argument(
        "--id", metavar="COL", help="column of the ids (default: id if present, else FILE:ROW)"
    )
    group.add_argument("--format", metavar="F", help="format of files without a known suffix")
    group.add_argument(
        "--encoding", metavar="E", default="utf-8", help="encoding of text files (default: utf-8)"
    )
    group.add_argument("--delimiter", metavar="D", type=_delimiter, help="delimiter of CSV and TSV")
    group.add_argument(
        "--no-header",
        action="store_true",
        help="CSV and TSV have no header; the columns are 1, 2...",
    )
    group.add_argument(
        "--no-quotes", action="store_true", help="treat double quotes in CSV and TSV as text"
    )
    group.add_argument(
        "--split",
        choices=["lines", "paragraphs"],
        help="documents in a .txt (default: the whole file)",
    )
    group.add_argument(
        "--on-error",
        choices=["fail", "skip"],
        default="fail",
        help="stop at a bad row, or skip and count it (default: fail)",
    )
    parser.set_defaults(first=None)
    if limit:
        group.add_argument(
            "--limit",
            metavar="N",
            dest="first",
            type=integer,
            help="read the first N documents only, to try a command on large files",
        )


def add_against_option(parser: argparse.ArgumentParser, use: str) -> None:
    """Add the files of another collection; `use` says what for."""
    parser.add_argument(
        "--against", metavar="FILE", nargs="+", action="extend", default=[], help=use
    )
    group = group_of(parser, "input")
    group.add_argument(
        "--against-text",
        metavar="COL",
        action="append",
        help="column of the texts in the files of --against (default: as --text); may be given"
        " several times",
    )
    group.add_argument(
        "--against-id",
        metavar="COL",
        help="column of the ids in the files of --against (default: as --id)",
    )


def add_within_option(parser: argparse.ArgumentParser) -> None:
    """Add the options of documents in groups, and of rows that are one document."""
    group_of(parser, "input").add_argument(
        "--group",
        metavar="COL",
        help="rows with the same value of this column are one document, whose id it is, as a"
        " repository",
    )
    group_of(parser, "similarity").add_argument(
        "--within",
        metavar="COL",
        help="compare only documents with the same value of this column, as language or repository",
    )


def add_search_options(parser: argparse.ArgumentParser) -> None:
    """Add what makes two texts near-duplicates and how they are found."""
    group = group_of(parser, "similarity")
    group.add_argument(
        "--preset",
        metavar="NAME",
        choices=PRESETS,
        help=f"parameters of a pipeline, which other options override: {', '.join(PRESETS)}",
    )
    group.add_argument(
        "--threshold", metavar="T", type=float, help="Jaccard similarity (default: 0.8)"
    )
    group.add_argument(
        "--unit",
        choices=["char", "word", "byte", "token"],
        help="unit of the shingles (default: char); token: documents are lists of token ids,"
        " or texts with --tokenizer",
    )
    group.add_argument("--size", metavar="N", type=integer, help="units per shingle (default: 9)")
    add_text_options(parser.add_argument_group("normalisation of texts, in this order"))
    group = group_of(parser, "search")
    group.add_argument(
        "--num-perm", metavar="K", type=integer, help="minima per signature (default: 128)"
    )
    group.add_argument(
        "--recall", metavar="P", type=float, help="recall of pairs at the threshold (default: 0.98)"
    )
    group.add_argument(
        "--bands",
        metavar="B",
        type=integer,
        help="number of bands; with --rows, instead of --recall",
    )
    group.add_argument("--rows", metavar="R", type=integer, help="rows per band")
    group.add_argument(
        "--seed", metavar="S", type=integer, help="seed of the hash functions (default: 1)"
    )
    group.add_argument(
        "--scheme", choices=["affine32", "fss"], help="fss: faster for long documents"
    )
    group.add_argument(
        "--verify",
        choices=["exact", "signature", "none"],
        help="how to verify candidates (default: exact)",
    )
    add_key_option(group)
    group.add_argument(
        "--threads", metavar="N", type=integer, help="number of threads (default: all processors)"
    )
    group_of(parser, MESSAGES).add_argument(
        "-q", "--quiet", action="store_true", help="show warnings, but no progress and no summary"
    )


def add_rule_options(parser: argparse.ArgumentParser, *, equal: str | None = None) -> None:
    """Add the rule, with its help if it may be "equal", and the search by containment."""
    group = group_of(parser, "similarity")
    group.add_argument(
        "--rule",
        choices=["jaccard", "contained", *(["equal"] if equal else [])],
        help=equal
        or "contained: find a document only if it has enough of the shingles of the other one"
        " (default: jaccard)",
    )
    group.add_argument(
        "--containment",
        metavar="C",
        type=float,
        help="with --rule contained: this share of its shingles (default: 1.0, all)",
    )
    group.add_argument(
        "--search",
        choices=["jaccard", "containment"],
        help="containment: with --rule contained, find documents in much longer ones (default:"
        " jaccard, by --threshold)",
    )


def check_rule_options(arguments: argparse.Namespace) -> None:
    """Raise ValueError for a threshold that nothing uses."""
    if arguments.search == "containment" and arguments.threshold is not None:
        raise ValueError("--threshold has no effect with --search containment")


def add_texts_option(parser: argparse._ActionsContainer, condition: str) -> None:
    """Add how a new index keeps texts."""
    parser.add_argument(
        "--texts",
        choices=["full", "compressed"],
        help=f"{condition}: keep texts as they are (default), or compressed",
    )


def reading_keywords(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return how files are read, as keyword arguments of the API."""
    others = {name: getattr(arguments, name, None) for name in ("against_text", "against_id")}
    return {
        **{name: value for name, value in others.items() if value is not None},
        "text": arguments.text,
        "join_with": "\n" if arguments.join_with is None else arguments.join_with,
        "roles": arguments.roles,
        "id": arguments.id,
        "format": arguments.format,
        "encoding": arguments.encoding,
        "delimiter": arguments.delimiter,
        "header": not arguments.no_header,
        "quotes": not arguments.no_quotes,
        "split": arguments.split,
        "recursive": arguments.recursive,
        "skip_unknown": arguments.skip_unknown,
        "on_error": arguments.on_error,
        "limit": arguments.first,
    }


def read_inputs(arguments: argparse.Namespace, inputs: list[str], **more: Any) -> Collection:
    """Read files as the options say; token ids are words of digits."""
    tokens = arguments.unit == "token"
    how = ReadOptions(**reading_keywords(arguments), tokens=tokens)
    tell = (lambda _: None) if arguments.quiet else say
    with spooled_inputs(inputs, arguments.format, tell, twice=False) as readable:
        collection = read_files(
            readable,
            how,
            mixed=True,
            threads=arguments.threads,
            progress=progress_of_files(arguments),
            **more,
        )
        sources = [part.source for part in collection.parts]
        check_used(how, sources)
        check_content(how, sources)
    return collection


def options_given(arguments: argparse.Namespace, names: Iterable[str]) -> list[str]:
    """Return which of some options were given, as they are given; also one that is 0."""
    options: list[str] = []
    for name in names:
        value = getattr(arguments, name)
        if not (value is None or value is False or value == []):
            options.append(option_of(name))
    return options


def option_of(name: str) -> str:
    """Return an option as it is given, from its name in the arguments."""
    return "--" + name.replace("_", "-")


def search_keywords(arguments: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the keyword arguments of the API; what was not given is left to its defaults.

    Parameters
    ----------
    arguments : argparse.Namespace
        The options.
    *names : str
        Those that only this command has.

    Returns
    -------
    dict
    """
    if arguments.recall is not None and arguments.bands is not None:
        raise ValueError("--recall and --bands are different rules: give one")
    keywords: dict[str, Any] = {"threshold": 0.8, "shingler": Shingler()}
    if arguments.preset is not None:
        keywords = dict(preset(arguments.preset))
        if arguments.recall is not None:  # which chooses bands and rows instead
            del keywords["bands"], keywords["rows"]
    own_values = {
        name: value for name in (*SEARCH, *names) if (value := getattr(arguments, name)) is not None
    }
    return {
        **keywords,
        **own_values,
        "shingler": shingler_of(arguments, keywords["shingler"]),
        "progress": sys.stderr.isatty() and not arguments.quiet,
    }


def given_keywords(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the keyword arguments of `Index.open`: only what was given."""
    keywords = search_keywords(arguments, *RULE)
    names = {name for name in (*SEARCH, *RULE) if getattr(arguments, name) is not None}
    if arguments.preset is not None:
        names.update(SEARCH)
    if arguments.preset is not None or any(getattr(arguments, n) is not None for n in SHINGLING):
        names.add("shingler")
    chosen = {name: value for name, value in keywords.items() if name in names}
    return {**chosen, "key": keywords["shingler"].key}


def integer(value: str) -> int:
    """Return an option's number, or raise what argparse tells with the option's name."""
    number = int(value)
    if abs(number) >= 2**63:
        raise argparse.ArgumentTypeError(f"{value} is too large")
    return number


def _escaped(value: str) -> str:
    return text(value).replace("\\n", "\n").replace("\\t", "\t")


def comma_separated(value: str) -> list[str]:
    """Return the names that commas separate."""
    return [part.strip() for part in value.split(",")]


def _delimiter(value: str) -> str:
    return "\t" if value == "\\t" else text(value)
