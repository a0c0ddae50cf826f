"""Each number of C, a news wire (docs/systems/news.md)."""

import os
from functools import cache
from pathlib import Path

import pytest

from fastlsh import LSHParams, MinHasher, Shingler, candidate_pairs, jaccard, near_duplicates
from fastlsh.textbook import jaccard as jaccard_of_sets
from source_numbers import check, numbers

SYSTEM = "C"
FIRST = "Lorem Ipsum dolor sit amet"
SECOND = "Lorem Ipsum dolor sit amet is how dummy text starts"
FIVE = Shingler(size=5)
DATA = Path(os.environ.get("FASTLSH_DATA", Path(__file__).parents[3] / "shared" / "data"))
CUT = [{text[i : i + 5] for i in range(len(text) - 5)} for text in (FIRST, SECOND)]


def lines_of(name):
    path = DATA / "mccormick" / name
    if not path.is_file():
        pytest.skip(f"no {name}: set FASTLSH_DATA")
    return [line.split(" ", 1) for line in path.read_text(encoding="utf-8").splitlines()]


@cache
def articles():
    return [text for _, text in lines_of("articles_1000.train")]


def candidates_grow():
    signatures = MinHasher(100, shingler=FIVE).signatures(articles())
    shapes = [LSHParams(bands, 100 // bands) for bands in (2, 5, 10, 20)]
    counts = [len(candidate_pairs(signatures, shape)) for shape in shapes]
    return counts == sorted(counts) and counts[0] < counts[-1]


@cache
def found():
    ids = [story for story, _ in lines_of("articles_1000.train")]
    pairs = near_duplicates(articles(), 0.9, ids=ids, shingler=FIVE, num_perm=100, bands=20, rows=5)
    return {frozenset((a, b)) for a, b, _ in pairs}


def planted():
    return set(map(frozenset, lines_of("articles_1000.truth")))


COMPUTATIONS = {
    "shingles without the last one": lambda: len(CUT[0]),
    "similarity without the last shingle": lambda: jaccard_of_sets(*CUT),
    "similarity": lambda: jaccard(FIRST, SECOND, FIVE),
    "candidates of 2, 5, 10 and 20 bands grow": candidates_grow,
    "possible pairs of 1,000": lambda: len(articles()) * (len(articles()) - 1) // 2,
    "planted pairs that are found": lambda: len(found() & planted()),
    "pairs that are not planted, but found": lambda: len(found() - planted()),
}


@pytest.mark.parametrize("number", numbers(SYSTEM), ids=lambda number: number.quantity)
def test_number_of_the_source(number):
    check(number, COMPUTATIONS)


def test_each_computation_has_a_number():
    assert list(COMPUTATIONS) == [number.quantity for number in numbers(SYSTEM)]
