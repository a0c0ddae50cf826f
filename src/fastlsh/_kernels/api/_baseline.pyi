from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

from fastlsh._kernels.text._plans import ShinglePlan
from fastlsh._kernels.text._texts import Spans

AFFINE32: int
AFFINE64: int
ALPHANUMERIC: int
ASCII_ALPHANUMERIC: int
BY_CONTAINMENT: int
BY_SETS: int
BY_SIGNATURE: int
BY_TEXTS: int
CHARACTERS: int
FSS: int
LEGACY: int
NOT_VERIFIED: int
PRIME61: int
REMEMBERED: int
ROUNDS: int
TOKEN_IDS: int
WITH_EMPTY: int
WORDS: int

@disjoint_base
class TableMemory:
    def __new__(
        cls, num_perm: int, bands: int, rows: int, with_sets: bool, ids: Any = None
    ) -> Self: ...
    @property
    def dead(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def reserve(self, count: int, words: int, spare: float) -> None: ...
    def shrink(self) -> None: ...
    def resize_table(self, band: int, size: int) -> None: ...
    def crowded_band(self, first: int, count: int, share: float) -> int: ...
    def slots(self, band: int) -> int: ...
    def used(self, band: int) -> int: ...
    def read(self, number: int, start: int, out: NDArray[np.uint8]) -> None: ...
    def write(self, number: int, start: int, data: NDArray[np.uint8]) -> None: ...

@disjoint_base
class TableChanges(TableMemory):
    @property
    def ids(self) -> Any: ...
    @property
    def changing(self) -> bool: ...
    @property
    def n(self) -> int: ...
    @property
    def limited(self) -> int: ...
    def append(
        self,
        signatures: NDArray[np.uint32],
        hashes: NDArray[np.uint64] | None,
        offsets: NDArray[np.int64] | None,
        first: int,
        last: int,
    ) -> None: ...
    def insert_unique(
        self,
        signatures: NDArray[np.uint32],
        hashes: NDArray[np.uint64] | None,
        offsets: NDArray[np.int64] | None,
        first: int,
        last: int,
        own: int,
        mode: int,
        threshold: float,
        limit: int,
        fresh: NDArray[np.uint8],
        reader: TextReader | None = None,
    ) -> int: ...
    def switch(self, first: int, gone: NDArray[np.int64], limited: int = 0) -> None: ...
    def remove(self, number: int) -> None: ...

class TableCompaction(TableChanges):
    @property
    def unsettled(self) -> bool: ...
    def begin_compact(self, ids: Any) -> None: ...
    def go_on(self) -> bool: ...

class BandTables(TableCompaction):
    @staticmethod
    def over(
        signatures: NDArray[np.uint32],
        slots: list[NDArray[np.uint64]],
        links: list[NDArray[np.uint32]],
        rows: int,
        hashes: NDArray[np.uint64] | None = None,
        offsets: NDArray[np.int64] | None = None,
        ids: Any = None,
    ) -> BandTables: ...
    @property
    def words(self) -> int: ...
    def complete(self, n: int, ids: Any) -> None: ...
    def is_live(self, number: int) -> bool: ...
    def copy_rows(self, numbers: NDArray[np.int64], out: NDArray[np.uint32]) -> None: ...
    def query(
        self,
        signatures: NDArray[np.uint32],
        hashes: NDArray[np.uint64] | None,
        offsets: NDArray[np.int64] | None,
        first: int,
        last: int,
        mode: int,
        threshold: float,
        limit: int,
        out: NDArray[np.float64],
        counts: NDArray[np.int64],
        halt: NDArray[np.uint8],
        reader: TextReader | None = None,
    ) -> tuple[int, int, int]: ...

@disjoint_base
class TextReader:
    def __new__(cls, unit: int, size: int, prepared: ShinglePlan | None = None) -> Self: ...

@disjoint_base
class Keeper:
    def __new__(
        cls,
        root: NDArray[np.int32],
        signatures: NDArray[np.uint32],
        document: NDArray[np.int64],
        fixed: NDArray[np.uint8],
        threshold: float,
        mode: int,
        limit: int,
        role: NDArray[np.uint8] | None = ...,
        empty: Callable[[Any, Any], NDArray[Any]] = ...,
    ) -> Self: ...
    def candidates(
        self,
        first: int,
        last: int,
        out: NDArray[np.int32],
        offsets: NDArray[np.int64],
        steps: int = ...,
    ) -> int: ...
    def first_hits(
        self,
        first: int,
        last: int,
        candidates: NDArray[np.int32],
        offsets: NDArray[np.int64],
        words: NDArray[np.uint64],
        start: NDArray[np.int64],
        count: NDArray[np.int64],
        hit: NDArray[np.int32],
        similarity: NDArray[np.float64],
    ) -> None: ...
    def settle(
        self,
        first: int,
        last: int,
        words: NDArray[np.uint64],
        start: NDArray[np.int64],
        count: NDArray[np.int64],
        hit: NDArray[np.int32],
        similarity: NDArray[np.float64],
        unsure: NDArray[np.uint8],
        done: int = 0,
        steps: int = ...,
    ) -> int: ...

@disjoint_base
class Permutations:
    @property
    def scheme(self) -> int: ...
    @property
    def k(self) -> int: ...
    @property
    def coefficients(self) -> NDArray[Any]: ...
    def __new__(cls, scheme: int, coefficients: NDArray[Any]) -> Self: ...
    def add_token(self, token: bytes, row: NDArray[Any]) -> Self: ...
    def add_hashes(
        self, hashes: NDArray[Any], rows: NDArray[Any], offsets: NDArray[np.int64] | None = None
    ) -> None: ...

def sha1_hashes(tokens: list[Any], hashes: NDArray[Any]) -> bool: ...
def called_hashes(
    hashfunc: Callable[[Any], Any] | None, elements: list[Any], hashes: NDArray[Any]
) -> tuple[int, Any]: ...
def signatures(
    spans: Spans,
    unit: int,
    size: int,
    scheme: int,
    a: NDArray[np.uint32],
    b: NDArray[np.uint32],
    out: NDArray[np.uint32],
    rows: int = 0,
    keys: NDArray[np.uint64] | None = None,
    prepared: ShinglePlan | None = None,
) -> None: ...
def token_hashes(
    documents: list[Any],
    offsets: NDArray[np.int64],
    first: int = 0,
    ids: Sequence[int] | NDArray[np.int64] | None = None,
    prepared: ShinglePlan | None = None,
) -> NDArray[np.uint64]: ...
def token_signatures(
    tokens: NDArray[np.uint64],
    offsets: NDArray[np.int64],
    size: int,
    scheme: int,
    a: NDArray[np.uint32],
    b: NDArray[np.uint32],
    out: NDArray[np.uint32],
    rows: int = 0,
    keys: NDArray[np.uint64] | None = None,
    prepared: ShinglePlan | None = None,
) -> None: ...
def hash_signatures(
    hashes: NDArray[np.uint32] | NDArray[np.uint64],
    offsets: NDArray[np.int64],
    scheme: int,
    a: NDArray[np.uint32],
    b: NDArray[np.uint32],
    out: NDArray[np.uint32],
) -> None: ...
def shingle_sets(
    units: Spans | NDArray[np.uint64],
    offsets: NDArray[np.int64] | None,
    unit: int,
    size: int,
    out: NDArray[np.uint64],
    start: NDArray[np.int64],
    count: NDArray[np.int64],
    unique: bool = True,
    thinned: bool = False,
    prepared: ShinglePlan | None = None,
) -> None: ...
def text_hashes(spans: Spans, out: NDArray[np.uint64]) -> None: ...
def band_keys(
    signatures: NDArray[np.uint32], first: int, rows: int, out: NDArray[np.uint64]
) -> None: ...
def agreement(
    signatures: NDArray[np.uint32],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None: ...
def set_jaccard(
    hashes: NDArray[np.uint64],
    start: NDArray[np.int64],
    count: NDArray[np.int64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    threshold: float,
    out: NDArray[np.float64],
) -> None: ...
def number_jaccard(
    words: NDArray[np.uint64],
    start: NDArray[np.int64],
    count: NDArray[np.int64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    threshold: float,
    out: NDArray[np.float64],
) -> None: ...
def murmur_minima(
    spans: Spans,
    size: int,
    seeds: NDArray[np.uint32],
    out: NDArray[np.uint32] | NDArray[np.uint64],
    sentinel: bool = False,
) -> None: ...
def word_places(spans: Spans, unit: int, out: NDArray[np.int64]) -> int: ...
