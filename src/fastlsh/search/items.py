"""Evaluation items: one text or several named fields each."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Items(NamedTuple):
    """The fields of items that have a text."""

    fields: list[str]
    names: list[str]
    """Of each field; "text" if the item is a text."""
    owner: NDArray[np.int64]
    """int64 (fields,), ascending: the item of each."""
    n_items: int

    @classmethod
    def of(cls, items: Iterable[Any]) -> "Items":
        """Take the fields of items: texts, or mappings of names to texts or to lists of texts."""
        if isinstance(items, (str, bytes, Mapping)):
            raise TypeError(f"items must be a list of items, got {type(items).__name__}")
        found: list[list[tuple[str, str]]] = []
        for number, item in enumerate(items):
            try:
                found.append(list(_fields_of(item)))
            except TypeError as error:  # noqa: PERF203
                raise TypeError(f"item {number} {error}") from None
        return cls.of_fields(found)

    @classmethod
    def of_fields(cls, found: Sequence[Sequence[tuple[str, str]]]) -> "Items":
        """Put the fields of items together, each a name and a text."""
        owner = np.repeat(np.arange(len(found)), np.array(list(map(len, found)), np.int64))
        names = [name for item in found for name, _ in item]
        return cls([text for item in found for _, text in item], names, owner, len(found))

    def whole_texts(self) -> list[str]:
        """Return each item as one text, a line for each field."""
        found: list[list[str]] = [[] for _ in range(self.n_items)]
        for owner, field in zip(self.owner.tolist(), self.fields, strict=True):
            found[owner].append(field)
        return ["\n".join(each) for each in found]


def _fields_of(item: Any) -> Iterator[tuple[str, str]]:
    if item is None:
        return
    if isinstance(item, str):
        yield "text", item
        return
    if not isinstance(item, Mapping):
        raise TypeError(f"is of type {type(item).__name__}, expected str or a mapping of fields")
    for name, value in item.items():
        texts = value if isinstance(value, (list, tuple)) else [value]
        for text in texts:
            if isinstance(text, str):
                yield str(name), text
            elif text is not None:
                raise TypeError(
                    f"has a value of type {type(text).__name__} in the field {name!r}, expected str"
                )
