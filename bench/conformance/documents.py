"""Documents whose sets are known: pairs of a given similarity, unions, the same set once more."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

LETTERS = 9
"""Of a made-up element: that two of a thousand are equal by accident is one in ten millions."""

BLOCK = 200_000
"""Elements on each side that are held at a time."""


class DocumentPairs(NamedTuple):
    """Documents whose sets have a similarity, and the documents with the union of the two."""

    left: list[Any]
    right: list[Any]
    union: list[Any]


def shared_of(size: int, similarity: float) -> int:
    """Return how many elements two sets of so many share."""
    return round(2 * size * similarity / (1 + similarity))


def exact(size: int, similarity: float) -> float:
    """Return the nearest similarity that two sets of so many elements can have."""
    shared = shared_of(size, similarity)
    return shared / (2 * size - shared)


class Maker:
    """Makes documents from a seed, in the form that an adapter takes.

    A document is a stretch of a random sequence: of elements, or of letters, every window of
    `width` of which is a shingle. So two stretches that overlap have exactly the shingles in
    common that lie in both, and the stretch that covers both has the union.

    Parameters
    ----------
    shingle_size
        As in `Adapter`.
    seed
        Whatever `numpy.random.default_rng` takes.
    """

    def __init__(self, shingle_size: int | None, seed: Any) -> None:
        self.text = shingle_size is not None
        self.width = shingle_size or 1
        self.rng = np.random.default_rng(seed)

    def pairs(self, size: int, similarity: float, count: int) -> Iterator[DocumentPairs]:
        """Yield so many pairs of sets of `size` elements, a block at a time."""
        shared = shared_of(size, similarity)
        overlap = shared + self.width - 1 if shared else 0
        length = size + self.width - 1
        at_once = max(BLOCK // size, 1)
        for start in range(0, count, at_once):
            found = DocumentPairs([], [], [])
            for units in self.sequences(min(at_once, count - start), 2 * length - overlap):
                found.left.append(units[:length])
                found.right.append(units[length - overlap :])
                found.union.append(units)
            yield found

    def documents(self, size: int, count: int) -> list[Any]:
        """Return so many documents with sets of `size` elements."""
        return list(self.sequences(count, size + self.width - 1))

    def again(self, document: Any, times: int = 1) -> tuple[Any, Any]:
        """Return two documents of one set: the elements in another order, so many times each.

        A closed ring of letters has the same windows wherever it is opened, and twice around.
        """
        if not self.text:
            return document, [
                document[i] for _ in range(times) for i in self.rng.permutation(len(document))
            ]
        place = int(self.rng.integers(1, len(document)))
        turned = document[place:] + document[:place]
        tail = self.width - 1
        return document + document[:tail], turned * times + turned[:tail]

    def sequences(self, count: int, length: int) -> Iterator[Any]:
        """Yield so many random sequences."""
        if self.text:
            letters = self.rng.integers(97, 123, (count, length), np.uint8)
            yield from (row.tobytes().decode() for row in letters)
            return
        words = np.full((count, length, LETTERS + 1), ord(" "), np.uint8)
        words[..., :LETTERS] = self.rng.integers(97, 123, (count, length, LETTERS), np.uint8)
        yield from (row.tobytes().decode().split() for row in words)
