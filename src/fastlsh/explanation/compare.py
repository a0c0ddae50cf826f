"""`explain`: two documents, compared as the collections are."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fastlsh.candidates import band_keys
from fastlsh.explanation.matching import Pairing, unit_numbers, window_numbers
from fastlsh.explanation.result import Explanation
from fastlsh.explanation.spans import covered, matching_spans
from fastlsh.explanation.units import units_of
from fastlsh.keywords import made, shares
from fastlsh.parallel import RunOptions
from fastlsh.parameters import SearchParams
from fastlsh.sets import estimate_jaccard
from fastlsh.stages import sign
from fastlsh.texts import Shingler, Texts, as_texts

if TYPE_CHECKING:
    from fastlsh.keywords import Unpack
    from fastlsh.parameters import BandingKeywords

LOOKED_AT = 1000
"""The most texts in which ignored stretches are looked for."""


def ignored_stretches(texts: Texts, shingler: Shingler, most: int) -> list[str | bytes]:
    """Return the longest stretches of some texts that ignored shingles cover, the longest first.

    A stretch that is part of a longer one is left out.
    """
    stretches = set()
    for text in texts.spans(0, min(len(texts), LOOKED_AT)).strings():
        units = units_of(text, shingler)
        for start, stop in covered(units, shingler.are_ignored(text), shingler.size):
            stretches.add(units.text[start:stop])
    longest: list[Any] = []
    for stretch in sorted(stretches, key=lambda stretch: (-len(stretch), stretch)):
        if len(longest) < most and not any(stretch in longer for longer in longest):
            longest.append(stretch)
    return longest


@shares(SearchParams.of, command="explain", without={"verify"})
def explain(
    a: str | bytes | None,
    b: str | bytes | None,
    *,
    threshold: float = 0.8,
    **keywords: "Unpack[BandingKeywords]",
) -> Explanation:
    """Explain why two texts are found as near-duplicates or not, and what they share.

    Parameters
    ----------
    a, b
        The texts: str, bytes (UTF-8) or None (empty).
    threshold
        As in `near_duplicates`, whose answer is explained.

    Returns
    -------
    Explanation
        Similarities, the bands that match, and the passages where the texts agree. ``print()`` it,
        or show its ``to_html()``.

    Raises
    ------
    TypeError, ValueError
        An argument is invalid, or a text has an unsupported type (a is document 0, b document 1).

    Notes
    -----
    The similarity is that of the shingles themselves, not of their hashes. Besides computing the
    signatures, the cost is O(n log n) for n characters, even if the texts repeat themselves.

    Examples
    --------
    >>> found = explain("the quick brown fox jumps", "the quick brown fox jumped", threshold=0.7)
    >>> found.found, round(found.similarity, 3), len(found.matching_bands)
    (True, 0.842, 7)
    >>> found.spans
    [MatchingSpan(a_start=0, a_stop=24, b_start=0, b_stop=24)]
    """
    params = made(SearchParams.of, keywords, threshold)
    shingler, size = params.shingler, params.shingler.size
    signatures = sign(as_texts([a, b]), params, RunOptions.of(1)).signatures
    keys = band_keys(signatures, params.lsh, threads=1)
    matching = np.flatnonzero((keys[:, 0] == keys[:, 1]) & (keys[:, 0] != 0))
    units_a, units_b = units_of(a, shingler), units_of(b, shingler)
    windows_a, windows_b = window_numbers(*unit_numbers(units_a.values, units_b.values), size)
    kinds = int(max(windows_a.max(initial=-1), windows_b.max(initial=-1))) + 1
    ignored_a, ignored_b = shingler.are_ignored(a), shingler.are_ignored(b)
    ignored = np.union1d(windows_a[ignored_a], windows_b[ignored_b])
    in_a, in_b = (np.bincount(side, minlength=kinds) > 0 for side in (windows_a, windows_b))
    in_a[ignored] = in_b[ignored] = False
    in_both = in_a & in_b
    shared_a, shared_b = in_both[windows_a], in_both[windows_b]
    # Numbers of their own pair ignored shingles with nothing.
    windows_a[ignored_a] = np.arange(kinds, kinds + ignored_a.sum())
    windows_b[ignored_b] = np.arange(ignored_b.sum()) + kinds + ignored_a.sum()
    return Explanation(
        a=units_a.text,
        b=units_b.text,
        original=units_a.is_original and units_b.is_original,
        shingler=shingler,
        threshold=params.threshold,
        params=params.lsh,
        num_perm=params.num_perm,
        seed=params.seed,
        scheme=params.scheme,
        shingles_a=int(in_a.sum()),
        shingles_b=int(in_b.sum()),
        shared=int(in_both.sum()),
        estimate=float(estimate_jaccard(signatures, ([0], [1]), threads=1)[0]),
        matching_bands=matching.tolist(),
        spans=matching_spans(units_a, units_b, Pairing(windows_a, windows_b), size),
        covered_a=covered(units_a, shared_a, size),
        covered_b=covered(units_b, shared_b, size),
        ignored=len(ignored),
        ignored_a=covered(units_a, ignored_a, size),
        ignored_b=covered(units_b, ignored_b, size),
    )
