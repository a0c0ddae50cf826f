"""What the adapters share: the parameters, and questions to an index."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

K = 128
BANDS, ROWS = 16, 8
SIZE = 9


class Adapting:
    """The numbers that all adapters have."""

    name = ""
    shingle_size: int | None = None
    num_perm = K
    bands, rows = BANDS, ROWS


def encoded(documents: Iterable[Sequence[str]]) -> list[list[bytes]]:
    """Return the elements as bytes."""
    return [[element.encode() for element in document] for document in documents]


def named(
    insert: Callable[[int, Any], Any],
    query: Callable[[Any], Iterable[int]],
    left: Iterable[Any],
    right: Iterable[Any],
) -> NDArray[np.bool_]:
    """Return whether an index of all of `left`, by their numbers, names i when asked right[i]."""
    for i, each in enumerate(left):
        insert(i, each)
    return np.array([i in query(each) for i, each in enumerate(right)], bool)
