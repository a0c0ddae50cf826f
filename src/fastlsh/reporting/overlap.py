"""The page about the overlap of data sets: the matrices of documents and of characters."""

from collections.abc import Mapping
from math import ceil

import numpy as np
from numpy.typing import NDArray

from fastlsh.reporting import frame
from fastlsh.results import Overlap


def overlap_page(
    overlap: Overlap,
    threshold: float,
    notes: Mapping[str, str],
    seconds: Mapping[str, float],
) -> str:
    """Return the page."""
    names = [frame.note(name, frame.MOST_LABEL) for name in overlap.names]
    counts = {
        "documents": (overlap.shared_documents, overlap.documents),
        "characters": (overlap.shared_characters, overlap.characters),
    }
    counted = [
        ("data sets", len(names)),
        ("documents", int(overlap.documents.sum())),
        ("characters", int(overlap.characters.sum())),
        ("threshold", f"{threshold:g}"),
    ]
    parts = [
        (f"Shared {name}", _told(name) + _matrix(names, shared, total))
        for name, (shared, total) in counts.items()
    ]
    about = frame.About(f"Overlap of {len(names):,} data sets", notes, seconds)
    return frame.page(about, frame.tiles(counted), parts)


def _told(what: str) -> str:
    return (
        f"<p>Each row shows which share of the {what} of a data set belongs to documents with a "
        "near-duplicate in the data set of the column. In the diagonal, near-duplicates are other "
        "documents of the same data set.</p>"
    )


def _matrix(names: list[str], shared: NDArray[np.int64], total: NDArray[np.int64]) -> str:
    """Return a table with a shade for each share."""
    numbered = [f"{number}. {name}" for number, name in enumerate(names, 1)]
    head = frame.cells(["", *range(1, len(names) + 1), "all"], "th")
    rows = []
    for name, counts, whole in zip(numbered, shared.tolist(), total.tolist(), strict=True):
        shades = "".join(_cell(count, whole) for count in counts)
        rows.append(f"<tr><th>{name}</th>{shades}<td>{whole:,}</td></tr>")
    return f'<div class="wide">{frame.table_of("matrix", head, rows)}</div>'


def _cell(count: int, whole: int) -> str:
    if not count:
        return "<td></td>"
    share = count / whole
    return f'<td class="shade{ceil(share * frame.STEPS)}">{share:.1%}<small>{count:,}</small></td>'
