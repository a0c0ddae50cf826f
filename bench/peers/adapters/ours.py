"""fastlsh: texts, as most use it, and ready tokens."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import fastlsh
from bench.conformance import Fastlsh
from bench.peers.adapters.base import BANDS, ROWS, K

PARAMS = fastlsh.LSHParams(BANDS, ROWS)


SECRET = bytes(range(32))


def texts(scheme: str, *, keyed: bool = False) -> Fastlsh:
    """Return the adapter for texts, with a key if need be."""
    key = fastlsh.Key(SECRET) if keyed else None
    return Fastlsh(fastlsh.MinHasher(K, scheme=scheme, key=key), PARAMS)


class Tokens(Fastlsh):
    """Sets of tokens."""

    def __init__(self, scheme: str) -> None:
        super().__init__(fastlsh.MinHasher(K, scheme=scheme), PARAMS)
        self.shingle_size = None

    def signatures(self, documents: Sequence[Sequence[str]]) -> NDArray[np.uint32]:
        return self.hasher.from_tokens(documents)
