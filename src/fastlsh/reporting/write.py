"""`report`: one page about a deduplication."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fastlsh.html import escaped, whole_page
from fastlsh.io import InputError, check_target, replacing
from fastlsh.reporting import sections
from fastlsh.reporting.clusters import Clusters, largest
from fastlsh.reporting.documents import Documents
from fastlsh.reporting.style import PAGE
from fastlsh.results import Deduplication
from fastlsh.texts import Shingler

MOST_TITLE = 200


def report(
    result: Deduplication,
    texts: Iterable[Any],
    path: str | os.PathLike[str],
    *,
    against: Iterable[Any] | None = None,
    ids: Sequence[Any] | None = None,
    against_ids: Sequence[Any] | None = None,
    title: str = "Deduplication",
    notes: Mapping[str, str] | None = None,
    seconds: Mapping[str, float] | None = None,
) -> None:
    """Write a page about a deduplication, for people.

    What went in and out, the parameters and the recall that they promise, how similar the removed
    documents are, the sizes of the clusters, the largest of them with the differences between
    their members, which documents were limited, short or empty, and the time of each stage.

    One HTML file without script, that loads nothing; for screens of any width, light and dark.
    Text of the documents is text there, whatever it is.

    Parameters
    ----------
    result
        What `deduplicate` returned.
    texts, against
        What it was made of, in any form of `deduplicate` but an iterator that has ended.
    path
        The file, .html; it appears whole or not at all.
    ids, against_ids
        What documents are called; default: the ids of the result, else their numbers.
    title
        The heading.
    notes
        More to tell, by label: where the texts come from, for instance.
    seconds
        Times to show instead of ``result.seconds``.

    Raises
    ------
    ValueError
        `texts`, `against` or ids are not as many as `result` is about.
    InputError
        The file cannot be written, or has another suffix.

    Notes
    -----
    At most a few hundred texts are shown, each cut, so the page stays below 5 MB. Cost: a pass
    over the lengths of the texts (over the texts themselves with unit "word" and where they are
    normalised), and the shingles of a hundred pairs: of a long text 20,000 characters, from the
    first change on, are looked up in 100,000 of the other one.
    The same arguments give the same bytes.
    """
    check_report(path)
    shingler = result.options.get("shingler") or Shingler()
    ids = result.ids if ids is None else ids
    against_ids = result.against_ids if against_ids is None else against_ids
    documents = Documents(texts, against, ids, against_ids, shingler)
    _check(result, documents, ids, against_ids)
    page = _page(
        result, documents, title, notes or {}, result.seconds if seconds is None else seconds
    )
    with replacing(path) as name, open(name, "w", encoding="utf-8", newline="\n") as file:
        file.write(page)


def check_report(path: str | os.PathLike[str]) -> None:
    """Raise InputError unless a report can be written there."""
    name = os.fspath(path)
    if os.path.splitext(name)[1].lower() not in (".html", ".htm"):
        raise InputError(name, "a report is written as .html")
    check_target(name)


def _check(
    result: Deduplication,
    documents: Documents,
    ids: Sequence[Any] | None,
    against_ids: Sequence[Any] | None,
) -> None:
    n, others = len(documents), documents.others
    if n != result.documents:
        raise ValueError(f"texts has {n:,} documents, the result is about {result.documents:,}")
    needed = int(result.against_index.max(initial=-1)) + 1
    if others < needed:
        raise ValueError(f"against has {others:,} documents, the result names at least {needed:,}")
    for name, given, count in (("ids", ids, n), ("against_ids", against_ids, others)):
        if given is not None and len(given) < count:
            raise ValueError(f"{name} has {len(given):,} elements for {count:,} documents")


def _page(
    result: Deduplication,
    documents: Documents,
    title: str,
    notes: Mapping[str, str],
    seconds: Mapping[str, float],
) -> str:
    clusters = Clusters(result)
    parts = [
        ("Parameters and recall", sections.parameters(result)),
        ("How similar the removed documents are", sections.similarities(result)),
        ("Sizes of clusters", sections.cluster_sizes(clusters.sizes)),
        ("The largest clusters", largest(clusters, documents)),
        ("Not compared with every candidate", sections.limited(result, documents)),
        ("Empty and short documents", sections.short_ones(documents)),
        ("Time", sections.times(seconds)),
    ]
    told = "\n".join(
        f"<section>\n<h2>{heading}</h2>\n{inner}\n</section>" for heading, inner in parts if inner
    )
    title = title[:MOST_TITLE]
    body = f"""<h1><bdi>{escaped(title)}</bdi></h1>
{sections.summary(result)}
{sections.notes_list(notes)}
{told}"""
    return whole_page(title, PAGE, body)
