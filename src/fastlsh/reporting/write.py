"""`report`: one page about a deduplication or an evaluation."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fastlsh.evaluation import Evaluation
from fastlsh.io import InputError, check_target, write_text
from fastlsh.reporting import frame, sections
from fastlsh.reporting.documents import Collections, ReportedDocuments, RunCounts
from fastlsh.reporting.evaluation import evaluation_page
from fastlsh.reporting.frame import About
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
    if seconds is None:
        seconds = {} if isinstance(result, LineDeduplication) else result.seconds
    about = About(title, notes or {}, seconds)
    collections = Collections(texts, against, ids, against_ids)
    write_text(path, report_page(result, collections, about))


def report_page(
    result: Deduplication | LineDeduplication | Evaluation, collections: Collections, about: About
) -> str:
    """Return the page that `report` writes."""
    if isinstance(result, LineDeduplication):
        return lines_page(line_run(result, collections), about)
    if isinstance(result, Evaluation):
        documents = ReportedDocuments(collections.called(result.examples.ids), result.shingler)
        documents.check(result.collection, np.empty(0, np.int64))
        return evaluation_page(result, documents, about)
    shingler = result.options.get("shingler") or Shingler()
    documents = ReportedDocuments(collections.called(result.ids, result.against_ids), shingler)
    documents.check(result.documents, result.against_index)
    clusters = clusters_of(result)
    counts = RunCounts(
        result.documents, int((result.against_index >= 0).sum()), clusters.similarity,
        clusters.sizes, result.limited, result.empty,
    )  # fmt: skip
    listed = sections.short_ones(documents, finds_equal=result.rule == "equal")
    return _page(result, clusters, documents, counts, ("Empty and short documents", listed), about)


def largest_clusters_page(
    result: Deduplication, documents: ReportedDocuments, counts: RunCounts, about: About
) -> str:
    """Return the page of `report` about a run of which only the largest clusters are at hand.

    `result` is that of the documents of these clusters; the counts are those of the run.
    """
    short = ("Empty documents", sections.empty_ones(counts.empty))
    return _page(result, clusters_of(result), documents, counts, short, about)


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
    about: About,
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
    return frame.page(about, sections.summary(counts, result.measure), parts)
