import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from fastlsh._kernels.text._spans import Spans

LAYOUTS: dict[str, int]
INDEX_FORMATS: tuple[str, ...]

@disjoint_base
class ArrowColumn:
    def __init__(self, source: object) -> None: ...
    @property
    def n(self) -> int: ...
    def __len__(self) -> int: ...
    def spans(self, start: int, stop: int, as_bytes: bool = False) -> Spans: ...
    def take(self, documents: NDArray[np.int64], as_bytes: bool = False) -> Spans: ...
