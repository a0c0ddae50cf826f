"""Estimates and band matches follow the theory.

Seeds are fixed beforehand: 0, 1, 2... Each trial draws other sets (and each cell another seed of
the functions). Bias: |z| < 4.2 in each cell. RMSE: within 5 % of sqrt(J (1 - J) / k), over so
many trials that 5 % are more than 4 standard errors. Band matches: within 5 % of J^rows, likewise.
"""

import numpy as np
import pytest

from combinations import covering
from fastlsh import Key, LSHParams, MinHasher, Shingler, TokenIds, band_keys, estimate_jaccard

NUM_PERM = 128
SIMILARITIES = [0.2, 0.5, 0.8, 0.95]
AT_A_TIME = 4_000_000  # hashes


def random_hashes(draw, trials, n):
    return draw.integers(0, 2**64, (trials, n), np.uint64)


def consecutive(draw, trials, n):
    first = draw.integers(0, 2**32 - n, (trials, 1), np.uint64)
    return first + np.arange(n, dtype=np.uint64)


def ascii_packed(draw, trials, n):
    # "00000123" as eight bytes: only 10 of 256 values in each.
    numbers = consecutive(draw, trials, n) % np.uint64(10**8)
    packed = np.zeros_like(numbers)
    for place in range(8):
        digits = numbers // np.uint64(10**place) % np.uint64(10) + np.uint64(48)
        packed |= digits << np.uint64(8 * place)
    return packed


KEYED = "tokens with a key"
UNIVERSES = {
    "random": random_hashes, "consecutive": consecutive, "ascii": ascii_packed, KEYED: consecutive,
}  # fmt: skip


def hasher_of(universe, seed, scheme):
    """Return the function that signs elements: as hashes, or as tokens, with a key of the seed."""
    if universe != KEYED:
        return MinHasher(NUM_PERM, seed=seed, scheme=scheme).from_hashes
    key = Key(b"a key for statistics" + bytes([seed]))
    hasher = MinHasher(NUM_PERM, shingler=Shingler("token", 1, key=key), scheme=scheme)
    return lambda elements, offsets: hasher.signatures(TokenIds(elements, offsets))


def signatures_of_pairs(universe, n, similarity, trials, seed, scheme="affine32"):
    """Yield the signatures of both sides: pairs of sets with a union of n and this Jaccard."""
    common = round(similarity * n)
    only = (n - common + 1) // 2  # in the first set; the others are in the second
    draw = np.random.default_rng(seed)
    sign = hasher_of(universe, seed, scheme)
    while trials > 0:
        now = min(trials, max(1, AT_A_TIME // n))
        union = UNIVERSES[universe](draw, now, n)
        sides = []
        for chosen in (
            union[:, : common + only],
            np.delete(union, slice(common, common + only), 1),
        ):
            offsets = np.arange(now + 1) * chosen.shape[1]
            sides.append(sign(np.ascontiguousarray(chosen).ravel(), offsets))
        yield sides
        trials -= now


def estimates(universe, n, similarity, trials, seed, scheme="affine32"):
    found = []
    for left, right in signatures_of_pairs(universe, n, similarity, trials, seed, scheme):
        numbers = np.arange(len(left))
        both = np.concatenate([left, right])
        found.append(estimate_jaccard(both, (numbers, numbers + len(left))))
    return np.concatenate(found)


CELLS = [("random", n) for n in (20, 100, 1000, 10_000)]
CELLS += [(universe, n) for universe in ("consecutive", "ascii", KEYED) for n in (20, 100, 1000)]


LARGEST = {"affine32": 1000, "fss": 100}
"""The most elements of a set in the default run."""
# Small sets are estimated better by fss, as slots that share elements vary less together.
RMSE = {
    "affine32": dict.fromkeys((20, 100, 1000, 10_000), (0.95, 1.05)),
    "fss": {20: (0, 0.80), 100: (0, 0.80), 1000: (0, 1.03), 10_000: (0, 1.03)},
}
"""The least and the most by which the root of the mean square error may differ from the theory."""


def cases():
    """Yield (scheme, universe, n, similarity)."""
    for scheme, largest in LARGEST.items():
        for case in covering(CELLS, SIMILARITIES):
            (universe, n), similarity = case.values
            marks = [*case.marks, *[pytest.mark.exhaustive] * (n > largest)]
            # Sets of 10,000 take most of the time: two similarities of them.
            slow = scheme == "fss" and n == 10_000 and similarity in (0.2, 0.8)
            marks += [pytest.mark.slow] * slow
            yield pytest.param(scheme, universe, n, similarity, marks=marks)


@pytest.mark.parametrize(("scheme", "universe", "n", "similarity"), list(cases()))
def test_estimates(scheme, universe, n, similarity):
    assert (similarity * n) % 1 == 0
    seed = CELLS.index((universe, n)) * len(SIMILARITIES) + SIMILARITIES.index(similarity)
    trials = 8000 if scheme == "fss" else 4000 if n < 10_000 else 2500
    found = estimates(universe, n, similarity, trials, seed, scheme)
    rmse = np.sqrt(((found - similarity) ** 2).mean())
    assert abs(found.mean() - similarity) < 4.2 * rmse / np.sqrt(trials)
    least, most = RMSE[scheme][n]
    assert least <= rmse / np.sqrt(similarity * (1 - similarity) / NUM_PERM) <= most


BANDS = [(0.2, 1), (0.2, 2), (0.5, 3), (0.5, 6), (0.8, 7), (0.8, 13), (0.95, 11), (0.95, 32)]


def band_match_rate(universe, n, similarity, rows, seed, scheme="affine32"):
    """Measure it over so many trials that 5 % are 4.2 standard errors, bands independent."""
    p = similarity**rows
    params = LSHParams(NUM_PERM // rows, rows)
    trials = int((1 - p) / p * (4.2 / 0.05) ** 2 / params.bands) + 2500
    matches = 0
    for left, right in signatures_of_pairs(universe, n, similarity, trials, seed, scheme):
        matches += int((band_keys(left, params) == band_keys(right, params)).sum())
    return matches / (trials * params.bands)


@pytest.mark.parametrize(("band", "universe"), covering(BANDS, UNIVERSES))
def test_band_matches(band, universe):
    similarity, rows = band
    seed = list(UNIVERSES).index(universe) * len(BANDS) + BANDS.index((similarity, rows))
    found = band_match_rate(universe, 100, similarity, rows, seed)
    assert found == pytest.approx(similarity**rows, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("universe", UNIVERSES)
def test_band_matches_with_as_many_rows_as_count(universe, similarity):
    rows = int(np.log(0.01) / np.log(similarity))  # the most for which J^rows is at least 0.01
    found = band_match_rate(universe, 1000, similarity, rows, 0)
    assert found == pytest.approx(similarity**rows, rel=0.05)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("universe", ["random", KEYED])
def test_recall_at_the_threshold(universe, seed):
    # 2,000 pairs at similarity 0.8: 0.9817 of them are found, give or take 4.2 deviations.
    params = LSHParams.for_threshold(0.8)
    ((left, right),) = signatures_of_pairs(universe, 100, 0.8, 2000, seed)
    found = (band_keys(left, params) == band_keys(right, params)).any(axis=0).mean()
    p = params.probability(0.8)
    assert abs(found - p) < 4.2 * np.sqrt(p * (1 - p) / 2000)


# ---- fss


@pytest.mark.parametrize(
    ("params", "n"), covering([(17, 7), (30, 3), (9, 13), (6, 21)], [20, 100, 1000])
)
def test_candidates_by_fss(params, n):
    bands, rows = params
    params = LSHParams(bands, rows)
    for similarity in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9):
        ((left, right),) = signatures_of_pairs("random", n, similarity, 4000, n + bands, "fss")
        found = (band_keys(left, params) == band_keys(right, params)).any(axis=0).mean()
        assert abs(found - params.probability(similarity)) < 0.03


@pytest.mark.parametrize(
    ("band", "n"), covering([(0.5, 3), (0.5, 6), (0.8, 7), (0.8, 13)], [20, 100, 1000])
)
def test_band_matches_by_fss(n, band):
    similarity, rows = band
    # Slots that share elements match together a little less often (docs/signature-spec.md).
    found = band_match_rate("random", n, similarity, rows, n + rows, "fss")
    assert 0.85 < found / similarity**rows < 1.05
