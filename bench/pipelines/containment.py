"""Passages of longer texts: found by their similarity, and by containment.

Random texts of 20,000 letters, and of each a passage that is 1.5, 3, 6, 12 and 25 times as short.
The rule of removal is "contained", the longest is kept. How many passages of each ratio are
removed, and the time, on one thread, in turns.
"""

import random
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import fastlsh
from bench import common

RATIOS = (1.5, 3, 6, 12, 25)
LENGTH = 20_000
LETTERS = "abcdefghijklmnopqrstuvwxyz     "
WAYS: dict[str, dict[str, Any]] = {
    "threshold 0.8, num_perm 128": {},
    "threshold 0.3, num_perm 1928": {"threshold": 0.3, "num_perm": 1928},
    "search containment, num_perm 128": {"search": "containment"},
}


def passages(n: int) -> list[str]:
    """Return n long texts, then the passages of the first, of the second..."""
    draw = random.Random(7)
    texts = ["".join(draw.choices(LETTERS, k=LENGTH)) for _ in range(n)]
    for number in range(n):
        for ratio in RATIOS:
            size = int(LENGTH / ratio)
            start = draw.randrange(LENGTH - size + 1)
            texts.append(texts[number][start : start + size])
    return texts


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/containment.json."""
    options = common.parser(__doc__).parse_args(arguments)
    n = 20 if options.quick else 300
    texts = passages(n)

    def run(way: dict[str, Any]) -> fastlsh.Deduplication:
        return fastlsh.deduplicate(texts, rule="contained", keep="longest", threads=1, **way)

    sides = {name: partial(run, way) for name, way in WAYS.items()}
    seconds = common.interleave(sides, common.rounds(options, 3))
    results: dict[str, Any] = {"documents": len(texts)}
    for name, side in sides.items():
        removed = ~side().kept[n:].reshape(n, len(RATIOS))
        results[name] = {
            "seconds": float(np.median(seconds[name])),
            **{f"removed, ratio {r}": float(removed[:, i].mean()) for i, r in enumerate(RATIOS)},
        }
    common.write("containment", options, results)
