"""Real texts with exact truth: nothing wrong is reported, hardly anything is missed."""

import json
import subprocess
import sys

import numpy as np
import pytest

import oracle
from combinations import every
from fastlsh import Shingler, deduplicate, exact_jaccard, exact_pairs, near_duplicates

FIVE = Shingler(size=5)


def named(pairs):
    """Return {(id, id): similarity}."""
    ids = zip(pairs.left_id, pairs.right_id, strict=True)
    return dict(zip(map(frozenset, ids), pairs.similarity.tolist(), strict=True))


def check_pairs(pairs, truth, threshold, least):
    """Check that all similarities are right, and that so large a part of the pairs is there."""
    found = named(pairs)
    # The truth has six decimals: pairs within a rounding of the threshold may be in or out.
    assert all(truth[pair] == pytest.approx(s, abs=6e-7) for pair, s in found.items())
    assert min(found.values()) >= threshold
    expected = {pair for pair, s in truth.items() if s >= threshold + 5e-7}
    assert len(expected & found.keys()) >= least * len(expected)


def check_proofs(result, truth, threshold):
    """Check that what is removed is as like a kept document as it says."""
    assert result.kept[result.kept_index].all()
    for removed, kept, similarity in result.proofs():
        assert similarity >= threshold
        assert truth[frozenset((removed, kept))] == pytest.approx(similarity, abs=6e-7)


@pytest.mark.parametrize("threshold", [0.6, 0.7, 0.8, 0.9])
def test_the_large_collections(corpus, threshold):
    ids, texts, truth = corpus
    check_pairs(near_duplicates(texts, threshold, ids=ids, shingler=FIVE), truth, threshold, 0.99)
    found = deduplicate(texts, threshold, ids=ids, shingler=FIVE)
    assert found.limited == 0
    check_proofs(found, truth, threshold)
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


@pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning")
@pytest.mark.parametrize("threshold", every(4, [0.5, 0.6, 0.7, 0.8, 0.9]))
@pytest.mark.parametrize("seed", every(3, [0, 1, 2]))
def test_notices(notices, threshold, seed):
    ids, texts, truth = notices
    pairs = near_duplicates(texts, threshold, ids=ids, seed=seed)
    check_pairs(pairs, truth, threshold, 0.98)
    check_proofs(deduplicate(texts, threshold, ids=ids, seed=seed), truth, threshold)


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
