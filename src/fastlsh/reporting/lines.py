"""The page about a removal of repeated lines or paragraphs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_ids
from fastlsh.banding import LSHParams
from fastlsh.html import described
from fastlsh.reporting import frame, sections
from fastlsh.reporting.clusters import Repeated, Sharing, removed_most_often, sharing, sharing_table
from fastlsh.reporting.differences import beginning, differences
from fastlsh.reporting.documents import check_collections
from fastlsh.results import LineDeduplication
from fastlsh.texts import Shingler, pieces_of, plain_strings

SHOWN, VARIANTS, NAMED = 50, 3, 5
"""How many are shown, and of each how many variants and documents that lost one."""

LOOKED_AT = 50
"""Removed ones whose texts are read, to find the variants."""


class Passage(NamedTuple):
    """A line or paragraph, and where it is."""

    text: str
    id: Any
    """Of its document."""
    outside: bool = False
    """Whether that is one of `against`."""

    @property
    def name(self) -> str:
        """The id as HTML."""
        return frame.identifier(self.id, outside=self.outside)


class PassageGroup(NamedTuple):
    """A kept line or paragraph, and what was removed for it."""

    kept: Passage
    removed: int
    documents: int
    """How many documents lost one."""
    losers: list[Passage]
    """One of each of the first documents that lost one, up to 5."""
    others: list[tuple[Passage, float]]
    """Up to 50 of those that were removed, the least similar first, and how similar they are."""


class RemovedPassages(NamedTuple):
    """What was removed for what."""

    sizes: NDArray[np.int64]
    """int64 (m,): how many were removed for each kept one that others were removed for."""
    largest: list[PassageGroup]
    """The largest of these, the earlier first among equals."""
    sharing: Sharing
    pairs: list[tuple[Passage, Passage]]
    """A kept and its removed one of each pair of documents of `sharing`."""


def removed_passages(
    kept: NDArray[np.int64],
    documents: NDArray[np.int64],
    kept_documents: NDArray[np.int64],
    lengths: NDArray[np.int64],
    similarity: NDArray[np.float64],
    read: Callable[[NDArray[np.int64]], tuple[list[Passage], list[Passage]]],
) -> RemovedPassages:
    """Gather what a page shows.

    Parameters
    ----------
    kept
        int64 (n,): a number for the kept one of each removal, ascending as these do.
    documents
        int64 (n,): the document that lost something.
    kept_documents
        int64 (n,): the document of the kept one; below 0, ascending, if it is one of `against`.
    lengths
        int64 (n,): how many characters were removed.
    similarity
        float64 (n,).
    read
        A function that returns, for the numbers of some removals, the kept and the removed ones.
    """
    _, group, sizes = np.unique(kept, return_inverse=True, return_counts=True)
    rows = np.lexsort([similarity, group])
    starts = np.cumsum(sizes) - sizes
    largest = np.argsort(-sizes, kind="stable")[:SHOWN].tolist()
    members = [rows[starts[i] : starts[i] + sizes[i]] for i in largest]
    shares = sharing(kept_documents, documents, lengths)
    asked = [shares.rows]
    for cluster in members:
        _, first = np.unique(documents[cluster], return_index=True)
        asked += [cluster[:LOOKED_AT], cluster[first[:NAMED]]]
    both = iter(list(zip(*read(np.concatenate(asked)), strict=True)))
    pairs = list(islice(both, len(shares.rows)))
    repeated = []
    for cluster in members:
        looked_at = list(islice(both, min(len(cluster), LOOKED_AT)))
        lost = len(np.unique(documents[cluster]))
        losers = [passage for _, passage in islice(both, min(lost, NAMED))]
        values = similarity[cluster].tolist()
        others = [(passage, value) for (_, passage), value in zip(looked_at, values, strict=False)]
        repeated.append(PassageGroup(looked_at[0][0], len(cluster), lost, losers, others))
    return RemovedPassages(sizes, repeated, shares, pairs)


def _most_often(removals: RemovedPassages, by: str, shingler: Shingler) -> str:
    largest = [_repeated(group, shingler) for group in removals.largest]
    sentence = (
        f"Each {by} is kept in the document named below it, and was removed from the documents "
        f"named behind that one. Variants that differ from the kept {by} are listed, the least "
        f"similar first; <mark>marked</mark> text is in only one of the two: in the "
        f"variant or, in the indented passage below it, in the kept {by}."
    )
    return removed_most_often(largest, len(removals.sizes), by, sentence)


def _repeated(group: PassageGroup, shingler: Shingler) -> Repeated:
    kept, texts, variants = group.kept, {group.kept.text}, list[str]()
    for passage, similarity in group.others:
        if passage.text not in texts and len(variants) < VARIANTS:
            texts.add(passage.text)
            variants.append(_variant(kept, passage, similarity, shingler))
    losers = [passage.name for passage in group.losers]
    text = beginning(kept.text)
    return Repeated(text, "kept in", kept.name, group.removed, group.documents, losers, variants)


def _variant(kept: Passage, other: Passage, similarity: float, shingler: Shingler) -> str:
    shown = str(differences(kept.text, other.text, shingler))
    shown = shown or f"<p>{beginning(other.text)}</p>"  # they are equal once both are normalised
    value = frame.similarity_text(similarity)
    return f"<li>{other.name} <span>{value}</span>{shown}</li>"


LOST = ("nothing", "up to 25 %", "up to 50 %", "up to 75 %", "up to 100 %", "everything")
"""Shares of the lines of a document."""


class LineRun(NamedTuple):
    """What a page is about."""

    by: str
    threshold: float
    params: LSHParams | None
    """None: equal ones were removed."""
    options: Mapping[str, Any]
    """As `LineDeduplication` has them, with all parameters of a search by similarity."""
    pieces: NDArray[np.int64]
    """int64 (n,): how many lines or paragraphs each document has."""
    lost: NDArray[np.int64]
    """int64 (n,): how many of these were removed."""
    characters: int
    outside: int
    """How many were removed because they occur in `against`."""
    limited: int
    removals: RemovedPassages


def line_run(
    result: LineDeduplication,
    texts: Iterable[Any],
    against: Iterable[Any] | None = None,
    ids: Sequence[Any] | None = None,
    against_ids: Sequence[Any] | None = None,
) -> LineRun:
    """Return what a page is about, from a result in memory.

    Raises
    ------
    ValueError
        The texts, or ids, are not those of the result.
    """
    inputs, others = plain_strings(texts), [] if against is None else plain_strings(against)
    check_collections(len(inputs), result.documents, len(others), result.against_document)
    names = check_ids(result.ids if ids is None else ids, len(inputs))
    ids_of_others = result.against_ids if against_ids is None else against_ids
    other_names = check_ids(ids_of_others, len(others), "against_ids")
    outside = result.against_document >= 0
    document = np.where(outside, result.against_document, result.kept_document)

    def own_passage(number: int, start: int, end: int) -> Passage:
        return Passage((inputs[number] or "")[start:end], _name(number, names))

    def passages(rows: NDArray[np.int64]) -> tuple[list[Passage], list[Passage]]:
        removed = [own_passage(*span) for span in _spans(result.document, result, rows)]
        kept = []
        spans = _spans(document, result, rows, kept=True)
        for (number, start, end), other in zip(spans, outside[rows].tolist(), strict=True):
            if other:
                text, name = (others[number] or "")[start:end], _name(number, other_names)
                kept.append(Passage(text, name, outside=True))
            else:
                kept.append(own_passage(number, start, end))
        return kept, removed

    return LineRun(
        result.by,
        result.threshold,
        result.params,
        result.options,
        np.bincount(pieces_of(inputs, result.by).bounds[:, 0], minlength=len(inputs)),
        np.bincount(result.document, minlength=len(inputs)),
        result.characters,
        int(outside.sum()),
        result.limited,
        removed_passages(
            _numbered(~outside, document, result.kept_start),
            result.document,
            np.where(outside, document - len(others), document),
            result.end - result.start,
            result.similarity,
            passages,
        ),
    )


def _name(number: int, ids: Sequence[Any] | None) -> str:
    return f"document {number:,}" if ids is None else str(ids[number])


def _spans(
    documents: NDArray[np.int64], result: LineDeduplication, rows: NDArray[np.int64], *,
    kept: bool = False,
) -> Iterator[tuple[int, int, int]]:  # fmt: skip
    bounds = (result.kept_start, result.kept_end) if kept else (result.start, result.end)
    return zip(*(column[rows].tolist() for column in (documents, *bounds)), strict=True)


def _numbered(*columns: NDArray[Any]) -> NDArray[np.int64]:
    """Return the same number for equal rows, ascending as the rows do."""
    order = np.lexsort(columns[::-1])
    sorted_rows = np.array([column[order] for column in columns])
    numbers = np.zeros(len(order), np.int64)
    numbers[order[1:]] = np.cumsum((sorted_rows[:, 1:] != sorted_rows[:, :-1]).any(axis=0))
    return numbers


def lines_page(
    run: LineRun, title: str, notes: Mapping[str, str], seconds: Mapping[str, float]
) -> str:
    """Return the page; the arguments are those of `fastlsh.report`."""
    often = _most_often(run.removals, run.by, run.options["shingler"])
    names = [(removed.name, kept.name) for kept, removed in run.removals.pairs]
    parts = [
        (f"{run.by.capitalize()}s removed most often", often),
        (f"Documents that share {run.by}s", sharing_table(run.removals.sharing, names, run.by)),
        (f"How much of each document was removed, in {run.by}s", _lost(run)),
        (f"How often {run.by}s were removed", _sizes(run)),
        ("Parameters", _parameters(run)),
    ]
    return frame.page(title, _summary(run), notes, parts, seconds)


def _summary(run: LineRun) -> str:
    removed, everything = int(run.lost.sum()), int(run.pieces.sum())
    emptied = (run.lost == run.pieces) & (run.lost > 0)
    rows = [
        ("documents that lost something", int((run.lost > 0).sum())),
        ("documents that lost everything", int(emptied.sum())),
        ("characters removed", run.characters),
        (f"{run.by}s removed because they occur in the reference collection", run.outside),
        (f"{run.by}s kept without being compared with every candidate", run.limited),
    ]
    counted = [
        ("documents", f"{len(run.pieces):,}"),
        (f"{run.by}s", f"{everything:,}"),
        ("removed", f"{removed:,}"),
        ("duplicates", f"{removed / max(everything, 1):.1%}"),
    ]
    return frame.tiles(counted) + frame.counts(rows)


def _parameters(run: LineRun) -> str:
    options = run.options
    least = options["min_length"]
    shorter = [("minimum length", f"{least:,} characters; shorter {run.by}s stay")] if least else []
    if run.params is not None:
        kept = sections.PRIORITY["first"]
        search = sections.searched(run.params, run.threshold, options, run.by, kept)
        return described(shorter) + search
    return sections.equality(run.by, options["shingler"], shorter)


def _lost(run: LineRun) -> str:
    filled = run.pieces > 0
    share = run.lost[filled] / run.pieces[filled]
    group = np.ceil(share * 4).astype(np.int64) + (share == 1)
    counts = np.bincount(group, minlength=len(LOST)).tolist()
    rows = [(what, float(n), f"{n:,}") for what, n in zip(LOST, counts, strict=True)]
    return frame.bars(("removed", "documents"), rows)


def _sizes(run: LineRun) -> str:
    sizes = run.removals.sizes
    if not len(sizes):
        return ""
    largest = (
        f"<p>Different {run.by}s that were removed: {len(sizes):,}. The most frequent one was"
        f" removed {int(sizes.max()):,} times.</p>"
    )
    return largest + sections.by_powers(sizes, ("times", f"{run.by}s"))
