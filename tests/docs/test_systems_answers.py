"""docs/systems/answers.md: a directory of .txt, compared with the exact answer."""

import importlib.util

import pytest

from fastlsh import Shingler


@pytest.mark.exhaustive
def test_page_runs(page):
    assert page.ran + len(page.left_out) == 18
    assert set(page.left_out) <= {"matplotlib"}


@pytest.mark.exhaustive
def test_everything_found_is_exact(page):
    exact, found = page.names["exact"], page.names["found"]
    assert found <= exact.keys()
    assert page.names["missed"] < 1
    assert len(found) >= len(exact) - 3


def test_white_space_that_is_neither_space_nor_line_feed():
    """The script keeps it; --remove-whitespace removes it, and the page says so."""
    shingler = Shingler(size=8, remove_whitespace=True)
    assert shingler.shingles("one\ttwo\r\n three") == shingler.shingles("onetwothree")


@pytest.mark.exhaustive
def test_plots(page):
    if not importlib.util.find_spec("matplotlib"):
        pytest.skip("no matplotlib")
    for name in ("answers-true-similar-rate.svg", "answers-precision.svg", "answers-time.svg"):
        assert "<svg" in (page.names["folder"] / name).read_text(encoding="utf-8")
    precision = page.names["precision"]
    assert all(0 <= share <= 1 for share in precision)
    assert max(precision) > 0.9


@pytest.mark.exhaustive
def test_true_similar_rate_follows_the_curve(page):
    check_true_similar_rate(page)


def check_true_similar_rate(page):
    params = page.names["params"]
    for s, rate in zip(page.names["similarities"], page.names["true_similar_rate"], strict=True):
        expected = params.probability(s)
        error = (expected * (1 - expected) / 1000) ** 0.5
        assert abs(rate - expected) <= 4.2 * error + 1e-9
