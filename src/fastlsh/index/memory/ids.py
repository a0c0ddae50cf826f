"""The ids of an index and the numbers that its tables have for them."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import compress
from typing import Any


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
