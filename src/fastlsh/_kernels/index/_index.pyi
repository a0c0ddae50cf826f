from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self, disjoint_base

from fastlsh._kernels.text._plans import ShinglePlan

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
class BandTables(TableMemory):
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
    @property
    def unsettled(self) -> bool: ...
    def begin_compact(self, ids: Any) -> None: ...
    def go_on(self) -> bool: ...

@disjoint_base
class TextReader:
    def __new__(cls, unit: int, size: int, prepared: ShinglePlan | None = None) -> Self: ...

def answer_lists(
    names: list[Any],
    found: NDArray[np.float64],
    counts: NDArray[np.int64],
    alike: float | None = None,
) -> list[list[tuple[Any, float]]]: ...
def link_ids(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64] | None,
    n: int,
    table: NDArray[np.uint64],
) -> None: ...
def find_id(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64] | None,
    n: int,
    table: NDArray[np.uint64],
    wanted: NDArray[np.uint8] | bytes,
) -> int: ...
