"""Runs: the buckets of many documents, sorted, in pages that never change.

An entry is ``tag << 32 | number``, the tag being the upper half of a band key. A run has the
entries of each band in ascending order, so that a bucket is found by a search in the list of what
its pages begin with, which is in memory, and one page.
"""

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.index.sqlite.damage import refuse, state_of, words_of
from fastlsh.parallel import batches_by_work
from fastlsh.sets import offsets_of, places_of

PAGE = 1000
"""Entries in a page: they fill one of SQLite's."""
TOGETHER = 500
"""Rows that are asked for by one statement."""
PAGES = 1 << 12
"""Pages that are in memory at a time: 32 MB, and as much again to search them."""
MASK = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
CUT = 256
"""Entries of a tag that are taken where the first of a bucket are wanted: far more than these, in
case that two buckets have one tag."""


class Run(NamedTuple):
    """Where the entries of the documents first ... last - 1 are."""

    first: int
    last: int
    page: int
    """The first page."""
    pages: NDArray[np.int64]
    """int64 (bands + 1,): where the pages of each band begin, from 0 on."""
    least: NDArray[np.uint64]
    """uint64: the first entry of each page."""
    tags: NDArray[np.uint64]
    """uint64: ``band << 32 | tag`` of the first entry of each page; ascending."""

    @classmethod
    def of(
        cls, first: int, last: int, page: int, pages: NDArray[np.int64], least: NDArray[np.uint64]
    ) -> "Run":
        """Return a run with what follows from the rest."""
        bands = np.arange(len(pages) - 1, dtype=np.uint64)
        return cls(
            first,
            last,
            page,
            pages,
            least,
            np.repeat(bands << HALF, np.diff(pages)) | least >> HALF,
        )


def entries_of(keys: NDArray[np.uint64], numbers: NDArray[np.int64]) -> list[NDArray[np.uint64]]:
    """Return the entries of each band, ascending; a document with key 0 is empty, and has none."""
    filled = keys[0] != 0
    low = numbers[filled].astype(np.uint64)
    return [np.sort((band[filled] & ~MASK) | low) for band in keys]


def read_pages(
    connection: sqlite3.Connection, pages: NDArray[np.int64]
) -> dict[int, NDArray[np.uint64]]:
    """Return the entries of some pages, ascending."""
    found: dict[int, NDArray[np.uint64]] = {}
    if not len(pages):
        return found
    low, high = int(pages[0]), int(pages[-1])
    if 3 * len(pages) > high - low:
        rows: Iterable[tuple[int, bytes]] = connection.execute(
            "SELECT page, entries FROM pages WHERE page BETWEEN ? AND ?", (low, high)
        )
        return {page: words_of(entries) for page, entries in rows}
    wanted = pages.tolist()
    for start in range(0, len(wanted), TOGETHER):
        some = wanted[start : start + TOGETHER]
        rows = connection.execute(
            f"SELECT page, entries FROM pages WHERE page IN ({','.join('?' * len(some))})", some
        )
        found.update((page, words_of(entries)) for page, entries in rows)
    return found


def find_in_runs(
    connection: sqlite3.Connection,
    runs: list[Run],
    keys: NDArray[np.uint64],
    removed: NDArray[np.uint64],
    most: int | None,
) -> NDArray[np.int64]:
    """Return the numbers of all documents with one of the keys in a band, ascending.

    Parameters
    ----------
    keys
        uint64 (bands, n).
    removed
        Of documents that are gone, ascending.
    most
        At least so many of each bucket, the first.
    """
    found = [np.empty(0, np.uint64)]
    filled = keys[:, keys[0] != 0]
    if filled.shape[1] and runs:
        band = np.arange(len(keys), dtype=np.uint64)[:, None]
        wanted = np.unique(band << HALF | filled >> HALF)
        for run in runs:
            # The entries of a tag may begin in the page before the first that begins with it.
            start = np.maximum(np.searchsorted(run.tags, wanted, "left") - 1, 0)
            stop = np.searchsorted(run.tags, wanted, "right")
            for first, last in batches_by_work(stop - start, PAGES, max(len(wanted), 1)):
                some = slice(first, last)
                pages = np.unique(places_of(start[some], (stop - start)[some]))
                if len(pages):
                    tags, entries = _entries(connection, run, pages)
                    found.append(_chosen(tags, entries, wanted[some], removed, most))
    return np.unique(np.concatenate(found)).astype(np.int64)


def _entries(
    connection: sqlite3.Connection, run: Run, pages: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return ``band << 32 | tag`` of each entry of some pages, ascending, and the entries."""
    held = read_pages(connection, run.page + pages)
    if len(held) < len(pages):
        refuse("a run lacks pages")
    parts = [held[page] for page in (run.page + pages).tolist()]
    entries = np.concatenate(parts)
    band = np.searchsorted(run.pages, pages, "right").astype(np.uint64) - np.uint64(1)
    return np.repeat(band << HALF, [len(part) for part in parts]) | entries >> HALF, entries


def _chosen(
    tags: NDArray[np.uint64],
    entries: NDArray[np.uint64],
    wanted: NDArray[np.uint64],
    removed: NDArray[np.uint64],
    most: int | None,
) -> NDArray[np.uint64]:
    """Return the numbers of the entries with tags that are wanted."""
    start = np.searchsorted(tags, wanted, "left")
    count = np.searchsorted(tags, wanted, "right") - start
    chosen = entries[places_of(start, count)] & MASK
    if len(removed):
        there = ~np.isin(chosen, removed)
        tag = np.repeat(np.arange(len(wanted)), count)[there]
        chosen, count = chosen[there], np.bincount(tag, minlength=len(wanted))
    if most is not None and count.max(initial=0) > max(CUT, most):
        before = np.arange(len(chosen)) - np.repeat(np.cumsum(count) - count, count)
        chosen = chosen[before < max(CUT, most)]
    return chosen


def write_run(
    connection: sqlite3.Connection,
    first: int,
    last: int,
    page: int,
    bands: Iterable[NDArray[np.uint64]],
) -> Run:
    """Write a run, band by band; its pages have numbers from `page` on."""
    sizes, least = [], []
    at = page
    for entries in bands:
        starts = range(0, len(entries), PAGE)
        parts = [entries[start : start + PAGE] for start in starts]
        connection.executemany(
            "INSERT INTO pages VALUES (?, ?)",
            [(at + i, part.astype("<u8").tobytes()) for i, part in enumerate(parts)],
        )
        least.append(entries[::PAGE])
        sizes.append(len(parts))
        at += len(parts)
    pages = offsets_of(np.array(sizes, np.int64))
    run = Run.of(first, last, page, pages, np.concatenate(least))
    connection.execute(
        "INSERT INTO runs VALUES (?, ?, ?, ?, ?)",
        (first, last, page, pages.astype("<i8").tobytes(), run.least.astype("<u8").tobytes()),
    )
    return run


def read_run(row: tuple[int, int, int, bytes, bytes], bands: int) -> Run:
    """Return a run from its row."""
    first, last, page = state_of(row[:3])
    pages, least = words_of(row[3]).view(np.int64), words_of(row[4])
    if len(pages) != bands + 1 or pages[0] or (np.diff(pages) < 0).any() or pages[-1] != len(least):
        refuse("the pages of a run are not those of its bands")
    return Run.of(first, last, page, pages, least)


def delete_pages_of(connection: sqlite3.Connection, run: Run) -> None:
    """Delete the pages of a run."""
    connection.execute(
        "DELETE FROM pages WHERE page >= ? AND page < ?", (run.page, run.page + int(run.pages[-1]))
    )


def merged_band(
    connection: sqlite3.Connection, runs: list[Run], band: int, removed: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Return the entries of a band in some runs, without those of removed documents."""
    parts = [np.empty(0, np.uint64)]
    for run in runs:
        pages = np.arange(run.page + run.pages[band], run.page + run.pages[band + 1])
        held = read_pages(connection, pages)
        parts += [held[page] for page in sorted(held)]
    entries = np.sort(np.concatenate(parts), kind="stable")
    return entries[~np.isin(entries & MASK, removed)] if len(removed) else entries
