"""The page about a removal of repeated passages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import unique
from fastlsh.html import described, escaped
from fastlsh.parallel import plural
from fastlsh.reporting import frame, sections
from fastlsh.reporting.differences import beginning
from fastlsh.reporting.removals import (
    SHOWN,
    Excerpt,
    Groups,
    Passage,
    RemovedPassages,
    Repeated,
    Sharing,
)
from fastlsh.stages import touching
from fastlsh.texts import Shingler


class PassageRun(NamedTuple):
    """What a page is about."""

    rows: NDArray[np.int64]
    """int64 (m, 6): document, start and end of each removed span, and where it stays: document,
    start and end; -1 if it stays nowhere."""
    n_against: int
    """Documents of `against`, which have the first numbers."""
    sources: Sequence[tuple[str, int]]
    """The name of each input, and how many documents it has, in their order."""
    common: int
    """Passages that stay because they occur in many documents."""
    dropped: int
    """Documents of which too little was left."""
    min_length: int
    shingler: Shingler
    rules: Mapping[str, Any]
    """The arguments of `CutRules` that were given."""
    excerpts: Callable[[NDArray[np.int64]], list[Excerpt]]
    """Reads stretches of documents: int64 (k, 3), document, start and end."""
    names: Callable[[NDArray[np.int64]], list[Any]]
    """Returns the ids of documents."""


def passages_page(run: PassageRun, notes: Mapping[str, str], seconds: Mapping[str, float]) -> str:
    """Return the page; `notes` name the files, and `seconds` how long each stage took."""
    removals = _removals(run)
    sentence = (
        "Each passage is shown where it stays, with the text around it in small letters, and"
        " counts each removed span that has all or a part of it."
    )
    parts = [
        ("Passages removed most often", removals.most_often("passage", sentence, run.shingler)),
        ("How much of each source was removed", _sources(run)),
        ("Documents that share passages", removals.who_shares("span")),
        ("How often passages were removed", removals.how_often("passage")),
        ("Parameters", _parameters(run)),
    ]
    documents = sum(count for _, count in run.sources)
    about = frame.About(f"Repeated passages of {plural(documents, 'document')}", notes, seconds)
    return frame.page(about, _summary(run), parts)


def regions(rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Unite the stretches that overlap where they stay.

    Returns
    -------
    kept : ndarray of int64, shape (n, 3)
        Document, start and end of what stays, ascending.
    region : ndarray of int64, shape (m,)
        The number of that for each row.
    """
    if not len(rows):
        return np.empty((0, 3), np.int64), np.empty(0, np.int64)
    document, start, end = rows[:, 3:].T
    # With its last position as its end, a stretch touches only those that it overlaps.
    order, heads = touching(np.column_stack([document, document, start, end - 1]))
    region = np.empty(len(rows), np.int64)
    region[order] = np.repeat(np.arange(len(heads)), np.diff(heads, append=len(rows)))
    ends = np.maximum.reduceat(end[order], heads)
    return np.column_stack([document[order[heads]], start[order[heads]], ends]), region


def _summary(run: PassageRun) -> str:
    rows = run.rows
    outside = int((rows[:, 3] < run.n_against).sum())
    counted = [
        ("documents", sum(count for _, count in run.sources)),
        ("that lost something", len(unique(rows[:, 0]))),
        ("spans removed", len(rows)),
        ("characters removed", int((rows[:, 2] - rows[:, 1]).sum())),
    ]
    more = [
        ("documents left out because too little of them was left", run.dropped),
        ("spans removed because they occur in the reference collection", outside),
        ("spans between two cuts, which stay nowhere", int((rows[:, 4] < 0).sum())),
        ("passages kept because they occur in too many documents", run.common),
    ]
    return frame.summary(counted, more)


def _removals(run: PassageRun) -> RemovedPassages:
    """Gather what was removed and stays elsewhere."""

    def named(documents: NDArray[np.int64]) -> list[Passage]:
        return [Passage("", name) for name in run.names(documents)]

    rows = run.rows[run.rows[:, 4] >= 0]
    documents, starts, ends, kept_documents = rows.T[:4]
    kept, region = regions(rows)
    groups = Groups(region, documents, np.ones(len(rows)))
    largest = groups.largest(SHOWN)
    places = kept[largest]
    excerpts, names = run.excerpts(places), run.names(places[:, 0])
    repeated = []
    for group, place, excerpt, name in zip(largest, places.tolist(), excerpts, names, strict=True):
        document, start, end = place
        count, losers = groups.losers(groups.members(group))
        before, behind = (f"<small>{escaped(text)}</small>" for text in excerpt[::2])
        shown = f"{before}{beginning(excerpt.text)}{behind}"
        kept_in = f"{end - start:,} characters, kept in"
        passage = Passage(excerpt.text, name, document < run.n_against)
        removed, lost = int(groups.sizes[group]), named(documents[losers])
        repeated.append(Repeated(shown, kept_in, passage, removed, count, lost))
    sharing = Sharing.of(kept_documents, documents, ends - starts)
    both = (named(side[sharing.rows]) for side in (kept_documents, documents))
    return RemovedPassages(groups.sizes, repeated, sharing, list(zip(*both, strict=True)))


def _sources(run: PassageRun) -> str:
    first = np.cumsum([run.n_against, *(count for _, count in run.sources)])
    edges = np.searchsorted(run.rows[:, 0], first)
    lines = []
    for number, (name, documents) in enumerate(run.sources):
        if not documents:
            continue
        rows = run.rows[edges[number] : edges[number + 1]]
        changed = len(unique(rows[:, 0]))
        characters = int((rows[:, 2] - rows[:, 1]).sum())
        share = f"{changed / documents:.1%}"
        lines.append((frame.note(name), documents, changed, share, len(rows), characters))
    head = ("file", "documents", "that lost something", "share", "spans", "characters")
    return frame.table(head, lines)


def _parameters(run: PassageRun) -> str:
    unit = {"char": "characters", "byte": "bytes"}.get(run.shingler.unit, "words")
    rules = [(name.replace("_", " "), str(value)) for name, value in run.rules.items()]
    rows = [
        ("minimum length", f"{run.min_length:,} {unit}"),
        sections.normalisation(run.shingler),
        *rules,
    ]
    return (
        "<p>A passage was removed if it occurred before. All passages were compared in full.</p>"
        + described((label, escaped(value)) for label, value in rows)
    )
