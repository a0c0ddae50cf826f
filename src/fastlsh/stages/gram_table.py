"""The n-grams of evaluation items, in a table that training documents are looked up in."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.passages._passages import GramTable, extend_grams, hash_grams, repeat_grams
from fastlsh._kernels.text._plans import ShinglePlan
from fastlsh.arrays import offsets_of, unique
from fastlsh.texts import Shingler, UnitTexts, as_texts

SHORTEST = 5
"""Words of the shortest item that is searched."""

MAX_FIELDS = 100
"""An n-gram that more fields of one item have does not count: it is a template, and each place of
it in a document would be found in all of them."""

ALL_BITS = (1 << 64) - 1

SHORT, SHARED, BOILERPLATE = 1, 2, 3
"""Why an item is not searched: it has too few words, or only n-grams that too many items or
fields share, or only boilerplate."""


@dataclass(frozen=True)
class ItemGrams:
    """The n-grams of items, and which of them count."""

    shingler: Shingler
    units: UnitTexts
    """Of the fields of all items."""
    owner: NDArray[np.int64]
    """int64 (fields,), ascending: the item of each field."""
    grams: NDArray[np.int64]
    """int64 (n, 3), ascending: field, first unit, units; of equal ones in a field, the first."""
    hashes: NDArray[np.uint64]
    """uint64 (n,): of each n-gram."""
    number: NDArray[np.int64]
    """int64 (n,): n-grams with the same hash have the same number."""
    text: NDArray[np.int64]
    """int64 (n,): n-grams that are equal have the same text."""
    reasons: NDArray[np.int64]
    """int64 (texts,): 0 for an n-gram that counts; otherwise `SHARED` or `BOILERPLATE`."""
    items: int
    repeats: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
    """int64 (fields + 1,): where the units of each field begin; and two int64 (units,): the first
    equal n-gram of the field at each unit, or -1, and how far the field agrees from both on."""
    mask: int = ALL_BITS

    @property
    def unit(self) -> int:
        """The unit by the number that the kernels have for it."""
        return self.shingler.kernel_unit

    @property
    def plan(self) -> ShinglePlan | None:
        """How single units are hashed."""
        return replace(self.shingler, size=1).hashing.prepared

    @cached_property
    def item(self) -> NDArray[np.int64]:
        """int64 (n,): the item of each n-gram."""
        return self.owner[self.grams[:, 0]]

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """Bool (n,): which n-grams count."""
        counted: NDArray[np.bool_] = self.reasons[self.text] == 0
        return counted

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """int64 (items,): how many different n-grams of each item count."""
        items = _owners(self.text[self.counted], self.item[self.counted], self.items)[1]
        return np.bincount(items, minlength=self.items)

    @cached_property
    def by_number(self) -> NDArray[np.int64]:
        """int64 (n,): the n-grams, sorted by their number."""
        return np.argsort(self.number, kind="stable")

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """int64 (numbers + 1,): where the n-grams with each number begin in `by_number`."""
        return offsets_of(np.bincount(self.number))

    @cached_property
    def table(self) -> GramTable:
        """The n-grams that count."""
        size = self.shingler.size
        rows = np.flatnonzero(self.counted)
        shorter = rows[self.grams[rows, 2] < size]
        least = min(SHORTEST, size)
        heads = self.grams[shorter].copy()
        heads[:, 2] = least
        beginnings = np.empty(len(heads), np.uint64)
        hash_grams(self.units.texts, self.unit, heads, self.mask, beginnings, self.plan)
        numbers, hashes = unique(self.number[rows]), unique(self.hashes[rows])
        only_shorter = np.ones(len(self.first), np.uint8)
        only_shorter[self.number[rows[self.grams[rows, 2] == size]]] = 0
        return GramTable(
            size, hashes, numbers, only_shorter[numbers], least, unique(self.grams[shorter, 2]),
            beginnings, self.mask,
        )  # fmt: skip

    def without(self, texts: NDArray[np.int64], reason: int) -> "ItemGrams":
        """Return the same in which n-grams with these texts do not count, ready for threads."""
        reasons = self.reasons.copy()
        reasons[texts] = reason
        fewer = replace(self, reasons=reasons)
        # Since Python 3.12, `cached_property` has no lock: each thread would build its own.
        _ = fewer.table, fewer.by_number, fewer.sizes
        return fewer

    def why_not_searched(self) -> NDArray[np.int64]:
        """Return why each item is not searched, int64 (items,); 0: it is."""
        why = np.full(self.items, SHORT)
        for reason in (SHARED, BOILERPLATE, 0):  # the last one that is true of an n-gram
            why[self.item[self.reasons[self.text] == reason]] = reason
        return why

    @cached_property
    def first_with(self) -> NDArray[np.int64]:
        """int64 (texts,): the first n-gram with each text."""
        return np.unique(self.text, return_index=True)[1]

    def text_of(self, text: int) -> str:
        """Return an n-gram as it is compared."""
        field, first, size = self.grams[self.first_with[text]].tolist()
        bounds = self.units.bounds[self.units.starts[field] + first :][:size]
        (whole,) = self.units.texts.part(field, field + 1).strings()
        joiner = "" if self.shingler.unit == "char" else " "
        return joiner.join(whole[begin:end] for begin, end in bounds.tolist())


def item_grams(
    fields: Sequence[str | None],
    owner: NDArray[np.int64],
    items: int,
    shingler: Shingler,
    *,
    step: int = 1,
    max_items: int = 100,
    mask: int = ALL_BITS,
) -> ItemGrams:
    """Find the n-grams of items.

    Parameters
    ----------
    fields, owner
        The texts of the fields; and int64 (fields,), ascending, the item of each.
    items
        How many items there are.
    shingler
        How texts are normalised and cut, and how many units an n-gram has.
    step
        Every so many units an n-gram begins.
    max_items
        An n-gram that more items have, or more than `MAX_FIELDS` fields of one, does not count.
    mask
        As in `hash_grams`.
    """
    texts = as_texts(list(fields))
    units = UnitTexts.of(shingler, shingler.plain_texts(texts, 0, len(texts)))
    grams = _places(units.counts, owner, items, shingler.size, step)
    hashes = np.empty(len(grams), np.uint64)
    plan = replace(shingler, size=1).hashing.prepared
    hash_grams(units.texts, shingler.kernel_unit, grams, mask, hashes, plan)
    number = np.searchsorted(unique(hashes), hashes)
    text = _equal_texts(units, grams, number)
    count = int(text.max()) + 1 if len(text) else 0
    first, places = _first_ones(grams, text)
    firsts, ahead = np.full(len(units.bounds), -1), np.zeros(len(units.bounds), np.int64)
    firsts[units.starts[grams[:, 0]] + grams[:, 1]] = places
    repeat_grams(units.numbers(), units.starts, firsts, shingler.size, ahead)
    all_grams = ItemGrams(
        shingler, units, owner, grams[first], hashes[first], number[first], text[first],
        np.zeros(count, np.int64), items, (units.starts, firsts, ahead), mask,
    )  # fmt: skip
    pairs, times = np.unique(
        all_grams.text * np.int64(max(items, 1)) + all_grams.item, return_counts=True
    )
    users = np.bincount(pairs // max(items, 1), minlength=count)
    users[pairs[times > MAX_FIELDS] // max(items, 1)] = max_items + 1
    return all_grams.without(np.flatnonzero(users > max_items), SHARED)


def _first_ones(
    grams: NDArray[np.int64], text: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the n-grams that are the first of equal ones in a field, and where that of each is."""
    pairs = grams[:, 0] * (text.max(initial=0) + 1) + text
    _, first, of = np.unique(pairs, return_index=True, return_inverse=True)
    return np.sort(first), grams[first, 1][of.reshape(-1)]


def _owners(
    text: NDArray[np.int64], item: NDArray[np.int64], items: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the different pairs of texts and items."""
    pairs = unique(text * np.int64(max(items, 1)) + item)
    return pairs // max(items, 1), pairs % max(items, 1)


def _equal_texts(
    units: UnitTexts, grams: NDArray[np.int64], number: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return a number for each n-gram, the same for equal ones; their hashes only suggest it."""
    text, numbers = np.full(len(grams), -1), units.numbers()
    left, count = np.arange(len(grams)), 0
    while len(left):
        _, first, group = np.unique(number[left], return_index=True, return_inverse=True)
        model = left[first][group]  # the first one with the same hash
        field, unit, size = grams[left].T
        rows = np.column_stack([field, grams[model, 0], unit, grams[model, 1], size])
        doubtful = np.flatnonzero((model != left) & (size == grams[model, 2]))
        order = np.lexsort(
            (unit[doubtful], rows[doubtful, 2] - rows[doubtful, 3], rows[doubtful, 1],
             rows[doubtful, 0])
        )  # fmt: skip
        doubtful = doubtful[order]
        run = np.empty(len(doubtful), np.int64)
        doubtful_rows = np.ascontiguousarray(rows[doubtful])
        extend_grams(numbers, numbers, doubtful_rows, np.empty_like(doubtful_rows), run)
        equal = model == left
        equal[doubtful[run >= 0]] = True
        text[left[equal]] = count + group[equal]
        count += len(first)
        left = left[~equal]
    return text


def _places(
    counts: NDArray[np.int64], owner: NDArray[np.int64], items: int, size: int, step: int
) -> NDArray[np.int64]:
    """Return where the n-grams are, int64 (n, 3): field, first unit, units.

    Of an item without a field of `size` units, the longest field is one n-gram as a whole.
    """
    windows = np.maximum(counts - size + step, 0) // step
    has_grams = np.zeros(items, np.bool_)
    has_grams[owner[windows > 0]] = True
    short = np.flatnonzero(~has_grams[owner] & (counts >= min(SHORTEST, size)))
    # The longest of each item, and the first one of equals.
    short = short[np.lexsort((short, -counts[short], owner[short]))]
    short = short[np.diff(owner[short], prepend=-1) != 0]
    field = np.repeat(np.arange(len(counts)), windows)
    first = step * (np.arange(len(field)) - np.repeat(np.cumsum(windows) - windows, windows))
    long = np.column_stack([field, first, np.full(len(field), size)])
    whole = np.column_stack([short, np.zeros_like(short), counts[short]])
    grams = np.concatenate([long, whole]).astype(np.int64)
    return np.ascontiguousarray(grams[np.argsort(grams[:, 0], kind="stable")])
