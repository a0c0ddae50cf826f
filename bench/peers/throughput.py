"""Signatures per library and size of the input, one thread, k = 128.

From raw texts cut into 9 characters (documents of 50 to 50,000 characters) or into words, and
from ready 64-bit hashes (50 to 50,000 a document). All contenders take turns in every round, on
inputs of one kind; slow ones on the first part of them.
"""

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

import fastlsh
from bench import common
from bench.common.corpus import Writer
from bench.peers.contenders import Contender, K, everyone
from bench.peers.contenders.base import word_cutter

LENGTHS = (50, 150, 500, 1_500, 5_000, 15_000, 50_000)
HASHES = (50, 500, 5_000, 50_000)
WORDS = (1, 3, 5)
Prepared = tuple[Callable[[], Any], float]
"""What is timed, and how many million units it works on."""


def compared(work: Mapping[str, Prepared], unit: str, count: int) -> dict[str, Any]:
    """Time all in the same rounds; a ratio is of times per unit."""
    times = common.interleave({name: prepared[0] for name, prepared in work.items()}, count)
    per_unit = {name: [t / work[name][1] for t in found] for name, found in times.items()}
    ours = [name for name in work if name.startswith("fastlsh")]
    return {
        name: {
            f"M {unit}/s": common.summary(1 / t for t in found),
            **{f"time / {us}": common.ratio(found, per_unit[us]) for us in ours if us != name},
        }
        for name, found in per_unit.items()
    }


def from_characters(names: Mapping[str, Contender], options: Namespace) -> dict[str, Any]:
    """Compare by the length of the documents."""
    total = 10_000 if options.quick else 2_000_000
    results = {}
    for length in LENGTHS[:4] if options.quick else LENGTHS:
        texts = Writer(length).texts(max(total // length, 20), length)

        def prepared(contender: Contender, texts: list[str] = texts) -> Prepared:
            part = texts[: slow_part(contender, len(texts))]
            return partial(contender.characters, part), sum(map(len, part)) / 1e6

        work = {name: prepared(contender) for name, contender in names.items()}
        results[f"{length:,}"] = compared(work, "characters", common.rounds(options))
        print(f"documents of {length:,} characters: done", flush=True)
    return results


def from_words(names: Mapping[str, Contender], options: Namespace) -> dict[str, Any]:
    """Compare by the words of a shingle; M characters/s, as the texts are the same."""
    texts = Writer(9).texts(20 if options.quick else 2_000, 1_100)
    ours = fastlsh.MinHasher(K, shingler=fastlsh.Shingler(unit="word", size=1))
    assert (ours.signatures(texts) == ours.from_tokens(map(str.split, texts))).all()
    results = {}
    for size in WORDS:
        cut = word_cutter(size)
        one = fastlsh.Shingler(unit="word", size=size)
        assert set(one.shingles(texts[0])) == set(cut(texts[0])), "not the same shingles"

        def prepared(contender: Contender, size: int = size) -> Prepared:
            part = texts[: slow_part(contender, len(texts))]
            return partial(contender.words, part, size), sum(map(len, part)) / 1e6

        work = {n: prepared(c) for n, c in names.items()}
        results[str(size)] = compared(work, "characters", common.rounds(options))
        print(f"shingles of {size} words: done", flush=True)
    return results


def from_hashes(names: Mapping[str, Contender], options: Namespace) -> dict[str, Any]:
    """Compare by the number of ready 64-bit hashes of a document."""
    total = 50_000 if options.quick else 5_000_000
    hashes = np.random.default_rng(4).integers(0, 2**64, total, np.uint64)
    results = {}
    for size in HASHES:
        offsets = np.arange(0, total + 1, size, dtype=np.int64)
        assert_equal_algorithm(names, hashes, offsets[:20])

        def prepared(contender: Contender, offsets: Any = offsets) -> Prepared:
            # datasketch's way leads through Python integers: less of it is enough.
            share = min(contender.share, 0.02) if contender.share < 1 else 1
            part = offsets[: max(round(share * (len(offsets) - 1)), 1) + 1]
            used = hashes[: part[-1]]
            return partial(contender.hashes, used, part), len(used) / 1e6

        work = {name: prepared(c) for name, c in names.items() if c.hashed}
        results[f"{size:,}"] = compared(work, "hashes", common.rounds(options))
        print(f"{size:,} hashes a document: done", flush=True)
    return results


def assert_equal_algorithm(names: Mapping[str, Contender], hashes: Any, offsets: Any) -> None:
    """Check that datasketch computes the same minima of elements below 2**32."""
    if "datasketch" in names:
        low = hashes[: offsets[-1]] & np.uint64(0xFFFFFFFF)
        theirs = [m.hashvalues for m in names["datasketch"].hashes(low, offsets)]
        assert (names["fastlsh"].hashes(low, offsets) == np.array(theirs)).all()


def slow_part(contender: Contender, count: int) -> int:
    """Return how many texts a contender gets: these inputs are all alike, so a few will do."""
    return count if contender.share == 1 else max(round(contender.share * count / 10), 1)


PARTS = {
    "raw texts, characters": from_characters,
    "raw texts, words": from_words,
    "ready hashes": from_hashes,
}


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/throughput.json."""
    parser = common.parser(__doc__)
    parser.add_argument("--part", choices=tuple(PARTS), help="only this one")
    options = parser.parse_args(arguments)
    names = everyone()
    results = {
        title: part(names, options)
        for title, part in PARTS.items()
        if options.part in (None, title)
    }
    common.write("throughput", options, results)
