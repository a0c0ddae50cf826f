from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

from fastlsh._kernels._arrays import F64, I32, I64, U8, U32, U64

REMEMBERED: int

@disjoint_base
class Keeper:
    def __new__(
        cls,
        root: I32,
        signatures: U32,
        document: I64,
        fixed: U8,
        threshold: float,
        mode: int,
        limit: int,
        role: U8 | None = ...,
        empty: Callable[[Any, Any], NDArray[Any]] = ...,
    ) -> Self: ...
    def candidates(
        self, first: int, last: int, out: I32, offsets: I64, steps: int = ...
    ) -> int: ...
    def first_hits(
        self,
        first: int,
        last: int,
        candidates: I32,
        offsets: I64,
        words: U64,
        start: I64,
        count: I64,
        hit: I32,
        similarity: F64,
    ) -> None: ...
    def settle(
        self,
        first: int,
        last: int,
        words: U64,
        start: I64,
        count: I64,
        hit: I32,
        similarity: F64,
        unsure: U8,
        done: int = 0,
        steps: int = ...,
    ) -> int: ...
