"""fastlsh and other libraries on the same raw texts, one thread, k = 128, 9-character shingles.

Signatures (of made texts), and end to end at threshold 0.8: all pairs, as each library would be
used for it. fastlsh verifies each pair exactly; the others keep a pair by their estimate. How
right the answers are is part of the result. See contenders/ for who does what.
"""

from argparse import Namespace
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import fastlsh
from bench import corpus, pure, records, timing
from bench.contenders import (
    OLDER,
    THRESHOLD,
    WITH_THEIR_BANDS,
    Contender,
    K,
    Pair,
    byte_sets,
    everyone,
    installed,
    shingle_list,
)  # fmt: skip


def texts_of(options: Namespace) -> tuple[list[str], list[str]]:
    """Return the texts for signatures (all of 1,100 characters) and those for the whole job."""
    count = 40 if options.quick else 4_000
    alike = corpus.Writer(1).texts(count, 1_100)
    if options.corpus:
        return alike, corpus.read(options.corpus, options.key, first=options.documents or count)
    return alike, corpus.Writer(2).collection(options.documents or count, 1_100)


def assert_equal_algorithm(texts: list[str]) -> None:
    """Check that what should be equal is: pure Python, and datasketch from the same elements."""
    ours = fastlsh.MinHasher(K).signatures(texts)
    assert [pure.signature(text) for text in texts[:5]] == ours[:5].tolist(), "pure Python differs"
    if not installed("datasketch"):
        return
    from datasketch import MinHash
    from datasketch.hashfunc import sha1_hash32

    elements = [[pure.element(int(h)) for h in fastlsh.Shingler().hashes(t)] for t in texts]
    theirs = MinHash.bulk(elements, num_perm=K, hashfunc=int, seed=1)
    assert (np.array([m.hashvalues for m in theirs]) == ours).all(), "datasketch differs"
    sets = list(byte_sets(texts, shingle_list))
    hashes = np.array([sha1_hash32(s) for shingles in sets for s in shingles], np.uint32)
    offsets = np.cumsum([0, *map(len, sets)])
    theirs = MinHash.bulk(sets, num_perm=K, seed=1)
    ready = fastlsh.MinHasher(K).from_hashes(hashes, offsets)
    assert (np.array([m.hashvalues for m in theirs]) == ready).all(), "datasketch differs"


Work = Callable[[Contender, list[str]], Any]


def compared(names: dict[str, Contender], work: Work, texts: list[str], count: int) -> Any:
    """Time each contender against fastlsh on the same texts, in the same rounds."""
    results = {}
    for name, contender in names.items():
        if name == "fastlsh":
            continue
        part = texts[: contender.part(len(texts))]
        characters = sum(map(len, part))
        times = timing.interleave(
            {
                "fastlsh": partial(work, names["fastlsh"], part),
                "theirs": partial(work, contender, part),
            },
            count,
        )
        results[name] = {
            "documents": len(part),
            "time / fastlsh": timing.ratio(times["theirs"], times["fastlsh"]),
            "M characters/s": timing.summary(characters / t / 1e6 for t in times["theirs"]),
            "fastlsh, M characters/s": timing.summary(
                characters / t / 1e6 for t in times["fastlsh"]
            ),
        }
    return results


def true_pairs(texts: list[str], found: list[set[Pair]]) -> tuple[dict[Pair, float], str]:
    """Return the pairs at or above the threshold with their exact similarity, and how found."""
    n = len(texts)
    if n <= 4_000:
        left, right = np.triu_indices(n, 1)
        how = "all pairs compared exactly"
    else:
        wide = fastlsh.near_duplicates(texts, THRESHOLD, num_perm=256, seed=99, recall=0.9999)
        union = set(zip(wide.left.tolist(), wide.right.tolist(), strict=True)).union(*found)
        left, right = np.array(sorted(union), np.int64).reshape(-1, 2).T
        how = "what any contender, or fastlsh with 256 functions and recall 0.9999, finds; exactly"
    exact = fastlsh.exact_jaccard(texts, (left, right))
    true = np.flatnonzero(exact >= THRESHOLD)
    pairs = zip(left[true].tolist(), right[true].tolist(), strict=True)
    return dict(zip(pairs, exact[true].tolist(), strict=True)), how


def accuracy(names: dict[str, Contender], texts: list[str]) -> dict[str, Any]:
    """Return recall and precision of each contender on the texts it was timed with."""
    results: dict[str, Any] = {}
    parts = {name: texts[: c.part(len(texts))] for name, c in names.items()}
    found = {name: names[name].pairs(part) for name, part in parts.items()}
    truth, how = true_pairs(texts, list(found.values()))
    for name, pairs in found.items():
        expected = {pair for pair in truth if pair[1] < len(parts[name])}
        results[name] = {
            "documents": len(parts[name]),
            "true pairs": len(expected),
            "found": len(pairs),
            "recall": round(len(pairs & expected) / max(len(expected), 1), 4),
            "precision": round(len(pairs & expected) / max(len(pairs), 1), 4),
            "bands x rows": "{} x {}".format(*names[name].bands),
            "checked by": names[name].check,
        }
        if names[name].check == "exact":
            assert pairs <= expected, f"{name} found a pair that is none"
    return {"truth": how, **results}


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/peers.json."""
    parser = records.parser(__doc__)
    corpus.add_options(parser)
    parser.add_argument("--documents", type=int, help="of the whole job (default 4,000)")
    parser.add_argument("--only", nargs="*", help="names of contenders; fastlsh is always one")
    parser.add_argument("--whole", action="store_true", help="slow ones, too, get all documents")
    options = parser.parse_args(arguments)
    count = records.rounds(options)
    names = everyone()
    if options.only:
        names = {n: c for n, c in names.items() if n == "fastlsh" or n in options.only}
    if options.whole:
        for contender in names.values():
            contender.share = 1.0
    names |= OLDER
    alike, mixed = texts_of(options)
    assert_equal_algorithm(alike[:20])
    results: dict[str, Any] = {}
    if not options.corpus:
        results["signatures, 1,100 characters"] = compared(
            names, lambda contender, texts: contender.characters(texts), alike, count
        )
    names[WITH_THEIR_BANDS.name] = WITH_THEIR_BANDS
    results["all pairs"] = {
        "documents": len(mixed),
        "characters": sum(map(len, mixed)),
        "speed": compared(names, lambda contender, texts: contender.pairs(texts), mixed, count),
        "accuracy": accuracy(names, mixed),
    }
    records.write("peers-file" if options.corpus else "peers", options, results)
