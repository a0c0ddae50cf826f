"""The page about an evaluation: what a search finds, and how pairs of each similarity look."""

import numpy as np

from fastlsh.evaluation import Evaluation, Share, range_text, similarity_steps
from fastlsh.parallel import plural
from fastlsh.reporting import frame, sections
from fastlsh.reporting.documents import ReportedDocuments
from fastlsh.reporting.pairs import differing_texts, pair_items


def evaluation_page(result: Evaluation, documents: ReportedDocuments, about: frame.About) -> str:
    """Return the page; the documents are those of the whole collection."""
    steps = similarity_steps(result.lowest)
    shares = _shares(result, steps)
    counted = [
        ("documents", result.documents),
        ("pairs at the threshold or above", result.recall.total),
        ("recall", _number(result.recall.value)),
        ("precision", _number(result.precision.value)),
    ]
    parts = [
        ("Recall by similarity", _table(result, steps, shares)),
        ("How similar pairs look", _gallery(result, documents, steps, shares)),
        ("Short documents", sections.too_short(documents)),
    ]
    return frame.page(about, frame.tiles(counted), parts)


def _shares(result: Evaluation, steps: list[float]) -> list[Share]:
    """Return of the pairs of each step the share that became candidates."""
    place = np.searchsorted(steps, [one.low + 1e-9 for one in result.bins], side="right") - 1
    bins = [
        [one.candidates for one, step in zip(result.bins, place, strict=True) if step == number]
        for number in range(len(steps))
    ]
    return [Share(sum(s.hits for s in counts), sum(s.total for s in counts)) for counts in bins]


def _table(result: Evaluation, steps: list[float], shares: list[Share]) -> str:
    rows = []
    for label, share in zip(_labels(steps), shares, strict=True):
        low, high = share.interval
        interval = f"{low:.4f} to {high:.4f}" if share.total else "-"
        rows.append((label, share.total, _number(share.value), interval))
    params = result.params
    return (
        f"<p>The share of the existing pairs that {params.bands:,} bands of {params.rows:,} rows"
        f" find, with its 95 % interval. The answer of a search has the pairs from its threshold"
        f" on, {result.threshold:g}.</p>"
    ) + frame.table(("similarity", "pairs", "found", "interval"), rows)


def _gallery(
    result: Evaluation, documents: ReportedDocuments, steps: list[float], shares: list[Share]
) -> str:
    """Show the examples of each step, to choose a threshold by eye."""
    place = np.searchsorted(steps, result.examples.similarity, side="right") - 1
    parts = []
    for number, (label, share) in enumerate(zip(_labels(steps), shares, strict=True)):
        rows = np.flatnonzero(place == number)
        if len(rows):
            items = pair_items(result.examples, rows, documents, differing_texts)
            found = f"{plural(share.total, 'pair')}, {_number(share.value)} of them found"
            summary = f"Similarity {label} <span>{found}</span>"
            parts.append(frame.folded(summary, f"{items}\n", unfolded=True))
    if not parts:
        return f"<p>No pair has a similarity of {result.lowest:g} or more.</p>"
    return (
        "<p>Some pairs of each step of similarity: the threshold belongs where pairs begin to be"
        " duplicates in your eyes. Each pair shows how the first document begins, then where the"
        " two differ. <mark>Marked</mark> text is in only one of the two: in the second document"
        f" or, in the indented passage below it, in the first one.</p>{chr(10).join(parts)}"
    )


def _labels(steps: list[float]) -> list[str]:
    return [range_text(low, high) for low, high in zip(steps, [*steps[1:], 1.0], strict=True)]


def _number(share: float) -> str:
    return "-" if np.isnan(share) else f"{share:.4f}"
