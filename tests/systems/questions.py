"""Each number of A, duplicate questions (docs/systems/questions.md)."""

import hashlib
import random
from functools import partial

import numpy as np

from fastlsh import LSHParams, Shingler, candidate_pairs, jaccard, textbook

SYSTEM = "A"
KING = "Who was the first king of Poland"
RULER = "Who was the first ruler of Poland"
PHARAOH = "Who was the last pharaoh of Egypt"
NAMES, PAIRS = ("king", "ruler", "pharaoh"), [(0, 1), (0, 2), (1, 2)]
WORDS = Shingler(unit="word", size=1)
ORDERS = [
    order.split()
    for order in (
        "last Who Egypt king ruler was of Poland pharaoh the first",
        "first king Egypt was Who of pharaoh last Poland ruler the",
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


TWO_OF_THREE, THREE_OF_TWO = LSHParams(bands=2, rows=3), LSHParams(bands=3, rows=2)
# The MD5 of a word, and 200 constants of 20 bits, of which the article prints the first.
CONSTANTS = [636192, *(random.Random(1).sample(range(2**20), 199))]


def md5(constant):
    return lambda word: int(hashlib.md5(word.encode()).hexdigest(), 16) ^ constant


def estimates_by_md5():
    sets = [question.split() for question in (KING, RULER, PHARAOH)]
    signed = textbook.signatures_by_hashing(sets, list(map(md5, CONSTANTS)))
    return [textbook.agreement(signed[a], signed[b]) for a, b in PAIRS]


def equal_entries(a, b):
    return round(6 * textbook.agreement(a, b))


COMPUTATIONS = {
    "king and ruler": lambda: jaccard(KING, RULER, WORDS),
    "king and pharaoh": lambda: jaccard(KING, PHARAOH, WORDS),
    "ruler and pharaoh": lambda: jaccard(RULER, PHARAOH, WORDS),
    **{f"signature of {name}": partial(FIVE.__getitem__, n) for n, name in enumerate(NAMES)},
    "estimates by MD5 and XOR": estimates_by_md5,
    **{
        f"estimate of {NAMES[a]} and {NAMES[b]}, of 6": partial(equal_entries, SIX[a], SIX[b])
        for a, b in PAIRS
    },
    **{f"groups of {name}": partial(groups, n) for n, name in enumerate(NAMES)},
    "pairs that share a group": lambda: [(int(a), int(b)) for a, b, _ in SHARED],
    "chance of 0.75 with n = 3 and b = 2": lambda: TWO_OF_THREE.probability(0.75),
    "chance of 0.4 with n = 3 and b = 2": lambda: TWO_OF_THREE.probability(0.4),
    "chance that a group of 3 agrees at 0.75": lambda: LSHParams(1, 3).probability(0.75),
    "chance that it does not": lambda: 1 - LSHParams(1, 3).probability(0.75),
    "chance that neither group agrees": lambda: 1 - TWO_OF_THREE.probability(0.75),
    "chance of 0.5 with n = 3 and b = 2": lambda: TWO_OF_THREE.probability(0.5),
    "chance of 0.5 with n = 2 and b = 3": lambda: THREE_OF_TWO.probability(0.5),
    "chance of 0.17 with 100 x 2": lambda: LSHParams(100, 2).probability(0.17),
    "chance of 0.17 with 50 x 4": lambda: LSHParams(50, 4).probability(0.17),
    "threshold of 50 x 4": lambda: LSHParams(50, 4).threshold,
}
