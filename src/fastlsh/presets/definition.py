"""`Preset`: the arguments of a main function, together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from fastlsh.banding import LSHParams
from fastlsh.texts import Shingler


@dataclass(frozen=True)
class Preset(Mapping[str, Any]):
    """Keyword arguments for `near_duplicates`, `deduplicate`, `evaluate`, `explain` and `Index`.

    ``near_duplicates(texts, **preset("nemo"))``

    Parameters
    ----------
    threshold, shingler, num_perm, bands, rows
        As in these functions.

    Examples
    --------
    >>> import fastlsh
    >>> chosen = fastlsh.preset("nemo", threshold=0.9)
    >>> len(fastlsh.near_duplicates(["some text", "some text"], **chosen))
    1
    """

    threshold: float
    shingler: Shingler
    num_perm: int
    bands: int
    rows: int

    @property
    def params(self) -> LSHParams:
        """The bands and rows, from which the recall follows: ``preset("nemo").params``."""
        return LSHParams(self.bands, self.rows)

    def __getitem__(self, name: str) -> Any:
        if name not in FIELDS:
            raise KeyError(name)
        return getattr(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(FIELDS)

    def __len__(self) -> int:
        return len(FIELDS)


FIELDS = tuple(field.name for field in fields(Preset))
