"""Sign: read each text once, and keep what the later stages need of it, part by part."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastlsh._kernels.text._plans import text_hashes
from fastlsh._kernels.text._texts import Spans
from fastlsh.banding import steps_of
from fastlsh.candidates import Families, empty_documents, find_families, find_families_by_size
from fastlsh.parallel import Batch, RunOptions, batches, batches_by_work, run_batches
from fastlsh.parameters import SearchParams
from fastlsh.sets import ShingleSets, containment, estimate_jaccard, exact_jaccard, set_sizes
from fastlsh.signatures import MinHasher, batch_size
from fastlsh.texts import Shingler, Texts, lengths_of

CHARACTERS = 1 << 26
"""Characters that are hashed or compared at a time: a few hundredths of a second."""


@dataclass
class Signed:
    """Documents, the search for which they are signed, and the signature and length of each."""

    texts: Texts
    params: SearchParams
    options: RunOptions
    signatures: NDArray[np.uint32]
    """uint32 (n, num_perm); (n, 0) where equal texts are searched for."""
    lengths: NDArray[np.int64]
    """int64 (n,): code points (bytes, tokens)."""
    keys: NDArray[np.uint64] | None
    """uint64 (bands, n): keys, if they are there, until they have been taken; else they are made of
    the signatures, some bands at a time."""
    groups: NDArray[np.uint64] | None = None
    """uint64 (n,): only documents of the same group are compared; None: all are."""
    short: NDArray[np.bool_] | None = None
    """bool (n,): whether a document has fewer units than a shingle, but one; None: not counted."""
    also: Texts | None = None
    """The second texts, which must be similar, too; None: there are none."""

    def take_keys(self) -> NDArray[np.uint64] | None:
        """Return the band keys, and let go of them: they are needed once, and take much memory."""
        keys, self.keys = self.keys, None
        return keys

    @property
    def empty(self) -> NDArray[np.int64]:
        """The documents that are like no other, int64: without a shingle, or without text."""
        if self.signatures.shape[1]:
            return empty_documents(self.signatures)
        assert self.keys is not None
        return np.flatnonzero(self.keys[0] == 0)

    def estimates(self, left: NDArray[Any], right: NDArray[Any]) -> NDArray[np.float64]:
        """Return the share of equal minima of each pair of documents."""
        return estimate_jaccard(self.signatures, (left, right), threads=self.options.threads)

    def also_similarity(
        self, left: NDArray[np.int64], right: NDArray[np.int64]
    ) -> NDArray[np.float64] | None:
        """Return the exact similarity of the second texts of pairs; None: there are none.

        It is 1 for a document and itself.
        """
        if self.also is None:
            return None
        similarity, pairs = np.ones(len(left)), np.flatnonzero(left != right)
        compare: Any = containment if self.params.rule == "contained" else exact_jaccard
        similarity[pairs] = compare(
            self.also, (left[pairs], right[pairs]), self.params.shingler,
            threads=self.options.threads,
        )  # fmt: skip
        return similarity


def hasher_for(params: SearchParams, options: RunOptions) -> MinHasher:
    """Return the hasher that signs for a search; ValueError if it needs the whole collection."""
    if params.ignore_common is not None:
        raise ValueError(
            "ignore_common= counts the shingles of a whole collection, which only deduplicate and"
            " near_duplicates can, and those of files in one process: give the texts that everybody"
            " shares as ignore="
        )
    return MinHasher(
        params.num_perm, seed=params.seed, shingler=params.shingler, scheme=params.scheme,
        threads=options.threads,
    )  # fmt: skip


def sign(
    texts: Texts,
    params: SearchParams,
    options: RunOptions,
    groups: NDArray[np.uint64] | None = None,
    also: Texts | None = None,
) -> Signed:
    """Sign every document. Memory: 4 * num_perm + 9 bytes per document.

    To find equal texts, the only key is a hash of each text: 16 bytes per document.
    """
    if params.finds_equal:
        return _hashed(texts, params, options, groups)
    lengths = options.empty(len(texts), np.int64)
    short = options.empty(len(texts), np.bool_)
    out = options.empty((len(texts), params.num_perm), np.uint32)
    signatures = hasher_for(params, options).sign(
        texts, out, lengths=lengths, short=short, progress=options.progress
    )
    short[empty_documents(signatures)] = False  # whose only shingle is ignored
    return Signed(texts, params, options, signatures, lengths, None, groups, short, also)


def _hashed(
    texts: Texts, params: SearchParams, options: RunOptions, groups: NDArray[np.uint64] | None
) -> Signed:
    """Hash every text as a whole; the key of an empty text is 0."""
    n = len(texts)
    lengths, keys = options.empty(n, np.int64), options.empty((1, n), np.uint64)

    def work(start: int, stop: int) -> Iterator[None]:
        plain = params.shingler.plain_texts(texts, start, stop)
        yield from hash_into(plain, params.shingler, keys[0, start:stop], lengths[start:stop])

    run_batches(
        work, batches(n, batch_size(texts)), options.threads, options.progress.stage("hashes", n)
    )
    return Signed(texts, params, options, np.empty((n, 0), np.uint32), lengths, keys, groups)


def hashes_of_texts(texts: Texts, params: SearchParams, options: RunOptions) -> NDArray[np.uint64]:
    """Return a hash of each normalised text, empty or not, uint64 (n,); never 0."""
    n = len(texts)
    hashes = options.empty(n, np.uint64)

    def work(start: int, stop: int) -> Iterator[None]:
        return hashing_steps(params.shingler.plain_texts(texts, start, stop), hashes[start:stop])

    run_batches(
        work, batches(n, batch_size(texts)), options.threads, options.progress.stage("hashes", n)
    )
    return hashes


def hash_into(
    plain: Spans, shingler: Shingler, keys: NDArray[np.uint64], lengths: NDArray[np.int64]
) -> Iterator[None]:
    """Write the length and the key of each normalised text, step by step: a hash, 0 if empty."""
    plain.lengths(lengths)
    yield from hashing_steps(plain, keys)
    keys[shingler.unit_counts(plain, 1) == 0] = 0


def hashing_steps(spans: Spans, out: NDArray[np.uint64]) -> Iterator[None]:
    """Write a hash of each whole text, never 0, step by step."""
    for first, last in short_parts(spans):
        text_hashes(spans.part(first, last), out[first:last])
        yield


def short_parts(spans: Spans) -> Iterator[Batch]:
    """Cut texts into parts that are hashed or compared quickly."""
    return batches_by_work(lengths_of(spans), CHARACTERS, len(spans))


@dataclass(frozen=True)
class LinkedPart:
    """Whole families, so that nothing outside can change what is decided inside.

    In memory, all families of a collection are one part.
    """

    signed: Signed
    families: Families

    def sets(self) -> ShingleSets:
        """Return the shingle sets of the documents in families, by row; no set is made yet."""
        return self._sets(self.signed.texts, self.signed.lengths[self.families.documents])

    def also_sets(self) -> ShingleSets | None:
        """Return the sets of their second texts in the same way; None: there are none."""
        also, shingler = self.signed.also, self.signed.params.shingler
        if also is None:
            return None
        return self._sets(also, shingler.lengths(also, self.families.documents))

    def _sets(self, texts: Texts, lengths: NDArray[np.int64]) -> ShingleSets:
        options = self.signed.options
        return ShingleSets(
            texts, self.signed.params.shingler, self.families.documents, self.families.starts,
            lengths, options.threads, options.empty,
        )  # fmt: skip


def part_of(signed: Signed, order: NDArray[np.int64] | None = None) -> LinkedPart:
    """Link the documents that share a bucket, and gather their families.

    Parameters
    ----------
    signed
        The documents; the band keys are taken.
    order
        int64: those that take part, in priority order; None: all, as they come.
    """
    params, options = signed.params, signed.options
    how: dict[str, Any] = {"threads": options.threads, "empty": options.empty}
    if params.partitions:
        steps = steps_of(set_sizes(signed.texts, params.shingler, options))
        families = find_families_by_size(
            signed.signatures, steps, params.partitions, order, within=signed.groups, **how
        )
    else:
        families = find_families(
            signed.signatures, params.lsh, order, keys=signed.take_keys(), groups=signed.groups,
            **how,
        )  # fmt: skip
    return LinkedPart(signed, families)
