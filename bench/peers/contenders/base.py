"""What a contender can do, and what several of them share."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastlsh

K = 128
SIZE = 9
THRESHOLD = 0.8
PARAMS = fastlsh.LSHParams.for_threshold(THRESHOLD, K)
EVEN = (16, 8)  # bands and rows for those that need bands * rows = 128: P(0.8) = 0.947
Pair = tuple[int, int]


class Contender:
    """One library on one thread, k = 128. Sketches are whatever it makes of a list of sets."""

    name: str
    module: str
    bands = EVEN
    check = "estimate"
    share = 1.0
    """Of the texts, so that slow ones end; fastlsh is timed on the same ones."""
    hashed = True
    """Whether it takes ready hashes."""

    def characters(self, texts: list[str]) -> Any:
        """Sketch the sets of `SIZE` characters."""
        raise NotImplementedError

    def words(self, texts: list[str], size: int) -> Any:
        """Sketch the sets of `size` words."""
        raise NotImplementedError

    def hashes(self, hashes: NDArray[np.uint64], offsets: NDArray[np.int64]) -> Any:
        """Sketch sets of ready 64-bit hashes (CSR)."""
        raise NotImplementedError

    def estimates(self, left: Any, right: Any) -> NDArray[np.float64]:
        """Return the estimated similarity of each pair of sketches."""
        return (np.asarray(left) == np.asarray(right)).mean(axis=1)  # type: ignore[no-any-return]

    def pairs(self, texts: list[str]) -> set[Pair]:
        """Return all pairs at or above `THRESHOLD`, of sets of `SIZE` characters."""
        raise NotImplementedError

    def part(self, count: int) -> int:
        """Return how many of so many texts this one is timed with."""
        return min(count, max(20, round(count * self.share)))


def shingle_list(text: str) -> list[str]:
    """Cut a text into its shingles; repeated ones cost less than a set would."""
    return [text[i : i + SIZE] for i in range(max(len(text) - SIZE, 0) + 1)] if text else []


def word_cutter(size: int) -> Callable[[str], list[str]]:
    """Return the function that cuts a text into shingles of so many words."""
    if size == 1:
        return str.split

    def cut(text: str) -> list[str]:
        words = text.split()
        return list(map(" ".join, zip(*(words[i:] for i in range(size)), strict=False))) or [text]

    return cut


def cut_at(texts: list[str], characters: int) -> Iterator[list[str]]:
    """Yield the texts in batches of about so many characters."""
    part: list[str] = []
    size = 0
    for text in texts:
        part.append(text)
        size += len(text)
        if size >= characters:
            yield part
            part, size = [], 0
    if part:
        yield part


def agreeing(signatures: NDArray[Any], candidates: NDArray[np.int64]) -> set[Pair]:
    """Return the candidates (m, 2) of which the estimate reaches the threshold."""
    found: set[Pair] = set()
    for part in np.array_split(candidates, len(candidates) // 50_000 + 1):
        equal = (signatures[part[:, 0]] == signatures[part[:, 1]]).mean(axis=1)
        found.update(map(tuple, part[equal >= THRESHOLD].tolist()))
    return found


def ordered(groups: list[list[int]]) -> NDArray[np.int64]:
    """Return the pairs (document, another that its query gave), smaller first, each once."""
    counts = [len(group) for group in groups]
    left = np.repeat(np.arange(len(groups)), counts)
    right = np.array([d for group in groups for d in group], np.int64)
    return np.column_stack([left, right])[left < right]
