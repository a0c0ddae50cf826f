"""Lines on the standard error and in the log, with the names that options have."""

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from itertools import groupby
from typing import Any

from fastlsh._kernels.candidates._candidates import REMEMBERED
from fastlsh.banding import containment_bandings
from fastlsh.cli.process import discard
from fastlsh.errors import one_line
from fastlsh.files import FileDecontamination, FileResult
from fastlsh.io import Collection, InputError
from fastlsh.options import OPTIONS, Option
from fastlsh.parallel import Display, finish_line, plural

OPTION_OF = {
    option.name: option
    for option in OPTIONS
    if option.commands and option.spelled and option.name != "index_texts"  # named in messages
}
VERBS = ("must", "is", "needs", "has", "have")
"""What stands behind the name of an option that is the subject of a message."""

SPACED = ("split", "text")
"""Options whose value is shown behind a space instead of an equals sign."""


def with_options(message: str) -> str:
    """Return a message of the library in which parameters are called as the options are.

    A name with an underscore is an option wherever it stands; a word of English is one before an
    equals sign, and as the subject of the message.
    """
    message = message.replace("deduplicate()", "fastlsh dedup")
    # Names, numbers and paths, each with what stands between it and the next one behind it.
    words = ["".join(group) for _, group in groupby(message, _is_of_name)]
    verb = 6 if words[1:4] == [" ", "and", " "] else 2
    is_subject = words[verb - 1 : verb + 1] in ([" ", name] for name in VERBS)
    subjects = range(verb) if is_subject else ()
    shown: list[str] = []
    number = 0
    while number < len(words):
        word, *behind = (words[number:] + [""] * 3)[:4]
        name = word.rstrip(".")  # which ends the sentence
        option = OPTION_OF.get(name)
        worded, length = word, 1
        if option is not None:
            if name == word and behind[0].startswith("="):
                worded, length = _with_value(option, word, *behind)
            elif number in subjects or ("_" in name and not behind[0].startswith(": ")):
                worded = option.spelled + word[len(name) :]
        shown.append(worded)
        number += length
    return "".join(shown)


def _is_of_name(character: str) -> bool:
    """Whether a character is one of names, numbers and paths."""
    return character.isalnum() or character in "_./\\-"


def _with_value(option: Option, name: str, between: str, value: str, end: str) -> tuple[str, int]:
    """Return an option as it is given with a value, and how many of the four strings that takes."""
    quote = between[1:]
    if quote[:1] == "=":
        return name, 1
    if quote not in ("", '"', "'") or not value:  # there is no value
        return option.spelled + quote, 2
    plain = value if quote else value.rstrip(".")
    is_plain = plain.replace("_", "").isalnum() or plain.replace(".", "").isdecimal()
    if not is_plain or not end.startswith(quote) or end[len(quote) :].startswith("="):
        return option.spelled if quote or "_" in name else name, 1
    if plain == "False" and option.kind.value is not False:  # a flag that is not given
        return name, 1
    shown = option.spelled
    if plain not in ("True", str(option.kind.value)):
        shown += f"{' ' if name in SPACED else '='}{plain}"
    return shown + value[len(plain) :] + end[len(quote) :], 4


LAST = (None, "finish")
"""The stages that end a run."""

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
        pair = "a pair whose first texts are" if "also" in search else "a pair"
        return f"{pair} at {search['threshold']:g} is found with probability {recall:.4f}"
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
    if arguments.stage in LAST:
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
