"""Reversing the bytes of numbers on big-endian machines: files are little-endian."""

import sys
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from fastlsh.index.settings import TEXTS

SWAPPED = sys.byteorder == "big"
"""Whether this machine is big-endian."""

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]


def needs_offsets(name: str, keeps: str) -> bool:
    """Whether `swapped_pieces` needs the offsets of the texts for an array."""
    return SWAPPED and name == "contents" and keeps == TEXTS


def swapped_pieces(
    pieces: Iterable[Bytes],
    width: int,
    *,
    stored: bool,
    text_offsets: NDArray[np.int64] | None = None,
) -> Iterator[Bytes]:
    """Yield the pieces of an array of an index file, byte-swapped on a big-endian machine.

    Parameters
    ----------
    pieces
        The bytes of the array; no piece ends within a number.
    width
        Bytes of a number.
    stored
        The array comes from a file; otherwise it goes into one.
    text_offsets
        Where each text begins, if the array consists of packed texts, which are not all numbers of
        `width` bytes.
    """
    if not SWAPPED:
        yield from pieces
    elif text_offsets is None:
        for piece in pieces:
            yield piece.view(f"u{width}").byteswap().view(np.uint8)
    else:
        starts = _starts(text_offsets)
        first, units = 0, 8
        for piece in pieces:
            words = piece.view(np.uint64)
            here = starts[(starts >= first) & (starts < first + len(words))] - first
            turned, units = _turned(words, here, units, stored)
            yield turned.view(np.uint8)
            first += len(words)


def swapped_contents(
    contents: Words, offsets: NDArray[np.int64], keeps: str, *, stored: bool
) -> Words:
    """Return the contents of documents, byte-swapped on a big-endian machine.

    Parameters
    ----------
    contents, offsets
        The packed texts, or sets of shingle hashes, and where each begins.
    keeps
        Which of the two the contents are.
    stored
        The contents come from a database; otherwise they go into one.
    """
    if not SWAPPED:
        return contents
    if keeps != TEXTS:
        return contents.byteswap()
    return _turned(contents, _starts(offsets), 8, stored)[0]


def _starts(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where the texts that are not empty begin. A damaged file may contain any offsets."""
    return np.unique(offsets[:-1][offsets[:-1] < offsets[1:]])


def _turned(words: Words, starts: NDArray[np.int64], width: int, stored: bool) -> tuple[Words, int]:
    """Return packed texts with their bytes swapped, and the width of the last text's units.

    A text's first word is a number of 8 bytes, whose lowest byte is the width of the units that
    fill the other words. `width` is the width of the text that continues before the first start.
    """
    starts = starts[(starts >= 0) & (starts < len(words))]
    heads = words[starts].byteswap() if stored else words[starts]
    widths = np.concatenate([np.array([width], np.uint64), heads & np.uint64(255)])
    of_words = np.repeat(widths, np.diff(starts, prepend=0, append=len(words)))
    of_words[starts] = 8
    turned = words.copy()
    for size in (2, 4, 8):
        chosen = of_words == size
        turned[chosen] = words[chosen].view(f"u{size}").byteswap().view(np.uint64)
    return turned, int(widths[-1])
