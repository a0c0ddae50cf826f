"""docs/systems/news.md: a news wire, one story a line."""

import math
import runpy

import pytest

from fastlsh import Shingler, jaccard

FIVE = Shingler(size=5)


def test_page_runs(page):
    assert page.ran + len(page.left_out) == 19
    assert set(page.left_out) <= {"matplotlib"}


@pytest.mark.parametrize(("num_perm", "low", "high"), [(100, 40, 50), (1000, 410, 484)])
def test_the_ranges_of_the_notebook(page, num_perm, low, high):
    lost = 21 / 46  # 0.4565
    expected = sum(
        math.comb(num_perm, n) * lost**n * (1 - lost) ** (num_perm - n)
        for n in range(low, high + 1)
    )
    deviation = (expected * (1 - expected) / 200) ** 0.5
    assert abs(page.names["inside"][num_perm] - expected) < 4 * deviation


def test_all_similar_stories_are_found_among_few_candidates(page):
    counts = page.names["counts"]
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
