"""The sections of a report, as HTML."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.candidates._candidates import REMEMBERED
from fastlsh.banding import LSHParams, probability_text
from fastlsh.explanation import shingles_text, steps
from fastlsh.html import described, escaped
from fastlsh.parallel import plural
from fastlsh.plots import curve_as_svg
from fastlsh.reporting import frame
from fastlsh.reporting.differences import beginning, compared
from fastlsh.reporting.documents import ReportedDocuments, RunCounts
from fastlsh.reporting.removals import LOOKED_AT, Groups
from fastlsh.results import Deduplication
from fastlsh.search import long_shingles
from fastlsh.texts import UNIT, Shingler

BINS = 10
"""Of the similarities below 1, at most."""

LISTED, UNFOLDED = 50, 10
"""Documents of a list, and how many of them are to be seen at once."""

VERIFIED = {
    "exact": "exact Jaccard similarity of the sets of shingles",
    "signature": "share of equal values of the signatures",
    "none": "none: documents that share a band count as duplicates",
}

PRIORITY = {"first": "the first", "last": "the last", "longest": "the longest"}


def summary(run: RunCounts, measure: str) -> str:
    """Show how many documents went in, were kept and were removed."""
    counted = [
        ("documents", run.documents),
        ("kept", run.documents - run.removed),
        ("removed", run.removed),
        ("duplicates", f"{run.duplicate_ratio:.1%}"),
    ]
    similarity = run.similarity
    rows = [
        (f"removed, {measure} 1", int((similarity == 1).sum())),
        (f"removed, {measure} below 1", int((similarity < 1).sum())),
        ("removed, not verified", int(np.isnan(similarity).sum())),
        ("removed, duplicates of the reference collection", run.outside),
    ]
    return frame.summary(counted, rows)


def parameters(result: Deduplication) -> str:
    """Show the parameters of the run and the recall that they promise."""
    options = result.options
    if result.rule == "equal":
        return equality("document", options["shingler"])
    by_word = options.get("priority") is None and "keep" in options
    kept = PRIORITY[options["keep"]] if by_word else "by the given priorities"
    share = f"at least {result.containment:.5g} of its shingles in the kept document"
    rule = [] if result.rule == "jaccard" else [("rule", share)]
    return searched(result.params, result.threshold, options, "document", kept, rule)


def equality(what: str, shingler: Shingler, rows: Sequence[tuple[str, str]] = ()) -> str:
    """Say that equal ones were removed, and how each `what` was normalised."""
    return (
        f"<p>A {what} was removed if it equals another one that is kept. Both were compared in"
        f" full.</p>{described([normalisation(shingler), *rows])}"
    )


def normalisation(shingler: Shingler) -> tuple[str, str]:
    """Return how texts were normalised, with its label."""
    return "normalisation", ", ".join(steps(shingler)) or "none: every character counts"


def searched(
    params: LSHParams | None,
    threshold: float,
    options: Mapping[str, Any],
    what: str,
    kept: str,
    rule: Sequence[tuple[str, str]] = (),
) -> str:
    """Show the parameters of a search, which compared each `what` and kept the one named."""
    bands = [] if params is None else [("bands", f"{params.bands:,} x {params.rows:,} rows")]
    rows = [("threshold", f"{threshold:g}"), *bands]
    if options:
        signatures = f"{options['num_perm']:,} values ({options['scheme']}, seed {options['seed']})"
        rows[1:] = [
            ("shingles", shingles_text(options["shingler"])),
            ("signatures", signatures),
            ("verification", VERIFIED[options["verify"]]),
            *rule,
            *bands,
            (f"kept {what}", kept),
            ("comparison limit", f"{options['max_candidates']:,} per {what}"),
        ]
    verify = options.get("verify", "exact")
    if params is None or rule or verify == "signature":
        return described(rows)  # with which probability anything is found is not known
    step = (1 - threshold) / 4
    levels = [threshold + n * step for n in range(4)] if step > 1e-3 else [threshold]
    chances = [(f"{s:.5g}", params.probability(s), probability_text(params, s)) for s in levels]
    sentence = (
        f"A pair exactly at the threshold is compared with probability {chances[0][2]}, a more "
        "similar pair with a higher one. Every removal was verified, so a duplicate can only have "
        "been missed because it was never compared."
    )
    if verify != "exact":
        sentence = sentence.partition(" Every")[0]
    return (
        f'<p>{sentence}</p>{described(rows)}<div class="pair">{curve_as_svg(params, threshold)}'
        f"{frame.bars(('similarity', 'compared with probability'), chances)}</div>"
    )


def similarities(run: RunCounts, measure: str, least: float) -> str:
    """Show how similar the removed documents are to their kept ones: `least` or more."""
    shown = histogram(run.similarity, measure, "removed", least)
    return shown or "<p>No removed document has a verified similarity.</p>"


def histogram(similarity: NDArray[np.float64], measure: str, counted: str, least: float) -> str:
    """Show how many of what is `counted` have which similarity, or nothing if none is verified."""
    similarity = similarity[~np.isnan(similarity)]
    if not len(similarity):
        return ""
    below = similarity[similarity < 1]
    rows: list[tuple[str, int]] = []
    if least < 1:
        edges = _edges(least)
        labels = [f"{low:.12g} to {high:.12g}" for low, high in pairwise(edges)]
        rows = list(zip(labels, np.histogram(below, edges)[0].tolist(), strict=True))
    return frame.count_bars((measure, counted), [*rows, ("1", len(similarity) - len(below))])


def _edges(threshold: float) -> list[float]:
    """Return the borders of up to ten bins from the threshold to 1, round ones in between."""
    least = (1 - threshold) / BINS
    tens = 10 ** (-1 - math.floor(math.log10(least)))
    # A border is the quotient of two integers, as a similarity is: equal ones compare as equal.
    whole = next(n for n in (10 * tens, 5 * tens, 2 * tens, tens) if n * least <= 1 + 1e-9)
    inner = range(math.floor(threshold * whole + 1e-9) + 1, whole + 1)
    return [threshold, *(n / whole for n in inner)]


def cluster_sizes(sizes: NDArray[np.int64]) -> str:
    """Show how many clusters there are of which size; `sizes` without the kept document."""
    if not len(sizes):
        return "<p>No document was removed.</p>"
    largest = (
        f"<p>Kept documents with duplicates: {len(sizes):,}. The largest cluster has "
        f"{int(sizes.max()) + 1:,} documents.</p>"
    )
    return largest + frame.by_powers(sizes + 1, ("documents", "clusters"), 1)


def limited(count: int, numbers: NDArray[np.int64], documents: ReportedDocuments) -> str:
    """List the documents that were not compared with every candidate, or give their count only."""
    if not count:
        return "<p>Every document was compared with all its candidates.</p>"
    return (
        "<p>Documents that were kept without being compared with every candidate: "
        f"{count:,}. They had more candidates than the comparison limit allows, or shared "
        f"a bucket with more than the {REMEMBERED} kept documents that it remembers.</p>"
        f"{_documents(numbers, documents) if len(numbers) else ''}"
    )


def short_ones(documents: ReportedDocuments, *, finds_equal: bool) -> str:
    """List empty documents, and those shorter than a shingle; `finds_equal`: only equal ones."""
    empty, short = documents.short
    unit = UNIT[documents.shingler.unit]
    parts = []
    if len(empty):
        parts.append(empty_ones(len(empty)) + _documents(empty, documents, text=False))
    if len(short):
        parts.append(
            f"<p>Documents with fewer than {documents.shingler.size:,} {unit}s, which are similar "
            f"only to an identical one: {len(short):,}.</p>{_documents(short, documents)}"
        )
    if not finds_equal:
        parts.append(too_short(documents))
    return "".join(parts) or "<p>No document is empty or shorter than a shingle.</p>"


def too_short(documents: ReportedDocuments) -> str:
    """Say that many documents are shorter than a shingle, if they are."""
    empty, short = documents.short
    message = long_shingles(len(short), len(documents) - len(empty), documents.shingler)
    return f"<p>{escaped(message)}.</p>" if message else ""


def empty_ones(count: int) -> str:
    """Say how many documents are empty."""
    if not count:
        return "<p>No document is empty.</p>"
    return f"<p>Empty documents, which are similar to nothing and always kept: {count:,}.</p>"


def _documents(numbers: NDArray[np.int64], documents: ReportedDocuments, text: bool = True) -> str:
    items = []
    for number in numbers[:LISTED].tolist():
        shown = f" {beginning(documents.text(number), 100)}" if text else ""
        items.append(f"<li>{documents.name(number)}{shown}</li>")
    more = len(numbers) - len(items)
    shown = frame.gallery(items) + frame.not_shown(more, "more are not shown.")
    if len(items) <= UNFOLDED:
        return shown
    which = f"The first {len(items)}" if more else "All of them"
    return frame.folded(which, shown, unfolded=False)


CLUSTERS, MEMBERS = 20, 5
"""How many are shown, and how many documents of each."""

OPEN = 3
"""Clusters that are unfolded."""


def clusters_of(result: Deduplication) -> Groups:
    """Return the removed documents by their kept ones; those of `against` come behind all."""
    removed = result.removed
    inside, outside = result.kept_index[removed], result.against_index[removed]
    kept = np.where(inside >= 0, inside, result.documents + outside)
    return Groups(kept, removed, result.similarity[removed], result.proofs().also_similarity)


def largest_clusters(clusters: Groups, documents: ReportedDocuments, count: int) -> str:
    """Show the largest clusters, of `count`."""
    shown = [
        _cluster(clusters, documents, group, unfolded=number < OPEN)
        for number, group in enumerate(clusters.largest(CLUSTERS))
    ]
    if not shown:
        return ""
    rest = frame.not_shown(count - len(shown), "other clusters are not shown.")
    return (
        "<p>Each cluster shows the kept document, then the removed documents that differ from it, "
        "the least similar first. <mark>Marked</mark> text is in only one of the two: in the "
        "removed document or, in the indented passage below it, in the kept one.</p>"
        f"{chr(10).join(shown)}{rest}"
    )


def _cluster(clusters: Groups, documents: ReportedDocuments, group: int, *, unfolded: bool) -> str:
    kept, size = int(clusters.kept[group]), int(clusters.sizes[group])
    text = documents.text(kept)
    items: list[str] = []
    shown, equal, again = {text}, 0, 0
    for member in clusters.members(group)[:LOOKED_AT].tolist():
        number, similarity = int(clusters.documents[member]), float(clusters.similarity[member])
        removed_text = documents.text(number)
        equal += removed_text == text
        again += removed_text != text and removed_text in shown
        if removed_text not in shown and len(items) < MEMBERS:
            shown.add(removed_text)
            difference = compared(text, removed_text, documents.shingler)
            also = None if clusters.also is None else clusters.also[member]
            items.append(frame.compared_item(documents.name(number), similarity, difference, also))
    rest = _rest(size - len(items), equal, again, "" if size <= LOOKED_AT else "at least ")
    summary = f"{documents.name(kept)} <span>{plural(size, 'duplicate')}</span>"
    listed = f"<ul>\n{chr(10).join(items)}\n</ul>"
    inner = f'<p class="kept">{beginning(text)}</p>\n{listed}\n{rest}'
    return frame.folded(summary, inner, unfolded=unfolded)


def _rest(more: int, equal: int, again: int, least: str) -> str:
    """Tell what is not listed: copies of the kept document, copies of those shown, and others."""
    counted = (
        (equal, least, "identical to the kept document"),
        (again, least, "identical to a removed one above"),
        (more - equal - again, "", "not shown"),
    )
    parts = [
        f"{before}{count:,} more {'is' if count == 1 else 'are'} {what}"
        for count, before, what in counted
        if count
    ]
    sentence = "; ".join(parts)
    return f'<p class="same">{sentence[:1].upper()}{sentence[1:]}.</p>' if parts else ""
