"""FastSketchLSH."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.peers.contenders.base import (
    EVEN,
    Contender,
    K,
    Pair,
    agreeing,
    cut_at,
    shingle_list,
    word_cutter,
)  # fmt: skip


class FastSketch(Contender):
    """A bucket sketch with 64-bit slots."""

    name = "FastSketchLSH"
    module = "FastSketchLSH"

    @staticmethod
    def sketch() -> Any:
        """Return the object that makes sketches."""
        from FastSketchLSH import FastSimilaritySketch

        return FastSimilaritySketch(K, 42)

    def from_sets(self, texts: list[str], cut: Callable[[str], list[str]]) -> NDArray[np.uint64]:
        """Sketch in batches of moderate size: it takes a list, no generator."""
        sketch = self.sketch()
        batches = ([cut(text) for text in part] for part in cut_at(texts, 50_000))
        return np.vstack([sketch.batch(sets, num_threads=1) for sets in batches])

    def characters(self, texts: list[str]) -> NDArray[np.uint64]:
        return self.from_sets(texts, shingle_list)

    def words(self, texts: list[str], size: int) -> NDArray[np.uint64]:
        return self.from_sets(texts, word_cutter(size))

    def hashes(self, hashes: NDArray[np.uint64], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
        places = offsets.astype(np.uint64)
        sketches: NDArray[np.uint64] = self.sketch().batch_csr(
            hashes, places, prehashed=True, num_threads=1
        )
        return sketches

    def pairs(self, texts: list[str]) -> set[Pair]:
        from FastSketchLSH import LSH

        rows = self.characters(texts)
        index = LSH(K, EVEN[0], num_threads=1)
        index.insert(rows)
        found, offsets = index.query(rows, format="csr")
        counts = np.diff(offsets.astype(np.int64))
        pairs = np.column_stack([np.repeat(np.arange(len(texts)), counts), found.astype(np.int64)])
        return agreeing(rows, pairs[pairs[:, 0] < pairs[:, 1]])
