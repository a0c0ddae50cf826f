"""The tables are those of the results."""

import pytest

from bench import report, tables
from bench.report import BLOCK, BLOCKS, PAGES, filled


def test_pages_are_those_of_the_results():
    report.main(["--check"])


def test_blocks_are_filled_and_the_rest_is_left_alone(records):
    text = "before\n<!-- bench machine -->\nstale lines\n<!-- /bench -->\nafter\n"
    once = filled(text, records)
    assert once.startswith("before\n<!-- bench machine -->\n")
    assert once.endswith("<!-- /bench -->\nafter\n")
    assert "stale lines" not in once
    assert filled(once, records) == once
    with pytest.raises(KeyError, match="nonsense"):
        filled("<!-- bench nonsense -->\n<!-- /bench -->", records)


def test_every_block_has_its_place():
    placed = {m[2] for path in PAGES for m in BLOCK.finditer(path.read_text("utf-8"))}
    assert placed == set(BLOCKS)


def test_results_of_a_quick_run_are_refused(tmp_path):
    (tmp_path / "a.json").write_text('{"quick": true}')
    with pytest.raises(SystemExit, match="quick"):
        tables.load(tmp_path)
    assert tables.load(tmp_path, quick=True) == {"a": {"quick": True}}


def test_cases_in_which_another_library_is_faster_are_listed():
    def ratio(value):
        return {"median": value, "min": value, "max": value, "runs": 1}

    rows = {"500": {
        "fastlsh": {"M hashes/s": ratio(100)},
        "fastlsh, fss": {"M hashes/s": ratio(300), "time / fastlsh": ratio(0.3)},
        "quick one": {"M hashes/s": ratio(200), "time / fastlsh": ratio(0.5)},
        "slow one": {"M hashes/s": ratio(10), "time / fastlsh": ratio(10)},
    }}  # fmt: skip
    _, _, *lines = filter(None, tables.losses({"hashes": {"results": rows}}))
    assert len(lines) == 1
    assert "quick one | fastlsh | 0.5" in lines[0]
