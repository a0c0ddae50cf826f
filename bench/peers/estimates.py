"""How close each library's estimate of the similarity comes, beside the time of its sketches.

Pairs of sets of known similarity, drawn from a fixed seed, the same for all: texts of random
words, whose sets are their words. Of the estimates by 128 slots, the root mean square error is
compared with that of 128 ideal hash functions, sqrt(J (1 - J) / 128), and the mean error with its
own standard error (z). Slow libraries get the first part of the pairs.
"""

import math
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench import common
from bench.peers.contenders import Contender, K, everyone

SIZES = (20, 100, 1_000, 10_000)
SIMILARITIES = (0.2, 0.5, 0.8)
TRIALS = 2_500
LETTERS = 9
SAME_AS_OTHERS = ("rensa, from lists",)
BLOCK = 400_000
"""Elements of the sets on each side that are held at a time."""


class Block(NamedTuple):
    """Pairs of texts whose sets of words have this exact similarity."""

    similarity: float
    left: list[str]
    right: list[str]


def shared_words(size: int, similarity: float) -> int:
    """Return how many words two sets of so many share."""
    return round(2 * size * similarity / (1 + similarity))


def blocks(size: int, similarity: float, trials: int, seed: int) -> Iterator[Block]:
    """Yield so many pairs, a block at a time.

    Words of 9 random letters: that two of a pair of 10,000 are equal by accident is rarer than
    one pair in 30,000.
    """
    rng = np.random.default_rng(seed)
    shared = shared_words(size, similarity)
    union = 2 * size - shared
    width = LETTERS + 1
    at_once = max(BLOCK // size, 1)
    for start in range(0, trials, at_once):
        count = min(at_once, trials - start)
        letters = np.full((count, union, width), ord(" "), np.uint8)
        letters[..., :LETTERS] = rng.integers(97, 123, (count, union, LETTERS), np.uint8)
        texts = [row.tobytes().decode() for row in letters]
        yield Block(
            shared / union,
            [text[: size * width] for text in texts],
            [text[(size - shared) * width :] for text in texts],
        )


class Record:
    """The errors of one contender for sets of one size, and its time."""

    def __init__(self) -> None:
        self.errors: dict[float, list[NDArray[np.float64]]] = {}
        self.rates: list[float] = []

    def add(self, contender: Contender, block: Block, size: int) -> None:
        """Sketch and estimate the pairs of a block."""
        start = process_time()
        left, right = contender.words(block.left, 1), contender.words(block.right, 1)
        seconds = process_time() - start
        self.rates.append(2 * size * len(block.left) / 1e6 / max(seconds, 1e-6))
        errors = contender.estimates(left, right) - block.similarity
        self.errors.setdefault(block.similarity, []).append(errors)

    def summary(self) -> dict[str, Any]:
        """Return the accuracy over all similarities, and the speed."""
        cells = {j: np.concatenate(parts) for j, parts in self.errors.items()}
        return {**accuracy(cells), "M words/s": common.summary(self.rates)}


def accuracy(cells: Mapping[float, NDArray[np.float64]]) -> dict[str, Any]:
    """Summarise the errors, by the exact similarity.

    The standard error is that of the RMSE / ideal, from the spread of the squares.
    """
    squares = np.concatenate([e**2 / (j * (1 - j) / K) for j, e in cells.items()])
    mean = float(squares.mean())
    ratio = math.sqrt(mean)
    z = {j: bias_z(errors) for j, errors in cells.items()}
    return {
        "pairs": len(squares),
        "RMSE / ideal": common.significant(ratio),
        "standard error": common.significant(
            float(squares.std(ddof=1)) / math.sqrt(len(squares)) / (2 * ratio)
        ),
        "bias": {
            f"J = {j:.3f}": {
                "mean error": common.significant(float(errors.mean())),
                "z": common.significant(z[j]),
            }
            for j, errors in cells.items()
        },
        "z farthest from 0": common.significant(max(z.values(), key=abs)),
    }


def bias_z(errors: NDArray[np.float64]) -> float:
    """Return the mean error in units of its standard error."""
    deviation = float(errors.std(ddof=1))
    return float(errors.mean()) / (deviation / math.sqrt(len(errors))) if deviation else 0.0


def measured(names: Mapping[str, Contender], size: int, trials: int) -> dict[str, Any]:
    """Give all contenders the same pairs of sets of this size, block by block."""
    records = {name: Record() for name in names}
    for number, similarity in enumerate(SIMILARITIES):
        done = 0
        for block in blocks(size, similarity, trials, seed=100 * size + number):
            for name, contender in names.items():
                left = max(round(contender.share * trials), 2) - done
                if left > 0:
                    part = Block(similarity_of(block), block.left[:left], block.right[:left])
                    records[name].add(contender, part, size)
            done += len(block.left)
    return {name: record.summary() for name, record in records.items()}


def similarity_of(block: Block) -> float:
    """Return the exact similarity of a block's pairs, looked up in its first one."""
    left, right = set(block.left[0].split()), set(block.right[0].split())
    assert len(left & right) / len(left | right) == block.similarity
    return block.similarity


def compared(options: Namespace) -> dict[str, Any]:
    """Return the accuracy of each contender by the size of the sets."""
    names = {name: c for name, c in everyone().items() if name not in SAME_AS_OTHERS}
    results = {}
    for size in SIZES:
        trials = max(20_000 // size, 5) if options.quick else TRIALS
        results[f"{size:,}"] = measured(names, size, min(trials, TRIALS))
        print(f"sets of {size:,} elements: done", flush=True)
    return results


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/estimates.json."""
    options = common.parser(__doc__).parse_args(arguments)
    common.write("estimates", options, compared(options))
