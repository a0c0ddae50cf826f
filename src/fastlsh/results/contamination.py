"""Which evaluation items are in which documents, and what is left of these."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from dataclasses import field as dataclass_field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.parallel import plural
from fastlsh.results.table import RowTable, named


class NotSearched(NamedTuple):
    """An item that no document can contain."""

    item: Any
    """Its id; its number if no ids were given."""
    reason: str
    """"short", "shared" (too many items have its n-grams), or "boilerplate"."""


class Boilerplate(NamedTuple):
    """An n-gram that does not count, because too many documents contain it alone."""

    text: str
    documents: int
    """In how many documents of the sample it is."""


@dataclass(eq=False, repr=False)
class Contamination(RowTable[tuple[Any, Any, float, int, str, int, int]]):
    """The items that documents contain, and the places; a table with a row for each place.

    An iterable of (id, item_id, share, longest_run, field, start, end). Positions are code points
    of the original texts: ``texts[document][start:end]`` is equal to words of the item.

    Attributes
    ----------
    document, item : ndarray of int64, shape (m,)
        Ascending.
    share : ndarray of float64, shape (m,)
        The share of the item's different n-grams that the document contains.
    longest_run : ndarray of int64, shape (m,)
        The words (or characters) of the longest run that both have in common. Where an item
        repeats an n-gram, only runs through its first place in the item are looked at.
    field : list of str
        The field of the item that the place has in common with it.
    start, end : ndarray of int64, shape (m,)
        The place in the document.
    contaminated : ndarray of bool, shape (documents,)
        Which documents contain an item.
    kept : ndarray of bool, shape (documents,)
        Which documents the rule leaves.
    texts : list of str or None
        With the rule "span", the texts after the cuts, those of removed documents as they came;
        otherwise None.
    not_searched : list of NotSearched
        The items that cannot be found.
    boilerplate : list of Boilerplate
        The n-grams that do not count.
    ids, item_ids : sequence or None
        The ids, if they were given.
    options : dict
        The keyword arguments that the result came from.
    """

    COLUMNS = ("document", "item", "share", "longest_run", "field", "start", "end")
    ID_COLUMNS = (("id", "ids"), ("item_id", "item_ids"))
    ROW = ("id", "item_id", "share", "longest_run", "field", "start", "end")

    document: NDArray[np.int64]
    item: NDArray[np.int64]
    share: NDArray[np.float64]
    longest_run: NDArray[np.int64]
    field: list[str]
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    kept: NDArray[np.bool_]
    texts: list[str | None] | None
    _: KW_ONLY
    not_searched: list[NotSearched]
    boilerplate: list[Boilerplate]
    ids: Sequence[Any] | None = None
    item_ids: Sequence[Any] | None = None
    options: dict[str, Any] = dataclass_field(default_factory=dict)

    def __post_init__(self) -> None:
        self.contaminated = np.zeros(len(self.kept), np.bool_)
        self.contaminated[self.document] = True

    @property
    def id(self) -> list[Any]:
        """The id of each row's document; its number if no ids were given."""
        return named(self.document, self.ids)

    @property
    def item_id(self) -> list[Any]:
        """The id of each row's item; its number if no ids were given."""
        return named(self.item, self.item_ids)

    @property
    def items_found(self) -> NDArray[np.int64]:
        """The numbers of the items that some document contains, int64, ascending."""
        return np.unique(self.item)

    def __repr__(self) -> str:
        items = len(self.items_found)
        return (
            f"<Contamination: {int(self.contaminated.sum()):,} of"
            f" {plural(len(self.kept), 'document')} contain {plural(items, 'item')}>"
        )
