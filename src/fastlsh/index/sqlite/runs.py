"""Runs: the buckets of many documents, sorted, in pages that never change; and their levels.

An entry is ``tag << 32 | number``, the tag being the upper half of a band key. A run has the
entries of each band in ascending order. To find a bucket, the list of the first entry of each
page, which is in memory, is searched, and then a single page.
"""

import sqlite3
from binascii import crc32
from bisect import bisect_left
from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

import numpy as np

from fastlsh.arrays import offsets_of, ranges_of, unique
from fastlsh.index.settings import Int64s, UInt64s
from fastlsh.index.sqlite import rows
from fastlsh.index.store import ALL
from fastlsh.parallel import batches_by_work

PAGE = 250
"""Entries in a page, of which 4 fill a page of SQLite; only the last page of a band has fewer."""
PACKED_PAGE = 670
"""Entries in a packed page, of which 20 fill a page of SQLite."""
MASK = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


class TagRun(NamedTuple):
    """The pages with the entries of the documents first ... last - 1."""

    first: int
    last: int
    page: int
    """The first page."""
    pages: Int64s
    """int64 (bands + 1,): where the pages of each band begin, from 0 on."""
    least: UInt64s
    """uint64: the first entry of each page."""
    tags: UInt64s
    """uint64: ``band << 32 | tag`` of the first entry of each page; ascending."""

    @classmethod
    def of(cls, first: int, last: int, page: int, pages: Int64s, least: UInt64s) -> "TagRun":
        """Return a run, with the tags that follow from its pages."""
        bands = np.arange(len(pages) - 1, dtype=np.uint64)
        tags = np.repeat(bands << HALF, np.diff(pages)) | least >> HALF
        return cls(first, last, page, pages, least, tags)


def entries_of(keys: UInt64s, numbers: Int64s) -> list[UInt64s]:
    """Return the entries of each band, ascending. An empty document, with key 0, has no entry."""
    filled = keys[0] != 0
    low = numbers[filled].astype(np.uint64)
    return [np.sort((band[filled] & ~MASK) | low) for band in keys]


def read_pages(connection: sqlite3.Connection, pages: Int64s) -> dict[int, UInt64s]:
    """Return the entries of some pages, given in ascending order. Others may be included."""
    page_numbers = pages.tolist()
    if page_numbers and 3 * len(pages) > page_numbers[-1] - page_numbers[0]:
        between = "SELECT * FROM pages WHERE page BETWEEN ? AND ?"
        held = connection.execute(between, (page_numbers[0], page_numbers[-1])).fetchall()
        entries = dict(map(_entries_of, held))
    else:
        blocks = rows.selected(connection, "SELECT * FROM pages WHERE page IN", page_numbers)
        entries = dict(map(_entries_of, chain.from_iterable(blocks)))
    if not entries.keys() >= set(page_numbers):
        rows.refuse("a run lacks pages")
    return entries


def _entries_of(row: tuple[int, bytes, int]) -> tuple[int, UInt64s]:
    """Return the number of a page and its entries, if these are unchanged."""
    page, entries, checksum = row
    if type(entries) is not bytes or crc32(entries, page & 0xFFFFFFFF) != checksum:
        rows.refuse(f"page {page} differs from its checksum")
    return page, _unpacked(entries) if len(entries) % 8 else np.frombuffer(entries, "<u8")


def _packed(entries: UInt64s) -> bytes:
    """Return a page in about 4.8 bytes for an entry, whose length is no multiple of 8.

    Tags become the differences to the ones before; then come the lowest bytes of all of them, the
    next bytes and so on, and likewise of the numbers.
    """
    import zlib

    tags = np.diff((entries >> HALF).astype("<u4"), prepend=np.uint32(0))
    values = np.stack([tags, (entries & MASK).astype("<u4")]).astype("<u4")
    planes = values.view(np.uint8).reshape(2, -1, 4).transpose(0, 2, 1)
    packer = zlib.compressobj(strategy=zlib.Z_RLE)  # as small, and packed twice as fast
    code = packer.compress(planes.tobytes()) + packer.flush()
    return code if len(code) % 8 else code + b"\0"


def _unpacked(code: bytes) -> UInt64s:
    """Return the entries of a page from what `_packed` returned."""
    import zlib

    try:
        plane_bytes = zlib.decompressobj().decompress(code)
        planes = np.frombuffer(plane_bytes, np.uint8).reshape(2, 4, -1).transpose(0, 2, 1)
    except (zlib.error, ValueError) as error:
        raise sqlite3.DatabaseError(f"malformed: a packed page: {error}") from error
    values = np.ascontiguousarray(planes).view("<u4")[..., 0]
    entries: UInt64s = np.cumsum(values[0], dtype=np.uint64) << HALF
    entries |= values[1]
    return entries


def read_run(row: tuple[int, int, int, bytes, bytes, int], bands: int) -> TagRun:
    """Return a run from its row."""
    rows.check_row(row[:5], row[5])
    first, last, page = rows.state_of(row[:3])
    pages, least = rows.words_of(row[3]).view(np.int64), rows.words_of(row[4])
    if len(pages) != bands + 1 or pages[0] or (np.diff(pages) < 0).any() or pages[-1] != len(least):
        rows.refuse("the pages of a run are not those of its bands")
    return TagRun.of(first, last, page, pages, least)


def merged_band(
    connection: sqlite3.Connection, runs: list[TagRun], band: int, newest: UInt64s, removed: UInt64s
) -> UInt64s:
    """Return the entries of a band in some runs and the newest ones, without removed documents."""
    parts = [newest]
    for run in runs:
        pages = np.arange(run.page + run.pages[band], run.page + run.pages[band + 1])
        held = read_pages(connection, pages)
        parts += [held[page] for page in sorted(held)]
    entries = np.sort(np.concatenate(parts), kind="stable")
    return entries[~np.isin(entries & MASK, removed)] if len(removed) else entries


PAGES = 1 << 13
"""Pages in memory at a time: 16 MB, packed ones 44 MB, and as much while they are searched."""
FEW = 1 << 10
"""If tags times runs are at most so many, each tag is searched by itself."""


class TagQuery(NamedTuple):
    """Which documents are looked up."""

    asked_tags: UInt64s
    """``band << 32 | tag`` of the buckets, ascending."""
    removed: UInt64s
    """The numbers of removed documents, ascending."""
    max_entries: int | None
    """How many documents of each bucket are enough, the first ones; None: all are needed."""


def find_in_runs(
    connection: sqlite3.Connection, runs: list[TagRun], query: TagQuery
) -> tuple[Int64s, int]:
    """Return the documents in the buckets, and the number up to which none is left out."""
    asked_tags = query.asked_tags
    if len(asked_tags) * len(runs) <= FEW:
        return _find_few(connection, runs, query)
    number_blocks, complete = [np.empty(0, np.uint64)], ALL
    for run in runs:
        start, stop = _pages_of(run, query)
        for first, last in batches_by_work(stop - start, PAGES, max(len(asked_tags), 1)):
            chunk = slice(first, last)
            pages = unique(ranges_of(start[chunk], (stop - start)[chunk]))
            if len(pages):
                tags, entries = _entries(connection, run, pages)
                chosen, last = _chosen(tags, entries, query._replace(asked_tags=asked_tags[chunk]))
                number_blocks.append(chosen)
                complete = min(complete, last)
    return unique(np.concatenate(number_blocks)).astype(np.int64), complete


def _pages_of(run: TagRun, query: TagQuery) -> tuple[Int64s, Int64s]:
    """Return for each tag the range of pages that may have its entries, as far as needed."""
    asked_tags, removed, max_entries = query
    # The entries of a tag may begin in the page before the first that begins with it.
    start = np.maximum(np.searchsorted(run.tags, asked_tags, "left") - 1, 0)
    stop = np.searchsorted(run.tags, asked_tags, "right")
    if max_entries is not None:  # and one more entry, which shows that there are more
        stop = np.minimum(stop, start + 2 + (max_entries + len(removed)) // PAGE)
    return start, stop


def _find_few(
    connection: sqlite3.Connection, runs: list[TagRun], query: TagQuery
) -> tuple[Int64s, int]:
    """Find the documents in a few buckets: all pages are read at once, and searched one by one."""
    asked_tags, removed, max_entries = query
    band, low = asked_tags >> HALF, asked_tags << HALF
    bounds = [*zip(low.tolist(), (low | MASK).tolist(), strict=True)]  # no number is MASK
    asked: list[tuple[int, int, tuple[int, int]]] = []
    for run in runs:
        start, stop = _pages_of(run, query)
        start = run.page + np.maximum(start, run.pages[band])
        ranges = zip(start.tolist(), (run.page + stop).tolist(), bounds, strict=True)
        asked += [page_range for page_range in ranges if page_range[0] < page_range[1]]
    pages = sorted({page for begin, end, _ in asked for page in range(begin, end)})
    held = read_pages(connection, np.array(pages, np.int64))
    number_blocks, complete = [np.empty(0, np.uint64)], ALL
    for begin, end, (least, most) in asked:
        parts = []
        for page in range(begin, end):
            entries = np.asarray(held[page], np.uint64).data  # whose search takes no array
            first, last = bisect_left(entries, least), bisect_left(entries, most)
            if first < last:
                parts.append(held[page][first:last])
        if parts:
            numbers = np.concatenate(parts) & MASK
            if len(removed):
                numbers = numbers[~np.isin(numbers, removed)]
            if max_entries is not None and len(numbers) > max_entries:
                numbers = numbers[:max_entries]
                complete = min(complete, int(numbers[-1]))
            number_blocks.append(numbers)
    return unique(np.concatenate(number_blocks)).astype(np.int64), complete


def _entries(connection: sqlite3.Connection, run: TagRun, pages: Int64s) -> tuple[UInt64s, UInt64s]:
    """Return ``band << 32 | tag`` of each entry of some pages, ascending, and the entries."""
    held = read_pages(connection, run.page + pages)
    parts = [held[page] for page in (run.page + pages).tolist()]
    entries = np.concatenate(parts)
    band = np.searchsorted(run.pages, pages, "right").astype(np.uint64) - np.uint64(1)
    return np.repeat(band << HALF, [len(part) for part in parts]) | entries >> HALF, entries


def _chosen(tags: UInt64s, entries: UInt64s, query: TagQuery) -> tuple[UInt64s, int]:
    """Return the numbers of the entries with tags that are wanted, and where they are cut."""
    asked_tags, removed, max_entries = query
    start = np.searchsorted(tags, asked_tags, "left")
    count = np.searchsorted(tags, asked_tags, "right") - start
    chosen = entries[ranges_of(start, count)] & MASK
    if len(removed):
        present = ~np.isin(chosen, removed)
        tag = np.repeat(np.arange(len(asked_tags)), count)[present]
        chosen, count = chosen[present], np.bincount(tag, minlength=len(asked_tags))
    if max_entries is None or count.max(initial=0) <= max_entries:
        return chosen, ALL
    before = np.arange(len(chosen)) - np.repeat(np.cumsum(count) - count, count)
    last = chosen[(before == max_entries - 1) & (np.repeat(count, count) > max_entries)]
    return chosen[before < max_entries], int(last.min())


RUNS_TOGETHER = 5
"""Runs of about the same size that are merged: an entry is written anew each time the index has
become five times as large, the last of them only in the merged run. A question reads a page of
each run for each band."""
LARGEST = 1 << 22
"""Documents of a run that is merged no more: 34 MB for a band, which is held while it is sorted."""


class Levels:
    """The runs of one state of the database, and its removed documents."""

    def __init__(self, bands: int, *, packed: bool) -> None:
        self.bands = bands
        self._packed = packed
        self.version = 0
        self.removals = 0
        self.page = 0
        """The next page of a new run."""
        self.runs: list[TagRun] = []
        self.removed: set[int] = set()
        """Numbers of removed documents that are in a run."""
        self.gone_sum = 0
        """The sum of these numbers, each plus 1."""
        self._gone: UInt64s | None = None

    def read(self, sql: sqlite3.Connection, version: int, removals: int, gone: int) -> None:
        """Read the runs and removed documents again, because another process changed them."""
        runs = "SELECT * FROM runs ORDER BY first"
        self.runs = [read_run(row, self.bands) for row in sql.execute(runs).fetchall()]
        removed = sql.execute("SELECT number FROM removed").fetchall()
        self.removed = set(rows.numbers_of([number for (number,) in removed]))
        if sum(self.removed) + len(self.removed) != gone:
            rows.refuse("the removed documents are others")
        self.gone_sum = gone
        self.version, self.removals = version, removals
        self._gone = None

    @property
    def gone(self) -> UInt64s:
        """The removed documents, ascending."""
        if self._gone is None:
            self._gone = np.array(sorted(self.removed), np.uint64)
        return self._gone

    def postings(
        self, sql: sqlite3.Connection, asked_tags: UInt64s, max_entries: int | None
    ) -> tuple[Int64s, int]:
        """Return the documents with one of these tags, ascending, and where they are cut."""
        return find_in_runs(sql, self.runs, TagQuery(asked_tags, self.gone, max_entries))

    def remove(self, sql: sqlite3.Connection, gone: list[int]) -> None:
        """Note the removal of documents that are in a run, and that there was a removal."""
        sql.executemany("INSERT INTO removed VALUES (?)", [(number,) for number in gone])
        self.removed.update(gone)
        self.gone_sum += sum(gone) + len(gone)
        self.removals += 1
        self._gone = None

    def append(self, sql: sqlite3.Connection, first: int, last: int, bands: list[UInt64s]) -> None:
        """Write a run of the documents first ... last - 1, with the entries of each band.

        The run takes in those before it that are of about the same size, again and again.
        """
        group: list[TagRun] = []
        while True:
            before = self.runs[: len(self.runs) - len(group)][1 - RUNS_TOGETHER :]
            sizes = [last - first, *(run.last - run.first for run in before)]
            alike = len(sizes) == RUNS_TOGETHER and max(sizes) < RUNS_TOGETHER * min(sizes)
            if not alike or sum(sizes) > LARGEST:
                break
            group = before + group
            first = group[0].first
        self._merge(sql, group, bands, range(first, last))

    def merge_all(self, sql: sqlite3.Connection) -> None:
        """Merge as many runs as may be one, and drop removed documents."""
        groups: list[list[TagRun]] = []
        for run in self.runs:
            if not groups or run.last - groups[-1][0].first > LARGEST:
                groups.append([])
            groups[-1].append(run)
        nothing = [np.empty(0, np.uint64)] * self.bands
        for group in groups:
            self._merge(sql, group, nothing, range(group[0].first, group[-1].last))

    def _write(
        self, sql: sqlite3.Connection, first: int, last: int, bands: Iterable[UInt64s]
    ) -> None:
        """Write a run, band by band, which takes the place of those of the same documents."""
        size = PACKED_PAGE if self._packed else PAGE
        sizes, least = [], []
        at = self.page
        for entries in bands:
            parts = [entries[start : start + size] for start in range(0, len(entries), size)]
            codes = [_packed(p) if self._packed else p.astype("<u8").tobytes() for p in parts]
            pages_of_band = [
                (n, code, crc32(code, n & 0xFFFFFFFF)) for n, code in enumerate(codes, at)
            ]
            sql.executemany("INSERT INTO pages VALUES (?, ?, ?)", pages_of_band)
            least.append(entries[::size])
            sizes.append(len(parts))
            at += len(parts)
        pages = offsets_of(np.array(sizes, np.int64))
        run = TagRun.of(first, last, self.page, pages, np.concatenate(least))
        arrays = pages.astype("<i8").tobytes(), run.least.astype("<u8").tobytes()
        row = first, last, self.page, *arrays
        sql.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", (*row, rows.checksum_of(row)))
        self.page = at
        self.version += 1
        others = [other for other in self.runs if not first <= other.first < last]
        self.runs = sorted([*others, run], key=lambda run: run.first)

    def _merge(
        self, sql: sqlite3.Connection, runs: list[TagRun], newest: list[UInt64s], documents: range
    ) -> None:
        """Write a run of some documents, given their runs and their newest entries."""
        first, last = documents.start, documents.stop
        gone = {number for number in self.removed if number in documents}
        removed = np.array(sorted(gone), np.uint64)
        bands = (merged_band(sql, runs, *band, removed) for band in enumerate(newest))
        for run in runs:
            sql.execute("DELETE FROM runs WHERE first = ?", (run.first,))
        self._write(sql, first, last, bands)
        for run in runs:
            pages = run.page, run.page + int(run.pages[-1])
            sql.execute("DELETE FROM pages WHERE page >= ? AND page < ?", pages)
        sql.execute("DELETE FROM removed WHERE number >= ? AND number < ?", (first, last))
        self.removed -= gone
        self.gone_sum -= sum(gone) + len(gone)
        self._gone = None
