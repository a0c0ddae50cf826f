"""Find and remove near-duplicate notices: ``python examples/quickstart.py``."""

import json
import sys
from pathlib import Path

import fastlsh

sys.stdout.reconfigure(encoding="utf-8")  # the notices are in many scripts
THRESHOLD = 0.8
SOURCE = Path(__file__).with_name("notices.jsonl")
TRUTH = SOURCE.with_name("notices.truth.tsv")

with SOURCE.open(encoding="utf-8") as lines:
    notices = [json.loads(line) for line in lines]
ids = [notice["id"] for notice in notices]
texts = [notice["text"] for notice in notices]

# All pairs at or above the threshold, each verified with its exact similarity.
pairs = fastlsh.near_duplicates(texts, THRESHOLD, ids=ids)
print(f"{len(texts)} notices, {len(pairs)} pairs with Jaccard >= {THRESHOLD}; the first five:")
for (left, right, similarity), place in list(zip(pairs, pairs.left, strict=True))[:5]:
    print(f"  {left}  {right}  {similarity:.6f}  {texts[place][:40]!r}")

# notices.truth.tsv lists every pair from 0.5 up, so the recall can be counted.
truth = [line.split("\t") for line in TRUTH.read_text(encoding="utf-8").splitlines()[1:]]
expected = {(a, b) for a, b, jaccard in truth if float(jaccard) >= THRESHOLD}
found = {(left, right) for left, right, _ in pairs}
right, wrong = len(found & expected), len(found - expected)
print(f"{right} of the {len(expected)} true pairs found, {wrong} false")

# One notice of each group stays; every removal names the kept notice that justifies it.
result = fastlsh.deduplicate(texts, THRESHOLD, ids=ids)
print(f"{result.kept.sum()} notices kept, duplicate ratio {result.duplicate_ratio:.1%}")
for removed, kept, similarity in list(result.proofs())[:5]:
    print(f"  {removed} repeats {kept} ({similarity:.6f})")
