"""near_duplicates against the oracle."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from fastlsh import (
    LSHParams,
    MinHasher,
    Shingler,
    TooManyPairsError,
    estimate_jaccard,
    near_duplicate_files,
    near_duplicates,
)
from shards import small_budget
from strategies import (
    bandings,
    collections,
    few_letters,
    hashings,
    little_room,
    narrow,
    shinglers,
    thresholds,
    verifications,
    wide,
)

pytestmark = few_letters


def as_list(pairs):
    """Return [(left, right, similarity)]; NaN becomes None, which equals itself."""
    return [(a, b, None if math.isnan(s) else s) for a, b, s in pairs]


@settings(max_examples=3 * settings().max_examples)
@given(
    collections(narrow | wide), thresholds, bandings, verifications, shinglers, hashings,
    st.integers(1, 3), st.sampled_from([None, 1, 3, 50]),
)  # fmt: skip
def test_equal_to_the_oracle(texts, threshold, banding, verify, shingler, hashing, threads, batch):
    bands, rows = banding
    with little_room(batch):
        found = near_duplicates(
            texts, threshold, shingler=Shingler(**shingler), num_perm=16, bands=bands, rows=rows,
            verify=verify, threads=threads, **hashing,
        )  # fmt: skip
    truth = oracle.Oracle(texts, **shingler, num_perm=16, **hashing)
    expected = truth.near_duplicates(threshold, bands, rows, verify)
    assert as_list(found) == as_list(expected)
    assert found.documents == len(texts)
    assert found.empty == sum(not units for units in truth.units)
    assert found.params == LSHParams(bands, rows)


def test_a_similarity_of_exactly_the_threshold_counts():
    texts = ["abcdefgh", "abcdxyzw"]  # single characters: 4 of 12
    options = {"shingler": Shingler(size=1), "bands": 128, "rows": 1}
    assert list(near_duplicates(texts, 4 / 12, **options)) == [(0, 1, 4 / 12)]
    assert list(near_duplicates(texts, math.nextafter(4 / 12, 1), **options)) == []


def test_recall_chooses_the_bands():
    assert near_duplicates([], 0.8).params == LSHParams(17, 7)
    assert near_duplicates([], 0.8, recall=0.5).params == LSHParams.for_threshold(0.8, recall=0.5)
    assert near_duplicates([], 0.9, num_perm=256).params == LSHParams.for_threshold(0.9, 256)


def test_ids_name_the_pairs():
    texts = ["one text is here", "another one", "one text is here"]
    found = near_duplicates(texts, ids=["x", 7, None])
    assert (found.left_id, found.right_id) == (["x"], [None])
    assert near_duplicates(texts).left_id == [0]
    for ids in (("a", "b", "c"), range(5, 8), np.array(["a", "b", "c"]), iter("abc")):
        assert len(near_duplicates(texts, ids=ids).right_id) == 1


def test_structured_texts_are_told_apart():
    texts = [f"{i:08d}" for i in range(3000)] + ["\0" * i for i in range(1, 40)]
    texts += ["a" * i for i in range(1, 10)]
    # Equal sets: only runs of one character that are at least one shingle long.
    found = near_duplicates(texts, 0.99)
    zeros = range(3000 + 8, 3039)
    assert [(a, b) for a, b, _ in found] == [(a, b) for a in zeros for b in zeros if a < b]
    assert set(found.similarity.tolist()) == {1.0}


@given(collections(), st.integers(0, 60))
def test_more_pairs_than_allowed(texts, most):
    options = {"shingler": Shingler(size=2), "num_perm": 16, "bands": 8, "rows": 2}
    expected = list(near_duplicates(texts, 0.5, **options))
    truth = oracle.Oracle(texts, size=2, num_perm=16)
    candidates = len(oracle.candidate_pairs(truth.signatures, 8, 2))
    try:
        found = near_duplicates(texts, 0.5, **options, max_pairs=most)
    except TooManyPairsError:
        assert candidates > most
    else:
        assert len(found) <= most
        assert list(found) == expected


def test_the_largest_group_is_named():
    texts = ["some text or other"] * 500 + ["unique"]
    with pytest.raises(
        TooManyPairsError, match="500 documents are identical, of which document 0 is the first"
    ):
        near_duplicates(texts, max_pairs=1000)
    template = "a long shared text that all of these have in common, and more of it; " * 3
    with pytest.raises(TooManyPairsError, match=r"\d+ documents share a bucket with document"):
        near_duplicates([f"{template}{i}" for i in range(500)], max_pairs=1000)


# ---- the estimate beside the exact similarity


ALIKE = [f"{'one and the same beginning ' * 2}{i % 7} {'x' * (i % 5)}" for i in range(40)]
SIX = Shingler(size=6)
ERROR = math.sqrt(0.25 / 128)


@pytest.mark.parametrize("verify", ["exact", "signature", "none"])
def test_estimates_are_the_shares_of_equal_minima(verify):
    found = near_duplicates(ALIKE, 0.7, shingler=SIX, verify=verify, estimates=True)
    signatures = MinHasher(shingler=SIX).signatures(ALIKE)
    assert len(found) > 100
    assert verify == "none" or abs(found.estimate - found.similarity).max() < 5 * ERROR
    assert (found.estimate == estimate_jaccard(signatures, (found.left, found.right))).all()
    plain = near_duplicates(ALIKE, 0.7, shingler=SIX, verify=verify)
    assert plain.estimate is None
    assert np.array_equal(plain.similarity, found.similarity, equal_nan=True)
    if verify == "signature":
        assert (found.estimate == found.similarity).all()


def test_the_column_of_a_table():
    pa = pytest.importorskip("pyarrow")
    found = near_duplicates(ALIKE, 0.7, ids=list("ab" * 20), estimates=True)
    names = ["left", "right", "similarity", "estimate", "left_id", "right_id"]
    assert pa.table(found).column_names == names
    assert pa.table(found)["estimate"].to_pylist() == found.estimate.tolist()


def test_no_pairs(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "a"}\n', encoding="utf-8")
    for engine in ("memory", "disk"):
        out = tmp_path / "out.tsv"
        result = near_duplicate_files(tmp_path / "in.jsonl", out, estimates=True, engine=engine)
        assert result.n_pairs == 0
        assert out.read_text(encoding="utf-8") == "id_a\tid_b\tjaccard\testimate\n"


def test_a_run_without_estimates_is_another_run(run, tmp_path, monkeypatch):
    small_budget(monkeypatch)
    (tmp_path / "in.jsonl").write_text('{"text": "some text"}\n' * 3, encoding="utf-8")
    options = ["--engine", "disk", "--work", "work", "-o", "pairs.tsv", "-q"]
    assert run("pairs", "in.jsonl", *options, "--keep-work")[0] == 0
    status, _, err = run("pairs", "in.jsonl", *options, "--estimates")
    assert status == 2
    assert "estimates was False, and is True" in err[-1]
