from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

from fastlsh._kernels.text._texts import Spans

ALPHANUMERIC: int
ASCII_ALPHANUMERIC: int
CHARACTERS: int
TOKEN_IDS: int
WITH_EMPTY: int
WORDS: int

@disjoint_base
class ShinglePlan:
    def __new__(
        cls,
        unit: int,
        size: int,
        secret: NDArray[np.uint64] | None = None,
        words: NDArray[np.uint64] | None = None,
        keeps: bool = False,
    ) -> Self: ...

def text_hashes(spans: Spans, out: NDArray[np.uint64]) -> None: ...
def token_hashes(
    documents: list[Any],
    offsets: NDArray[np.int64],
    first: int = 0,
    ids: Sequence[int] | NDArray[np.int64] | None = None,
    prepared: ShinglePlan | None = None,
) -> NDArray[np.uint64]: ...
def word_places(spans: Spans, unit: int, out: NDArray[np.int64]) -> int: ...
