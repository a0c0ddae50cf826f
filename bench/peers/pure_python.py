"""Signatures of the same texts in pure Python and by fastlsh: 400 documents of 1,100 characters.

One thread, k = 128, 9-character shingles, processor time. Both sides take turns in every round;
fastlsh makes the signatures 100 times in its turn, as one time is too short to be measured. Every
signature must be equal, bit for bit.
"""

from collections.abc import Sequence
from time import process_time
from typing import Any

import fastlsh
from bench import common
from bench.common import corpus
from bench.peers import pure
from bench.peers.contenders import SIZE, K

CALLS = 100
LENGTH = 1_100


def compared(texts: list[str], count: int) -> dict[str, Any]:
    """Time both, and check that their signatures are equal."""
    hasher = fastlsh.MinHasher(K, shingler=fastlsh.Shingler(size=SIZE), threads=1)

    def in_python() -> list[list[int]]:
        return [pure.signature(text) for text in texts]

    def by_kernels() -> None:
        for _ in range(CALLS):
            hasher.signatures(texts)

    assert in_python() == hasher.signatures(texts).tolist(), "pure Python differs"
    work = {"pure Python": in_python, "fastlsh": by_kernels}
    times = common.interleave(work, count, clock=process_time)
    millions = sum(map(len, texts)) / 1e6
    return {
        "documents": len(texts),
        "characters per document": LENGTH,
        "pure Python": {
            "M characters/s": common.summary(millions / t for t in times["pure Python"]),
            "time / fastlsh": common.ratio(times["pure Python"], times["fastlsh"], CALLS),
        },
        "fastlsh": {
            "M characters/s": common.summary(CALLS * millions / t for t in times["fastlsh"])
        },
    }


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/pure_python.json."""
    options = common.parser(__doc__).parse_args(arguments)
    texts = corpus.Writer(1).texts(10 if options.quick else 400, LENGTH)
    common.write("pure_python", options, compared(texts, common.rounds(options, usual=3)))
