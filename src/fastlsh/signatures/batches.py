"""What is signed at a time: how many documents, and which of their band keys are made with it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.texts import Texts

BATCH_CHARACTERS = 1 << 19
MAX_BATCH = 1 << 14


class BandKeys(NamedTuple):
    """Room for the keys of the first bands."""

    rows: int
    keys: NDArray[np.uint64]
    """uint64 (bands, n)."""


def batch_size(texts: Texts) -> int:
    """Return how many documents make about half a million characters, by a sample."""
    n = len(texts)
    if n < 2:
        return 1
    sample = np.unique(np.linspace(0, n - 1, 64).astype(np.int64))
    lengths = np.empty(len(sample), np.int64)
    texts.take(sample, True).lengths(lengths)
    return int(np.clip(BATCH_CHARACTERS // (int(lengths.mean()) + 1), 1, MAX_BATCH))
