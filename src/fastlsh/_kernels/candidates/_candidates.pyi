from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

from fastlsh._kernels._arrays import F64, I32, I64, U8, U32, U64

def link(keys: U64, table: I32, later: I32, earlier: I32) -> tuple[int, int]: ...
def emit_pairs(
    signatures: U32,
    rows: int,
    documents: I64,
    previous: I32,
    at: I64,
    stop: int,
    left: I32 | None,
    right: I32 | None,
    room: int = 0,
    steps: int = ...,
    asks: U8 | None = None,
) -> int: ...
def share_first(
    signatures: U32,
    rows: int,
    bands: int,
    documents: I64,
    left: I64,
    right: I64,
    band: I64,
    first: U8,
) -> None: ...
def chain_depths(previous: I32, totals: I64) -> None: ...
def roots(previous: I32, first: int, last: int, root: I32) -> None: ...
def unite(parent: I32, left: I32, right: I32) -> None: ...
def families(parent: I32) -> None: ...

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
    def require(self, words: U64, start: I64, count: I64, threshold: float) -> None: ...
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
