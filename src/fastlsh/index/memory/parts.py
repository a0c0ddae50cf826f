"""The bytes of tables, array by array: how they are copied, saved and loaded."""

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import BandTables

PIECE = 1 << 20
"""Bytes on their way at a time: they stay in the cache."""

Bytes = NDArray[np.uint8]


def parts_of(
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


def pieces_of(kernel: BandTables, parts: list[tuple[int, int]]) -> Iterator[Bytes]:
    """Yield the bytes of some parts; each piece is gone when the next one comes."""
    room = np.empty(PIECE, np.uint8)
    for part, size in parts:
        for start in range(0, size, PIECE):
            piece = room[: min(PIECE, size - start)]
            kernel.read(part, start, piece)
            yield piece


def fill(kernel: BandTables, parts: list[tuple[int, int]], pieces: Iterable[Bytes]) -> None:
    """Write pieces into some parts, one after the other; they must be as long together."""
    places = iter(parts)
    part, size, start = 0, 0, 0
    for piece in pieces:
        while len(piece):
            while start == size:
                (part, size), start = next(places), 0
            count = min(len(piece), size - start)
            kernel.write(part, start, piece[:count])
            start += count
            piece = piece[count:]
