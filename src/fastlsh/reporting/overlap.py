"""The page about the overlap of data sets: the matrices of documents and of characters."""

from collections.abc import Mapping
from math import ceil

import numpy as np
from numpy.typing import NDArray

from fastlsh.reporting import sections
from fastlsh.reporting.frame import MOST_LABEL, bounded, page
from fastlsh.results import Overlap

STEPS = 10
"""Shades of a cell."""


def overlap_page(
    overlap: Overlap,
    threshold: float,
    notes: Mapping[str, str],
    seconds: Mapping[str, float],
) -> str:
    """Return the page."""
    names = [bounded(name, MOST_LABEL) for name in overlap.names]
    counts = {
        "documents": (overlap.shared_documents, overlap.documents),
        "characters": (overlap.shared_characters, overlap.characters),
    }
    title = f"Overlap of {len(names):,} data sets"
    tiles = [
        ("data sets", f"{len(names):,}"),
        ("documents", f"{int(overlap.documents.sum()):,}"),
        ("characters", f"{int(overlap.characters.sum()):,}"),
        ("threshold", f"{threshold:g}"),
    ]
    parts = [
        (f"Shared {name}", _told(name) + _matrix(names, shared, total))
        for name, (shared, total) in counts.items()
    ]
    parts.append(("Time", sections.times(seconds)))
    return page(title, sections.tiles(tiles), notes, parts)


def _told(what: str) -> str:
    return (
        f"<p>Each row shows which share of the {what} of a data set belongs to documents with a "
        "near-duplicate in the data set of the column. In the diagonal, near-duplicates are other "
        "documents of the same data set.</p>"
    )


def _matrix(names: list[str], shared: NDArray[np.int64], total: NDArray[np.int64]) -> str:
    """Return a table with a shade for each share."""
    numbered = [f"{number}. {name}" for number, name in enumerate(names, 1)]
    head = "".join(f"<th>{number}</th>" for number in range(1, len(names) + 1))
    rows = []
    for name, counts, whole in zip(numbered, shared.tolist(), total.tolist(), strict=True):
        cells = "".join(_cell(count, whole) for count in counts)
        rows.append(f"<tr><th>{name}</th>{cells}<td>{whole:,}</td></tr>")
    return (
        f'<div class="wide"><table class="matrix"><thead><tr><th></th>{head}<th>all</th></tr>'
        f"</thead><tbody>\n{chr(10).join(rows)}\n</tbody></table></div>"
    )


def _cell(count: int, whole: int) -> str:
    if not count:
        return "<td></td>"
    share = count / whole
    return f'<td class="shade{ceil(share * STEPS)}">{share:.1%}<small>{count:,}</small></td>'
