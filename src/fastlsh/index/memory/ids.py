"""The ids of an index and the numbers that its tables have for them."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Ids:
    """Hashable ids, in the order of insertion."""

    def __init__(self, names: Iterable[Hashable] = ()) -> None:
        self.names: list[Any] = list(names)
        """By number; None where the document was removed."""
        self.numbers = {name: number for number, name in enumerate(self.names)}

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.numbers)

    def find(self, name: Hashable) -> int:
        """Return the number of an id, -1 if it is not there."""
        return self.numbers.get(name, -1)

    def take(self, numbers: list[int]) -> list[Any]:
        """Return the ids of some numbers."""
        return list(map(self.names.__getitem__, numbers))

    def extend(self, names: Sequence[Hashable]) -> None:
        """Give the next numbers to ids that are not there."""
        first = len(self.names)
        self.names.extend(names)
        self.numbers.update(zip(names, range(first, len(self.names)), strict=True))

    def remove(self, name: Hashable) -> int:
        """Forget an id and return its number; KeyError if it is not there."""
        number = self.numbers.pop(name)
        self.names[number] = None
        return number

    def remove_from(self, first: int, n: int) -> None:
        """Take back what was added last: number `first` and above. There are n numbers."""
        for name in self.names[first:]:
            if self.numbers.get(name, -1) >= first:
                del self.numbers[name]
        self.names[first:] = [None] * (n - first)

    def restore(self, removed: list[tuple[Any, int]]) -> None:
        """Take back `remove` of some (id, number), also in the order."""
        for name, number in removed:
            self.names[number] = name
        self.numbers.update(removed)
        self.numbers = dict(sorted(self.numbers.items(), key=itemgetter(1)))

    def copy(self) -> "Ids":
        """Return ids of their own."""
        other = Ids()
        other.names = self.names.copy()
        other.numbers = self.numbers.copy()
        return other

    def compacted(self, kept: NDArray[np.int64]) -> "Ids":
        """Return the ids of the old numbers `kept` under new numbers."""
        return Ids(self.take(kept.tolist()))
