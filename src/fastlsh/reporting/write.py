"""`report`: one page about a deduplication or an evaluation."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fastlsh.evaluation import Evaluation
from fastlsh.io import InputError, check_target, write_text
from fastlsh.reporting import frame, sections
from fastlsh.reporting.documents import ReportedDocuments, RunCounts
from fastlsh.reporting.evaluation import evaluation_page
from fastlsh.reporting.lines import line_run, lines_page
from fastlsh.reporting.removals import Groups
from fastlsh.reporting.sections import clusters_of
from fastlsh.results import Deduplication, LineDeduplication
from fastlsh.texts import Shingler


def report(
    result: Deduplication | LineDeduplication | Evaluation,
    texts: Iterable[Any],
    path: str | os.PathLike[str],
    *,
    against: Iterable[Any] | None = None,
    ids: Sequence[Any] | None = None,
    against_ids: Sequence[Any] | None = None,
    title: str | None = None,
    notes: Mapping[str, str] | None = None,
    seconds: Mapping[str, float] | None = None,
) -> None:
    """Write an HTML page that shows what a deduplication did, or what an evaluation found.

    The page shows how many documents were kept and removed, the parameters and the recall that
    they promise, how similar the removed documents are, the sizes of the clusters, the largest
    clusters with the differences between their members, which documents were limited, short or
    empty, and the time of each stage. For removed lines, paragraphs or sentences, it shows
    those that were removed most often, with their variants, and how much of each document was
    removed. For an evaluation, it shows pairs of each step of similarity, by which a threshold can
    be chosen, and the recall of each step.

    The page is one file without scripts that loads nothing, and suits screens of any width, light
    and dark. The text of documents is escaped, so nothing in it can act.

    Parameters
    ----------
    result
        What `deduplicate`, `deduplicate_lines` or `evaluate` returned.
    texts, against
        The collections that this function was given, in any of its forms except an exhausted
        iterator.
    path
        The file to write, which must end in .html. It appears complete or not at all.
    ids, against_ids
        The names of the documents; by default the ids of the result, or else their numbers.
    title
        The heading; by default "Deduplication" or "Evaluation".
    notes
        Further facts to show, by label: for instance, where the texts come from.
    seconds
        The times to show instead of ``result.seconds``.

    Raises
    ------
    ValueError
        The number of `texts`, `against` or ids does not match `result`.
    InputError
        The file cannot be written, or has another suffix.

    Notes
    -----
    At most a few hundred texts are shown, each of them shortened, so the page stays below 5 MB.
    The cost is one pass over the lengths of the texts (over the texts themselves with unit "word"
    or with normalisation), reading up to a thousand texts, and comparing the shingles of a hundred
    pairs. Of a long text, 20,000 characters from the first difference on are compared with 100,000
    characters of the other one. The same arguments give the same bytes.

    Examples
    --------
    >>> import fastlsh
    >>> texts = ["some text", "another text", "some text"]
    >>> report(fastlsh.deduplicate(texts), texts, "report.html")
    """
    check_report(path)
    if title is None:
        title = "Evaluation" if isinstance(result, Evaluation) else "Deduplication"
    text = report_page(result, texts, against, ids, against_ids, title, notes or {}, seconds)
    write_text(path, text)


def report_page(
    result: Deduplication | LineDeduplication | Evaluation,
    texts: Iterable[Any],
    against: Iterable[Any] | None,
    ids: Sequence[Any] | None,
    against_ids: Sequence[Any] | None,
    title: str,
    notes: Mapping[str, str],
    seconds: Mapping[str, float] | None,
) -> str:
    """Return the page that `report` writes; the arguments are its."""
    if isinstance(result, LineDeduplication):
        run = line_run(result, texts, against, ids, against_ids)
        return lines_page(run, title, notes, seconds or {})
    if isinstance(result, Evaluation):
        ids = result.examples.ids if ids is None else ids
        documents = ReportedDocuments(texts, against, ids, against_ids, result.shingler)
        documents.check(result.collection, np.empty(0, np.int64))
        seconds = result.seconds if seconds is None else seconds
        return evaluation_page(result, documents, title, notes, seconds)
    shingler = result.options.get("shingler") or Shingler()
    ids = result.ids if ids is None else ids
    against_ids = result.against_ids if against_ids is None else against_ids
    documents = ReportedDocuments(texts, against, ids, against_ids, shingler)
    documents.check(result.documents, result.against_index)
    clusters = clusters_of(result)
    counts = RunCounts(
        result.documents, int((result.against_index >= 0).sum()), clusters.similarity,
        clusters.sizes, result.limited, result.empty,
    )  # fmt: skip
    listed = sections.short_ones(documents, finds_equal=result.rule == "equal")
    short = ("Empty and short documents", listed)
    seconds = result.seconds if seconds is None else seconds
    return _page(result, clusters, documents, counts, short, title, notes, seconds)


def largest_clusters_page(
    result: Deduplication,
    texts: Sequence[str],
    against: Sequence[str],
    counts: RunCounts,
    *,
    ids: Sequence[Any],
    against_ids: Sequence[Any],
    title: str,
    notes: Mapping[str, str],
    seconds: Mapping[str, float],
) -> str:
    """Return the page of `report` about a run of which only the largest clusters are at hand.

    Parameters
    ----------
    result, texts, against, ids, against_ids
        Of the documents of these clusters.
    counts
        Of the run.
    title, notes, seconds
        As for `report`.
    """
    shingler = result.options["shingler"]
    documents = ReportedDocuments(texts, against, ids, against_ids, shingler)
    short = ("Empty documents", sections.empty_ones(counts.empty))
    return _page(result, clusters_of(result), documents, counts, short, title, notes, seconds)


def check_report(path: str | os.PathLike[str]) -> None:
    """Raise InputError unless a report can be written there."""
    name = os.fspath(path)
    if os.path.splitext(name)[1].lower() not in (".html", ".htm"):
        raise InputError(name, "a report must be an .html file")
    check_target(name)


def _page(
    result: Deduplication,
    clusters: Groups,
    documents: ReportedDocuments,
    counts: RunCounts,
    short: tuple[str, str],
    title: str,
    notes: Mapping[str, str],
    seconds: Mapping[str, float],
) -> str:
    similarities = sections.similarities(counts, result.measure, result.least)
    limited = sections.limited(counts.limited, result.limited_documents, documents)
    parts = [
        ("Parameters and recall", sections.parameters(result)),
        ("How similar the removed documents are", similarities),
        ("Sizes of clusters", sections.cluster_sizes(counts.sizes)),
        ("The largest clusters", sections.largest_clusters(clusters, documents, len(counts.sizes))),
        ("Documents not compared with every candidate", limited),
        short,
    ]
    return frame.page(title, sections.summary(counts, result.measure), notes, parts, seconds)
