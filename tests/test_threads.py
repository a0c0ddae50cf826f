"""Every public call from several threads at once: the answers of one thread."""

from functools import partial

import numpy as np
import pytest

import fastlsh
from combinations import every
from fastlsh import LSHParams, MinHasher, Shingler
from fastlsh.candidates import links
from made_texts import made
from running import at_once, hasty_switching

THREADS = 4
TIMES = 2
PARAMS = LSHParams(8, 4)
HASHER = MinHasher(32, shingler=Shingler(size=3), threads=2)
SHINGLER = Shingler("word", 2, lowercase=True)


def hashes_of(texts):
    sets = [Shingler(size=3).hashes(text) for text in texts]
    return np.concatenate(sets), np.cumsum([0, *map(len, sets)])


def few(function):
    """Link on several threads, however few documents there are."""

    def call(*arguments):
        return function(*arguments, threads=3)

    return call


def texts_of(seed, n=60):
    return [text or "" for text in made(n, seed)]


CALLS = {
    "signatures": lambda texts: HASHER.signatures(texts),
    "signatures of words": lambda texts: MinHasher(40, shingler=SHINGLER).signatures(texts),
    "from_tokens": lambda texts: HASHER.from_tokens([text.split() for text in texts]),
    "from_hashes": lambda texts: HASHER.from_hashes(*hashes_of(texts)),
    "shingles": lambda texts: [SHINGLER.shingles(text) for text in texts],
    "hashes": lambda texts: [SHINGLER.hashes(text).tolist() for text in texts],
    "band_keys": lambda texts: few(fastlsh.band_keys)(HASHER.signatures(texts), PARAMS),
    "candidate_pairs": lambda texts: list_of(
        few(fastlsh.candidate_pairs)(HASHER.signatures(texts), PARAMS)
    ),
    "estimate_jaccard": lambda texts: few(fastlsh.estimate_jaccard)(
        HASHER.signatures(texts), pairs_of(texts)
    ),
    "exact_jaccard": lambda texts: few(fastlsh.exact_jaccard)(texts, pairs_of(texts), SHINGLER),
    "jaccard": lambda texts: [fastlsh.jaccard(a, texts[0], SHINGLER) for a in texts],
    "near_duplicates": lambda texts: list_of(
        fastlsh.near_duplicates(texts, 0.7, shingler=SHINGLER, threads=2)
    ),
    "deduplicate": lambda texts: decisions(
        fastlsh.deduplicate(texts, 0.7, keep="longest", shingler=SHINGLER, threads=2)
    ),
    "for_threshold": lambda _: LSHParams.for_threshold(0.7, 128),
}


def list_of(pairs):
    return [pairs.left.tolist(), pairs.right.tolist(), pairs.similarity.tolist(), pairs.empty]


def decisions(found):
    return [found.kept_index.tolist(), found.similarity.tolist(), found.limited]


def pairs_of(texts):
    return np.arange(len(texts) - 1), np.arange(1, len(texts))


def same(a, b):
    np.testing.assert_equal(a, b)  # NaN equals NaN


def repeated(call):
    return [call() for _ in range(TIMES)]


def together(calls):
    """Make each call several times on a thread of its own; return their results."""
    with hasty_switching():
        return at_once(*(partial(repeated, call) for call in calls))


@pytest.mark.parametrize(
    "names",
    [*every(2, [[name] for name in CALLS]), [*CALLS]],
    ids=lambda names: names[0] * (len(names) == 1) or "all",
)
def test_calls_at_once(names, monkeypatch):
    """Each call on different objects, and all of them."""
    monkeypatch.setattr(links, "FEW", 0)
    collections = [texts_of(seed, 40 + 10 * seed) for seed in range(THREADS)]
    calls = [
        partial(CALLS[name], texts)
        for name in names
        for texts in (collections if len(names) == 1 else collections[1:2])
    ]
    for results, call in zip(together(calls), calls, strict=True):
        truth = call()
        for result in results:
            same(result, truth)


def test_writing_into_parts_of_one_array():
    texts = texts_of(2)
    expected = HASHER.signatures(texts)
    out = np.zeros_like(expected)
    parts = np.array_split(np.arange(len(texts)), THREADS)
    together(
        [partial(HASHER.signatures, texts[p[0] : p[-1] + 1], out[p[0] : p[-1] + 1]) for p in parts]
    )
    assert np.array_equal(out, expected)


def test_the_number_of_threads_never_changes_candidates(monkeypatch):
    monkeypatch.setattr(links, "FEW", 0)
    monkeypatch.setattr("fastlsh.candidates.keys.KEYS_BATCH", 16)
    monkeypatch.setattr("fastlsh.candidates.keys.KEYS_ROOM", 0)
    monkeypatch.setattr("fastlsh.candidates.keys.BANDS_BATCH", 5)
    monkeypatch.setattr("fastlsh.candidates.pairs.DOCUMENTS_AT_A_TIME", 16)
    signatures = np.random.default_rng(0).integers(0, 3, (500, 30), np.uint32)
    signatures[::50] = 2**32 - 1
    for params in (LSHParams(1, 5), LSHParams(6, 5), LSHParams(9, 3)):
        one = fastlsh.candidate_pairs(signatures, params, threads=1)
        keys = fastlsh.band_keys(signatures, params, threads=1)
        assert len(one) > 100
        for threads in (2, 3, 8):
            many = fastlsh.candidate_pairs(signatures, params, threads=threads)
            assert np.array_equal(many.left, one.left)
            assert np.array_equal(many.right, one.right)
            assert np.array_equal(fastlsh.band_keys(signatures, params, threads=threads), keys)
