"""Texts without the passages that occurred before, in another text or in the same one."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastlsh.arguments import check_ids, check_integer
from fastlsh.index import Index
from fastlsh.keywords import made, shares
from fastlsh.parallel import RunKeywords, RunOptions
from fastlsh.results import SpanDeduplication
from fastlsh.stages import cut_texts, repeated_passages
from fastlsh.texts import Shingler, as_texts, check_traceable, plain_strings

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack


@shares(RunOptions.of)
def deduplicate_spans(
    texts: Iterable[Any],
    min_length: int = 500,
    *,
    shingler: Shingler | None = None,
    against: Iterable[Any] | None = None,
    ids: Sequence[Any] | None = None,
    against_ids: Sequence[Any] | None = None,
    join: str = "",
    keep_least: int = 0,
    **keywords: "Unpack[RunKeywords]",
) -> SpanDeduplication:
    """Remove every passage of at least `min_length` characters that occurred before.

    In the order of the collection, a character is removed if it lies in a window of `min_length`
    characters that occurred before, in an earlier text or wholly before itself. No such window is
    missed, none is found by its hash alone, and each removed character stays at the place that the
    result names.

    Parameters
    ----------
    texts, ids
        As in `deduplicate`.
    min_length
        The least length of a passage in code points of the normalised text, at least 1.
    shingler
        Its steps of normalisation (by default, there are none) decide which passages are equal;
        they are cut in the texts as they came. Its size has no effect.
    against
        A reference collection, in any form of `texts`: passages that occur in it are removed, too.
        Its documents count as earlier than all others and are not part of the result.
    against_ids
        The ids of the documents of `against`.
    join
        What is written in place of each cut between two remainders of a text.
    keep_least
        A text that lost something, and of which fewer characters remain, is named in
        `SpanDeduplication.dropped`.

    Returns
    -------
    SpanDeduplication
        The texts, and every removed span with the place where it stays.

    Raises
    ------
    TypeError, ValueError
        An argument is invalid, or a document has an unsupported type.

    Notes
    -----
    Of the hashes of all grams in a window, the smallest is the key of the window (winnowing:
    Schleimer, Wilkerson and Aiken 2003), so equal windows have the same key. Windows with the same
    key are then compared in full. Time is linear in the number of characters, however often a
    passage occurs; memory is about 20 % of the text and what its repeated passages take.

    Examples
    --------
    >>> texts = ["All rights reserved. First story.", "Second story. All rights reserved."]
    >>> result = deduplicate_spans(texts, 20)
    >>> result.texts
    ['All rights reserved. First story.', 'Second story. ']
    >>> list(result)
    [(1, 14, 34, 0, 0)]
    """
    options = made(RunOptions.of, keywords)
    length = check_length(min_length)
    return deduplicate_spans_of_texts(
        texts, length, shingler or Shingler(), options, against=against, ids=ids,
        against_ids=against_ids, join=join, keep_least=keep_least,
    )  # fmt: skip


def check_length(min_length: Any) -> int:
    """Return the least length of a passage, or raise."""
    length = check_integer(min_length, "min_length")
    if length < 1:
        raise ValueError("min_length must be at least 1, got 0")
    return length


def deduplicate_spans_of_texts(
    texts: Iterable[Any],
    length: int,
    shingler: Shingler,
    options: RunOptions,
    *,
    against: Iterable[Any] | None = None,
    ids: Sequence[Any] | None = None,
    against_ids: Sequence[Any] | None = None,
    join: str = "",
    keep_least: int = 0,
) -> SpanDeduplication:
    """Remove repeated passages as `deduplicate_spans` does."""
    keep_least = check_integer(keep_least, "keep_least")
    if not isinstance(join, str):
        raise TypeError(f"join must be a str, got {type(join).__name__}")
    check_traceable(shingler)
    documents = plain_strings(texts)
    ids = check_ids(ids, len(documents))
    if isinstance(against, Index):
        raise TypeError("against must be texts: an index holds documents, and not their passages")
    others = [] if against is None else plain_strings(against)
    against_ids = check_ids(against_ids, len(others), "against_ids")
    everything = as_texts([*others, *documents])
    rows = repeated_passages(everything, shingler, length, len(others), options)
    cut = cut_texts(everything, shingler, rows, join, keep_least)
    for number, text in cut.texts.items():
        documents[number - len(others)] = text
    return SpanDeduplication(
        documents,
        cut.removed - (len(others), 0, 0),
        cut.kept,
        emptied=np.array([n for n, text in cut.texts.items() if not text], np.int64) - len(others),
        dropped=cut.dropped - len(others),
        n_against=len(others),
        ids=ids,
        against_ids=against_ids,
        options={
            "min_length": length, "shingler": shingler, "join": join, "keep_least": keep_least,
        },
    )  # fmt: skip
