"""Lines on the standard error and in the log, with the names that options have."""

import argparse
import json
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from typing import Any

from fastlsh._kernels.candidates._candidates import REMEMBERED
from fastlsh.banding import containment_bandings
from fastlsh.cli.process import discard
from fastlsh.errors import one_line
from fastlsh.files import FileDecontamination, FileResult
from fastlsh.io import Collection, InputError
from fastlsh.parallel import Display, finish_line, plural

_UNMISTAKABLE = (
    "num_perm", "max_pairs", "max_candidates", "convert_to", "on_error", "unicode_form",
    "punctuation_characters", "strip_accents", "remove_whitespace", "collapse_whitespace",
    "empty_words", "keep_work", "min_length", "drop_empty", "stop_words",
    "min_share", "min_run", "max_items", "boilerplate_share", "boilerplate_documents", "min_piece",
    "max_pieces", "item_id", "max_copies", "copies_per", "max_share", "merge_gap", "keep_least",
    "join_with", "save_index", "against_text", "against_id", "one_to_one", "skip_unknown",
)  # fmt: skip
"""Names that are no words of English: options wherever they stand."""
_WORDS = (
    "threshold", "recall", "bands", "rows", "seed", "scheme", "verify", "unit", "size", "threads",
    "memory", "engine", "keep", "priority", "limit", "sample", "lowest", "weights", "delimiter",
    "encoding", "split", "words", "numbers", "punctuation", "lowercase", "vocabulary", "text", "id",
    "step", "around", "join", "measure",
    "stage", "part", "roles",
)  # fmt: skip
"""Names that are options as the subject of a message, and with an equals sign."""
_WITH_EQUALS = (
    "format", "work", "restart", "recursive", "key", "quotes", "header", "on_known", "steepest",
    "against", "best", "exact", "estimates", "report", "annotate",
    "source", "count", "clusters", "columns", "components", "most", "within", "group", "search",
    "rule", "containment",
)  # fmt: skip
_OTHERS = {
    "key": "--key-file", "quotes=False": "--no-quotes", "header=False": "--no-header",
    "on_known=replace": "--replace", "split=lines": "--split lines",
    "split=paragraphs": "--split paragraphs", "text=conversations": "--text conversations",
    "text=messages": "--text messages", "text=conversation": "--text conversation",
}  # fmt: skip

_ENDS = r"(?![\w/\\-]|\.\w)"
"""What stands behind a name that is not a part of the name of a file."""
_SUBJECT = re.compile(
    rf"^({'|'.join(_WORDS)})(?: and ({'|'.join((*_WORDS, *_UNMISTAKABLE))}))?"
    r"(?= (?:must|is|needs|has|have)\b)"
)
_ARGUMENT = re.compile(
    rf"(?<![\w/.-])({'|'.join((*_UNMISTAKABLE, *_WORDS, *_WITH_EQUALS))})="
    rf"""(["']?)(\w*|[\d.]*\d)\2(?!=){_ENDS}"""
)
_WORD = re.compile(rf"(?<![\w/.-])({'|'.join(_UNMISTAKABLE)})(?!: ){_ENDS}")


def with_options(message: str) -> str:
    """Return a message of the library in which parameters are called as the options are."""
    message = message.replace("deduplicate()", "fastlsh dedup")
    message = _SUBJECT.sub(
        lambda match: " and ".join(_option(name) for name in match.groups() if name), message
    )
    message = _ARGUMENT.sub(_argument, message)
    return _WORD.sub(lambda match: _option(match[1]), message)


def _argument(match: re.Match[str]) -> str:
    name, value = match[1], match[3] or ""
    if option := _OTHERS.get(f"{name}={value}"):
        return option
    if value == "False":  # of a flag, which is not given
        return match[0]
    return _option(name) if value in ("", "True") else f"{_option(name)}={value}"


def _option(name: str) -> str:
    return _OTHERS.get(name) or f"--{name.replace('_', '-')}"


EVERY = 60.0
"""Seconds between two lines about one stage; its begin and its end are always written."""


class Log:
    """Appends a line of JSON for each event: ``time``, ``event``, and what belongs to it.

    Parameters
    ----------
    path : str
        The file; lines are added to what is there.
    clock : callable
        Tells seconds.

    Raises
    ------
    InputError
        If it cannot be written.
    """

    def __init__(self, path: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._path = path
        try:
            self._file = open(path, "a", encoding="utf-8")  # noqa: SIM115
        except OSError as error:
            raise InputError(path, error.strerror or str(error)) from error
        self._clock = clock
        self._stage = ""
        self._start = self._told = clock()

    def event(self, event: str, **more: Any) -> None:
        """Write a line."""
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        line = {"time": now, "event": event, **more}
        try:
            self._file.write(json.dumps(line, default=os.fspath) + "\n")
            self._file.flush()
        except OSError as error:
            self.close()
            raise InputError(self._path, f"{error.strerror}: the log cannot be written") from error

    def progress(self, stage: str, done: int, total: int) -> None:
        """Write how far a stage is, if it is time for it; called as a `ProgressOption` is."""
        now = self._clock()
        began = stage != self._stage
        if began:
            self._stage, self._start = stage, now
        if began or done >= total or now - self._told >= EVERY:
            self._told = now
            seconds = round(now - self._start, 3)
            self.event("progress", stage=stage, done=done, total=total, seconds=seconds)

    def close(self) -> None:
        """End the log; what could not be written has been reported."""
        with suppress(OSError):
            self._file.close()


Record = dict[str, Any]
"""What a run has found, by name."""


def say(message: str) -> None:
    """Print one line, whatever the message has in it."""
    try:
        finish_line()
        print(f"fastlsh: {one_line(message)}", file=sys.stderr, flush=True)
    except OSError:  # nobody reads the standard error
        discard(sys.stderr)


@contextmanager
def warnings_as_lines() -> Iterator[None]:
    """Print each warning of fastlsh once, as a line; those for developers are left out."""
    shown: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in shown:
            say(f"warning: {with_options(str(message))}")
        shown.add(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("always", RuntimeWarning)
        warnings.showwarning = show
        yield


def progress_of_files(
    arguments: argparse.Namespace,
) -> Callable[[str, int, int], None] | None:
    """Return what shows how far files are read or written, where somebody looks."""
    return None if arguments.quiet else Display()


def warn_of_rows(result: Collection | FileResult) -> None:
    """Warn of rows that were left out and of ids that stand for several documents."""
    warn_of_skipped(result)
    if repeated := result.repeated_ids:
        example = result.repeated_example and f", such as {result.repeated_example}"
        warnings.warn(
            f"documents that repeat the id of an earlier one: {repeated}{example}", stacklevel=2
        )


def warn_of_skipped(result: Collection | FileResult | FileDecontamination) -> None:
    """Warn of rows that were left out."""
    for reason in result.skipped_reasons:
        warnings.warn(f"skipped: {reason}", stacklevel=2)
    more = result.skipped - len(result.skipped_reasons)
    if more:
        warnings.warn(f"skipped: {more} more rows", stacklevel=2)


def warn_of_limits(limited: int) -> None:
    """Warn of documents that were not compared with every candidate."""
    if limited:
        warnings.warn(
            f"{limited} documents were kept without being compared with every candidate:"
            " they had more than --max-candidates allows, or shared a bucket with more than the"
            f" {REMEMBERED} kept documents that it remembers",
            stacklevel=2,
        )


def documents_read(arguments: argparse.Namespace, documents: int) -> str:
    """Return how many documents were read, and whether a limit has left out others."""
    first = "the first " if documents == arguments.limit else ""
    return first + plural(documents, "document")


def rows_skipped(record: Record) -> str:
    """Return how many rows were left out, as the end of a sentence."""
    return f", {plural(record['skipped'], 'row')} skipped" if record["skipped"] else ""


def recall_text(record: Record) -> str:
    """Say with which probability a search finds what it looks for, if that is known."""
    search, recall = record["parameters"], record["recall_at_threshold"]
    if search.get("exact"):
        return f"every pair at {search['threshold']:g} or above is found"
    if search["rule"] == "equal":
        return "all equal texts are found"
    if search.get("search") == "containment":
        return _containment_text(search)
    if recall is not None:
        return f"a pair at {search['threshold']:g} is found with probability {recall:.4f}"
    if search["rule"] == "contained":
        return "a document in a much longer one needs --search containment to be found"
    return "estimates decide, which differ from the similarity by chance"


def _containment_text(search: dict[str, Any]) -> str:
    """Say with which probability a search by containment finds a document in a longer one."""
    least, recall = search["containment"], search["recall"]
    ratio = 2 ** (len(containment_bandings(least, search["num_perm"], recall)) - 1)
    share = "" if least == 1 else f"by {least:g} or more "
    return (
        f"a document contained {share}in one of up to {ratio} times as many shingles is found"
        f" with a probability of at least {recall:g}, a shorter part with --split paragraphs"
        " or --by paragraph"
    )


def says_stage(arguments: argparse.Namespace, record: Record) -> bool:
    """Say that a stage is done which does not end the run; return whether it is one."""
    if arguments.stage is None or record["documents"]:  # only the last one counts
        return False
    if arguments.quiet:
        return True
    part = "" if arguments.part is None else ", part {}/{}".format(*arguments.part)
    say(f"stage {arguments.stage}{part}: done")
    return True


def summarise(arguments: argparse.Namespace, record: Record, *counts: str) -> None:
    """Print what was read, what came out and which pairs are found.

    Parameters
    ----------
    arguments : argparse.Namespace
        With ``quiet`` and ``verbose``.
    record : dict
        Of the run, as `Watch.result` has returned it.
    *counts : str
        What has come out.
    """
    if arguments.quiet or says_stage(arguments, record):
        return
    documents = documents_read(arguments, record["documents"])
    if record["empty"]:
        documents += f", {record['empty']:,} empty"
    if missing := record.get("missing_priorities", 0):
        documents += f", {missing:,} without a value of {arguments.priority}"
    say_counts(arguments, record, documents, *counts, recall_text(record))


def say_counts(arguments: argparse.Namespace, record: Record, documents: str, *counts: str) -> None:
    """Print in one line what was read and what came out; with ``--verbose``, how, in another."""
    say(f"{documents}{rows_skipped(record)}: {'; '.join(counts)}")
    if arguments.verbose:
        search = record["parameters"]
        bands = "{bands} bands x {rows} rows; ".format(**search) if search.get("bands") else ""
        say(f"{bands}engine: {with_options(record['reason'])}")
