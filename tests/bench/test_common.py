"""What the benchmarks share: turns, ratios, child processes, memory, the JSON file."""

import json
import os
import sys

import numpy as np
import pytest

from bench import RESULTS, common
from bench.common import children, corpus, records, timing


def test_of_a_path_in_a_command_the_last_part_is_shown(monkeypatch):
    words = ["accuracy", "--corpus=/data/a.jsonl", "--truth", "../b.tsv", "--only", "fastlsh, fss"]
    monkeypatch.setattr(sys, "argv", ["bench", *words])
    shown = "python -m bench accuracy --corpus=a.jsonl --truth b.tsv --only 'fastlsh, fss'"
    assert records.command() == shown


def test_every_second_round_goes_backwards():
    assert "".join(timing.alternating("abc", 3)) == "abccbaabc"


def test_everything_is_warmed_up_and_timed_once_a_round():
    ticks = iter(range(100))
    called = []
    work = {name: lambda name=name: called.append(name) for name in "ab"}
    times = common.interleave(work, 3, lambda: float(next(ticks)))
    assert "".join(called) == "ab" + "abbaab"
    assert times == {"a": [1.0] * 3, "b": [1.0] * 3}


def test_calls_are_added_until_they_last():
    spent = [0.0]

    def work():
        spent[0] += 0.01

    calls = common.calls_that_last(work, 0.2, lambda: spent[0])
    assert 20 <= calls <= 23
    assert common.seconds(work, calls, lambda: spent[0]) >= 0.2


def test_ratios_are_of_the_same_round():
    found = common.ratio([2, 9, 8], [1, 3, 2])
    assert found == {"median": 3.0, "min": 2.0, "max": 4.0, "runs": 3}
    assert common.spread(found, "x") == "3x (2 to 4)"
    with pytest.raises(ValueError, match="zip"):
        common.ratio([1, 2], [1])


def seen(number, text):
    print("goes to stderr")
    allowed = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    return {"back": [number, text], "pid": os.getpid(), "allowed": allowed,
            "isa": os.environ.get("FASTLSH_ISA")}  # fmt: skip


def failing():
    raise ValueError("as it should")


def grown(mebibytes):
    before = common.peak()
    np.ones(mebibytes * 2**17)
    return common.peak() - before, common.resident() if sys.platform == "linux" else None


@pytest.fixture
def importable(monkeypatch):
    """Let children find the functions of this file."""
    monkeypatch.setenv("PYTHONPATH", os.path.dirname(__file__))
    for function in (seen, failing, grown):
        monkeypatch.setattr(function, "__module__", "test_common")


@pytest.mark.usefixtures("importable")
class TestChildren:
    def test_a_function_is_called_in_another_process(self):
        processor = common.processors()[-1]
        found = common.call(
            seen, 3, "é", processor=processor, environment={"FASTLSH_ISA": "baseline"}
        )
        assert found["back"] == [3, "é"]
        assert found["pid"] != os.getpid()
        assert found["allowed"] in ([processor], None)
        assert found["isa"] == "baseline"

    def test_the_caller_is_not_pinned(self):
        before = common.processors()
        common.call(seen, 1, "", processor=before[0])
        assert common.processors() == before

    def test_a_failure_says_which_function_and_why(self):
        with pytest.raises(RuntimeError, match=r"(?s)test_common:failing.*as it should"):
            common.call(failing)

    def test_memory_that_was_used_is_in_the_peak_when_it_is_free_again(self):
        peak, now = common.call(grown, 64)
        assert 60 * 2**20 < peak < 80 * 2**20
        assert now is None or now > 2**20


def test_a_process_may_use_at_least_one_processor():
    assert len(children.processors()) == common.cores() >= 1


def test_saved_texts_are_read_again(tmp_path):
    texts = ["one", "two\nlines", "ÿ\u2028"]
    corpus.save(tmp_path / "a.jsonl", texts)
    assert corpus.read(tmp_path / "a.jsonl") == texts
    assert corpus.read(tmp_path / "a.jsonl", first=2) == texts[:2]


def test_quick_results_are_written_only_where_asked_for(tmp_path, capsys):
    parser = common.parser("what it is")
    common.write("a", parser.parse_args(["--quick"]), {"x": 1})
    common.write("a", parser.parse_args(["--quick", f"--results={tmp_path}"]), {"x": 1})
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert not (RESULTS / "a.json").exists()
    assert "nothing written" in capsys.readouterr().err
    record = json.loads((tmp_path / "a.json").read_text())
    assert record["quick"]
    assert record["results"] == {"x": 1}
    assert record["machine"].keys() >= {"cpu", "cores", "instruction_set", "load before"}
    assert record["versions"].keys() >= {"python", "fastlsh", "numpy"}
    assert record["commit"]


def test_a_count_of_rounds_is_taken_before_the_usual_one():
    parser = common.parser(None)
    assert common.rounds(parser.parse_args([])) == 7
    assert common.rounds(parser.parse_args([]), usual=5) == 5
    assert common.rounds(parser.parse_args(["--quick"])) == 2
    assert common.rounds(parser.parse_args(["--quick", "--repeats=3"])) == 3
