"""Lines on the standard error."""

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fastlsh._kernels import REMEMBERED
from fastlsh.banding import containment_bandings
from fastlsh.cli.process import discard
from fastlsh.cli.wording import with_options
from fastlsh.errors import one_line
from fastlsh.files import FileDecontamination, FileResult
from fastlsh.io import Collection
from fastlsh.parallel import Display, finish_line, plural

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


def warn_of_rows(found: Collection | FileResult) -> None:
    """Warn of rows that were left out and of ids that stand for several documents."""
    warn_of_skipped(found)
    if repeated := found.repeated_ids:
        example = found.repeated_example and f", such as {found.repeated_example}"
        warnings.warn(
            f"documents that repeat the id of an earlier one: {repeated}{example}", stacklevel=2
        )


def warn_of_skipped(found: Collection | FileResult | FileDecontamination) -> None:
    """Warn of rows that were left out."""
    for reason in found.skipped_reasons:
        warnings.warn(f"skipped: {reason}", stacklevel=2)
    more = found.skipped - len(found.skipped_reasons)
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
    first = "the first " if documents == arguments.first else ""
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
