from collections.abc import Sequence
from typing import Any

from typing_extensions import Self, disjoint_base

from fastlsh._kernels._arrays import I64, U64
from fastlsh._kernels.text._texts import Spans

ALPHANUMERIC: int
ASCII_ALPHANUMERIC: int
CHARACTERS: int
TOKEN_IDS: int
UNICODE_WORDS: int
WITH_EMPTY: int
WORDS: int

@disjoint_base
class ShinglePlan:
    def __new__(
        cls,
        unit: int,
        size: int,
        secret: U64 | None = None,
        words: U64 | None = None,
        keeps: bool = False,
        ignored: U64 | None = None,
    ) -> Self: ...

def text_hashes(spans: Spans, out: U64) -> None: ...
def token_hashes(
    documents: list[Any],
    offsets: I64,
    first: int = 0,
    ids: Sequence[int] | I64 | None = None,
    prepared: ShinglePlan | None = None,
) -> U64: ...
def word_counts(
    spans: Spans, unit: int, size: int, most: int, counts: I64, prepared: ShinglePlan | None = None
) -> None: ...
def word_places(spans: Spans, unit: int, counts: I64, out: I64) -> int: ...
