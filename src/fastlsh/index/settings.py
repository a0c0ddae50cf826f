"""How an index signs, bands and verifies, and which ids it can hold."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.sets._sets import BY_CONTAINMENT, BY_TEXTS
from fastlsh.arrays import plain_value
from fastlsh.banding import LSHParams, Partition, indexed, slices_of, steps_of
from fastlsh.candidates import band_keys, keys_by_size
from fastlsh.parallel import RunOptions
from fastlsh.parameters import SearchParams
from fastlsh.sets import set_sizes
from fastlsh.signatures import MinHasher
from fastlsh.stages import hasher_for
from fastlsh.texts import Shingler, Texts

Bools = NDArray[np.bool_]
Bytes = NDArray[np.uint8]
Float64s = NDArray[np.float64]
Int64s = NDArray[np.int64]
UInt32s = NDArray[np.uint32]
UInt64s = NDArray[np.uint64]
"""Arrays, by the type of their values."""

EMPTY = np.uint32(0xFFFFFFFF)
"""The step of an empty document, as all minima of its signature."""

TEXTS = "texts"
"""The index keeps normalised texts, which are hashed again when they are compared."""
SETS = "sets"
"""The index keeps sets of shingle hashes, 8 bytes each, because a function makes the tokens."""


@dataclass(frozen=True)
class Settings:
    """The parameters of the search, and the hasher that signs for it."""

    search: SearchParams
    hasher: MinHasher

    @classmethod
    def of(cls, threshold: float = 0.8, *, threads: int | None, **parameters: Any) -> "Settings":
        """Check the arguments of `Index`; the others are those of `SearchParams.of`."""
        return cls.over(SearchParams.of(threshold, **parameters), threads)

    @classmethod
    def over(cls, search: SearchParams, threads: int | None) -> "Settings":
        """Return the settings of parameters that were checked before."""
        if search.finds_equal:
            raise ValueError("rule must be 'jaccard' or 'contained' for an index, got 'equal'")
        return cls(search, hasher_for(search, RunOptions.of(threads)))

    @cached_property
    def keeps(self) -> str:
        """What is kept for exact verification: `TEXTS`, `SETS`, or "" if nothing is needed."""
        if self.search.verify != "exact":
            return ""
        return TEXTS if self.search.shingler.tokenizer is None else SETS

    @cached_property
    def unverified(self) -> "Settings":
        """The same settings without verification: every document that shares a bucket is found."""
        return replace(self, search=replace(self.search, verify="none"))

    @property
    def threshold(self) -> float:
        """The least similarity of what is found; with the rule "contained", the least share."""
        return self.search.least

    @property
    def least(self) -> str:
        """The name of the parameter that `threshold` is the value of."""
        return "containment" if self.search.rule == "contained" else "threshold"

    def described(self) -> str:
        """Return the main parameters as arguments."""
        search = self.search
        described = f"{self.least}={search.least}, num_perm={search.num_perm}, bands={self.bands}"
        return described if self.partitions else f"{described}, rows={search.lsh.rows}"

    @property
    def params(self) -> LSHParams:
        """Bands and rows; with partitions by size, those of the first."""
        return self.search.lsh

    @cached_property
    def partitions(self) -> tuple[Partition, ...]:
        """With a search by containment, the partitions by size; else empty."""
        return indexed(self.search.partitions)

    @cached_property
    def slices(self) -> Int64s | None:
        """What `BandTables` must know of the partitions."""
        return slices_of(self.partitions) if self.partitions else None

    @property
    def bands(self) -> int:
        """The number of tables, in each of which a document has a key."""
        return self.params.bands if self.slices is None else len(self.slices)

    @property
    def width(self) -> int:
        """The values of a row: a signature and, with partitions, the step of the size."""
        return self.hasher.num_perm + bool(self.partitions)

    def rows(self, signatures: UInt32s, texts: Texts, shingler: Shingler) -> UInt32s:
        """Return the rows of documents, uint32 (n, width): with the steps of their sizes."""
        if not self.partitions:
            return signatures
        sizes = set_sizes(texts, shingler, RunOptions.of(self.hasher.threads))
        steps = np.where(sizes > 0, steps_of(sizes), EMPTY)
        return np.column_stack([signatures, steps.astype(np.uint32)])

    def keys(self, rows: UInt32s, *, asked: bool, threads: int = 1) -> UInt64s:
        """Return the keys of documents, uint64 (bands, n), by which they are found or find others.

        The key 0 marks an empty document.
        """
        if not self.partitions:
            return band_keys(rows, self.params, threads=threads)
        signatures = np.ascontiguousarray(rows[:, :-1])
        group_of = Partition.asked if asked else Partition.offered
        return keys_by_size(
            signatures, rows[:, -1].astype(np.uint8), self.partitions, threads=threads,
            group_of=group_of,
        )  # fmt: skip

    @property
    def own_bands(self) -> int:
        """How many bands, the first ones, a document finds its copies in."""
        if not self.partitions:
            return self.bands
        return sum(part.params.bands for part in self.partitions if not part.distance)

    @property
    def verify(self) -> int:
        """The kernels' number for the kind of verification."""
        if self.search.rule == "contained" and self.keeps:
            return BY_CONTAINMENT
        return BY_TEXTS if self.keeps == TEXTS else self.search.verify_mode


INT64 = range(-(2**63), 2**63)


def stored_id(name: Hashable) -> str | bytes | int | None:
    """Return the stored id that equals one that is looked up; None if none does.

    As in a dict, ``1.0`` and ``True`` equal 1.
    """
    if isinstance(name, (str, bytes)):
        return plain_value(name)  # type: ignore[no-any-return]
    if not isinstance(name, (Number, np.bool_)):
        return None
    try:
        number = int(name)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):  # complex, NaN, infinite
        return None
    return number if number == name and number in INT64 else None


def ids_in_database(names: Iterable[Any]) -> list[Any]:
    """Return the stored ids that equal the given ids, without those that no database can hold."""
    stored = map(stored_id, names)
    return [
        name
        for name in stored
        if name is not None and not (isinstance(name, str) and _has_surrogate(name))
    ]


def check_ids_for_database(names: list[Any]) -> None:
    """Raise TypeError if a plain id cannot be stored in a database."""
    kinds = set(map(type, names))
    if kinds == {str} and not _has_surrogate("".join(names)):
        return
    for position, name in enumerate(names):
        if reason := refusal_of_id(name):
            raise TypeError(f"{reason}: number {position}")


def kind_of(name: Any, position: int) -> str:
    """Return "str", "bytes" or "int" for a plain id; TypeError with its position for others."""
    if reason := refusal_of_id(name, surrogates=True):
        raise TypeError(f"{reason}: number {position}")
    return type(name).__name__


def refusal_of_id(name: Any, *, surrogates: bool = False) -> str | None:
    """Return why no database, or no file that can hold surrogates, can have an id; None: it can."""
    kind = type(name)
    if kind is str and not surrogates and _has_surrogate(name):
        return f"ids must be Unicode to be saved, and {name!r} has a surrogate"
    if kind is str or kind is bytes or (kind is int and name in INT64):
        return None
    types = "str, bytes or int of 64 bits"
    return f"ids must be {types} to be saved, and {name!r} is of type {kind.__name__}"


def _has_surrogate(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return True
    return False


def encoded(name: Any) -> bytes:
    """Return an id as bytes, with its type before them."""
    if isinstance(name, int):
        return b"i%d" % name
    return b"s" + name.encode() if isinstance(name, str) else b"b" + name
