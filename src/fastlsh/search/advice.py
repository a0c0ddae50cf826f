"""Warnings of a search: needless comparisons, shingles and passages of an unsuitable length."""

from collections.abc import Iterable
from math import ceil, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh.banding import LSHParams, longer_signature
from fastlsh.candidates import empty_documents
from fastlsh.errors import RecallWarning, warn_caller
from fastlsh.parallel import RunOptions, plural
from fastlsh.parameters import SearchParams
from fastlsh.sets import estimate_jaccard
from fastlsh.signatures import MinHasher
from fastlsh.stages import Signed
from fastlsh.texts import UNIT, Shingler, Texts

COMPARED_PAIRS = 4096
"""Drawn at random: less than a millisecond."""

MANY = 50
"""Needless comparisons per document: longer signatures take less time than more of them."""


def warn_of_search(signed: Signed, n_against: int = 0) -> None:
    """Warn of what the documents are unsuitable for; those of `against` are the first ones."""
    params = signed.params
    if not params.finds_equal:
        warn_of_short_documents(signed.short, signed.empty, n_against, params.shingler)
        warn_of_needless_comparisons(signed.texts, signed.signatures, params, signed.options)


def warn_of_needless_comparisons(
    texts: Texts, signatures: NDArray[np.uint32], params: SearchParams, options: RunOptions
) -> None:
    """Warn if shingles are too short, or the signature for a low threshold, for these texts."""
    if warn_of_short_shingles(texts, signatures, params, options):
        return
    threshold, lsh, n = params.threshold, params.lsh, len(texts)
    if (n - 1) / 2 < MANY or params.bandings or not _is_by_recall(params):
        return
    pairs = random_pairs(signatures, COMPARED_PAIRS)
    similarity = estimate_jaccard(signatures, pairs, threads=1)
    equal = np.rint(similarity * params.num_perm)[similarity < threshold / 2]

    def needless(bands: int, rows: int) -> float:
        """Return how many comparisons each document takes part in, for nothing."""
        share = _found(equal, params.num_perm, bands, rows).sum() / max(len(pairs), 1)
        return float(share) * (n - 1) / 2

    comparisons = needless(lsh.bands, lsh.rows)
    if comparisons < MANY:
        return
    remedy = longer_signature(
        threshold, lsh.rows, params.recall, lambda *choice: needless(*choice) < MANY
    )
    warn_caller(
        f"about {comparisons:,.0f} comparisons per document will be needless:"
        f" {2 * comparisons / (n - 1):.1%} of all pairs share a bucket and are less than"
        " half as similar as the threshold"
        f" {threshold:g} ({lsh.bands} bands of {lsh.rows} rows); {remedy}",
        RecallWarning,
    )


def _is_by_recall(params: SearchParams) -> bool:
    """Whether bands and rows are those of the rule, and not chosen by the caller."""
    try:
        return params.lsh == LSHParams.for_threshold(
            params.threshold, params.num_perm, recall=params.recall
        )
    except ValueError:
        return False


def _found(equal: NDArray[np.float64], k: int, bands: int, rows: int) -> NDArray[np.float64]:
    """Return the chances of pairs with so many equal minima of k to become candidates.

    The chance that a band agrees, s^rows, is estimated without bias by falling factorials; a power
    of the estimate of s would be several times too large where s is small.
    """
    band = np.ones(len(equal))
    for i in range(rows):
        band *= np.maximum(equal - i, 0) / (k - i) if i < k else 0.0
    return np.asarray(1 - (1 - band) ** bands)


BITS = {"char": 1.0, "byte": 1.0, "word": 5.0}
"""Bits of information of a unit of natural text, in the context of those before it."""

PER_WORD = 6
"""Characters of a word of natural text with the space behind it."""


def warn_of_short_passages(min_length: int, characters: int, unit: str) -> None:
    """Warn if passages of a collection are expected to be equal by accident.

    Of n windows, n^2 / 2 pairs may be equal, each with probability 2^(-b * min_length) where a
    unit carries b bits that those before it do not tell: about 1 for a character or a byte of
    natural text (Shannon 1951: 0.6 to 1.3 for English), and 5 for a word. So
    n^2 / 2 * 2^(-b * min_length) pairs are expected.

    Parameters
    ----------
    min_length
        Units of the shortest passage.
    characters
        How many all texts have together.
    unit
        Of a `Shingler`: what `min_length` counts.
    """
    units = characters // (PER_WORD if unit == "word" else 1)
    bits = BITS[unit]
    if units < 2:
        return
    expected = 2 * log2(units) - 1 - bits * min_length
    if expected <= 0:
        return
    least = ceil((2 * log2(units) - 1) / bits)
    warn_caller(
        f"with min_length={min_length}, about {2.0 ** min(expected, 1000):.1e} pairs of passages"
        " are expected to be equal by accident in texts of this size; give"
        f" min_length={least} or more",
        UserWarning,
    )


FEWEST = 16
"""Of fewer documents nothing can be said."""

ESTIMATED_PAIRS = 256
"""Drawn at random."""

CLOSER = 32
"""Of them these are hashed again, if all are too similar."""

LONGER = (5, 7, 9, 12, 16, 24)
"""Sizes to advise. What documents share with the last is no chance any more."""

IN_VAIN = 0.01
"""More than this share of all pairs as candidates is worth a warning."""

MANY_SHORT = 10
"""More than one of so many documents that are shorter than a shingle are worth a warning."""


def long_shingles(
    short: int, documents: int, shingler: Shingler, name: str = "document", of: str = ""
) -> str | None:
    """Say that many documents are shorter than a shingle, if they are.

    Parameters
    ----------
    short, documents
        How many documents have fewer units than a shingle, and how many are not empty.
    shingler
        What a shingle is.
    name, of
        What is compared, and " of against=" for a reference collection.
    """
    if not short or short * MANY_SHORT <= documents:
        return None
    advice = "a smaller size= finds more"
    if shingler.unit == "word":
        advice += ', and so do characters (unit="char") in text without spaces'
    return (
        f"{short:,} of {plural(documents, name)}{of} {'is' if short == 1 else 'are'} shorter than"
        f" {plural(shingler.size, UNIT[shingler.unit])}: such a {name} is similar only to an equal"
        f" one; {advice}"
    )


def warn_of_long_shingles(
    counts: Iterable[tuple[int, int]], shingler: Shingler, name: str = "document"
) -> None:
    """Warn as `long_shingles` says of the counts of the inputs, and of those of `against`."""
    for (short, documents), of in zip(counts, ("", " of against="), strict=False):
        if message := long_shingles(short, documents, shingler, name, of):
            warn_caller(message, RecallWarning)


def warn_of_short_documents(
    short: NDArray[np.bool_] | None,
    empty: NDArray[Any] | None,
    first: int,
    shingler: Shingler,
    name: str = "document",
) -> None:
    """Warn if many documents of the inputs, from `first` on, or of `against` are short.

    `empty` are the numbers of the documents without a unit, or whether each has none.
    """
    if short is not None and empty is not None:
        filled = np.ones(len(short), np.bool_)
        filled[empty] = False
        parts = slice(first, None), slice(first)
        counts = ((int(short[part].sum()), int(filled[part].sum())) for part in parts)
        warn_of_long_shingles(counts, shingler, name)


def warn_of_short_shingles(
    texts: Texts, signatures: NDArray[np.uint32], params: SearchParams, options: RunOptions
) -> bool:
    """Warn if character shingles are shorter than these texts can bear; return whether they are.

    How similar unrelated documents are is measured on the collection itself, by its signatures:
    the median over random pairs. What a pair still shares with 24 characters was copied, the
    rest is chance. A prediction from the frequencies of characters, or of runs of two or three,
    will not do: documents repeat their commonest runs, so for source code it is 0.95 instead of
    0.005.

    Costs less than a millisecond, but for up to six times the hashing of 64 documents where
    there is reason to warn.
    """
    shingler, lsh = params.shingler, params.lsh
    if shingler.unit != "char" or shingler.size >= LONGER[-1] or len(texts) < FEWEST:
        return False
    pairs = random_pairs(signatures, ESTIMATED_PAIRS)
    if not _in_vain(estimate_jaccard(signatures, pairs, threads=1), lsh):
        return False
    pairs = pairs[:CLOSER]
    documents, inverse = np.unique(pairs, return_inverse=True)
    prepared = shingler.take_texts(texts, documents).strings()

    def similar(size: int) -> NDArray[np.float64]:
        hasher = MinHasher(256, shingler=Shingler(size=size), scheme="fss", threads=options.threads)
        return estimate_jaccard(hasher.signatures(prepared), inverse.reshape(-1, 2), threads=1)

    copied = similar(LONGER[-1])
    chance = estimate_jaccard(signatures, pairs, threads=1) - copied
    if not _in_vain(chance, lsh):
        return False
    longer = (size for size in LONGER[:-1] if size > shingler.size)
    fitting = (size for size in longer if not _in_vain(similar(size) - copied, lsh))
    half = _median(chance)
    warn_caller(
        f"shingles of {shingler.size} characters are short for these texts: by chance, half of all "
        f"pairs have a similarity of {half:.2f} or more, and {lsh.probability(half):.1%} of such "
        f"pairs are compared needlessly; size={next(fitting, LONGER[-1])} would be better",
        RecallWarning,
    )
    return True


def _in_vain(similarities: NDArray[np.float64], lsh: LSHParams) -> bool:
    """Whether too many pairs as similar as the median one become candidates."""
    return len(similarities) > 0 and lsh.probability(_median(similarities)) >= IN_VAIN


def _median(values: NDArray[np.float64]) -> float:
    """Return the median, at least 0; `numpy.median` would import the module of masked arrays."""
    return max(float(np.sort(values)[(len(values) - 1) // 2 : len(values) // 2 + 1].mean()), 0.0)


def random_pairs(signatures: NDArray[np.uint32], count: int) -> NDArray[np.int64]:
    """Draw pairs of different documents, int64 (m, 2), without those that are empty."""
    n = len(signatures)
    draw = np.random.RandomState(0)
    left = draw.randint(0, n, count)
    pairs = np.stack([left, (left + draw.randint(1, n, count)) % n], axis=1)
    empty = empty_documents(signatures[pairs.ravel()])
    kept: NDArray[np.int64] = np.delete(pairs, empty // 2, axis=0)
    return kept
