"""fastlsh.compat.lsh against lsh 0.3.0: fingerprints, and finding duplicates with a Cache.

One thread, processor time, texts of 1,600 characters. lsh has to be built from its repository
(USE_CYTHON=True in its setup.py; its C++ file is too old for Python 3.11). Equal fingerprints are
asserted.
"""

from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from time import process_time
from typing import Any

import numpy as np

from bench import common
from bench.common import corpus
from fastlsh.compat import lsh as ours

STATE = 1


def fingerprints(hasher: Any, texts: list[str]) -> list[Any]:
    return [hasher.fingerprint(text) for text in texts]


def with_cache_cleared(hasher: Any, texts: list[str]) -> list[Any]:
    """lsh remembers 10,000 texts: it shall hash them, and not look them up."""
    hasher.fingerprint.cache_clear()
    return fingerprints(hasher, texts)


def compared(theirs: Any, texts: list[str], count: int) -> dict[str, Any]:
    """Time fingerprints of both sides."""
    results = {}
    for hashbytes in (4, 8):
        for char_ngram in (5, 8):
            for seeds in (100, 128):
                setting = (seeds, char_ngram, STATE, hashbytes)
                mine, other = ours.minhash.MinHasher(*setting), theirs.MinHasher(*setting)
                equal = zip(fingerprints(mine, texts), fingerprints(other, texts), strict=True)
                assert all(np.array_equal(a, b) for a, b in equal), "fingerprints differ"
                times = common.interleave(
                    {
                        "fastlsh": partial(fingerprints, mine, texts),
                        "lsh": partial(with_cache_cleared, other, texts),
                    },
                    count,
                    process_time,
                )
                name = f"hashbytes={hashbytes}, char_ngram={char_ngram}, seeds={seeds}"
                results[name] = {
                    "time of lsh / fastlsh": common.ratio(times["lsh"], times["fastlsh"])
                }
    return results


def all_duplicates(make: Any, hasher: Any, rows: list[Any]) -> int:
    cache = make(hasher, num_bands=20)
    for number, row in enumerate(rows):
        cache.add_fingerprint(row, number)
    return len(cache.get_all_duplicates(min_jaccard=0.8))


def caches(theirs: Any, module: Any, quick: bool, count: int) -> dict[str, Any]:
    """Time a Cache filled with ready fingerprints and asked for all duplicates."""
    results = {}
    size = 200 if quick else 1_000
    kinds = {
        "distinct texts": corpus.Writer(3).texts(size, 400),
        "identical texts": corpus.Writer(4).texts(1, 400) * size,
    }
    mine, other = ours.minhash.MinHasher(100, 5, STATE), theirs.MinHasher(100, 5, STATE)
    for kind, texts in kinds.items():
        rows = list(mine.fingerprints(texts))
        times = common.interleave(
            {
                "fastlsh": partial(all_duplicates, ours.cache.Cache, mine, rows),
                "lsh": partial(all_duplicates, module.Cache, other, rows),
            },
            count,
            process_time,
        )
        results[f"{size} {kind}"] = {
            "time of lsh / fastlsh": common.ratio(times["lsh"], times["fastlsh"])
        }
    rows = [rows[0]] * (2_000 if quick else 40_000)
    times = common.interleave(
        {
            "all": partial(all_duplicates, ours.cache.Cache, mine, rows),
            "a quarter": partial(all_duplicates, ours.cache.Cache, mine, rows[: len(rows) // 4]),
        },
        count,
    )
    results["fastlsh, time of 4 n identical texts / of n"] = common.ratio(
        times["all"], times["a quarter"]
    )
    return results


def measured(options: Namespace) -> dict[str, Any]:
    try:
        from lsh import cache, minhash
    except ImportError:
        raise SystemExit("lsh 0.3.0 is not installed: see the top of this file") from None
    texts = corpus.Writer(1).texts(5 if options.quick else 200, 1_600)
    count = common.rounds(options)
    return {
        "fingerprint": compared(minhash, texts, count),
        "Cache, add_fingerprint and get_all_duplicates(min_jaccard=0.8)": caches(
            minhash, cache, options.quick, count
        ),
    }


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/compat_lsh.json."""
    options = common.parser(__doc__).parse_args(arguments)
    common.write("compat_lsh", options, measured(options))
