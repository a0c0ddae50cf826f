"""docs/systems/answers.md: a directory of .txt, compared with the exact answer."""

import importlib.util

import pytest

from fastlsh import MinHasher, Shingler, estimate_jaccard, textbook
from pages import run_here

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    page = run_here("docs/systems/answers.md", folder)
    page.names["folder"] = folder
    return page


def test_page_runs(page):
    assert page.ran + len(page.left_out) == 16
    assert set(page.left_out) <= {"matplotlib"}


def test_everything_found_is_exact(page):
    exact, found = page.names["exact"], page.names["found"]
    assert found <= exact.keys()
    assert page.names["missed"] < 1
    assert len(found) >= len(exact) - 3


def test_permutations_and_hashes_estimate_alike(page):
    some, by_rows = page.names["some"], page.names["by_rows"]
    signed = MinHasher(100, shingler=Shingler(size=8, remove_whitespace=True)).signatures(
        page.names["texts"][:30]
    )
    for (a, b), exact in textbook.all_pairs(some, 0.2).items():
        assert abs(textbook.agreement(by_rows[a], by_rows[b]) - exact) < 0.2
        assert abs(estimate_jaccard(signed, [(a, b)])[0] - exact) < 0.2


def test_small_shingles_of_the_small_example():
    text = "a bc\nbca"
    shingler = Shingler(size=3, remove_whitespace=True)
    assert set(shingler.shingles(text)) == {"abc", "bcb", "cbc", "bca"}


def test_plots(page):
    if not importlib.util.find_spec("matplotlib"):
        pytest.skip("no matplotlib")
    for name in ("answers-true-similar-rate.svg", "answers-precision.svg", "answers-time.svg"):
        assert "<svg" in (page.names["folder"] / name).read_text(encoding="utf-8")
    precision = page.names["precision"]
    assert all(0 <= share <= 1 for share in precision)
    assert max(precision) > 0.9


def test_true_similar_rate_follows_the_curve(page):
    params = page.names["params"]
    for s, rate in zip(page.names["similarities"], page.names["true_similar_rate"], strict=True):
        expected = params.probability(s)
        error = (expected * (1 - expected) / 1000) ** 0.5
        assert abs(rate - expected) <= 4.2 * error + 1e-9
