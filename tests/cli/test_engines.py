"""The options for memory and disk, priority, clusters and the log."""

import pytest

from files import table_rows
from shards import rows_of, write_shards


@pytest.fixture
def inputs(tmp_path):
    return write_shards(tmp_path, rows_of(3, 200), 2)


def test_options_that_the_engine_has_no_use_for(run, inputs):
    words = ["dedup", *inputs, "-o", "kept.jsonl", "--engine", "memory"]
    _, _, err = run(*words, "--memory", "1G", "--work", "w", "--keep-work", "--restart")
    assert err[:4] == [
        "fastlsh: --work has no effect with --engine=memory, which has no work directory",
        "fastlsh: --keep-work has no effect with --engine=memory, which has no work directory",
        "fastlsh: --restart has no effect with --engine=memory, which has no work directory",
        "fastlsh: --memory limits only the size of a row with --engine=memory",
    ]
    assert not any("no effect" in line for line in run(*words)[2])


def test_the_log_tells_stages_and_result(run, inputs):
    pytest.importorskip("pyarrow")
    run("dedup", *inputs, "-o", "k.jsonl", "--engine", "disk", "--log", "run.log", "-q")
    events = table_rows("run.log")
    assert events[0]["event"] == "started"
    assert events[-1]["event"] == "done"
    assert events[-1]["documents"] == 200
    ends = {e["stage"] for e in events if e["event"] == "progress" and e["done"] == e["total"]}
    assert {"signing", "linking", "gathering", "decisions", "writing"} <= ends
    assert all("time" in event for event in events)
    assert events[-1]["slow_rows"] == 0
    run("dedup", "nothing.jsonl", "-o", "k.jsonl", "--log", "run.log", "-q")
    last = table_rows("run.log")[-1]
    assert last["event"] == "failed"
    assert "nothing.jsonl" in last["error"]
