"""Bands and rows."""

import warnings

import numpy as np
import pytest

import oracle
from fastlsh import LSHParams, RecallWarning


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.55, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99, 1.0])
@pytest.mark.parametrize("num_perm", [1, 2, 16, 64, 100, 128, 200, 256])
@pytest.mark.parametrize("recall", [0.5, 0.9, 0.98, 0.999])
def test_the_rule_by_brute_force(threshold, num_perm, recall):
    expected = oracle.choose(threshold, num_perm, recall)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecallWarning)
        if expected is None:
            with pytest.raises(ValueError, match="num_perm="):
                LSHParams.for_threshold(threshold, num_perm, recall=recall)
        else:
            found = LSHParams.for_threshold(threshold, num_perm, recall=recall)
            assert (found.bands, found.rows) == expected


def test_the_default_at_0_8():
    params = LSHParams.for_threshold(0.8)
    assert params == LSHParams(17, 7)
    assert params.probability(0.8) == pytest.approx(0.9817, abs=1e-4)


def test_the_message_names_the_least_num_perm():
    with pytest.raises(ValueError, match="num_perm=3 or more"):
        LSHParams.for_threshold(0.8, 2)
    with pytest.warns(RecallWarning):
        assert LSHParams.for_threshold(0.8, 3) == LSHParams(3, 1)


@pytest.mark.parametrize("num_perm", [512, 1024, 2048, 10_000, 65_535])
@pytest.mark.parametrize("threshold", [0.05, 0.17, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_long_signatures(threshold, num_perm):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecallWarning)
        params = LSHParams.for_threshold(threshold, num_perm)
    assert params.bands * params.rows <= num_perm
    assert params.probability(threshold) >= 0.98


@pytest.mark.parametrize("recall", [0.01, 1 - 1e-12, 1 - 2**-53])
@pytest.mark.parametrize("threshold", [1e-9, 1e-3, 0.3, 0.8, 0.999])
def test_extreme_demands_end(threshold, recall):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecallWarning)
        if LSHParams(256, 1).probability(threshold) < recall:
            with pytest.raises(ValueError, match="num_perm"):
                LSHParams.for_threshold(threshold, 256, recall=recall)
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


def test_the_curve_of_the_lecture():
    expected = {0.2: 0.006, 0.3: 0.047, 0.4: 0.186, 0.5: 0.470, 0.6: 0.802, 0.7: 0.975}
    for s, p in expected.items():
        assert LSHParams(20, 5).probability(s) == pytest.approx(p, abs=5e-4)


def test_a_low_threshold_warns_once_and_names_the_remedy():
    with pytest.warns(RecallWarning, match=r"num_perm=\d+ is better") as caught:
        params = LSHParams.for_threshold(0.5, 128)
    assert len(caught) == 1
    assert params == LSHParams(30, 3)
    better = int(str(caught[0].message).split("num_perm=")[1].split()[0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        good = LSHParams.for_threshold(0.5, better)
    assert good.probability(0.25) <= 0.3


@pytest.mark.parametrize("bad", [0, -0.1, 1.01, float("nan"), float("inf")])
def test_bad_numbers(bad):
    with pytest.raises(ValueError, match="threshold"):
        LSHParams.for_threshold(bad)
    with pytest.raises(ValueError, match="recall"):
        LSHParams.for_threshold(0.8, recall=1.0 if bad == 0 else bad)
    with pytest.raises(ValueError, match="similarity"):
        LSHParams(2, 3).probability(bad or 2.0)


def test_bad_parameters():
    with pytest.raises(ValueError, match="bands"):
        LSHParams(0, 3)
    with pytest.raises(ValueError, match="rows"):
        LSHParams(3, -1)
    with pytest.raises(ValueError, match="num_perm"):
        LSHParams.for_threshold(0.8, 0)
    for weights in ((-1, 2), (0, 0)):
        with pytest.raises(ValueError, match="weights"):
            LSHParams.for_threshold(0.8, weights=weights)
