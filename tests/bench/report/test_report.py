"""The tables are those of the results."""

import importlib.util
import shlex
import subprocess
import sys

import pytest

from bench import ROOT
from bench.__main__ import ROOMS
from bench.report.records import load
from bench.report.report import BLOCK, BLOCKS, PAGES, filled
from bench.report.speed import losses


def test_pages_are_those_of_the_results():
    command = [sys.executable, "-m", "bench", "report", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_results_name_commands_that_exist(records):
    for name, record in records.items():
        words = shlex.split(record["command"])
        assert words[:3] == ["python", "-m", "bench"], name
        assert words[3] in ROOMS, name
        assert importlib.util.find_spec(f"bench.{ROOMS[words[3]]}.{words[3]}"), name
        assert name.startswith(words[3]), name


def test_blocks_are_filled_and_the_rest_is_left_alone(records):
    text = "before\n<!-- bench machine -->\nstale lines\n<!-- /bench -->\nafter\n"
    once = filled(text, records)
    assert once.startswith("before\n<!-- bench machine -->\n")
    assert once.endswith("<!-- /bench -->\nafter\n")
    assert "stale lines" not in once
    assert "| command |" in once
    assert filled(once, records) == once


def test_an_unknown_block_is_an_error(records):
    with pytest.raises(KeyError, match="nonsense"):
        filled("<!-- bench nonsense -->\n<!-- /bench -->", records)


def test_nothing_is_shown_of_no_results():
    for name, block in BLOCKS.items():
        if name not in ("machine", "losses"):
            assert list(block({})) == [], name


def test_every_block_has_its_place():
    placed = {m[2] for path in PAGES for m in BLOCK.finditer(path.read_text("utf-8"))}
    assert placed == set(BLOCKS)


def test_results_of_a_quick_run_are_refused(tmp_path):
    (tmp_path / "a.json").write_text('{"quick": true}')
    with pytest.raises(SystemExit, match="quick"):
        load(tmp_path)
    assert load(tmp_path, quick=True) == {"a": {"quick": True}}


def test_cases_in_which_another_library_is_faster_are_listed():
    def ratio(value):
        return {"median": value, "min": value, "max": value, "runs": 1}

    sizes = {"500": {
        "fastlsh": {"M hashes/s": ratio(100)},
        "fastlsh, fss": {"M hashes/s": ratio(300), "time / fastlsh": ratio(0.3)},
        "quick one": {"M hashes/s": ratio(200), "time / fastlsh": ratio(0.5)},
        "slow one": {"M hashes/s": ratio(10), "time / fastlsh": ratio(10)},
    }}  # fmt: skip
    lines = list(losses({"throughput": {"results": {"ready hashes": sizes}}}))
    assert len(lines) == 2
    assert "quick one takes 0.5" in lines[0]
