"""What the exact join costs: `exact_pairs` as a multiple of the signatures of the same texts.

Processor time of one thread, in turns within a round. With --truth (a TSV with id_a, id_b and
jaccard, also .gz) the pairs are compared with it at the threshold where it begins. Memory is what
the process grows by at most beyond the texts, measured in a process of its own.
"""

import argparse
import json
import statistics
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import fastlsh
from bench import common
from bench.common import corpus
from bench.pipelines.accuracy import EXAMPLES, read_truth

THRESHOLDS = (0.5, 0.8)


def grown(file: str, threshold: float, size: int) -> tuple[int, int]:
    """Return by how many bytes a join lets this process grow, and the elements of all sets."""
    how = fastlsh.Shingler(size=size)
    texts = corpus.read(Path(file))
    fastlsh.exact_pairs(texts[:100], threshold, shingler=how, threads=1)
    before = common.peak()
    fastlsh.exact_pairs(texts, threshold, shingler=how, threads=1)
    return common.peak() - before, sum(len(how.hashes(text)) for text in texts)


def memory(options: argparse.Namespace, threshold: float) -> dict[str, Any]:
    """Return the growth in a fresh process."""
    more, elements = common.call(grown, str(options.corpus), threshold, options.size)
    return {
        "memory, MB": common.significant(more / 1e6),
        "bytes a distinct shingle of each document": common.significant(more / elements),
    }


def check(options: argparse.Namespace, ids: list[str], texts: list[str]) -> None:
    """Assert that the pairs are those of the truth; it has six decimals."""
    truth = read_truth(options.truth)
    found = fastlsh.exact_pairs(
        texts, min(THRESHOLDS), ids=ids, shingler=fastlsh.Shingler(size=options.size)
    )
    named = map(frozenset, zip(found.left_id, found.right_id, strict=True))
    answer = dict(zip(named, found.similarity.tolist(), strict=True))
    assert answer.keys() == truth.keys(), "other pairs than the truth"
    assert all(abs(answer[pair] - s) < 6e-7 for pair, s in truth.items()), "other similarities"


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Time signatures and join in turns."""
    rows = [json.loads(line) for line in corpus.lines(options.corpus)]
    ids, texts = [row["id"] for row in rows], [row["text"] for row in rows]
    if options.truth:
        check(options, ids, texts)
    how = fastlsh.Shingler(size=options.size)
    hasher = fastlsh.MinHasher(shingler=how, threads=1)
    result: dict[str, Any] = {"documents": len(texts), "compared with truth": bool(options.truth)}
    for threshold in THRESHOLDS:
        join = partial(fastlsh.exact_pairs, texts, threshold, shingler=how, threads=1)
        pairs = join()
        times = common.interleave(
            {"signatures": partial(hasher.signatures, texts), "join": join},
            common.rounds(options),
            process_time,
        )
        joined = times["join"]
        result[f"threshold {threshold}"] = {
            "pairs": len(pairs),
            "exact_pairs / signatures": common.ratio(joined, times["signatures"]),
            "exact_pairs, s": common.significant(statistics.median(joined)),
            **memory(options, threshold),
        }
    return result


def main(arguments: Sequence[str]) -> None:
    """Measure one collection."""
    parser = common.parser(__doc__)
    parser.add_argument("--corpus", type=Path, default=EXAMPLES / "notices.jsonl")
    parser.add_argument("--truth", type=Path, help="of this collection, from 0.5 on")
    parser.add_argument("--size", type=int, default=5, help="characters of a shingle (default 5)")
    options = parser.parse_args(arguments)
    options.corpus = options.corpus.resolve()
    name = options.corpus.name.partition(".")[0]
    common.write(f"exact-{name}", options, measured(options))
