"""Which evaluation items training documents contain, in memory."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastlsh.arguments import check_ids
from fastlsh.arrays import unique
from fastlsh.keywords import made, shares
from fastlsh.parallel import RunKeywords, RunOptions, batches, run_batches
from fastlsh.results import Boilerplate, Contamination, NotSearched
from fastlsh.search.contamination_params import ContaminationKeywords, ContaminationParams
from fastlsh.signatures import batch_size
from fastlsh.stages import (
    BOILERPLATE,
    SHARED,
    SHORT,
    Containments,
    ItemGrams,
    Matches,
    Tally,
    cut_around,
    found_in,
    item_grams,
    matches_in,
)
from fastlsh.texts import Texts, as_texts, lengths_of, plain_strings, texts_without_spans

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack


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
        if isinstance(items, (str, bytes, Mapping)) or not isinstance(items, Iterable):
            raise TypeError(f"items must be a list of items, got {type(items).__name__}")
        named_fields: list[list[tuple[str, str]]] = []
        for number, item in enumerate(items):
            try:
                named_fields.append(list(_fields_of(item)))
            except TypeError as error:  # noqa: PERF203
                raise TypeError(f"item {number} {error}") from None
        return cls.of_fields(named_fields)

    @classmethod
    def of_fields(cls, named_fields: Sequence[Sequence[tuple[str, str]]]) -> "Items":
        """Put the fields of items together, each a name and a text."""
        owner = np.repeat(
            np.arange(len(named_fields)), np.array(list(map(len, named_fields)), np.int64)
        )
        names = [name for item in named_fields for name, _ in item]
        return cls(
            [text for item in named_fields for _, text in item],
            names, owner, len(named_fields),
        )  # fmt: skip

    def whole_texts(self) -> list[str]:
        """Return each item as one text, a line for each field."""
        field_lists: list[list[str]] = [[] for _ in range(self.n_items)]
        for owner, field in zip(self.owner.tolist(), self.fields, strict=True):
            field_lists[owner].append(field)
        return ["\n".join(fields) for fields in field_lists]


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


class DecontaminationKeywords(ContaminationKeywords, RunKeywords, total=False):
    """The shared keyword arguments of `decontaminate`, for type checkers."""


REASONS = {SHORT: "short", SHARED: "shared", BOILERPLATE: "boilerplate"}


@shares(ContaminationParams.of, RunOptions.of)
def decontaminate(
    texts: Iterable[Any],
    items: Iterable[Any],
    *,
    ids: Sequence[Any] | None = None,
    item_ids: Sequence[Any] | None = None,
    **keywords: "Unpack[DecontaminationKeywords]",
) -> Contamination:
    """Find evaluation items in training documents, and remove what contains them.

    An item is found by its n-grams, which are looked up in a table and then compared as text, so
    that neither a hash nor a filter decides.

    Parameters
    ----------
    texts, ids
        The documents, as in `deduplicate`.
    items
        The evaluation items: each a text, or a mapping of the names of its fields to texts or
        lists of texts. N-grams do not cross fields.
    item_ids
        Their ids.

    Returns
    -------
    Contamination
        Where items are found, which documents are left, and which items cannot be found.

    Raises
    ------
    TypeError, ValueError
        An argument is invalid, or a document or an item has an unsupported type.

    Examples
    --------
    >>> question = "How many moons does the planet have that is nearest to the sun in our system?"
    >>> pages = ["A page of its own.", f"Quiz. {question.upper()} None."]
    >>> result = decontaminate(pages, [{"question": question, "answer": "None."}])
    >>> result.kept.tolist()
    [True, False]
    >>> list(result)
    [(1, 0, 1.0, 16, 'question', 6, 82)]
    """
    params = made(ContaminationParams.of, keywords)
    options = made(RunOptions.of, keywords)
    item_fields = Items.of(items)
    item_ids = check_ids(item_ids, item_fields.n_items, "item_ids")
    documents = plain_strings(texts) if params.rule == "span" else None
    collection = as_texts(texts if documents is None else documents)
    ids = check_ids(ids, len(collection))
    contents = found_in_texts(collection, grams_of_items(item_fields, params), params, options)
    kept = np.ones(len(collection), np.bool_)
    cuts, dropped = cuts_of(collection, contents.containments, params)
    kept[dropped] = False
    if documents is not None:
        for number, text in texts_without_spans(collection, cuts, params.join).items():
            documents[number] = text
    return Contamination(
        **columns_of(contents, item_fields), kept=kept, texts=documents,
        not_searched=not_searched(contents.grams, item_ids),
        boilerplate=boilerplate_of(contents.grams, contents.tally), ids=ids, item_ids=item_ids,
        options={name: getattr(params, name) for name in asdict(params)},
    )  # fmt: skip


class Contents(NamedTuple):
    """What documents contain of items."""

    containments: Containments
    grams: ItemGrams
    tally: Tally


def grams_of_items(items: Items, params: ContaminationParams) -> ItemGrams:
    """Return the n-grams of items."""
    return item_grams(
        items.fields, items.owner, items.n_items, params.shingler, step=params.step,
        max_items=params.max_items,
    )  # fmt: skip


def found_in_texts(
    texts: Texts, grams: ItemGrams, params: ContaminationParams, options: RunOptions
) -> Contents:
    """Find items in a collection, of which the first documents tell what is boilerplate."""
    size = batch_size(texts)
    sample = 0 if params.boilerplate_share is None else min(params.sample, len(texts))
    advance = options.progress.stage("decontaminating", len(texts))
    first: dict[int, list[Matches]] = {}

    def match(start: int, stop: int) -> None:
        first[start] = list(matches_in(grams, texts, start, stop))

    run_batches(match, batches(sample, size), options.threads, advance)
    tally = Tally.empty(grams)
    for block in first.values():
        for matches in block:
            tally.add(grams, matches)
    counting = without_boilerplate(grams, tally, sample, params)
    parts: dict[int, Containments] = {}

    def decide(start: int, stop: int) -> None:
        matches = first.pop(start) if stop <= sample else matches_in(counting, texts, start, stop)
        parts[start] = items_in(counting, texts, matches, params)

    run_batches(decide, batches(sample, size), options.threads)
    rest = ((start + sample, stop + sample) for start, stop in batches(len(texts) - sample, size))
    run_batches(decide, rest, options.threads, advance)
    return Contents(Containments.joined([parts[start] for start in sorted(parts)]), counting, tally)


def items_in(
    grams: ItemGrams, texts: Texts, matches: Iterable[Matches], params: ContaminationParams
) -> Containments:
    """Return the items that documents contain, by what `matches_in` has found in them."""
    return Containments.joined(
        [found_in(grams, texts, batch, params.min_share, params.min_run) for batch in matches]
    )


def without_boilerplate(
    grams: ItemGrams, tally: Tally, sample: int, params: ContaminationParams
) -> ItemGrams:
    """Return the n-grams, of which boilerplate does not count; there are so many documents."""
    if params.boilerplate_share is None or not sample:
        return grams
    texts = tally.boilerplate(sample, params.boilerplate_share, params.boilerplate_documents)
    return grams.without(texts, BOILERPLATE) if len(texts) else grams


def columns_of(contents: Contents, items: Items) -> dict[str, Any]:
    """Return the table of the places where items are found."""
    containments, grams = contents.containments, contents.grams
    row = containments.spans[:, 0]
    return {
        "document": containments.document[row],
        "item": containments.item[row],
        "share": containments.grams[row] / grams.sizes[containments.item[row]],
        "longest_run": containments.run[row],
        "field": [items.names[field] for field in containments.spans[:, 1].tolist()],
        "start": containments.spans[:, 2],
        "end": containments.spans[:, 3],
    }


def not_searched(grams: ItemGrams, ids: Sequence[Any] | None) -> list[NotSearched]:
    """Return the items that cannot be found."""
    why = grams.why_not_searched()
    return [
        NotSearched(item if ids is None else ids[item], REASONS[int(why[item])])
        for item in np.flatnonzero(why).tolist()
    ]


def boilerplate_of(grams: ItemGrams, tally: Tally) -> list[Boilerplate]:
    """Return the n-grams that are boilerplate, those of most documents first, then by item."""
    documents = tally.documents
    texts = np.flatnonzero(grams.reasons == BOILERPLATE)
    texts = texts[np.lexsort((grams.first_with[texts], -documents[texts]))]
    return [Boilerplate(grams.text_of(n), int(documents[n])) for n in texts.tolist()]


def most_contained(containments: Containments, share: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return, for each document in `containments`, the row of the item with the greatest share."""
    order: NDArray[np.int64] = np.lexsort((containments.item, -share, containments.document))
    first: NDArray[np.int64] = order[np.diff(containments.document[order], prepend=-1) != 0]
    return first


def cuts_of(
    texts: Texts, contained: Containments, params: ContaminationParams
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what is cut out of documents, as `cut_around` does, and which of them go."""
    if params.rule != "span":
        nothing = np.empty((0, 3), np.int64)
        return nothing, unique(contained.document) if params.rule == "document" else nothing[:, 0]
    spans = np.column_stack([contained.document[contained.spans[:, 0]], contained.spans[:, 2:]])
    documents = unique(spans[:, 0])
    lengths = lengths_of(texts.take(documents))
    return cut_around(lengths, spans, params.around, params.min_piece, params.max_pieces)
