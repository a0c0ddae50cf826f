import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

from fastlsh._kernels._arrays import I64, U32, U64
from fastlsh._kernels.text._plans import ShinglePlan
from fastlsh._kernels.text._texts import Spans

def winnow(
    texts: Spans,
    length: int,
    gram: int,
    keys: U64,
    rows: I64,
    echoes: I64,
    echoing: bool = True,
) -> tuple[int, int]: ...
def repeats(texts: Spans, occurrences: I64, groups: I64, length: int, out: I64) -> int: ...
def cuts(matches: I64, texts: int, out: I64) -> int: ...
def word_hashes(texts: Spans, starts: I64, bounds: I64, bits: int, out: U64) -> None: ...

@disjoint_base
class WordNumbers:
    @property
    def have_unique_hashes(self) -> bool: ...
    def __new__(cls, texts: Spans, starts: I64, bounds: I64, bits: int, out: U32) -> Self: ...
    def find(self, texts: Spans, starts: I64, bounds: I64, out: U32) -> None: ...

@disjoint_base
class GramTable:
    def __new__(
        cls,
        size: int,
        hashes: NDArray[np.uint64],
        numbers: NDArray[np.int64],
        is_shorter: NDArray[np.uint8],
        least: int,
        shorter: NDArray[np.int64],
        beginnings: NDArray[np.uint64],
        mask: int,
    ) -> Self: ...
    def find(
        self,
        texts: Spans,
        unit: int,
        out: NDArray[np.int64],
        prepared: ShinglePlan | None = None,
    ) -> int: ...

def hash_grams(
    texts: Spans,
    unit: int,
    grams: NDArray[np.int64],
    mask: int,
    out: NDArray[np.uint64],
    prepared: ShinglePlan | None = None,
) -> None: ...
def extend_grams(
    texts: Spans,
    others: Spans,
    rows: NDArray[np.int64],
    runs: NDArray[np.int64],
    run_of: NDArray[np.int64],
    other_starts: NDArray[np.int64] | None = None,
    other_first: NDArray[np.int64] | None = None,
    other_ahead: NDArray[np.int64] | None = None,
) -> int: ...
def repeat_grams(
    texts: Spans,
    starts: NDArray[np.int64],
    first: NDArray[np.int64],
    size: int,
    ahead: NDArray[np.int64],
) -> None: ...
