"""Each number of E, the textbook (docs/systems/lecture.md)."""

import math
from functools import partial

from fastlsh import LSHParams, MinHasher, Shingler, jaccard, textbook

SYSTEM = "E"
TWO = Shingler(size=2)
NADAL, NADIA = (set(TWO.shingles(name)) for name in ("Nadal", "Nadia"))
# The 7 x 4 matrix by columns, rows counted from 0; each permutation gives each row its position.
COLUMNS = [{0, 1, 5, 6}, {2, 3, 4}, {0, 5, 6}, {1, 2, 3, 4}]
PERMUTATIONS = [(2, 3, 7, 6, 1, 5, 4), (4, 2, 1, 3, 6, 7, 5), (3, 4, 7, 2, 6, 1, 5)]
M = textbook.signatures_by_hashing(COLUMNS, [each.__getitem__ for each in PERMUTATIONS])
PAIRS = [(0, 2), (1, 3), (0, 1), (2, 3)]
SETS = [{0, 3}, {2}, {1, 3, 4}, {0, 2, 3}]
MATRIX = [[int(x in one) for one in SETS] for x in range(5)]
FUNCTIONS = [lambda x: (x + 1) % 5, lambda x: (3 * x + 1) % 5]
ROWS = textbook.signatures_by_hashing(SETS, FUNCTIONS)
TABLES = list(textbook.signatures_row_by_row(MATRIX, FUNCTIONS))
C1, C2 = {1, 2, 4}, {0, 2, 4, 5}  # the rows with a 1
CURVE, FEWER = LSHParams(bands=20, rows=5), LSHParams(bands=15, rows=5)


def minhashes(order):
    """Return the letter of the first row of each set, in an order of the rows a to e."""
    found = textbook.signatures_by_permutation(MATRIX, [["abcde".index(row) for row in order]])
    return [order[position] for (position,) in found]


def row_of(signatures, row):
    return [signature[row] for signature in signatures]


def after_row(row):
    """Return the entries of each function; infinity as a text, which JSON has no number for."""
    columns = zip(*TABLES[row], strict=True)
    return [[f"{entry}" if math.isinf(entry) else entry for entry in column] for column in columns]


def similarities(a, b):
    return textbook.agreement(TABLES[-1][a], TABLES[-1][b]), textbook.jaccard(SETS[a], SETS[b])


def rose():
    return Shingler(unit="word", size=4).shingles("a rose is a rose is a rose")


COMPUTATIONS = {
    "abcab, size 2": lambda: sorted(set(TWO.shingles("abcab"))),
    "a rose is a rose is a rose, 4 words": lambda: len(set(rose())),
    "Nadal and Nadia, shared": lambda: len(NADAL & NADIA),
    "Nadal and Nadia, all": lambda: len(NADAL | NADIA),
    "Nadal and Nadia, similarity": lambda: jaccard("Nadal", "Nadia", TWO),
    "Nadal and Nadia, Jaccard distance": lambda: 1 - jaccard("Nadal", "Nadia", TWO),
    "Nadal, size 3": lambda: Shingler(size=3).shingles("Nadal"),
    "shingles of 5 out of 27 characters": lambda: 27**5,
    "pairs of a million documents, in hundreds of billions": lambda: round(
        math.comb(1_000_000, 2) / 1e11
    ),
    "similarity of C1 and C2, 2/5": lambda: textbook.jaccard(C1, C2),
    "minhashes in the order b e a d c": lambda: minhashes("beadc"),
    **{f"row {row + 1} of M": partial(row_of, M, row) for row in range(3)},
    "similarity of columns 1-3 2-4 1-2 3-4": lambda: [
        textbook.jaccard(COLUMNS[a], COLUMNS[b]) for a, b in PAIRS
    ],
    "similarity of signatures 1-3 2-4 1-2 3-4": lambda: [
        textbook.agreement(M[a], M[b]) for a, b in PAIRS
    ],
    "candidates that agree in 0.6 of the rows": lambda: sorted(
        textbook.candidates_by_agreement(M, 0.6)
    ),
    **{f"h{row + 1}": partial(row_of, ROWS, row) for row in range(2)},
    **{f"after row {row}": partial(after_row, row) for row in range(5)},
    "signatures and similarity of S1 and S4, 2/3": lambda: similarities(0, 3),
    "signatures and similarity of S1 and S3": lambda: similarities(0, 2),
    **{f"chance of 0.{s}": partial(CURVE.probability, s / 10) for s in range(2, 9)},
    "pairs at 0.8 of which one is missed, in hundreds": lambda: round(
        0.01 / (1 - CURVE.probability(0.8))
    ),
    "chance of 0.8 in one band": lambda: LSHParams(1, 5).probability(0.8),
    "chance that a pair at 0.8 is missed": lambda: 1 - CURVE.probability(0.8),
    "share of the pairs at 0.8 that are found, in percent": lambda: 100 * CURVE.probability(0.8),
    "chance of 0.3 in one band": lambda: LSHParams(1, 5).probability(0.3),
    "chance of 0.3 in any band": lambda: CURVE.probability(0.3),
    "15 x 5 has fewer false positives and more false negatives": lambda: all(
        FEWER.probability(s) < CURVE.probability(s) for s in (0.3, 0.8)
    ),
    "MB of 100,000 signatures of 100": lambda: (
        MinHasher(100).signatures(["text"] * 1000).nbytes // 10_000
    ),
}
