"""Each number of E, the textbook (docs/systems/lecture.md)."""

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
ROWS = textbook.signatures_by_hashing(SETS, [lambda x: (x + 1) % 5, lambda x: (3 * x + 1) % 5])
CURVE = LSHParams(bands=20, rows=5)


def rose():
    return Shingler(unit="word", size=4).shingles("a rose is a rose is a rose")


COMPUTATIONS = {
    "abcab, size 2": lambda: sorted(set(TWO.shingles("abcab"))),
    "a rose is a rose is a rose, 4 words": lambda: len(set(rose())),
    "Nadal and Nadia, shared": lambda: len(NADAL & NADIA),
    "Nadal and Nadia, all": lambda: len(NADAL | NADIA),
    "Nadal and Nadia, similarity": lambda: jaccard("Nadal", "Nadia", TWO),
    "row 1 of M": lambda: [signature[0] for signature in M],
    "row 2 of M": lambda: [signature[1] for signature in M],
    "row 3 of M": lambda: [signature[2] for signature in M],
    "similarity of columns 1-3 2-4 1-2 3-4": lambda: [
        textbook.jaccard(COLUMNS[a], COLUMNS[b]) for a, b in PAIRS
    ],
    "similarity of signatures 1-3 2-4 1-2 3-4": lambda: [
        textbook.agreement(M[a], M[b]) for a, b in PAIRS
    ],
    "candidates that agree in 0.6 of the rows": lambda: sorted(
        textbook.candidates_by_agreement(M, 0.6)
    ),
    "h1": lambda: [signature[0] for signature in ROWS],
    "h2": lambda: [signature[1] for signature in ROWS],
    "chance of 0.2": lambda: CURVE.probability(0.2),
    "chance of 0.3": lambda: CURVE.probability(0.3),
    "chance of 0.4": lambda: CURVE.probability(0.4),
    "chance of 0.5": lambda: CURVE.probability(0.5),
    "chance of 0.6": lambda: CURVE.probability(0.6),
    "chance of 0.7": lambda: CURVE.probability(0.7),
    "chance of 0.8": lambda: CURVE.probability(0.8),
    "pairs at 0.8 of which one is missed, in hundreds": lambda: round(
        0.01 / (1 - CURVE.probability(0.8))
    ),
    "MB of 100,000 signatures of 100": lambda: (
        MinHasher(100).signatures(["text"] * 1000).nbytes // 10_000
    ),
}
