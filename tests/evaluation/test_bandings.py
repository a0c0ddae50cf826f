"""fastlsh.compare_bandings and `evaluate --bandings`: each banding as evaluated by itself."""

import json

import pytest

import oracle
from fastlsh import LSHParams, Shingler, compare_bandings, evaluate
from fastlsh.evaluation import measure
from files import get, put_rows
from refusals import refuses

TEXTS = [f"{'ab cd ' * (i % 7)}{i // 3} and the end {i % 5}" for i in range(60)]
THREE = Shingler(size=3)
SHAPES = [(20, 6), (40, 3), (60, 2)]


def without_times(result):
    figures = result.to_dict()
    stages = list(figures.pop("seconds"))
    assert stages == ["signatures", "candidates", "verification", "exact join"]
    return figures


@pytest.mark.parametrize("verify", ["exact", "signature"])
def test_each_banding_is_the_evaluation_of_that_banding(verify):
    found = compare_bandings(TEXTS, 0.6, bandings=SHAPES, shingler=THREE, verify=verify)
    assert len(found) == 3
    for result, (bands, rows) in zip(found, SHAPES, strict=True):
        alone = evaluate(
            TEXTS, 0.6, num_perm=120, bands=bands, rows=rows, shingler=THREE, verify=verify
        )
        assert without_times(result) == without_times(alone)
        assert list(result.missed) == list(alone.missed)


def test_the_table_counts_the_pairs_of_the_oracle():
    sets = [set(oracle.windows(oracle.units_of(text, "char"), 3)) for text in TEXTS]
    similar = sum(
        oracle.jaccard(a, b) >= 0.6 for i, a in enumerate(sets) for b in sets[i + 1 :] if a and b
    )
    compared = compare_bandings(TEXTS, 0.6, bandings=SHAPES, shingler=THREE)
    assert compared._repr_html_() == f"<pre>{compared}</pre>"
    lines = str(compared).splitlines()
    assert lines[0] == "60 documents, 0 empty"
    assert lines[1] == "120 values (affine32, seed 1), threshold 0.6, verify exact"
    assert lines[2] == f"{similar:,} pairs reach the threshold"
    rows = [line.split() for line in lines[5:]]
    assert [row[:3] for row in rows] == [["20", "x", "6"], ["40", "x", "3"], ["60", "x", "2"]]
    found = [int(row[4].replace(",", "")) for row in rows]
    assert found == sorted(found)
    assert found[-1] <= similar


def test_signatures_and_exact_pairs_are_computed_once(monkeypatch):
    calls = []
    for name in ("sign", "exact_codes"):
        original = getattr(measure, name)
        monkeypatch.setattr(
            measure,
            name,
            lambda *arguments, name=name, original=original: (
                calls.append(name) or original(*arguments)
            ),
        )
    compare_bandings(TEXTS, 0.6, bandings=SHAPES)
    assert calls == ["sign", "exact_codes"]


def test_more_functions_than_the_bandings_use():
    found = compare_bandings(TEXTS, 0.6, bandings=[LSHParams(4, 2), (2, 4)], num_perm=64)
    assert [each.num_perm for each in found] == [64, 64]


def test_bandings_that_cannot_be_compared():
    unequal = "the same number of hash functions, but 100 x 2 uses 200, 50 x 3 uses 150"
    for shapes, message in [
        ([], "bandings must have at least one pair"),
        ([(100, 2), (50, 3)], unequal),
        ([(0, 2)], "bands must be at least 1"),
    ]:
        refuses(ValueError, message, compare_bandings, TEXTS, 0.6, bandings=shapes)
    message = "need num_perm=8, got 7"
    refuses(ValueError, message, compare_bandings, TEXTS, 0.6, bandings=[(4, 2)], num_perm=7)


def test_the_command(run):
    put_rows("in.jsonl", *({"id": i, "text": text} for i, text in enumerate(TEXTS)))
    options = ["--threshold", "0.6", "--size", "3", "--bandings", "20x6,40x3,60x2"]
    out, _ = run.done("evaluate", "in.jsonl", *options, "--json", "a.json")
    expected = compare_bandings(TEXTS, 0.6, bandings=SHAPES, shingler=THREE)
    assert out == f"{expected}\n"
    written = json.loads(get("a.json"))["bandings"]
    assert [each["recall"] for each in written] == [each.recall.to_dict() for each in expected]
    # A preset gives everything but the bands.
    out, _ = run.done("evaluate", "in.jsonl", "--preset", "questions", "--bandings", "50x4,100x2")
    assert "200 values" in out
