"""Two installed versions compared: equal ones agree, a slower one or other answers are named."""

import json
import sys

import numpy as np
import pytest

import fastlsh
from bench import common
from bench.pipelines import paired, paired_jobs

TINY = ["--quick", "--repeats=1"]


def result(ratio, *, same=True):
    return {"after / before": common.ratio([ratio] * 3, [1] * 3), "same answers": same}


def test_it_names_what_is_worse_or_differs_and_nothing_else():
    found = {"a": result(1.03), "b": result(1.031), "c": result(0.5, same=False)}
    assert paired.complaints(found, 1.03) == ["b: 1.03 (1.03 to 1.03), above 1.03",
                                              "c: other answers"]  # fmt: skip


def test_the_median_counts_not_the_range():
    noisy = {"after / before": common.ratio([0.9, 1.0, 9.0], [1] * 3), "same answers": True}
    assert paired.complaints({"a": noisy}, 1.03) == []


@pytest.mark.slow
def test_every_measurement_runs_and_answers_the_same_again(tmp_path):
    paired.write_texts(tmp_path, None, quick=True)
    for name, (function, first) in paired.MEASUREMENTS.items():
        once, again = (function(*first, str(tmp_path), 1, 0.001) for _ in range(2))
        assert once["result"] == again["result"], name
        assert once["calls"] == 1
        assert once["value"] >= 0


@pytest.mark.slow
def test_a_version_agrees_with_itself(tmp_path, capsys):
    out = tmp_path / "paired.json"
    chosen = ["band_keys"]
    paired.main(
        [*TINY, f"--before={sys.executable}", f"--out={out}", "--limit=1000", "--only", *chosen]
    )
    lines = capsys.readouterr().out.splitlines()
    record = json.loads(out.read_text())["results"]
    assert list(record["measurements"]) == chosen
    assert [line.partition(": ")[0] for line in lines[2:]] == chosen
    assert all(found["same answers"] for found in record["measurements"].values())
    assert record["compared"]["before"] == record["compared"]["after"]


def test_status_1_and_the_name_of_what_is_worse(monkeypatch):
    monkeypatch.setattr(paired, "measured", lambda *_, **__: result(1.05))
    options = [*TINY, f"--before={sys.executable}", "--limit=0.001", "--only", "band_keys"]
    with pytest.raises(SystemExit) as stopped:
        paired.main(options)
    assert "worse than before:\nband_keys: " in str(stopped.value)  # a text: status 1


def test_the_sides_take_turns_with_equal_calls_on_one_processor(monkeypatch, tmp_path):
    seen = []

    def call(function, *arguments, python, processor):
        seen.append((python, arguments[2], processor))
        value = {"A": 1.0, "B": 3.0}[python]
        return {"value": value, "calls": {"A": 5, "B": 7}[python], "result": python}

    monkeypatch.setattr(paired.common, "call", call)
    found = paired.measured("band_keys", {"before": "A", "after": "B"}, tmp_path, 3, 0.2, 1)
    assert "".join(python for python, _, _ in seen) == "AB" + "ABBAAB"
    assert [calls for _, calls, _ in seen] == [0, 0] + [7] * 6
    assert {processor for _, _, processor in seen} == {1}
    assert found["after / before"]["median"] == 3
    assert found["after / before"]["runs"] == 3
    assert not found["same answers"]


def test_counted_instructions_are_compared(monkeypatch):
    counts = {"A": {"avx2": {"job": 100.0}}, "B": {"avx2": {"job": 110.0}}}
    monkeypatch.setattr(paired.instructions, "counted", counts.get)
    found = dict(paired.counted({"before": "A", "after": "B"}))
    (line,) = paired.complaints(found, 1.03)
    assert line.startswith("instructions, avx2, job: 1.1 ")


@pytest.mark.parametrize(
    ("options", "why"), [(["--repeats=8"], "at least 9"), (["--only", "nonsense"], "none of")]
)
def test_options_that_cannot_be_are_refused(options, why, capsys):
    with pytest.raises(SystemExit):
        paired.read(["--before=python", *options])
    assert why in capsys.readouterr().err


def test_two_interpreters_with_the_same_package_are_refused(monkeypatch):
    monkeypatch.setattr(paired.common, "call", lambda *_, **__: paired_jobs.identity())
    with pytest.raises(SystemExit, match="both interpreters import"):
        paired.identities({"before": "A", "after": "B"})


def test_real_texts_are_short_and_long_ones(data):
    pytest.importorskip("pyarrow")
    short = paired.real_texts(data, paired_jobs.SHORT, 50)
    long = paired.real_texts(data, paired_jobs.LONG, 5)
    assert len(short) == 50
    assert max(map(len, short)) <= 600
    assert len(long) == 5
    assert min(map(len, long)) >= 2_000


def test_different_answers_have_different_digests():
    texts = ["one text of some length", "one text of some length!", "another"]
    pairs = fastlsh.near_duplicates(texts, 0.8)
    answers = [
        np.arange(3), np.arange(3.0), np.arange(3).reshape(3, 1), [("a", 1.0)], [("b", 1.0)], pairs,
        fastlsh.near_duplicates(texts, 0.99), fastlsh.deduplicate(texts, 0.8),
        fastlsh.deduplicate(texts, 0.99),
    ]  # fmt: skip
    digests = [paired_jobs.digest(answer) for answer in answers]
    assert len(set(digests)) == len(answers)
    assert digests[5] == paired_jobs.digest(fastlsh.near_duplicates(texts, 0.8))


@pytest.mark.slow
def test_an_import_is_measured_with_bytecode(tmp_path):
    found = paired_jobs.importing(str(tmp_path), 1, 0.01)
    assert found["value"] > 0
    assert list((tmp_path / "bytecode").rglob("fastlsh/__init__*.pyc"))
