"""Recall and precision against exact truth, per threshold and per similarity, for several seeds.

The truth is a TSV (also .gz) with the columns id_a, id_b and jaccard that lists every pair from
some similarity on. By default the collection in examples/.
"""

import csv
import gzip
import json
from argparse import Namespace
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastlsh
from bench import ROOT, records, timing
from bench.corpus import lines

THRESHOLDS = (0.6, 0.7, 0.8, 0.9)
BINS = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.01)
EXAMPLES = ROOT / "examples"
Truth = dict[frozenset[str], float]


def read_truth(path: Path) -> Truth:
    """Return the similarity of each listed pair of ids."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as rows:
        return {
            frozenset((row["id_a"], row["id_b"])): float(row["jaccard"])
            for row in csv.DictReader(rows, delimiter="\t")
        }


def per_bin(
    similarities: NDArray[np.float64], found: NDArray[np.bool_], params: fastlsh.LSHParams
) -> dict[str, Any]:
    """Return pairs, recall and predicted recall of each range of similarity."""
    result = {}
    for low, high in pairwise(BINS):
        inside = (similarities >= low) & (similarities < high)
        if inside.any():
            name = "1" if low == 1 else f"{low:g} to {high:g}"
            result[name] = {
                "pairs": int(inside.sum()),
                "recall": timing.significant(found[inside].mean()),
                "predicted": timing.significant(
                    float(np.mean([params.probability(s) for s in similarities[inside]]))
                ),
            }
    return result


def measured(options: Namespace) -> dict[str, Any]:
    """Compare the answers with the truth; a false pair is an error."""
    rows = [json.loads(line) for line in lines(options.corpus)]
    ids, texts = [row["id"] for row in rows], [row["text"] for row in rows]
    truth = read_truth(options.truth)
    shingler = fastlsh.Shingler(size=options.size)
    result: dict[str, Any] = {"documents": len(ids), "size": options.size}
    for threshold in THRESHOLDS:
        # The truth has six decimals: pairs within a rounding of the threshold count neither way.
        expected = {pair: s for pair, s in truth.items() if s >= threshold + 5e-7}
        params = fastlsh.LSHParams.for_threshold(threshold)  # the default
        recalls, bins = [], {}
        for seed in range(1, 3 if options.quick else 9):
            pairs = fastlsh.near_duplicates(texts, threshold, ids=ids, shingler=shingler, seed=seed)
            named = zip(pairs.left_id, pairs.right_id, pairs.similarity, strict=True)
            answer = {frozenset((a, b)): s for a, b, s in named}
            assert all(abs(truth[pair] - s) < 6e-7 for pair, s in answer.items()), "a false pair"
            hit = np.array([pair in answer for pair in expected])
            recalls.append(float(hit.mean()))
            if seed == 1:
                bins = per_bin(np.array(list(expected.values())), hit, params)
        result[f"threshold {threshold}"] = {
            "bands x rows": f"{params.bands} x {params.rows}",
            "pairs": len(expected),
            "precision": 1.0,
            "recall, seed 1": timing.significant(recalls[0]),
            "recall, all seeds": timing.summary(recalls),
            "by similarity, seed 1": bins,
        }
    return result


def main(arguments: Sequence[str]) -> None:
    """Measure one collection."""
    parser = records.parser(__doc__)
    parser.add_argument("--corpus", type=Path, default=EXAMPLES / "notices.jsonl")
    parser.add_argument("--truth", type=Path, default=EXAMPLES / "notices.truth.tsv")
    parser.add_argument("--size", type=int, default=9, help="characters of a shingle (default 9)")
    options = parser.parse_args(arguments)
    name = options.corpus.name.partition(".")[0]
    records.write(f"accuracy-{name}", options, measured(options))
