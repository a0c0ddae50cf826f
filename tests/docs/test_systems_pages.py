"""docs/systems/pages.md: djb2a, a hash collection, pickBands."""

from fastlsh import LSHParams, Shingler, candidate_pairs, jaccard, textbook


def test_page_runs(page):
    assert page.ran == 14
    assert not page.left_out


def test_an_even_coefficient_shares_values(page):
    a = page.names["a"]
    values = {textbook.int32(a * x) for x in range(0, 2**32, 2**32 // 256)}
    assert len(values) < 256


def test_candidates_and_estimates(page):
    assert textbook.candidates(page.names["signed"], 20) == {(0, 1)}
    pairs = candidate_pairs(page.names["signatures"], LSHParams(20, 5))
    assert [(a, b) for a, b, _ in pairs] == [(0, 1)]
    pages, signed = page.names["pages"], page.names["signed"]
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        exact = jaccard(pages[a], pages[b], Shingler(size=5))
        assert abs(textbook.agreement(signed[a], signed[b]) - exact) < 0.2
