"""The estimate of each pair beside its exact similarity, with each engine and by the command."""

import json
import math

import numpy as np
import pytest

from fastlsh import MinHasher, Shingler, estimate_jaccard, near_duplicate_files, near_duplicates
from shards import small_budget

TEXTS = [f"{'one and the same beginning ' * 2}{i % 7} {'x' * (i % 5)}" for i in range(40)]
SIX = Shingler(size=6)


@pytest.mark.parametrize("verify", ["exact", "signature", "none"])
def test_estimates_are_the_shares_of_equal_minima(verify):
    found = near_duplicates(TEXTS, 0.7, shingler=SIX, verify=verify, estimates=True)
    signatures = MinHasher(shingler=SIX).signatures(TEXTS)
    assert len(found) > 100
    assert (found.estimate == estimate_jaccard(signatures, (found.left, found.right))).all()
    plain = near_duplicates(TEXTS, 0.7, shingler=SIX, verify=verify)
    assert plain.estimate is None
    assert np.array_equal(plain.similarity, found.similarity, equal_nan=True)
    if verify == "signature":
        assert (found.estimate == found.similarity).all()


def test_the_column_of_a_table():
    pa = pytest.importorskip("pyarrow")
    found = near_duplicates(TEXTS, 0.7, ids=list("ab" * 20), estimates=True)
    names = ["left", "right", "similarity", "estimate", "left_id", "right_id"]
    assert pa.table(found).column_names == names
    assert pa.table(found)["estimate"].to_pylist() == found.estimate.tolist()


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_the_command(run, tmp_path, monkeypatch, engine):
    small_budget(monkeypatch)
    rows = (json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(TEXTS))
    (tmp_path / "in.jsonl").write_text("".join(rows), encoding="utf-8")
    options = ["--threshold", "0.7", "--size", "6", "--engine", engine, "--work", "work", "-q"]
    assert run("pairs", "in.jsonl", "--estimates", "-o", "pairs.tsv", *options)[0] == 0
    header, *lines = (tmp_path / "pairs.tsv").read_text(encoding="utf-8").splitlines()
    assert header == "id_a\tid_b\tjaccard\testimate"
    found = near_duplicates(TEXTS, 0.7, shingler=SIX, estimates=True)
    columns = (found.left, found.right, found.similarity, found.estimate)
    assert lines == [
        f"{a}\t{b}\t{s:.6f}\t{e:.6f}"
        for a, b, s, e in zip(*map(np.ndarray.tolist, columns), strict=True)
    ]
    error = math.sqrt(0.25 / 128)
    assert abs(found.estimate - found.similarity).max() < 5 * error


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
