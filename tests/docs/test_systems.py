"""The pages of docs/systems: each runs, and has the numbers that the method promises."""

import functools
import importlib.util
import math
import runpy

import pytest

from fastlsh import LSHParams, Shingler, candidate_pairs, estimate_jaccard, jaccard, textbook
from pages import ROOT, run_here

FIVE = Shingler(size=5)
BLOCKS = {"answers": 18, "lecture": 22, "news": 19, "pages": 14, "questions": 22}
"""How many blocks of code a page has."""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A function that runs a page once; the folder of its files is one of its names."""

    @functools.cache
    def ran(name):
        folder = tmp_path_factory.mktemp(name)
        page = run_here(f"docs/systems/{name}.md", folder)
        page.names["folder"] = folder
        return page

    return ran


def test_every_page_is_here():
    assert {path.stem for path in ROOT.glob("docs/systems/*.md")} == {"index", *BLOCKS}


@pytest.mark.parametrize("name", BLOCKS)
def test_page_runs(page, name):
    found = page(name)
    assert found.ran + len(found.left_out) == BLOCKS[name]
    assert set(found.left_out) <= {"matplotlib"}


# --- answers: a directory of .txt, compared with the exact answer


def test_everything_found_is_exact(page):
    names = page("answers").names
    assert names["found"] <= names["exact"].keys()
    assert names["missed"] < 1
    assert len(names["found"]) >= len(names["exact"]) - 3


def test_white_space_that_is_neither_space_nor_line_feed():
    """The script keeps it; --remove-whitespace removes it, and the page says so."""
    shingler = Shingler(size=8, remove_whitespace=True)
    assert shingler.shingles("one\ttwo\r\n three") == shingler.shingles("onetwothree")


@pytest.mark.skipif(not importlib.util.find_spec("matplotlib"), reason="no matplotlib")
def test_plots(page):
    names = page("answers").names
    for name in ("answers-true-similar-rate.svg", "answers-precision.svg", "answers-time.svg"):
        assert "<svg" in (names["folder"] / name).read_text(encoding="utf-8")
    assert all(0 <= share <= 1 for share in names["precision"])
    assert max(names["precision"]) > 0.9


def test_true_similar_rate_follows_the_curve(page):
    names = page("answers").names
    for s, rate in zip(names["similarities"], names["true_similar_rate"], strict=True):
        expected = names["params"].probability(s)
        error = (expected * (1 - expected) / 1000) ** 0.5
        assert abs(rate - expected) <= 4.2 * error + 1e-9


# --- lecture: the worked tables of the textbook method


def test_verifications(page):
    names = page("lecture").names
    pairs = {
        how: list(zip(found.left.tolist(), found.right.tolist(), strict=True))
        for how, found in names["found"].items()
    }
    assert set(pairs["exact"]) <= set(pairs["none"])
    assert set(pairs["signature"]) <= set(pairs["none"])
    assert min(names["found"]["exact"].similarity) >= 0.8
    assert set(names["verified"]) <= set(names["similar"])
    assert names["similar"] == pairs["signature"]


# --- news: a news wire, one story a line


@pytest.mark.parametrize(("num_perm", "low", "high"), [(100, 40, 50), (1000, 410, 484)])
def test_the_ranges_of_the_notebook(page, num_perm, low, high):
    lost = 21 / 46  # 0.4565
    expected = sum(
        math.comb(num_perm, n) * lost**n * (1 - lost) ** (num_perm - n)
        for n in range(low, high + 1)
    )
    deviation = (expected * (1 - expected) / 200) ** 0.5
    assert abs(page("news").names["inside"][num_perm] - expected) < 4 * deviation


def test_all_similar_stories_are_found_among_few_candidates(page):
    counts = page("news").names["counts"]
    candidates = [counts[bands][0] for bands in (2, 5, 10, 20, 50)]
    assert candidates == sorted(candidates)
    assert counts[20][1] == 10
    assert counts[20][0] < 500  # of 499,500


def test_stories_are_the_same_in_each_run_and_have_their_planted_pairs(examples):
    stories = runpy.run_path(str(examples / "stories.py"))["stories"]
    feed, planted = stories()
    assert stories() == (feed, planted)
    texts = dict(feed)
    assert len(texts) == len(feed) == 1000
    assert len(planted) == 10
    similarities = [jaccard(texts[a], texts[b], FIVE) for a, b in planted]
    assert 0.9 < min(similarities) < 0.92 < 0.98 < max(similarities) < 1


# --- pages: djb2a, a hash collection, pickBands


def test_an_even_coefficient_shares_values(page):
    a = page("pages").names["a"]
    values = {textbook.int32(a * x) for x in range(0, 2**32, 2**32 // 256)}
    assert len(values) < 256


def test_candidates_and_estimates(page):
    names = page("pages").names
    assert textbook.candidates(names["signed"], 20) == {(0, 1)}
    pairs = candidate_pairs(names["signatures"], LSHParams(20, 5))
    assert [(a, b) for a, b, _ in pairs] == [(0, 1)]
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        exact = jaccard(names["pages"][a], names["pages"][b], FIVE)
        assert abs(textbook.agreement(names["signed"][a], names["signed"][b]) - exact) < 0.2


# --- questions: sets of words, and tuning for 0.17


def test_both_ways_of_minhash_estimate_them(page):
    names = page("questions").names
    by_hashing = estimate_jaccard(names["signatures"], [(0, 1), (0, 2)])
    for pair, exact, estimate in [((0, 1), 0.75, by_hashing[0]), ((0, 2), 0.4, by_hashing[1])]:
        assert abs(estimate - exact) < 4 * 0.011
        permuted = textbook.agreement(*(names["by_permutation"][i] for i in pair))
        assert abs(permuted - exact) < 4 * 0.011
    assert list(names["pairs"]) == [(0, 1, 0.75)]


def test_xor_with_few_bits_never_changes_the_order(page):
    names = page("questions").names
    assert names["estimates"] <= {0.0, 1.0}
    words = [f"{n}" for n in range(300)]
    orders = {tuple(sorted(words, key=each)) for each in names["md5_functions"](200)}
    assert len(orders) == 1


def test_murmur_with_200_seeds_over_words(page):
    names = page("questions").names
    by_murmur, sets = names["by_murmur"], names["sets"]
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        exact = textbook.jaccard(sets[a], sets[b])
        error = (exact * (1 - exact) / 200) ** 0.5
        assert abs(textbook.agreement(by_murmur[a], by_murmur[b]) - exact) < 4 * error


def test_xor_with_constants_is_not_minwise(page):
    names = page("questions").names
    assert names["xor"] > 1.5
    assert names["more"] > 3
    assert 0.85 < names["affine"] < 1.15
    assert names["agree"] == 2  # of 8, where the similarity is 0.5
