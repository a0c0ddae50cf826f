"""Which evaluation items are in which documents, and what is left of these."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.parallel import plural
from fastlsh.results.deduplication import named
from fastlsh.results.table import Column, ResultTable


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


class Contamination(ResultTable):
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

    def __init__(
        self,
        columns: Mapping[str, Any],
        kept: NDArray[np.bool_],
        texts: list[str | None] | None,
        *,
        not_searched: list[NotSearched],
        boilerplate: list[Boilerplate],
        ids: Sequence[Any] | None = None,
        item_ids: Sequence[Any] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.document: NDArray[np.int64] = columns["document"]
        self.item: NDArray[np.int64] = columns["item"]
        self.share: NDArray[np.float64] = columns["share"]
        self.longest_run: NDArray[np.int64] = columns["longest_run"]
        self.field: list[str] = columns["field"]
        self.start: NDArray[np.int64] = columns["start"]
        self.end: NDArray[np.int64] = columns["end"]
        self.contaminated = np.zeros(len(kept), np.bool_)
        self.contaminated[self.document] = True
        self.kept = kept
        self.texts = texts
        self.not_searched = not_searched
        self.boilerplate = boilerplate
        self.ids = ids
        self.item_ids = item_ids
        self.options = dict(options or {})

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

    def __len__(self) -> int:
        return len(self.document)

    def __iter__(self) -> Iterator[tuple[Any, Any, float, int, str, int, int]]:
        return zip(
            self.id, self.item_id, self.share.tolist(), self.longest_run.tolist(), self.field,
            self.start.tolist(), self.end.tolist(), strict=True,
        )  # fmt: skip

    def __repr__(self) -> str:
        items = len(self.items_found)
        return (
            f"<Contamination: {int(self.contaminated.sum()):,} of"
            f" {plural(len(self.kept), 'document')} contain {plural(items, 'item')}>"
        )

    def _columns(self, rows: slice = slice(None)) -> dict[str, Column]:
        names = ("document", "item", "share", "longest_run", "field", "start", "end")
        columns: dict[str, Column] = {name: getattr(self, name)[rows] for name in names}
        if self.ids is not None:
            columns["id"] = named(self.document[rows], self.ids)
        if self.item_ids is not None:
            columns["item_id"] = named(self.item[rows], self.item_ids)
        return columns
