from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

@disjoint_base
class Spans:
    @property
    def n(self) -> int: ...
    def __len__(self) -> int: ...
    def lengths(self, out: NDArray[np.int64]) -> None: ...
    def strings(self) -> list[str]: ...
    def equal(self, other: Spans, out: NDArray[np.uint8]) -> None: ...

def spans_of_list(
    documents: list[str | bytes | None] | list[str] | list[bytes],
    first: int = 0,
    as_bytes: bool = False,
    ids: Sequence[int] | NDArray[np.int64] | None = None,
) -> Spans: ...
def spans_of_tokens(
    documents: list[Any],
    offsets: NDArray[np.int64],
    first: int = 0,
    ids: Sequence[int] | NDArray[np.int64] | None = None,
) -> Spans: ...
def merged(zeros: Spans, ones: Spans, choice: NDArray[np.uint8]) -> Spans: ...
