"""What is cut out of contaminated documents, and which of these go as a whole."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


def cut_around(
    lengths: NDArray[np.int64],
    spans: NDArray[np.int64],
    around: int,
    min_piece: int,
    max_pieces: int | None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what is cut out, int64 (m, 3): document, begin and end; and which documents go.

    Parameters
    ----------
    lengths
        int64 (n,): the code points of each document with spans, in their order.
    spans
        int64 (m, 3): document, begin and end of what they have in common with items, by document.
    around
        Code points before and behind a span that are cut out as well.
    min_piece, max_pieces
        A shorter piece between two cuts goes, too. So does a document that is cut into more
        pieces, or of which no piece is left.
    """
    cuts: list[tuple[int, int, int]] = []
    dropped: list[int] = []
    edges = np.flatnonzero(np.diff(spans[:, 0], prepend=-1, append=-1))
    for length, (start, stop) in zip(lengths.tolist(), pairwise(edges.tolist()), strict=True):
        document = int(spans[start, 0])
        pieces, end = [], 0
        for begin, following in sorted(spans[start:stop, 1:].tolist()):
            if begin - around > end:
                pieces.append((end, begin - around))
            end = max(end, min(following + around, length))
        if end < length:
            pieces.append((end, length))
        left = [(a, b) for a, b in pieces if b - a >= min_piece]
        if not left or (max_pieces is not None and len(pieces) > max_pieces):
            dropped.append(document)
            continue
        bounds = [0, *(place for piece in left for place in piece), length]
        for begin, following in zip(bounds[::2], bounds[1::2], strict=True):
            if following > begin:
                cuts.append((document, begin, following))
    return np.array(cuts, np.int64).reshape(-1, 3), np.array(dropped, np.int64)
