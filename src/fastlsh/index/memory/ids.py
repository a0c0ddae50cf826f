"""The ids of an index and the numbers that its tables have for them; ids as a file holds them."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels import find_id, link_ids
from fastlsh.index.identity import kind_of, stored_id


class Ids:
    """Hashable ids by number.

    Only the tables know which numbers have a document, and they change that in one step. So nothing
    is ever undone here: an id whose number has no document is not found, and disappears when the
    tables are compacted.
    """

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        self._names: list[Any] = list(names)
        self._numbers = {name: number for number, name in enumerate(self._names)}
        self._before: dict[int, int] = {}
        """The earlier number of an id, by its new number."""

    def __len__(self) -> int:
        return len(self._numbers)

    def find(self, name: Hashable, is_live: Callable[[int], bool]) -> int:
        """Return the number of an id that has a document, -1 if there is none."""
        number = self._numbers.get(name, -1)
        while number >= 0 and not is_live(number):
            number = self._before.get(number, -1)
        return number

    def take(self, numbers: list[int]) -> list[Any]:
        """Return the ids of some numbers."""
        return list(map(self._names.__getitem__, numbers))

    def names(self) -> list[Any]:
        """Return the ids of all numbers, where each has a document."""
        return list(self._names)

    def chosen(self, live: bytes) -> Iterator[Any]:
        """Iterate over the ids whose number has not 0 in `live`."""
        return compress(self._names, live)

    def maybe_known(self, names: AbstractSet[Any]) -> bool:
        """Whether one of the ids may have a document."""
        return not self._numbers.keys().isdisjoint(names)  # iterates over the smaller of the two

    def assign(self, first: int, names: Sequence[Any], replaced: Mapping[Any, int]) -> None:
        """Give the numbers from `first` on to ids; those in `replaced` had that number before."""
        missing = first - len(self._names)
        if missing > 0:  # numbers whose ids were never assigned
            self._names.extend([None] * missing)
        self._names[first:] = names
        numbers = range(first, first + len(names))
        if replaced:
            before = {
                number: replaced[name]
                for number, name in zip(numbers, names, strict=True)
                if name in replaced
            }
            self._before = {**self._before, **before}
        self._numbers.update(zip(names, numbers, strict=True))

    def settle(self, first: int, replaced: Mapping[Any, int]) -> None:
        """Forget what `assign` kept of earlier documents, which are gone now."""
        self._before = {after: before for after, before in self._before.items() if after < first}
        for number in replaced.values():
            self._names[number] = None

    def forget(self, name: Hashable, number: int) -> None:
        """Drop the id of a removed document."""
        self._names[number] = None
        self._numbers.pop(name, None)

    def copy(self) -> "Ids":
        """Return an independent copy."""
        other = Ids()
        other._names = self._names.copy()
        other._numbers = self._numbers.copy()
        other._before = self._before.copy()
        return other


KINDS = ("str", "bytes", "int")


@dataclass(eq=False)
class StoredIds:
    """Ids as a file holds them: all of one kind, with a table to look them up; read-only."""

    kind: str
    """"str", "bytes" or "int"."""
    n: int
    """The number of ids."""
    data: NDArray[np.uint8]
    """The ids one after the other: str as UTF-8 (surrogatepass), bytes as they are, int as 64 bits.
    """
    offsets: NDArray[np.int64] | None
    """int64 (n + 1,): where each id begins; None for int."""
    table: NDArray[np.uint64]
    """The hash table that finds an id: see docs/index-format.md."""

    @classmethod
    def of(cls, ids: Ids) -> "StoredIds":
        """Return ids in this form; TypeError names the first id that cannot be stored."""
        names = ids.names()
        kind = kind_of(names[0], 0) if names else "int"
        for position, name in enumerate(names):
            if kind_of(name, position) != kind:
                raise TypeError(
                    f"ids must be all str, all bytes or all int to be saved: the first is "
                    f"{names[0]!r}, number {position} is {name!r}"
                )
        offsets = None
        if kind == "int":
            data = np.array(names, "<i8").view(np.uint8)
        else:
            encoded = [_encoded(name) for name in names]
            offsets = np.zeros(len(names) + 1, np.int64)
            np.cumsum([len(code) for code in encoded], out=offsets[1:])
            data = np.frombuffer(b"".join(encoded), np.uint8)
        table = np.zeros(len(names) * 3 // 2 + 2, np.uint64)
        link_ids(data, offsets, len(names), table)
        return cls(kind, len(names), data, offsets, table)

    def __len__(self) -> int:
        return self.n

    def __iter__(self) -> Iterator[Any]:
        step = 4096
        for first in range(0, self.n, step):
            yield from self.take(list(range(first, min(first + step, self.n))))

    def find(self, name: Hashable, _is_live: Callable[[int], bool] | None = None) -> int:
        """Return the number of an id, -1 if it is not there."""
        hash(name)  # a TypeError, as from Ids
        stored = stored_id(name)
        if type(stored).__name__ != self.kind:
            return -1
        if isinstance(stored, int):
            code = stored.to_bytes(8, "little", signed=True)
        else:
            code = _encoded(stored)
        return find_id(self.data, self.offsets, self.n, self.table, code)

    def copy(self) -> Ids:
        """Return ids that can be changed; ValueError if an id occurs twice."""
        ids = Ids(self)
        if len(ids) != self.n:
            raise ValueError("the table of ids is damaged: one is there twice")
        return ids

    def take(self, numbers: list[int]) -> list[Any]:
        """Return the ids of some numbers; ValueError if the file does not hold them."""
        if self.offsets is None:
            return self.data.view("<i8")[numbers].tolist() if numbers else []
        return [self._decoded(number) for number in numbers]

    def _decoded(self, number: int) -> str | bytes:
        assert self.offsets is not None
        start, end = int(self.offsets[number]), int(self.offsets[number + 1])
        if not 0 <= start <= end <= len(self.data):
            raise ValueError("the table of ids is damaged")
        code = self.data[start:end].tobytes()
        return code.decode("utf-8", "surrogatepass") if self.kind == "str" else code


def _encoded(name: Any) -> bytes:
    return name.encode("utf-8", "surrogatepass") if isinstance(name, str) else bytes(name)
