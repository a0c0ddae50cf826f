"""fastlsh.compare_seeds and `evaluate --seeds`: each seed as evaluated by itself."""

import json
import random

import pytest

from fastlsh import Shingler, compare_seeds, evaluate
from fastlsh.evaluation import measure

DRAW = random.Random(3)
WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
TEXTS = [" ".join(DRAW.choices(WORDS, k=8)) for _ in range(60)]
TEXTS += [f"{text} {DRAW.choice(WORDS)}" for text in TEXTS]
THREE = Shingler(size=3)


@pytest.mark.parametrize("sample", [None, 50])
def test_each_seed_is_evaluated_as_by_itself(sample):
    keywords = {"shingler": THREE, "num_perm": 16, "bands": 4, "rows": 4}
    found = compare_seeds(TEXTS, 0.6, seeds=3, seed=7, sample=sample, **keywords)
    assert [each.seed for each in found] == [7, 8, 9]
    recalls = []
    for each in found:
        # A sample is drawn by the first seed, whatever the seed of the signatures.
        alone = evaluate(TEXTS, 0.6, seed=each.seed, **keywords)
        if sample is None:
            assert {**each.to_dict(), "seconds": 0} == {**alone.to_dict(), "seconds": 0}
        recalls.append(each.recall.value)
    assert len({each.recall.total for each in found}) == 1
    assert len(set(recalls)) > 1
    assert len(set(recalls)) > 1
    assert f"{min(recalls):.4f} to {max(recalls):.4f}" in str(found)
    assert len(str(found).splitlines()) == 10


def test_exact_pairs_are_found_once(monkeypatch):
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return exact(*arguments)

    exact = measure.exact_codes
    monkeypatch.setattr(measure, "exact_codes", counted)
    compare_seeds(TEXTS, 0.6, seeds=4)
    assert len(calls) == 1


def test_bad_numbers():
    with pytest.raises(ValueError, match="seeds must be at least 1"):
        compare_seeds([], seeds=0)
    with pytest.raises(ValueError, match="2 seeds from 4294967295 on"):
        compare_seeds([], seeds=2, seed=2**32 - 1)


def test_the_command(run, tmp_path):
    rows = (json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(TEXTS))
    (tmp_path / "in.jsonl").write_text("".join(rows), encoding="utf-8")
    options = ["--threshold", "0.6", "--size", "3", "--seeds", "3"]
    status, out, _ = run("evaluate", "in.jsonl", *options, "--json", "a.json")
    assert (status, out) == (0, f"{compare_seeds(TEXTS, 0.6, seeds=3, shingler=THREE)}\n")
    written = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert [each["seed"] for each in written["seeds"]] == [1, 2, 3]
    for more in (["--missed", "a.tsv"], ["--bandings", "4x4"]):
        status, out, err = run("evaluate", "in.jsonl", *options, *more)
        assert (status, out) == (2, "")
        assert err[0].endswith(f"--seeds cannot be combined with {more[0]}")
