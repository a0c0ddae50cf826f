"""Fingerprints in buckets: which documents may be duplicates."""

import warnings
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator
from itertools import combinations
from operator import index
from typing import Any

import numpy as np

from fastlsh.compat.lsh.minhash import Fingerprint, MinHasher, agreement
from fastlsh.compat.lsh.pairs import PAIRS_AT_A_TIME, DuplicatePairs, Pair, duplicate_pairs

__all__ = ["Cache"]

Bucket = set[Hashable]


class Cache:
    """Finds candidates, and duplicates among them, as ``lsh.cache.Cache``.

    A fingerprint is cut into `num_bands` bands; documents with an equal band share a bucket.
    Only fingerprints are kept, so a similarity is the share of equal elements
    (`MinHasher.jaccard`); ``fastlsh.near_duplicates`` compares the texts exactly. An empty text
    is in no bucket and a duplicate of nothing.

    Parameters
    ----------
    hasher
        A `MinHasher`; if it is `strict`, so is this cache.
    num_bands
        Must divide ``hasher.num_seeds``.
    **kwargs
        Ignored with a warning (lsh: without one; a misspelt ``bands=20`` leaves 10 bands).

    Attributes
    ----------
    bins : list of dict
        For each band the ids in each bucket; the key is the band's bytes.
    fingerprints : dict
        The fingerprint of each id.
    num_bands, band_width : int
        Bands, and elements of a band.

    Raises
    ------
    AssertionError
        `num_bands` does not divide the number of seeds.
    TypeError
        `num_bands` is not an integer.

    Notes
    -----
    With ``strict``: no similarity filters anything, for it is 1.0 between any two fingerprints;
    queries leave empty buckets behind; `clear` keeps the fingerprints; adding an id again leaves
    it in its old buckets, too; `get_all_duplicates` makes every pair of every bucket, O(n^2) for
    n identical documents, in no certain order.

    Examples
    --------
    >>> cache = Cache(MinHasher(seeds=100, char_ngram=5), num_bands=20)
    >>> for i, text in enumerate(["a text about geese", "a text about geese?", "quite another"]):
    ...     cache.add_doc(text, i)
    >>> cache.get_all_duplicates(min_jaccard=0.5) == {(0, 1)}
    True
    """

    def __init__(self, hasher: MinHasher, num_bands: int = 10, **kwargs: Any) -> None:
        num_bands = index(num_bands)
        if num_bands < 1 or hasher.num_seeds % num_bands:
            raise AssertionError(
                f"num_bands must divide the number of seeds, {hasher.num_seeds}, got {num_bands}"
            )
        self.hasher = hasher
        if kwargs and not self.strict:
            warnings.warn(
                f"Cache ignores {', '.join(kwargs)}: it has num_bands={num_bands} bands",
                stacklevel=2,
            )
        self.num_bands = num_bands
        self.band_width = hasher.num_seeds // num_bands
        self.bins = self._empty_bins()
        self.fingerprints: dict[Hashable, Fingerprint] = {}

    @property
    def strict(self) -> bool:
        """Whether the defects of lsh are wanted: the hasher says so."""
        return self.hasher.strict

    def __len__(self) -> int:
        return len(self.fingerprints)

    def __bool__(self) -> bool:
        return True  # lsh's cache has no length, so `if cache:` asks whether there is one

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A pickle of lsh's own has other keys in its bins.
        self.__dict__.update(state)
        if any(not isinstance(key, bytes) for band in self.bins for key in band):
            fingerprints, self.fingerprints = self.fingerprints, {}
            self.bins = self._empty_bins()
            for doc_id, fingerprint in fingerprints.items():
                self.add_fingerprint(fingerprint, doc_id)

    def bins_(self, fingerprint: Fingerprint) -> Iterator[tuple[int, Fingerprint]]:
        """Yield the number and the elements of each band."""
        yield from enumerate(np.array_split(fingerprint, self.num_bands))

    def clear(self) -> None:
        """Forget all documents."""
        self.bins = self._empty_bins()
        if not self.strict:
            self.fingerprints = {}

    def add_doc(self, doc: str | bytes, doc_id: Hashable) -> None:
        """Add a text; an id that is there already gets the new one."""
        self.add_fingerprint(self.hasher.fingerprint(doc), doc_id)

    def add_fingerprint(self, fingerprint: Fingerprint, doc_id: Hashable) -> None:
        """Add a text by its fingerprint.

        Raises
        ------
        ValueError
            The fingerprint is not one of this hasher's length.
        """
        fingerprint = self.hasher.check_fingerprint(fingerprint)
        if doc_id in self.fingerprints and not self.strict:
            self.remove_id(doc_id)
        self.fingerprints[doc_id] = fingerprint
        for band, key in self._keys(fingerprint):
            self.bins[band].setdefault(key, set()).add(doc_id)

    def remove_id(self, doc_id: Hashable) -> None:
        """Remove a document; KeyError if there is none with this id."""
        for band, key in self._keys(self.fingerprints[doc_id]):
            bucket = self.bins[band][key]
            bucket.remove(doc_id)
            if not bucket and not self.strict:
                del self.bins[band][key]
        del self.fingerprints[doc_id]

    def remove_doc(self, doc: str | bytes) -> None:
        """Remove all documents whose fingerprint is that of the text."""
        fingerprint = self.hasher.fingerprint(doc)
        keys = list(self._keys(fingerprint))
        # With `strict`, buckets and fingerprints disagree after `clear`, and after an id is reused.
        search_buckets = keys and not self.strict
        near = self.bins[0].get(keys[0][1], ()) if search_buckets else self.fingerprints
        for doc_id in [i for i in near if np.array_equal(self.fingerprints[i], fingerprint)]:
            self.remove_id(doc_id)

    def filter_candidates(
        self, candidate_id_pairs: Collection[Pair], min_jaccard: float
    ) -> set[Pair]:
        """Return the pairs whose similarity is greater than `min_jaccard`."""
        pairs = list(candidate_id_pairs)
        if self.strict:
            return {pair for pair in pairs if self._strict_jaccard(*pair) > min_jaccard}
        kept: set[Pair] = set()
        for start in range(0, len(pairs), PAIRS_AT_A_TIME):
            part = pairs[start : start + PAIRS_AT_A_TIME]
            left, right = (np.array([self.fingerprints[p[i]] for p in part]) for i in (0, 1))
            kept.update(part[i] for i in np.flatnonzero(agreement(left, right) > min_jaccard))
        return kept

    def get_all_duplicates(self, min_jaccard: float | None = None) -> DuplicatePairs | set[Pair]:
        """Return the pairs that share a bucket, (earlier id, later id).

        Identical fingerprints are one group, and one comparison decides for two groups: linear in
        the number of documents, however many are identical.

        Parameters
        ----------
        min_jaccard
            Keep only pairs whose similarity is greater; None keeps all candidates.
        """
        if self.strict:
            return self._strict_pairs(min_jaccard)
        return duplicate_pairs(self.fingerprints, self.num_bands, min_jaccard, self.hasher.dtype)

    def get_duplicates_of(
        self,
        doc: str | bytes | None = None,
        doc_id: Hashable = None,
        min_jaccard: float | None = None,
    ) -> set[Hashable]:
        """Return the ids that share a bucket with a document, itself included if it is there.

        Parameters
        ----------
        doc, doc_id
            A text, or the id of a document that is there; a known id wins.
        min_jaccard
            Keep only ids whose similarity is greater; None keeps all candidates.

        Raises
        ------
        ValueError
            No text, and no known id.
        """
        if doc_id is not None and doc_id in self.fingerprints:
            fingerprint = self.fingerprints[doc_id]
        elif doc is not None:
            fingerprint = self.hasher.fingerprint(doc)
        else:
            raise ValueError("give a text, or the id of a document that is in the cache")
        candidates: Bucket = set()
        for band, key in self._keys(fingerprint):
            candidates.update(self.bins[band][key] if self.strict else self.bins[band].get(key, ()))
        if min_jaccard is None or not candidates:
            return candidates
        ids = list(candidates)
        if self.strict:
            return {i for i in ids if self.hasher.jaccard(fingerprint, self.fingerprints[i])
                    > min_jaccard}  # fmt: skip
        share = agreement(np.array([self.fingerprints[i] for i in ids]), fingerprint[None])
        return {ids[i] for i in np.flatnonzero(share > min_jaccard)}

    def is_duplicate(self, doc: str | bytes, doc_id: Hashable = None) -> bool:
        """Whether a text, or the document with a known id, shares a bucket with any document.

        As in lsh a document that is in the cache counts as its own duplicate.
        """
        return len(self.get_duplicates_of(doc, doc_id=doc_id)) > 0

    def _empty_bins(self) -> list[dict[bytes, Bucket]]:
        return [defaultdict(set) if self.strict else {} for _ in range(self.num_bands)]

    def _keys(self, fingerprint: Fingerprint) -> Iterator[tuple[int, bytes]]:
        """Yield (band, key) of each bucket of a fingerprint; an empty text has none."""
        data = fingerprint.tobytes()
        if data.count(b"\xff") == len(data) and not self.strict:
            return
        width = len(data) // self.num_bands
        for band in range(self.num_bands):
            yield band, data[band * width : (band + 1) * width]

    def _strict_jaccard(self, left: Hashable, right: Hashable) -> float:
        return self.hasher.jaccard(self.fingerprints[left], self.fingerprints[right])

    def _strict_pairs(self, min_jaccard: float | None) -> set[Pair]:
        pairs = {
            pair
            for band in self.bins
            for bucket in band.values()
            for pair in combinations(bucket, 2)
        }
        return pairs if min_jaccard is None else self.filter_candidates(pairs, min_jaccard)
