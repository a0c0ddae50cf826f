"""Estimates and band matches with a key follow the theory, as those without one do.

As in tests/signatures/test_statistics.py, but with structured elements on the whole way, each
hashed with a key: consecutive numbers as tokens. Each cell has another key.
"""

import numpy as np
import pytest

from combinations import covering
from fastlsh import Key, LSHParams, MinHasher, Shingler, TokenIds, band_keys, estimate_jaccard

NUM_PERM = 128
SIMILARITIES = [0.2, 0.5, 0.8, 0.95]
AT_A_TIME = 2_000_000  # elements


def signatures_of_pairs(n, similarity, trials, seed, scheme="affine32"):
    """Yield the signatures of both sides: pairs of sets with a union of n and this Jaccard."""
    common = round(similarity * n)
    only = (n - common + 1) // 2
    draw = np.random.default_rng(seed)
    key = Key(b"a key for statistics" + bytes([seed]))
    hasher = MinHasher(NUM_PERM, shingler=Shingler("token", 1, key=key), scheme=scheme)
    while trials > 0:
        now = min(trials, max(1, AT_A_TIME // n))
        union = draw.integers(0, 2**32 - n, (now, 1)) + np.arange(n)
        sides = []
        for chosen in (
            union[:, : common + only],
            np.delete(union, slice(common, common + only), 1),
        ):
            offsets = np.arange(now + 1) * chosen.shape[1]
            sides.append(hasher.signatures(TokenIds(np.ascontiguousarray(chosen).ravel(), offsets)))
        yield sides
        trials -= now


def estimates(n, similarity, trials, seed, scheme="affine32"):
    found = []
    for left, right in signatures_of_pairs(n, similarity, trials, seed, scheme):
        numbers = np.arange(len(left))
        both = np.concatenate([left, right])
        found.append(estimate_jaccard(both, (numbers, numbers + len(left))))
    return np.concatenate(found)


@pytest.mark.parametrize(
    ("similarity", "n", "scheme"), covering(SIMILARITIES, [20, 100, 1000], ["affine32", "fss"])
)
def test_estimates(n, similarity, scheme):
    trials = 4000
    seed = SIMILARITIES.index(similarity) + n % 7
    found = estimates(n, similarity, trials, seed, scheme)
    expected = np.sqrt(similarity * (1 - similarity) / NUM_PERM)
    z = (found.mean() - similarity) / (expected / np.sqrt(trials))
    ratio = np.sqrt(((found - similarity) ** 2).mean()) / expected
    assert abs(z) < 4.2
    if scheme == "affine32":
        assert ratio == pytest.approx(1, rel=0.05)
    else:
        assert ratio < {20: 0.80, 100: 0.80, 1000: 1.03}[n]


BANDS = [(0.2, 1), (0.2, 2), (0.5, 3), (0.5, 6), (0.8, 7), (0.8, 13), (0.95, 11), (0.95, 32)]


@pytest.mark.parametrize(("similarity", "rows"), BANDS)
def test_band_matches(similarity, rows):
    p = similarity**rows
    params = LSHParams(NUM_PERM // rows, rows)
    trials = int((1 - p) / p * (4.2 / 0.05) ** 2 / params.bands) + 2500
    matches = 0
    for left, right in signatures_of_pairs(
        100, similarity, trials, BANDS.index((similarity, rows))
    ):
        matches += int((band_keys(left, params) == band_keys(right, params)).sum())
    assert matches / (trials * params.bands) == pytest.approx(p, rel=0.05)


@pytest.mark.parametrize("seed", range(4))
def test_recall_at_the_threshold(seed):
    params = LSHParams.for_threshold(0.8)
    ((left, right),) = signatures_of_pairs(100, 0.8, 2000, seed)
    found = (band_keys(left, params) == band_keys(right, params)).any(axis=0).mean()
    p = params.probability(0.8)
    assert abs(found - p) < 4.2 * np.sqrt(p * (1 - p) / 2000)
