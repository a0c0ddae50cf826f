"""Runs: the buckets of many documents, sorted, in pages that never change.

An entry is ``tag << 32 | number``, the tag being the upper half of a band key. A run has the
entries of each band in ascending order. To find a bucket, the list of the first entry of each
page, which is in memory, is searched, and then a single page.
"""

import sqlite3
from binascii import crc32
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arrays import offsets_of
from fastlsh.index.sqlite.damage import refuse, state_of, words_of
from fastlsh.index.sqlite.rows import TOGETHER, check_row, checksum_of, padded

PAGE = 1000
"""Entries in a page, which fill a page of SQLite."""
PACKED_PAGE = 670
"""Of packed ones, 10 pages fill one. No page has fewer, except the last of a band."""
MASK = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


class TagRun(NamedTuple):
    """The pages with the entries of the documents first ... last - 1."""

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
    ) -> "TagRun":
        """Return a run, with the tags that follow from its pages."""
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
    """Return the entries of each band, ascending. An empty document, with key 0, has no entry."""
    filled = keys[0] != 0
    low = numbers[filled].astype(np.uint64)
    return [np.sort((band[filled] & ~MASK) | low) for band in keys]


def read_pages(
    connection: sqlite3.Connection, pages: NDArray[np.int64]
) -> dict[int, NDArray[np.uint64]]:
    """Return the entries of some pages, given in ascending order. Others may be included."""
    found: dict[int, NDArray[np.uint64]] = {}
    if not len(pages):
        return found
    low, high, wanted = int(pages[0]), int(pages[-1]), pages.tolist()
    if 3 * len(pages) > high - low:
        rows: list[tuple[int, bytes, int]] = connection.execute(
            "SELECT * FROM pages WHERE page BETWEEN ? AND ?", (low, high)
        ).fetchall()
        found.update(map(_entries_of, rows))
    else:
        for start in range(0, len(wanted), TOGETHER):
            some = padded(wanted[start : start + TOGETHER])
            rows = connection.execute(
                f"SELECT * FROM pages WHERE page IN ({','.join('?' * len(some))})", some
            ).fetchall()
            found.update(map(_entries_of, rows))
    if not found.keys() >= set(wanted):
        refuse("a run lacks pages")
    return found


def write_run(
    connection: sqlite3.Connection,
    first: int,
    last: int,
    page: int,
    bands: Iterable[NDArray[np.uint64]],
    *,
    packed: bool,
) -> TagRun:
    """Write a run, band by band; its pages have numbers from `page` on, and may be packed."""
    size = PACKED_PAGE if packed else PAGE
    sizes, least = [], []
    at = page
    for entries in bands:
        parts = [entries[start : start + size] for start in range(0, len(entries), size)]
        codes = [_packed(part) if packed else part.astype("<u8").tobytes() for part in parts]
        connection.executemany(
            "INSERT INTO pages VALUES (?, ?, ?)",
            [(page, code, crc32(code, page & 0xFFFFFFFF)) for page, code in enumerate(codes, at)],
        )
        least.append(entries[::size])
        sizes.append(len(parts))
        at += len(parts)
    pages = offsets_of(np.array(sizes, np.int64))
    run = TagRun.of(first, last, page, pages, np.concatenate(least))
    row = (first, last, page, pages.astype("<i8").tobytes(), run.least.astype("<u8").tobytes())
    connection.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?)", (*row, checksum_of(row)))
    return run


def _entries_of(row: tuple[int, bytes, int]) -> tuple[int, NDArray[np.uint64]]:
    """Return the number of a page and its entries, if these are unchanged."""
    page, entries, checksum = row
    if type(entries) is not bytes or crc32(entries, page & 0xFFFFFFFF) != checksum:
        refuse(f"page {page} differs from its checksum")
    return page, _unpacked(entries) if len(entries) % 8 else words_of(entries)


def _packed(entries: NDArray[np.uint64]) -> bytes:
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


def _unpacked(code: bytes) -> NDArray[np.uint64]:
    """Return the entries of a page from what `_packed` returned."""
    import zlib

    try:
        found = zlib.decompressobj().decompress(code)
        planes = np.frombuffer(found, np.uint8).reshape(2, 4, -1).transpose(0, 2, 1)
    except (zlib.error, ValueError) as error:
        raise sqlite3.DatabaseError(f"malformed: a packed page: {error}") from error
    values = np.ascontiguousarray(planes).view("<u4")[..., 0]
    entries: NDArray[np.uint64] = np.cumsum(values[0], dtype=np.uint64) << HALF
    entries |= values[1]
    return entries


def read_run(row: tuple[int, int, int, bytes, bytes, int], bands: int) -> TagRun:
    """Return a run from its row."""
    check_row(row[:5], row[5])
    first, last, page = state_of(row[:3])
    pages, least = words_of(row[3]).view(np.int64), words_of(row[4])
    if len(pages) != bands + 1 or pages[0] or (np.diff(pages) < 0).any() or pages[-1] != len(least):
        refuse("the pages of a run are not those of its bands")
    return TagRun.of(first, last, page, pages, least)


def delete_pages_of(connection: sqlite3.Connection, run: TagRun) -> None:
    """Delete the pages of a run."""
    connection.execute(
        "DELETE FROM pages WHERE page >= ? AND page < ?", (run.page, run.page + int(run.pages[-1]))
    )


def merged_band(
    connection: sqlite3.Connection, runs: list[TagRun], band: int, removed: NDArray[np.uint64]
) -> NDArray[np.uint64]:
    """Return the entries of a band in some runs, without those of removed documents."""
    parts = [np.empty(0, np.uint64)]
    for run in runs:
        pages = np.arange(run.page + run.pages[band], run.page + run.pages[band + 1])
        held = read_pages(connection, pages)
        parts += [held[page] for page in sorted(held)]
    entries = np.sort(np.concatenate(parts), kind="stable")
    return entries[~np.isin(entries & MASK, removed)] if len(removed) else entries
