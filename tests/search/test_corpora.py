"""Real texts with exact truth: nothing wrong is reported, hardly anything is missed."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

import oracle
from combinations import every
from fastlsh import (
    RecallWarning,
    Shingler,
    deduplicate,
    exact_jaccard,
    exact_pairs,
    near_duplicates,
)

FIVE = Shingler(size=5)
THRESHOLDS = [0.6, 0.7, 0.8, 0.9]


def named(pairs):
    """Return {(id, id): similarity}."""
    ids = zip(pairs.left_id, pairs.right_id, strict=True)
    return dict(zip(map(frozenset, ids), pairs.similarity.tolist(), strict=True))


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_pairs_of_the_large_collections(corpus, threshold):
    ids, texts, truth = corpus
    found = named(near_duplicates(texts, threshold, ids=ids, shingler=FIVE))
    # The truth has six decimals: pairs within a rounding of the threshold may be in or out.
    assert all(truth[pair] == pytest.approx(s, abs=6e-7) for pair, s in found.items())
    assert min(found.values()) >= threshold
    expected = {pair for pair, s in truth.items() if s >= threshold + 5e-7}
    recall = len(expected & found.keys()) / len(expected)
    assert recall >= 0.99


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_deduplication_of_the_large_collections(corpus, threshold):
    ids, texts, truth = corpus
    found = deduplicate(texts, threshold, ids=ids, shingler=FIVE)
    assert found.limited == 0
    assert found.kept[found.kept_index].all()
    for removed, kept, similarity in found.proofs():
        assert similarity >= threshold
        assert truth[frozenset((removed, kept))] == pytest.approx(similarity, abs=6e-7)
    # Few kept ones are like each other: what the candidates missed.
    kept = {ids[i] for i in found.selected}
    left_over = [pair for pair, s in truth.items() if s >= threshold + 5e-7 and pair <= kept]
    assert len(left_over) <= 0.01 * len(found.removed)


def test_all_pairs_of_the_large_collections(corpus):
    ids, texts, truth = corpus
    found = exact_pairs(texts, 0.5, shingler=FIVE, ids=ids)
    assert named(found).keys() == truth.keys()
    assert all(abs(similarity - truth[pair]) <= 6e-7 for pair, similarity in named(found).items())
    assert exact_jaccard(texts, found, FIVE).tolist() == found.similarity.tolist()
    higher = exact_pairs(texts, 0.8, shingler=FIVE, ids=ids)
    alike = found.similarity >= 0.8
    for array in ("left", "right", "similarity"):
        assert np.array_equal(getattr(higher, array), getattr(found, array)[alike])
    # Bit for bit what verification computes.
    assert set(near_duplicates(texts, 0.8, shingler=FIVE, ids=ids)) <= set(higher)


@pytest.fixture(scope="module")
def notices(examples):
    if not examples.is_dir():
        pytest.skip("no examples here")
    with (examples / "notices.jsonl").open(encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    table = (examples / "notices.truth.tsv").read_text(encoding="utf-8").splitlines()[1:]
    rows = [row.split("\t") for row in table]
    truth = {frozenset((a, b)): float(similarity) for a, b, similarity in rows}
    return [d["id"] for d in documents], [d["text"] for d in documents], truth


@pytest.mark.parametrize("threshold", every(4, [0.5, 0.6, 0.7, 0.8, 0.9]))
@pytest.mark.parametrize("seed", every(3, [0, 1, 2]))
def test_notices(notices, threshold, seed):
    ids, texts, truth = notices
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RecallWarning)
        found = named(near_duplicates(texts, threshold, ids=ids, seed=seed))
        result = deduplicate(texts, threshold, ids=ids, seed=seed)
    assert all(truth[pair] == pytest.approx(s, abs=6e-7) for pair, s in found.items())
    expected = {pair for pair, s in truth.items() if s >= threshold}
    assert found.keys() <= expected
    assert len(found) >= 0.98 * len(expected)
    for removed, kept, similarity in result.proofs():
        assert result.kept[ids.index(kept)]
        assert truth[frozenset((removed, kept))] == pytest.approx(similarity, abs=6e-7)


def test_all_listed_pairs_of_the_notices(notices):
    ids, texts, truth = notices
    place = {name: i for i, name in enumerate(ids)}
    sets = [set(oracle.windows(text, 9)) for text in texts]
    for pair, similarity in truth.items():
        a, b = (place[name] for name in pair)
        assert oracle.jaccard(sets[a], sets[b]) == pytest.approx(similarity, abs=6e-7)
    found = exact_jaccard(texts, [sorted(place[name] for name in pair) for pair in truth])
    assert np.abs(found - list(truth.values())).max() <= 6e-7


@pytest.mark.exhaustive
def test_quickstart(examples):
    script = examples / "quickstart.py"
    if not script.is_file():
        pytest.skip("no examples here")
    run = subprocess.run(
        [sys.executable, "-W", "error", script], capture_output=True, check=False, cwd=examples
    )
    out = run.stdout.decode()
    assert (run.returncode, run.stderr) == (0, b"")
    assert ", 0 false" in out
    assert "notices kept" in out
