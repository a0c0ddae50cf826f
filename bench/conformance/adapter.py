"""What the kit asks of a library, part by part: an adapter has those parts that its library has."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Protocol, TypeAlias, runtime_checkable

from numpy.typing import ArrayLike

Document: TypeAlias = "str | list[str]"
"""A text if the adapter has a `shingle_size`, otherwise the elements of a set, in any order."""


class Adapter(Protocol):
    """Any MinHash library, for `check`. Besides a name, it has `signatures`, `estimates` or both.

    Every other part is optional; a check that needs a missing part is *not applicable*. The parts
    are the protocols `Signatures`, `Estimates`, `BandKeys`, `Candidates` and `Filter`. All of them
    must give the same answer to the same question every time.
    """

    @property
    def name(self) -> str:
        """Of the library, for the report."""

    @property
    def shingle_size(self) -> int | None:
        """None: documents are lists of elements (str). A number: they are texts.

        Of texts the library itself makes shingles of so many characters.
        """


@runtime_checkable
class Signatures(Protocol):
    """The library shows its signatures."""

    def signatures(self, documents: Sequence[Any]) -> ArrayLike:
        """Return integers (n, k) of at most 64 bits, one row for each document."""


@runtime_checkable
class Estimates(Protocol):
    """The library estimates similarities. It needs `num_perm`, the number of its functions."""

    num_perm: int

    def estimates(self, left: Sequence[Any], right: Sequence[Any]) -> ArrayLike:
        """Return (m,) estimates, of left[i] with right[i]."""


class Banded(Protocol):
    """How the library cuts signatures into bands."""

    bands: int
    rows: int


@runtime_checkable
class BandKeys(Banded, Protocol):
    """The library shows what it looks up in its tables."""

    def band_keys(self, signatures: Any) -> Any:
        """Return the keys (n, bands) of signatures (n, k): integers below 2^64, or bytes."""


@runtime_checkable
class Candidates(Banded, Protocol):
    """The library has an index."""

    def candidates(self, left: Sequence[Any], right: Sequence[Any]) -> ArrayLike:
        """Return (m,) bool: an index of all of `left`, asked for right[i], names left[i].

        An index that names nobody says whether it has something for right[i].
        """


@runtime_checkable
class Filter(Protocol):
    """The library drops candidates whose estimated similarity is too low."""

    def filtered(self, left: Sequence[Any], right: Sequence[Any], minimum: float) -> ArrayLike:
        """Return (m,) bool: as `Candidates.candidates`, of those that reach the minimum."""


PARTS: dict[str, type] = {
    "signatures": Signatures,
    "estimates": Estimates,
    "band_keys": BandKeys,
    "candidates": Candidates,
    "filtered": Filter,
}


def parts_of(adapter: Any) -> frozenset[str]:
    """Return the names of the parts that an adapter has; TypeError if there is nothing to check.

    A part whose value is None is not there.
    """
    if isinstance(adapter, type):
        raise TypeError(f"an adapter is an object, got the class: pass {adapter.__name__}()")
    if not isinstance(getattr(adapter, "name", None), str):
        raise TypeError(
            f"an adapter needs a name (str), which this {type(adapter).__name__} does not have"
        )
    size = getattr(adapter, "shingle_size", "missing")
    if size is not None and not _is_count(size):
        raise TypeError(
            f"adapter {adapter.name}: shingle_size must be None (documents are lists of elements) "
            f"or a number of characters, got {size!r}"
        )
    needs = {"estimates": ("num_perm",), "band_keys": ("bands", "rows"),
             "candidates": ("bands", "rows")}  # fmt: skip
    parts = {name for name in PARTS if callable(getattr(adapter, name, None))}
    for part in sorted(parts):
        for number in needs.get(part, ()):
            value = getattr(adapter, number, None)
            if not _is_count(value):
                raise TypeError(
                    f"adapter {adapter.name}: {part} needs {number}, a positive integer, "
                    f"got {value!r}"
                )
    if not parts & {"signatures", "estimates"}:
        raise TypeError(f"adapter {adapter.name} has neither signatures nor estimates")
    return frozenset(parts)


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
