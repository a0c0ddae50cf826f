"""Numbers as files hold them, little-endian, on machines that have them the other way round."""

import sys
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from fastlsh.index.settings import TEXTS

SWAPPED = sys.byteorder == "big"
"""Whether the bytes of numbers in memory are in another order than those in files."""

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]


class Swap:
    """Turns the arrays of an index file round, if the machine needs it.

    Parameters
    ----------
    keeps
        What the index keeps of each document: the contents of texts are not all numbers of 8 bytes.
    stored
        The arrays come from a file; otherwise they go into one.
    """

    def __init__(self, keeps: str, *, stored: bool) -> None:
        self._texts_follow = keeps == TEXTS
        self._stored = stored
        self._offsets = np.zeros(1, np.int64)

    def __call__(self, name: str, width: int, pieces: Iterable[Bytes]) -> Iterator[Bytes]:
        """Yield the pieces of an array with numbers of `width` bytes, none of which is cut.

        What the contents of texts consist of follows from their offsets, which come before them.
        """
        if not SWAPPED:
            yield from pieces
        elif name == "contents" and self._texts_follow:
            yield from self._texts(pieces)
        else:
            offsets = []
            for piece in pieces:
                numbers = piece.view(f"u{width}")
                turned = numbers.byteswap().view(np.uint8)
                if name == "offsets":
                    offsets.append((turned if self._stored else piece).view(np.int64).copy())
                yield turned
            if offsets:
                self._offsets = np.concatenate(offsets)

    def _texts(self, pieces: Iterable[Bytes]) -> Iterator[Bytes]:
        starts = _starts(self._offsets)
        first, width = 0, 8
        for piece in pieces:
            words = piece.view(np.uint64)
            here = starts[(starts >= first) & (starts < first + len(words))] - first
            turned, width = _turned(words, here, width, self._stored)
            yield turned.view(np.uint8)
            first += len(words)


def swapped_contents(
    contents: Words, offsets: NDArray[np.int64], keeps: str, *, stored: bool
) -> Words:
    """Return the contents of documents for a database, or those that are stored in one.

    Parameters
    ----------
    contents, offsets
        The packed texts, or sets of shingle hashes, and where each begins.
    keeps
        Which of the two.
    stored
        They come from a database; otherwise they go into one.
    """
    if not SWAPPED:
        return contents
    if keeps != TEXTS:
        return contents.byteswap()
    return _turned(contents, _starts(offsets), 8, stored)[0]


def _starts(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where texts that have words begin; a damaged file may name any offsets."""
    return np.unique(offsets[:-1][offsets[:-1] < offsets[1:]])


def _turned(words: Words, starts: NDArray[np.int64], width: int, stored: bool) -> tuple[Words, int]:
    """Return packed texts turned round, and the width of the last one's units.

    A text's first word is a number of 8 bytes, whose lowest byte is the width of the units that
    fill the others. `width` is that of the text which goes on before the first start.
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
