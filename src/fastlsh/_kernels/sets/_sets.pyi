from typing_extensions import Self, disjoint_base

from fastlsh._kernels._arrays import F64, I32, I64, U32, U64
from fastlsh._kernels.text._plans import ShinglePlan
from fastlsh._kernels.text._texts import Spans

BY_CONTAINMENT: int
BY_SETS: int
BY_SIGNATURE: int
BY_TEXTS: int
NOT_VERIFIED: int

@disjoint_base
class SetJoin:
    def __new__(
        cls, size: I64, start: I64, elements: U32, lists: I64, postings: I32, threshold: float
    ) -> Self: ...
    def pairs(
        self,
        at: I64,
        last: int,
        scratch: I32,
        left: I32,
        right: I32,
        similarity: F64,
        steps: int = ...,
    ) -> int: ...

@disjoint_base
class Numbers:
    def __len__(self) -> int: ...
    def clear(self) -> None: ...
    def replace(self, lists: U64, start: I64, count: I64, families: I64 | None = None) -> None: ...

def pack_numbers(lists: U64, start: I64, count: I64, out: U64, place: I64, size: I64) -> int: ...
def shingle_sets(
    units: Spans | U64,
    offsets: I64 | None,
    unit: int,
    size: int,
    out: U64,
    start: I64,
    count: I64,
    unique: bool = True,
    thinned: bool = False,
    prepared: ShinglePlan | None = None,
) -> None: ...
def agreement(signatures: U32, left: I64, right: I64, out: F64) -> None: ...
def set_jaccard(
    hashes: U64, start: I64, count: I64, left: I64, right: I64, threshold: float, out: F64
) -> None: ...
def number_jaccard(
    words: U64, start: I64, count: I64, left: I64, right: I64, threshold: float, out: F64
) -> None: ...
def numbers_of(known: U64, number: U32, directory: I64, hashes: U64, out: U32) -> None: ...
def invert(
    numbers: U32, begin: I64, start: I64, threshold: float, lists: I64, postings: I32, elements: U32
) -> None: ...
