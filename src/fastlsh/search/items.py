"""Evaluation items: one text or several named fields each."""

from collections.abc import Iterable, Iterator, Mapping
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
        fields: list[str] = []
        names: list[str] = []
        owner: list[int] = []
        count = 0
        for number, item in enumerate(items):
            count += 1
            try:
                found = list(_fields_of(item))
            except TypeError as error:
                raise TypeError(f"item {number} {error}") from None
            for name, text in found:
                names.append(name)
                fields.append(text)
                owner.append(number)
        return cls(fields, names, np.array(owner, np.int64), count)


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
