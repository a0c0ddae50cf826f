"""Each number of C, a news wire (docs/systems/news.md)."""

import math
import os
import runpy
from functools import cache, partial
from itertools import permutations
from pathlib import Path

from fastlsh import (
    LSHParams,
    MinHasher,
    Shingler,
    candidate_pairs,
    jaccard,
    near_duplicates,
    textbook,
)
from source_numbers import UnavailableError

SYSTEM = "C"
FIRST = "Lorem Ipsum dolor sit amet"
SECOND = "Lorem Ipsum dolor sit amet is how dummy text starts"
FIVE = Shingler(size=5)
DATA = Path(os.environ.get("FASTLSH_DATA", Path(__file__).parents[3] / "shared" / "data"))
STORIES = Path(__file__).parents[2] / "examples" / "stories.py"
CUT = [{text[i : i + 5] for i in range(len(text) - 5)} for text in (FIRST, SECOND)]

# The table of two documents and six rows, and its rows in another order.
DOCUMENTS = [{2, 4, 5}, {1, 2, 3, 5}]
MATRIX = [[int(row in document) for document in DOCUMENTS] for row in range(1, 7)]
SHAPES = [(2, 50), (50, 2), (10, 10), (5, 20), (20, 5)]


def minhashes(*order):
    signatures = textbook.signatures_by_permutation(MATRIX, [[row - 1 for row in order]])
    return [signature[0] + 1 for signature in signatures]


def mean_chance(params, low):
    steps = 1000
    points = [low + (1 - low) * (i + 0.5) / steps for i in range(steps)]
    return sum(map(params.probability, points)) / steps


def curve(params):
    return [params.probability(s) for s in (0.1, 0.3, 0.5, 0.7, 0.9)]


@cache
def articles():
    """Return (id, text) of 1,000 articles, and the ten planted pairs of ids.

    The invented stories of the examples stand in where the articles are absent.
    """
    folder = DATA / "mccormick"
    if (folder / "articles_1000.train").is_file():
        lines, planted = (
            [
                line.split() if name.endswith("truth") else line.split(" ", 1)
                for line in (folder / name).read_text(encoding="utf-8").splitlines()
            ]
            for name in ("articles_1000.train", "articles_1000.truth")
        )
    elif STORIES.is_file():
        lines, planted = runpy.run_path(str(STORIES))["stories"]()
    else:
        raise UnavailableError(f"neither {folder / 'articles_1000.train'} nor {STORIES} is there")
    return lines, set(map(frozenset, planted))


def candidates_grow():
    signatures = MinHasher(100, shingler=FIVE).signatures([text for _, text in articles()[0]])
    shapes = [LSHParams(bands, 100 // bands) for bands in (2, 5, 10, 20)]
    counts = [len(candidate_pairs(signatures, shape)) for shape in shapes]
    return counts == sorted(counts) and counts[0] < counts[-1]


@cache
def found():
    ids, texts = zip(*articles()[0], strict=True)
    pairs = near_duplicates(texts, 0.9, ids=ids, shingler=FIVE, num_perm=100, bands=20, rows=5)
    return {frozenset((a, b)) for a, b, _ in pairs}


COMPUTATIONS = {
    "comparisons of 810,000 documents with each other": lambda: 810_000**2,
    "shingles without the last one": lambda: len(CUT[0]),
    "similarity without the last shingle": lambda: textbook.jaccard(*CUT),
    "similarity": lambda: jaccard(FIRST, SECOND, FIVE),
    "similarity of the two documents, 2/5": lambda: textbook.jaccard(*DOCUMENTS),
    "minhashes of the first order": lambda: minhashes(1, 2, 3, 4, 5, 6),
    "minhashes of the second order": lambda: minhashes(6, 2, 3, 1, 4, 5),
    "orders of six rows": lambda: math.factorial(6),
    "share of the orders in which the documents agree": lambda: textbook.agreement(
        *textbook.signatures_by_permutation(MATRIX, permutations(range(6)))
    ),
    **{
        f"{pieces} pieces of {size} at .1 .3 .5 .7 .9": partial(curve, LSHParams(pieces, size))
        for pieces, size in SHAPES
    },
    "mean chance above .95 with 2 pieces of 50": lambda: mean_chance(LSHParams(2, 50), 0.95),
    "candidates of 2, 5, 10 and 20 bands grow": candidates_grow,
    "possible pairs of 1,000": lambda: math.comb(len(articles()[0]), 2),
    "planted pairs that are found": lambda: len(found() & articles()[1]),
    "pairs that are not planted, but found": lambda: len(found() - articles()[1]),
}
