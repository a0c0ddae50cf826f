"""Each number of A, duplicate questions (docs/systems/questions.md)."""

import numpy as np

from fastlsh import LSHParams, Shingler, candidate_pairs, jaccard, textbook

SYSTEM = "A"
KING = "Who was the first king of Poland"
RULER = "Who was the first ruler of Poland"
PHARAOH = "Who was the last pharaoh of Egypt"
WORDS = Shingler(unit="word", size=1)
ORDERS = [
    order.split()
    for order in (
        "last Who Egypt king ruler was of Poland pharaoh the first",
        "first king Egypt Poland Who of pharaoh last was ruler the",
        "ruler king Poland Who the pharaoh of first Egypt last was",
        "king Poland ruler last pharaoh the Who Egypt first of was",
        "the pharaoh Who ruler Poland Egypt king last was first of",
    )
]
# The source's second order of six is a lost picture. Its entry is 1 for each question: a word
# that all three questions have is the first one.
SECOND = ["was"] + [word for word in ORDERS[0] if word != "was"]


def signatures(orders):
    """Return the position of each question's first word, counted from 1, in each order."""
    sets = [set(question.split()) for question in (KING, RULER, PHARAOH)]
    dictionary, matrix = textbook.characteristic_matrix(sets)
    rows = [[dictionary.index(word) for word in order] for order in orders]
    return [
        [entry + 1 for entry in signature]
        for signature in textbook.signatures_by_permutation(matrix, rows)
    ]


FIVE = signatures(ORDERS)
SIX = signatures([ORDERS[0], SECOND, *ORDERS[1:]])
SHARED = candidate_pairs(np.array(SIX, np.uint32), LSHParams(bands=2, rows=3))


def groups(question):
    """Return the groups of three entries, as the source prints them."""
    entries = "".join(map(str, SIX[question]))
    return [entries[:3], entries[3:]]


COMPUTATIONS = {
    "king and ruler": lambda: jaccard(KING, RULER, WORDS),
    "king and pharaoh": lambda: jaccard(KING, PHARAOH, WORDS),
    "ruler and pharaoh": lambda: jaccard(RULER, PHARAOH, WORDS),
    "signature of king": lambda: FIVE[0],
    "signature of ruler": lambda: FIVE[1],
    "signature of pharaoh": lambda: FIVE[2],
    "estimate of king and ruler, of 6": lambda: round(6 * textbook.agreement(SIX[0], SIX[1])),
    "estimate of king and pharaoh, of 6": lambda: round(6 * textbook.agreement(SIX[0], SIX[2])),
    "groups of king": lambda: groups(0),
    "groups of ruler": lambda: groups(1),
    "groups of pharaoh": lambda: groups(2),
    "pairs that share a group": lambda: [(int(a), int(b)) for a, b, _ in SHARED],
    "chance of 0.75 with n = 3 and b = 2": lambda: LSHParams(bands=2, rows=3).probability(0.75),
    "chance of 0.4 with n = 3 and b = 2": lambda: LSHParams(bands=2, rows=3).probability(0.4),
    "chance of 0.17 with 100 x 2": lambda: LSHParams(100, 2).probability(0.17),
    "chance of 0.17 with 50 x 4": lambda: LSHParams(50, 4).probability(0.17),
    "threshold of 50 x 4": lambda: LSHParams(50, 4).threshold,
}
