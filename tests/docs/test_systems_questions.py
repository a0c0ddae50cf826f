"""docs/systems/questions.md: sets of words, and tuning for 0.17."""

from fastlsh import estimate_jaccard, textbook


def test_page_runs(page):
    assert page.ran + len(page.left_out) == 22
    assert set(page.left_out) <= {"matplotlib"}


def test_both_ways_of_minhash_estimate_them(page):
    by_permutation = page.names["by_permutation"]
    by_hashing = estimate_jaccard(page.names["signatures"], [(0, 1), (0, 2)])
    for pair, exact, estimate in [((0, 1), 0.75, by_hashing[0]), ((0, 2), 0.4, by_hashing[1])]:
        assert abs(estimate - exact) < 4 * 0.011
        permuted = textbook.agreement(*(by_permutation[i] for i in pair))
        assert abs(permuted - exact) < 4 * 0.011


def test_xor_with_few_bits_never_changes_the_order(page):
    assert page.names["estimates"] <= {0.0, 1.0}
    functions = page.names["md5_functions"](200)
    words = [f"{n}" for n in range(300)]
    orders = {tuple(sorted(words, key=function)) for function in functions}
    assert len(orders) == 1


def test_murmur_with_200_seeds_over_words(page):
    by_murmur, sets = page.names["by_murmur"], page.names["sets"]
    for a, b in [(0, 1), (0, 2), (1, 2)]:
        exact = textbook.jaccard(sets[a], sets[b])
        error = (exact * (1 - exact) / 200) ** 0.5
        assert abs(textbook.agreement(by_murmur[a], by_murmur[b]) - exact) < 4 * error


def test_xor_with_constants_is_not_minwise(page):
    assert page.names["xor"] > 1.5
    assert page.names["more"] > 3
    assert 0.85 < page.names["affine"] < 1.15
    assert page.names["agree"] == 2  # of 8, where the similarity is 0.5


def test_collisions_are_compared(page):
    assert list(page.names["pairs"]) == [(0, 1, 0.75)]
