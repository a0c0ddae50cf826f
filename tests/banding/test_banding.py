"""Bands and rows: rules that choose them, the curve of a choice, and `tune`, which shows both."""

import math
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest

import oracle
from combinations import every
from fastlsh import Index, LSHParams, tune
from fastlsh.banding import steepest_bands
from refusals import refuses


@pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning")
@pytest.mark.parametrize("recall", [0.5, 0.9, 0.98, 0.999])
def test_the_rule_by_brute_force(recall):
    thresholds = 0.2, 0.5, 0.55, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99, 1.0
    for threshold, num_perm in product(thresholds, (1, 2, 16, 64, 100, 128, 200, 256)):
        choose = partial(LSHParams.for_threshold, threshold, num_perm, recall=recall)
        expected = oracle.choose(threshold, num_perm, recall)
        if expected is None:
            refuses(ValueError, "num_perm=", choose)
        else:
            assert choose() == LSHParams(*expected)


def test_the_default_at_0_8():
    params = LSHParams.for_threshold(0.8)
    assert params == LSHParams(17, 7)
    assert params.probability(0.8) == pytest.approx(0.9817, abs=1e-4)


def test_the_message_names_the_least_num_perm():
    refuses(ValueError, "num_perm=3 or more", LSHParams.for_threshold, 0.8, 2)
    assert LSHParams.for_threshold(0.8, 3) == LSHParams(3, 1)


@pytest.mark.parametrize("num_perm", every(4, [512, 1024, 2048, 10_000, 65_535]))
@pytest.mark.parametrize("threshold", [0.05, 0.17, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_long_signatures(threshold, num_perm):
    params = LSHParams.for_threshold(threshold, num_perm)
    assert params.bands * params.rows <= num_perm
    assert params.probability(threshold) >= 0.98


@pytest.mark.parametrize("recall", [0.01, 1 - 1e-12, 1 - 2**-53])
@pytest.mark.parametrize("threshold", [1e-9, 1e-3, 0.3, 0.8, 0.999])
def test_extreme_demands_end(threshold, recall):
    if LSHParams(256, 1).probability(threshold) < recall:
        refuses(ValueError, "num_perm", LSHParams.for_threshold, threshold, 256, recall=recall)
    else:
        params = LSHParams.for_threshold(threshold, 256, recall=recall)
        assert params.probability(threshold) >= recall


@pytest.mark.parametrize(
    ("num_perm", "threshold", "expected"),
    [
        (128, 0.5, (25, 5)),
        (128, 0.7, (14, 9)),
        (128, 0.8, (9, 13)),
        (128, 0.9, (5, 25)),
        (256, 0.8, (17, 15)),
    ],
)
def test_the_optima_of_datasketch(num_perm, threshold, expected):
    found = LSHParams.for_threshold(threshold, num_perm, weights=(0.5, 0.5))
    assert (found.bands, found.rows) == expected


@pytest.mark.parametrize(("bands", "rows"), [(1, 1), (20, 5), (9, 13), (128, 1), (1, 128)])
def test_the_curve(bands, rows):
    params = LSHParams(bands, rows)
    for s in np.linspace(0, 1, 21):
        assert params.probability(s) == pytest.approx(oracle.probability(s, bands, rows))
    assert params.threshold == pytest.approx((1 / bands) ** (1 / rows))
    s = (np.arange(200_000) + 0.5) / 200_000
    p = 1 - (1 - s**rows) ** bands
    for threshold in (0.3, 0.8):
        left = p[s < threshold].sum() / len(s)
        right = (1 - p)[s > threshold].sum() / len(s)
        assert params.false_positive_area(threshold) == pytest.approx(left, abs=1e-5)
        assert params.false_negative_area(threshold) == pytest.approx(right, abs=1e-5)


def test_no_signature_is_advised_that_cannot_be_made():
    for lead in (LSHParams.for_threshold, Index):
        refuses(ValueError, r"no signature can be that long; exact_pairs\(\)", lead, 1e-7)


# ---- the curve, read both ways


def test_arrays_of_similarities():
    params = LSHParams(17, 7)
    s = np.linspace(0, 1, 12).reshape(3, 4)
    found, missed = params.probability(s), params.missed(s)
    assert found.shape == missed.shape == (3, 4)
    assert found.dtype == np.float64
    for each, p, q in zip(s.flat, found.flat, missed.flat, strict=True):
        assert p == pytest.approx(params.probability(each), rel=1e-12)
        assert p + q == pytest.approx(1)
    assert params.probability([0, 1]).tolist() == [0, 1]
    assert params.probability([]).shape == (0,)
    assert isinstance(params.probability(np.float64(0.5)), float)
    assert isinstance(params.missed(1), float)


def test_missed_is_accurate_where_it_is_tiny():
    # (1 - 0.99^4)^32, by exact fractions.
    exact = (1 - Fraction(99, 100) ** 4) ** 32
    assert LSHParams(32, 4).missed(0.99) == pytest.approx(float(exact), rel=1e-12)
    assert LSHParams(32, 4).missed(1.0) == 0.0


@pytest.mark.parametrize(("bands", "rows"), [(1, 1), (17, 7), (20, 5), (9, 13), (128, 1), (1, 128)])
def test_inverse(bands, rows):
    params = LSHParams(bands, rows)
    for s in (0.3, 0.5, 0.7, 0.9):
        p = params.probability(s)
        if 1e-300 < p < 1 - 1e-6:
            assert params.inverse(p) == pytest.approx(s, rel=1e-6)
    assert (params.inverse(0.0), params.inverse(1.0)) == (0.0, 1.0)
    p = np.linspace(0, 1, 11)
    assert params.probability(params.inverse(p)) == pytest.approx(p, abs=1e-12)
    # As the curve is steepest near (1 / b)^(1 / r), about 63 % are found there.
    if bands > 8:
        assert params.inverse(0.632) == pytest.approx(params.threshold, rel=0.03)


def test_expected_candidates():
    params = LSHParams(17, 7)
    rng = np.random.default_rng(0)
    similarities = rng.beta(2, 5, 200_000)
    counts, edges = np.histogram(similarities, bins=50, range=(0, 1))
    expected = params.probability(similarities).sum()
    assert params.expected_candidates(counts, edges) == pytest.approx(expected, rel=0.01)
    # A bin without width: pairs that are all equally similar.
    assert params.expected_candidates([3, 5], [0.5, 0.5, 0.5]) == pytest.approx(
        8 * params.probability(0.5)
    )
    assert params.expected_candidates([7], [1, 1]) == pytest.approx(7)
    assert params.expected_candidates([], [0.3]) == 0


# ---- other rules


@pytest.mark.parametrize(
    ("threshold", "bands"),
    [(0.5, 23), (0.6, 18), (0.7, 14), (0.8, 10), (0.9, 6), (0.95, 4), (0.99, 2), (1 - 1e-17, 1)],
)
def test_the_fewest_bands_with_b_ln_b(threshold, bands):
    params = LSHParams.steepest_at(threshold, 100)
    assert params == LSHParams(bands, 100 // bands)
    area = -100 * np.log(threshold)
    assert bands == next(b for b in range(1, 101) if b * np.log(b) >= area)


def test_the_equation_of_the_course():
    assert steepest_bands(0.6, 100) == pytest.approx(17.757, abs=5e-4)
    assert LSHParams.steepest_at(0.6, 100, rounding="down") == LSHParams(17, 5)


@pytest.mark.parametrize("num_perm", [1, 2, 10, 100, 128, 65_535])
@pytest.mark.parametrize("threshold", [1.0, 0.999999, 0.9, 0.5, 0.1, 0.01])
def test_steepest(threshold, num_perm):
    b = steepest_bands(threshold, num_perm)
    assert (1 / b) ** (b / num_perm) == pytest.approx(threshold, rel=1e-9)
    if threshold * num_perm < 1:
        with pytest.raises(ValueError, match=f"use num_perm={math.ceil(1 / threshold)} or more"):
            LSHParams.steepest_at(threshold, num_perm)
        return
    up = LSHParams.steepest_at(threshold, num_perm)
    down = LSHParams.steepest_at(threshold, num_perm, rounding="down")
    assert down.bands <= b + 1e-9
    assert up.bands >= b - 1e-9
    assert up.bands - down.bands == (0 if abs(b - round(b)) < 1e-9 else 1)


def test_divisions():
    assert LSHParams.divisions(12) == [LSHParams(b, 12 // b) for b in (1, 2, 3, 4, 6, 12)]
    assert LSHParams.divisions(7) == [LSHParams(1, 7), LSHParams(7, 1)]
    assert len(LSHParams.divisions()) == 8


def test_choices_side_by_side():
    choices = LSHParams.choices(0.8)
    assert list(choices)[:4] == ["recall", "weights", "steepest, up", "steepest, down"]
    assert choices["recall"] == LSHParams.for_threshold(0.8)
    assert choices["weights"] == LSHParams.for_threshold(0.8, weights=(0.5, 0.5))
    assert choices["steepest, up"] == LSHParams.steepest_at(0.8)
    assert choices["division 16"] == LSHParams(16, 8)
    assert list(choices.values())[4:] == LSHParams.divisions(128)
    # What cannot be had is left out, without a warning.
    assert list(LSHParams.choices(0.1, 2)) == ["weights", "division 1", "division 2"]
    LSHParams.choices(0.2, 64)


# ---- tune


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({}, LSHParams.for_threshold(0.7, 96)),
        ({"recall": 0.9}, LSHParams.for_threshold(0.7, 96, recall=0.9)),
        ({"weights": (1, 3)}, LSHParams.for_threshold(0.7, 96, weights=(1, 3))),
        ({"steepest": "up"}, LSHParams.steepest_at(0.7, 96, rounding="up")),
        ({"bands": 8, "rows": 12}, LSHParams(8, 12)),
    ],
)
def test_each_rule(rule, expected):
    found = tune(0.7, 96, **rule)
    assert found.params == expected
    lines = str(found).splitlines()
    used = expected.bands * expected.rows
    assert lines[0].startswith(f"{expected.bands} bands x {expected.rows} rows ({used} of 96")
    shown = {line.split()[0]: line.split()[1] for line in lines[3:-3]}
    assert float(shown["0.7"]) == pytest.approx(expected.probability(0.7), abs=5e-4)


def test_choices_use_the_rule():
    assert tune(0.7, 96, recall=0.9).choices == LSHParams.choices(0.7, 96, recall=0.9)
    assert tune(0.7, 96, weights=(1, 3)).choices == LSHParams.choices(0.7, 96, weights=(1, 3))
    assert "steepest, up" in tune(0.7, 96).comparison()


# ---- what is refused

NAN, INF = float("nan"), float("inf")
PARAMS = LSHParams(17, 7)
CHOICES = (LSHParams.steepest_at, LSHParams.choices, steepest_bands)
REFUSED = [
    *[("threshold", LSHParams.for_threshold, (bad,), {}) for bad in (0, -0.1, 1.01, NAN, INF)],
    *[
        ("recall", LSHParams.for_threshold, (0.8,), {"recall": bad})
        for bad in (-0.1, 1.0, 1.01, NAN, INF)
    ],
    *[
        ("weights", LSHParams.for_threshold, (0.8,), {"weights": weights})
        for weights in ((-1, 2), (0, 0), (NAN, 1), (1, NAN), (INF, 1), (1,), (1, 2, 3))
    ],
    ("num_perm", LSHParams.for_threshold, (0.8, 0), {}),
    ("bands", LSHParams, (0, 3), {}),
    ("rows", LSHParams, (3, -1), {}),
    *[
        (f"{name} must be between 0 and 1, got", function, (form,), {})
        for function, name in (
            (PARAMS.probability, "similarity"), (PARAMS.missed, "similarity"),
            (PARAMS.inverse, "probability"),
        )
        for bad in (-0.01, 1.01, NAN, INF)
        for form in (bad, [0.5, bad], np.array([[bad]]))
    ],
    *[
        (message, PARAMS.expected_candidates, histogram, {})
        for message, *histogram in (
            ("one more", [1, 2], [0, 1]), ("one more", [[1]], [0, 1]),
            ("ascend", [1, 2], [0, 0.5, 0.4]), ("ascend", [1], [0, 1.1]),
            ("ascend", [1], [-0.1, 1]), ("ascend", [1], [0, NAN]), ("negative", [-1], [0, 1]),
        )
    ],
    ("rounding", LSHParams.steepest_at, (0.8,), {"rounding": "even"}),
    *[("threshold", function, (0, 128), {}) for function in CHOICES],
    *[("num_perm", function, (0.5, bad), {}) for function in CHOICES for bad in (0, 12.5)],
    ("recall", LSHParams.choices, (0.8,), {"recall": 1}),
    ("weights", LSHParams.choices, (0.8,), {"weights": (-1, 1)}),
    ("num_perm", LSHParams.divisions, (0,), {}),
    ("bands and rows must be given together", tune, (0.8,), {"bands": 3}),
    ("recall= and steepest= are different rules", tune, (0.8,), {"recall": 0.9, "steepest": "up"}),
    ("need num_perm=270, got 128", tune, (0.8,), {"bands": 30, "rows": 9}),
    ("over", tune, (0.8,), {"steepest": "over"}),
    ("threshold", tune, (0.0,), {}),
    ("num_perm", tune, (0.8, 0), {}),
]  # fmt: skip


@pytest.mark.parametrize(("message", "function", "arguments", "options"), REFUSED)
def test_bad_arguments(message, function, arguments, options):
    error = TypeError if 12.5 in arguments else ValueError
    refuses(error, message, function, *arguments, **options)
