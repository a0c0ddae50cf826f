"""Looking up buckets in runs."""

import sqlite3
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import ranges_of, unique
from fastlsh.index.sqlite.runs import HALF, MASK, PACKED_PAGE, TagRun, read_pages
from fastlsh.index.store import ALL
from fastlsh.parallel import batches_by_work

PAGES = 1 << 12
"""Pages in memory at a time: 32 MB, and another 32 MB while they are searched."""
FEW = 1 << 10
"""If tags times runs are at most so many, each tag is searched by itself."""


class TagQuery(NamedTuple):
    """Which documents are looked up."""

    wanted: NDArray[np.uint64]
    """``band << 32 | tag`` of the buckets, ascending."""
    removed: NDArray[np.uint64]
    """The numbers of removed documents, ascending."""
    max_entries: int | None
    """How many documents of each bucket are enough, the first ones; None: all are needed."""


def find_in_runs(
    connection: sqlite3.Connection, runs: list[TagRun], query: TagQuery
) -> tuple[NDArray[np.int64], int]:
    """Return the documents in the buckets, and the number up to which none is left out."""
    wanted = query.wanted
    if len(wanted) * len(runs) <= FEW:
        return _find_few(connection, runs, query)
    found = [np.empty(0, np.uint64)]
    complete = ALL
    for run in runs:
        start, stop = _pages_of(run, query)
        for first, last in batches_by_work(stop - start, PAGES, max(len(wanted), 1)):
            some = slice(first, last)
            pages = unique(ranges_of(start[some], (stop - start)[some]))
            if len(pages):
                tags, entries = _entries(connection, run, pages)
                chosen, last = _chosen(tags, entries, query._replace(wanted=wanted[some]))
                found.append(chosen)
                complete = min(complete, last)
    return unique(np.concatenate(found)).astype(np.int64), complete


def _pages_of(run: TagRun, query: TagQuery) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each tag the range of pages that may have its entries, as far as needed."""
    wanted, removed, max_entries = query
    # The entries of a tag may begin in the page before the first that begins with it.
    start = np.maximum(np.searchsorted(run.tags, wanted, "left") - 1, 0)
    stop = np.searchsorted(run.tags, wanted, "right")
    if max_entries is not None:  # and one more entry, which shows that there are more
        stop = np.minimum(stop, start + 2 + (max_entries + len(removed)) // PACKED_PAGE)
    return start, stop


def _find_few(
    connection: sqlite3.Connection, runs: list[TagRun], query: TagQuery
) -> tuple[NDArray[np.int64], int]:
    """Find the documents in a few buckets: all pages are read at once, and searched one by one."""
    wanted, removed, max_entries = query
    band, low = wanted >> HALF, wanted << HALF
    ends = np.stack([low, low | MASK], axis=1)  # no number is as large as MASK
    asked: list[tuple[int, int, NDArray[np.uint64]]] = []
    for run in runs:
        start, stop = _pages_of(run, query)
        start = run.page + np.maximum(start, run.pages[band])
        some = zip(start.tolist(), (run.page + stop).tolist(), ends, strict=True)
        asked += [each for each in some if each[0] < each[1]]
    pages = sorted({page for begin, end, _ in asked for page in range(begin, end)})
    held = read_pages(connection, np.array(pages, np.int64))
    found = [np.empty(0, np.uint64)]
    complete = ALL
    for begin, end, its in asked:
        parts = []
        for page in range(begin, end):
            first, last = held[page].searchsorted(its).tolist()
            parts.append(held[page][first:last])
        entries = parts[0] if len(parts) == 1 else np.concatenate(parts)
        if len(entries):
            numbers = entries & MASK
            if len(removed):
                numbers = numbers[~np.isin(numbers, removed)]
            if max_entries is not None and len(numbers) > max_entries:
                numbers = numbers[:max_entries]
                complete = min(complete, int(numbers[-1]))
            found.append(numbers)
    return unique(np.concatenate(found)).astype(np.int64), complete


def _entries(
    connection: sqlite3.Connection, run: TagRun, pages: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return ``band << 32 | tag`` of each entry of some pages, ascending, and the entries."""
    held = read_pages(connection, run.page + pages)
    parts = [held[page] for page in (run.page + pages).tolist()]
    entries = np.concatenate(parts)
    band = np.searchsorted(run.pages, pages, "right").astype(np.uint64) - np.uint64(1)
    return np.repeat(band << HALF, [len(part) for part in parts]) | entries >> HALF, entries


def _chosen(
    tags: NDArray[np.uint64], entries: NDArray[np.uint64], query: TagQuery
) -> tuple[NDArray[np.uint64], int]:
    """Return the numbers of the entries with tags that are wanted, and where they are cut."""
    wanted, removed, max_entries = query
    start = np.searchsorted(tags, wanted, "left")
    count = np.searchsorted(tags, wanted, "right") - start
    chosen = entries[ranges_of(start, count)] & MASK
    if len(removed):
        there = ~np.isin(chosen, removed)
        tag = np.repeat(np.arange(len(wanted)), count)[there]
        chosen, count = chosen[there], np.bincount(tag, minlength=len(wanted))
    if max_entries is None or count.max(initial=0) <= max_entries:
        return chosen, ALL
    before = np.arange(len(chosen)) - np.repeat(np.cumsum(count) - count, count)
    last = chosen[(before == max_entries - 1) & (np.repeat(count, count) > max_entries)]
    return chosen[before < max_entries], int(last.min())
