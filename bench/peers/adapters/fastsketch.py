"""FastSketchLSH, as it is installed and as built for AVX-512."""

import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.peers.adapters.base import BANDS, Adapting, K, encoded

Documents = Sequence[list[str]]


class FastSketch(Adapting):
    """`FastSimilaritySketch.batch`, `estimate_jaccard` and `LSH`."""

    def signatures(self, documents: Documents) -> NDArray[Any]:
        from FastSketchLSH import FastSimilaritySketch

        return np.array(FastSimilaritySketch(K, 42).batch(encoded(documents), num_threads=1))

    def estimates(self, left: Documents, right: Documents) -> NDArray[np.float64]:
        from FastSketchLSH import estimate_jaccard

        pairs = zip(self.signatures(left), self.signatures(right), strict=True)
        return np.array([estimate_jaccard(a, b) for a, b in pairs])

    def candidates(self, left: Documents, right: Documents) -> NDArray[np.bool_]:
        from FastSketchLSH import LSH

        index = LSH(K, BANDS, num_threads=1)
        index.insert(self.signatures(left))
        groups = index.query(self.signatures(right))
        return np.array([i in group for i, group in enumerate(groups)], bool)


FOLDER = "FASTSKETCH_AVX512"
"""Of the environment: where the build for AVX-512 is; docs/conformance.md says how it is made."""


class Avx512(FastSketch):
    """The build for AVX-512; a process can only load one build."""

    def __init__(self) -> None:
        sys.path.insert(0, os.environ[FOLDER])
