"""docs/systems/news.md: a news wire, one story a line."""

import math
import runpy

import pytest

from fastlsh import LSHParams, MinHasher, Shingler, candidate_pairs, estimate_jaccard, jaccard
from fastlsh.compat.lsh import minhash

TEXTS = ["Lorem Ipsum dolor sit amet", "Lorem Ipsum dolor sit amet is how dummy text starts"]
FIVE = Shingler(size=5)


def test_page_runs(page):
    assert page.ran + len(page.left_out) == 19
    assert set(page.left_out) <= {"matplotlib"}


def test_the_lost_shingle(page):
    a, b = map(page.names["without_last"], TEXTS)
    assert len(a) == 21
    assert round(len(a & b) / len(a | b), 4) == 0.4565
    assert round(jaccard(*TEXTS, FIVE), 4) == 0.4681


@pytest.mark.parametrize("num_perm", [100, 1000])
def test_scatter_of_the_estimates(num_perm):
    estimates = [
        estimate_jaccard(MinHasher(num_perm, seed=s, shingler=FIVE).signatures(TEXTS), [(0, 1)])[0]
        for s in range(200)
    ]
    exact = 22 / 47
    error = (exact * (1 - exact) / num_perm) ** 0.5
    assert abs(sum(estimates) / 200 - exact) < 4.2 * error / 200**0.5
    assert sum(abs(e - exact) < 2 * error for e in estimates) > 180


@pytest.mark.parametrize(("num_perm", "low", "high"), [(100, 40, 50), (1000, 410, 484)])
def test_the_ranges_of_the_notebook(page, num_perm, low, high):
    lost = 21 / 46  # 0.4565
    expected = sum(
        math.comb(num_perm, n) * lost**n * (1 - lost) ** (num_perm - n)
        for n in range(low, high + 1)
    )
    deviation = (expected * (1 - expected) / 200) ** 0.5
    assert abs(page.names["inside"][num_perm] - expected) < 4 * deviation


def test_the_pasted_loop_always_prints_the_same_and_strict_varies():
    pasted = {minhash.MinHasher(seeds=100, char_ngram=5).jaccard(*TEXTS) for _ in range(5)}
    assert pasted == {0.33}
    one, other = (
        minhash.MinHasher(seeds=100, char_ngram=5, strict=True).fingerprint(TEXTS[0])
        for _ in range(2)
    )
    assert (one != other).any()  # two draws of 100 seeds below one million


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


def test_the_articles_have_the_candidates_that_the_page_names(data):
    path = data / "mccormick" / "articles_1000.train"
    if not path.is_file():
        pytest.skip("no articles_1000.train: set FASTLSH_DATA")
    texts = [line.split(" ", 1)[1] for line in path.read_text(encoding="utf-8").splitlines()]
    signatures = MinHasher(100, shingler=FIVE).signatures(texts)
    shapes = [LSHParams(bands, 100 // bands) for bands in (2, 5, 10, 20)]
    assert [len(candidate_pairs(signatures, each)) for each in shapes] == [7, 10, 10, 23]
