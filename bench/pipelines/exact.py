"""What the exact join costs: `exact_pairs` as a multiple of the signatures of the same texts.

Processor time of one thread, in turns within a round. With --truth (a TSV with id_a, id_b and
jaccard, also .gz) the pairs are compared with it at the threshold where it begins. Memory is what
the process grows by at most beyond the texts, measured in a process of its own.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import fastlsh
from bench import common
from bench.common import corpus
from bench.pipelines.accuracy import EXAMPLES, read_truth

THRESHOLDS = (0.5, 0.8)
MEMORY = """
import json, sys
from pathlib import Path
import fastlsh
from bench.common import corpus

def high():
    with open("/proc/self/status") as lines:
        fields = dict(line.split(":", 1) for line in lines)
    return int(fields["VmHWM"].split()[0]) * 1024

file, threshold, size = json.loads(sys.argv[1])
how = fastlsh.Shingler(size=size)
texts = [json.loads(line)["text"] for line in corpus.lines(Path(file))]
fastlsh.exact_pairs(texts[:100], threshold, shingler=how, threads=1)
before = high()
fastlsh.exact_pairs(texts, threshold, shingler=how, threads=1)
elements = sum(len(how.hashes(text)) for text in texts)
print(json.dumps([high() - before, elements]))
"""


def seconds(work: Callable[[], Any]) -> float:
    """Return the processor time of a call."""
    start = process_time()
    work()
    return process_time() - start


def memory(options: argparse.Namespace, threshold: float) -> dict[str, Any]:
    """Return the growth in a fresh process; nothing where the system does not tell."""
    if not Path("/proc/self/status").exists():
        return {}
    asked = json.dumps([str(options.corpus), threshold, options.size])
    run = subprocess.run(
        [sys.executable, "-c", MEMORY, asked],
        capture_output=True, text=True, check=True, cwd=common.ROOT,
    )  # fmt: skip
    grown, elements = json.loads(run.stdout)
    return {
        "memory, MB": common.significant(grown / 1e6),
        "bytes a distinct shingle of each document": common.significant(grown / elements),
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
    hasher.signatures(texts)  # warm-up
    result: dict[str, Any] = {"documents": len(texts), "compared with truth": bool(options.truth)}
    for threshold in THRESHOLDS:
        pairs = fastlsh.exact_pairs(texts, threshold, shingler=how)
        signed, joined = [], []
        for _ in range(common.rounds(options)):
            signed.append(seconds(lambda: hasher.signatures(texts)))
            joined.append(
                seconds(lambda: fastlsh.exact_pairs(texts, threshold, shingler=how, threads=1))  # noqa: B023
            )
        result[f"threshold {threshold}"] = {
            "pairs": len(pairs),
            "exact_pairs / signatures": common.ratio(joined, signed),
            "exact_pairs, s": common.significant(statistics.median(joined)),
            **memory(options, threshold),
        }
    return result


def main() -> None:
    """Measure one collection."""
    parser = common.parser(__doc__)
    parser.add_argument("--corpus", type=Path, default=EXAMPLES / "notices.jsonl")
    parser.add_argument("--truth", type=Path, help="of this collection, from 0.5 on")
    parser.add_argument("--size", type=int, default=5, help="characters of a shingle (default 5)")
    options = parser.parse_args()
    options.corpus = options.corpus.resolve()
    name = options.corpus.name.partition(".")[0]
    common.write(f"exact-{name}", options, measured(options))


if __name__ == "__main__":
    main()
