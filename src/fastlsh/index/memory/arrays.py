"""The arrays of the tables: how tables are made from them, and how they are copied and saved."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import BandTables
from fastlsh.index.memory.ids import Ids, StoredIds
from fastlsh.index.settings import Settings

PIECE = 1 << 20
"""Bytes that are copied at a time: they stay in the cache."""

Bytes = NDArray[np.uint8]


def new_tables(settings: Settings) -> BandTables:
    """Return tables without documents."""
    return BandTables(
        settings.width, settings.bands, settings.params.rows, bool(settings.keeps), Ids(),
        settings.slices,
    )  # fmt: skip


def mapped_tables(
    settings: Settings, slots: tuple[int, ...], arrays: dict[str, NDArray[Any]], ids: StoredIds
) -> BandTables:
    """Return read-only tables over the arrays of a file."""
    ends = np.cumsum(slots)
    tables = [arrays["slots"][end - size : end] for end, size in zip(ends, slots, strict=True)]
    return BandTables.over(
        arrays["signatures"], tables, list(arrays["links"]), settings.params.rows,
        arrays.get("contents"), arrays.get("offsets"), ids, settings.slices,
    )  # fmt: skip


def filled_tables(
    settings: Settings,
    n: int,
    words: int,
    slots: tuple[int, ...],
    arrays: Iterable[tuple[str, Iterable[Bytes]]],
    ids: Callable[[], Ids],
) -> BandTables:
    """Return tables with the contents of some arrays, which are checked.

    Parameters
    ----------
    settings, n, words, slots
        The parameters, and the sizes of the arrays.
    arrays
        The name of each array, and its bytes in pieces. Without "live", all documents are there.
    ids
        Returns the ids; it is called after the last array.
    """
    kernel = new_tables(settings)
    kernel.reserve(n, words, 0.0)
    for band, size in enumerate(slots):
        kernel.resize_table(band, size)
    live: tuple[str, Iterable[Bytes]] = ("live", [np.ones(n, np.uint8)])
    for name, pieces in chain([live], arrays):
        _fill(kernel, _parts_of(name, n, settings.width, words, slots), pieces)
    kernel.complete(n, ids())
    return kernel


def array_pieces(
    kernel: BandTables, settings: Settings, name: str, slots: Iterable[int]
) -> Iterator[Bytes]:
    """Yield the bytes of an array in pieces."""
    for part, size in _parts_of(name, kernel.n, settings.width, kernel.words, slots):
        for start in range(0, size, PIECE):
            piece = np.empty(min(PIECE, size - start), np.uint8)
            kernel.read(part, start, piece)
            yield piece


def contents_of(kernel: BandTables, number: int) -> NDArray[np.uint64]:
    """Return a copy of what is kept of a document: its packed text, or its set."""
    bounds = np.empty(2, np.int64)
    kernel.read(2, 8 * number, bounds.view(np.uint8))
    first, last = bounds.tolist()
    if not 0 <= first <= last <= kernel.words:
        raise ValueError("the tables are damaged: contents lie outside")
    words = np.empty(last - first, np.uint64)
    kernel.read(3, 8 * first, words.view(np.uint8))
    return words


def _parts_of(
    name: str, n: int, num_perm: int, words: int, slots: Iterable[int]
) -> list[tuple[int, int]]:
    """Return the parts of the kernel that one array of a file consists of, and their bytes."""
    if name in ("slots", "links"):
        link = name == "links"
        sizes = (4 * n if link else 8 * size for size in slots)
        return [(4 + 2 * band + link, size) for band, size in enumerate(sizes)]
    part, size = {
        "signatures": (0, 4 * n * num_perm),
        "live": (1, n),
        "offsets": (2, 8 * (n + 1)),
        "contents": (3, 8 * words),
    }[name]
    return [(part, size)]


def _fill(kernel: BandTables, parts: list[tuple[int, int]], pieces: Iterable[Bytes]) -> None:
    """Write pieces into consecutive parts. Pieces and parts must have the same total length."""
    remaining = iter(parts)
    part, size, start = 0, 0, 0
    for piece in pieces:
        while len(piece):
            while start == size:
                (part, size), start = next(remaining), 0
            count = min(len(piece), size - start)
            kernel.write(part, start, piece[:count])
            start += count
            piece = piece[count:]
