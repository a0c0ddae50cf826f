"""Texts without the passages that occurred before, in another text or in the same one."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastlsh.arguments import check_ids, check_integer
from fastlsh.index import Index
from fastlsh.keywords import made, shares
from fastlsh.parallel import RunKeywords, RunOptions
from fastlsh.results import SpanDeduplication
from fastlsh.search.advice import warn_of_short_passages
from fastlsh.stages import (
    CutKeywords,
    CutRules,
    CutTexts,
    characters_of,
    cut_texts,
    repeated_passages,
)
from fastlsh.texts import Shingler, as_texts, check_traceable, plain_strings

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack


class CutCollections(NamedTuple):
    """Texts that lose what an earlier text has; those of `against` count as earlier than all."""

    documents: list[str | None]
    against: list[str | None]
    ids: Sequence[Any] | None
    against_ids: Sequence[Any] | None

    @classmethod
    def of(
        cls,
        texts: Iterable[Any],
        against: Iterable[Any] | None = None,
        ids: Sequence[Any] | None = None,
        against_ids: Sequence[Any] | None = None,
        *,
        lose: str = "lines",
    ) -> "CutCollections":
        """Check the arguments of a function by which texts lose lines, or what `lose` says."""
        documents = plain_strings(texts)
        ids = check_ids(ids, len(documents))
        if isinstance(against, Index):
            raise TypeError(
                f"against must be texts: an index holds documents, and not their {lose}"
            )
        others = [] if against is None else plain_strings(against, "against")
        return cls(documents, others, ids, check_ids(against_ids, len(others), "against_ids"))


class SpanKeywords(CutKeywords, RunKeywords, total=False):
    """The shared keyword arguments of `deduplicate_spans`, for type checkers."""


@shares(CutRules.of, RunOptions.of)
def deduplicate_spans(
    texts: Iterable[Any],
    min_length: int = 500,
    *,
    shingler: Shingler | None = None,
    against: Iterable[Any] | None = None,
    ids: Sequence[Any] | None = None,
    against_ids: Sequence[Any] | None = None,
    **keywords: "Unpack[SpanKeywords]",
) -> SpanDeduplication:
    """Remove every passage of at least `min_length` characters or words that occurred before.

    In the order of the collection, a character is removed if it lies in a window of `min_length`
    characters that occurred before, in an earlier text or wholly before itself. No such window is
    missed, none is found by its hash alone, and each removed character stays at the place that the
    result names.

    Parameters
    ----------
    texts, ids
        As in `deduplicate`.
    min_length
        The least length of a passage in units of the normalised text, at least 1.
    shingler
        Its steps of normalisation (by default, there are none) decide which passages are equal;
        they are cut in the texts as they came. Its unit, "char", "byte" or "word", is what lengths
        count; cuts lie between characters in any case. Words are compared as text, and what is
        between them is not: it goes where it lies inside a cut. A tokenizer may
        give pieces of the text, or pairs of where each token begins and ends in it; tokens that
        share a character count as one. Its size has no effect.
    against
        A reference collection, in any form of `texts`: passages that occur in it are removed, too.
        Its documents count as earlier than all others and are not part of the result.
    against_ids
        The ids of the documents of `against`.

    Returns
    -------
    SpanDeduplication
        The texts, and every removed span with the place where it stays.

    Raises
    ------
    TypeError, ValueError
        As `deduplicate_lines`.

    Notes
    -----
    Of the hashes of all grams in a window, the smallest is the key of the window (winnowing:
    Schleimer, Wilkerson and Aiken 2003), so equal windows have the same key. Windows with the same
    key are then compared in full. Time is linear in the number of characters, however often a
    passage occurs; memory is about 20 % of the text and what its repeated passages take.
    Words take 20 bytes each besides in texts with repeated passages. The tokens of a tokenizer
    are found in Python, one text at a time.

    Examples
    --------
    >>> texts = ["All rights reserved. First story.", "Second story. All rights reserved."]
    >>> result = deduplicate_spans(texts, 20)
    >>> result.texts
    ['All rights reserved. First story.', 'Second story. ']
    >>> list(result)
    [(1, 14, 34, 0, 0)]
    """
    rules, options = made(CutRules.of, keywords), made(RunOptions.of, keywords)
    length, plain = check_length(min_length), check_traceable(shingler)
    collections = CutCollections.of(texts, against, ids, against_ids, lose="passages")
    cut = cut_passages(collections, length, plain, rules, options)
    n_against, documents = len(collections.against), collections.documents.copy()
    for number, text in cut.texts.items():
        documents[number - n_against] = text
    return SpanDeduplication(
        documents,
        cut.removed - (n_against, 0, 0),
        cut.kept,
        common=cut.common - (n_against, 0, 0),
        emptied=np.array([n for n, text in cut.texts.items() if not text], np.int64) - n_against,
        dropped=cut.dropped - n_against,
        n_against=n_against,
        ids=collections.ids,
        against_ids=collections.against_ids,
        options={"min_length": length, "shingler": plain, **asdict(rules)},
    )


def check_length(min_length: Any) -> int:
    """Return the least length of a passage, or raise."""
    length = check_integer(min_length, "min_length")
    if length < 1:
        raise ValueError("min_length must be at least 1, got 0")
    return length


def cut_passages(
    collections: CutCollections,
    length: int,
    shingler: Shingler,
    rules: CutRules,
    options: RunOptions,
) -> CutTexts:
    """Cut repeated passages as `deduplicate_spans` does, whose arguments are checked before.

    The documents of `against` have the first numbers.
    """
    n_against = len(collections.against)
    strings = [*collections.against, *collections.documents]
    everything = as_texts(strings)
    characters = int(characters_of(everything, shingler, options).sum())
    warn_of_short_passages(length, characters, shingler.unit)
    rows = repeated_passages(everything, shingler, length, rules.n_whole(n_against), options)
    return cut_texts(everything, shingler, rows, length, n_against, rules)
