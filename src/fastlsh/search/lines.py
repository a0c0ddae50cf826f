"""Texts without the lines, paragraphs or sentences that an earlier text has."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastlsh.arguments import check_choice, check_integer
from fastlsh.keywords import made, shares, taken
from fastlsh.parallel import RunOptions
from fastlsh.parameters import SearchParams
from fastlsh.results import LineDeduplication
from fastlsh.search.advice import warn_of_short_documents
from fastlsh.search.spans import CutCollections
from fastlsh.stages import check_window, decide_pieces, piece_params
from fastlsh.texts import pieces_of, texts_without

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack
    from fastlsh.parameters import SearchAndRunKeywords


@shares(SearchParams.of, RunOptions.of, command="dedup", refused="lines")
def deduplicate_lines(
    texts: Iterable[Any],
    by: str = "line",
    *,
    against: Iterable[Any] | None = None,
    threshold: float = 1.0,
    window: int = 1,
    min_length: int = 0,
    ids: Sequence[Any] | None = None,
    against_ids: Sequence[Any] | None = None,
    max_candidates: int = 1000,
    **keywords: "Unpack[SearchAndRunKeywords]",
) -> LineDeduplication:
    r"""Remove the lines, paragraphs or sentences that repeat an earlier one.

    Every document stays, without the lines that have occurred before. The first occurrence of a
    line is kept. By default lines must be equal, which is checked in full and not by their hashes.

    Parameters
    ----------
    texts, ids
        As in `deduplicate`.
    by
        "line": up to a line feed; a carriage return before it does not count. "paragraph": lines
        up to a blank one. Blank lines, of ASCII white space only, are never compared. "sentence":
        as `snap` of `deduplicate_spans` cuts them, up to a full stop, question mark, exclamation
        mark or ellipsis before white space, to one of Chinese and Japanese, or to a line feed.
    against
        A reference collection, in any form of `texts`: lines that occur in it are removed, too.
        Its documents count as earlier than all others and are not part of the result.
    threshold
        1: a line is removed if it equals a kept one, once both are normalised by `shingler`. Below
        1: if its verified Jaccard similarity with a kept line is at least `threshold`, as in
        `deduplicate`.
    window
        For a threshold of 1: so many consecutive lines of a text are compared as one, from the
        beginning of the first to the end of the last, with what is between them. All windows of a
        text are compared, which overlap, and those of a text with fewer lines are none. A window
        that has occurred before is removed, and a line goes if it is in a removed window. A row of
        the result is a window, and names the first occurrence, which may itself have lost lines.
    min_length
        Lines, or windows, of fewer code points are not compared, and are kept.
    against_ids
        The ids of the documents of `against`.
    max_candidates
        As in `deduplicate`, for a threshold below 1.

    Returns
    -------
    LineDeduplication
        The texts, and every removed span. The end of a removed line is removed with it. With a
        paragraph, the blank lines behind it are removed, or at the end of a text those before it. A
        text of which only blank lines would be left is "". Around removed sentences, one of the
        stretches of white space is kept: the one with most line feeds.

    Raises
    ------
    TypeError, ValueError
        An argument is invalid, or a document has an unsupported type.

    Notes
    -----
    The steps of normalisation of `shingler` (by default, there are none) determine which lines are
    equal, for example ``Shingler(lowercase=True, numbers="0", punctuation="remove")``. A line that
    has no unit after the steps, as a line of white space where words are the units, is not
    compared. The size of a shingle, and num_perm, seed, recall, bands, rows, scheme and verify, are
    for a threshold below 1.

    Memory: about 100 bytes per line, those of `against` included; below a threshold of 1 also
    4 * num_perm + 8 * bands bytes for each different line. Time is linear in the number of
    characters.

    Examples
    --------
    >>> texts = ["Menu\nThe first story.", "Menu\nThe second story."]
    >>> result = deduplicate_lines(texts)
    >>> result.texts
    ['Menu\nThe first story.', 'The second story.']
    >>> list(result)
    [(1, 0, 4, 0, 1.0)]
    """
    params = piece_params(threshold, **taken(SearchParams.of, keywords))
    options = made(RunOptions.of, keywords)
    check_choice(by, "by")
    window = check_window(window, params)
    min_length = check_integer(min_length, "min_length")
    max_candidates = check_integer(max_candidates, "max_candidates")
    collections = CutCollections.of(texts, against, ids, against_ids)
    return deduplicate_lines_of_texts(
        collections, by, params, options, window=window, min_length=min_length,
        max_candidates=max_candidates,
    )  # fmt: skip


def deduplicate_lines_of_texts(
    collections: CutCollections,
    by: str,
    params: SearchParams,
    options: RunOptions,
    *,
    window: int,
    min_length: int,
    max_candidates: int,
) -> LineDeduplication:
    """Remove the repeated pieces as `deduplicate_lines` does, whose arguments are checked before.

    `params` are from `piece_params`.
    """
    n_against = len(collections.against)
    documents = [*collections.against, *collections.documents]
    everything = pieces_of(documents, by, options.threads, window)
    long = np.flatnonzero(everything.lengths >= min_length)
    compared = everything.chosen(long) if min_length else everything
    first = int((compared.bounds[:, 0] < n_against).sum())
    kept, similarity, limited, short, empty = decide_pieces(
        compared, params, max_candidates, options, first
    )
    warn_of_short_documents(short, empty, first, params.shingler, by)
    gone = np.flatnonzero((kept != np.arange(len(kept))) & (compared.bounds[:, 0] >= n_against))
    removed = compared.bounds[gone]
    changed = texts_without(everything.texts, everything.removed(long[gone]), by)
    documents = collections.documents.copy()
    for number, text in changed.items():
        documents[number - n_against] = text
    return LineDeduplication(
        documents,
        removed - (n_against, 0, 0),
        compared.bounds[kept[gone]],
        similarity[gone],
        emptied=np.array([n - n_against for n, text in changed.items() if not text], np.int64),
        by=by,
        threshold=params.threshold,
        spans=int((everything.bounds[:, 0] >= n_against).sum()),
        limited=len(limited),
        n_against=n_against,
        ids=collections.ids,
        against_ids=collections.against_ids,
        params=None if params.finds_equal else params.lsh,
        options={
            "by": by, **({"window": window} if window > 1 else {}),
            "threshold": params.threshold, "min_length": min_length,
            "max_candidates": max_candidates,
            **({"shingler": params.shingler} if params.finds_equal else params.keywords),
        },
    )  # fmt: skip
