"""The benchmarks themselves: what they assert, count, estimate and report. No times."""

import math
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import fastlsh

ROOT = Path(__file__).resolve().parents[2]
if not (ROOT / "bench" / "__main__.py").exists():
    pytest.skip("no benchmarks beside the tests", allow_module_level=True)


@pytest.fixture(autouse=True)
def root_first(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.fixture
def records():
    from bench import common
    from bench.report.records import load

    return load(common.RESULTS)


# ---- estimates


def jaccard(left, right):
    left, right = set(left.split()), set(right.split())
    return len(left & right) / len(left | right)


@pytest.mark.parametrize("size", [1, 20, 100])
@pytest.mark.parametrize("similarity", [0.2, 0.5, 0.8])
def test_the_sets_have_the_stated_size_and_similarity(size, similarity):
    from bench.peers import estimates

    made = list(estimates.blocks(size, similarity, 30, seed=0))
    assert sum(len(block.left) for block in made) == 30
    for block in made:
        for left, right in zip(block.left, block.right, strict=True):
            assert len(set(left.split())) == len(set(right.split())) == size
            assert jaccard(left, right) == pytest.approx(block.similarity)
    assert abs(made[0].similarity - similarity) <= 1 / size


def test_the_sets_come_in_blocks_that_fit(monkeypatch):
    from bench.peers import estimates

    whole = next(estimates.blocks(20, 0.5, 7, seed=3))
    monkeypatch.setattr(estimates, "BLOCK", 60)
    parts = list(estimates.blocks(20, 0.5, 7, seed=3))
    assert [len(part.left) for part in parts] == [3, 3, 1]
    assert parts[0].similarity == whole.similarity


def test_ideal_estimates_have_ratio_one_and_no_bias():
    from bench.peers import estimates

    rng = np.random.default_rng(0)
    cells = {j: rng.binomial(128, j, 20_000) / 128 - j for j in (0.2, 0.5, 0.8)}
    found = estimates.accuracy(cells)
    assert found["pairs"] == 60_000
    assert abs(found["RMSE / ideal"] - 1) < 5 * found["standard error"]
    assert abs(found["z farthest from 0"]) < 4.2


def test_a_bias_and_a_larger_error_are_seen():
    from bench.peers import estimates

    rng = np.random.default_rng(1)
    biased = rng.binomial(128, 0.5, 5_000) / 128 - 0.5 + 0.01
    assert estimates.accuracy({0.5: biased})["z farthest from 0"] > 10
    few = rng.binomial(64, 0.5, 5_000) / 64 - 0.5
    assert estimates.accuracy({0.5: few})["RMSE / ideal"] == pytest.approx(math.sqrt(2), rel=0.05)


def test_exact_estimates_have_no_error():
    from bench.peers import estimates

    assert estimates.bias_z(np.zeros(3)) == 0


# ---- contenders


TEXTS = ["the quick brown fox jumps over it", "a", "", "the quick brown fox jumped over it", "a b"]


def test_every_installed_contender_sketches_and_pairs():
    from bench.peers.contenders import everyone

    texts = [text * 3 for text in TEXTS if len(text) > 9]
    for name, contender in everyone().items():
        assert contender.pairs([texts[0], texts[1], texts[0]]) >= {(0, 2)}, name
        sketches = contender.characters(texts)
        if name != "pure Python":
            assert contender.estimates(sketches, sketches).tolist() == [1.0, 1.0], name
            contender.words(texts, 3)


def test_pure_python_makes_the_same_signatures():
    from bench.peers import pure

    assert [pure.signature(text) for text in TEXTS] == fastlsh.MinHasher().signatures(
        TEXTS
    ).tolist()


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_words_are_cut_into_the_same_shingles(size):
    from bench.peers.contenders import word_cutter

    cut = word_cutter(size)
    shingler = fastlsh.Shingler(unit="word", size=size)
    for text in (text for text in TEXTS if text):
        assert set(cut(text)) == {" ".join(s.split()) for s in shingler.shingles(text)}


# ---- counted instructions


def verdicts(before, now):
    from bench.kernels import instructions

    counts = {"avx2": {"job": now}}
    recorded = {"avx2": {"job": before}} if before else {}
    return list(instructions.verdicts(recorded, counts, {"job": "character"}))


def test_more_instructions_than_tolerated_are_a_slow_down():
    assert [v.slower for v in verdicts(100.0, 104.9)] == [False]
    assert [v.slower for v in verdicts(100.0, 105.1)] == [True]


def test_fewer_instructions_are_reported():
    (verdict,) = verdicts(100.0, 90.0)
    assert not verdict.slower
    assert "--update" in verdict.line


def test_a_job_without_a_record_fails():
    (verdict,) = verdicts(None, 1.0)
    assert verdict.slower
    assert "nothing recorded" in verdict.line


def test_counts_hold_for_one_major_version_of_the_compiler():
    from bench.kernels.instructions import same_compiler

    assert same_compiler("gcc 12.2.0", "gcc 12.4.1")
    assert not same_compiler("gcc 12.2.0", "gcc 13.1.0")
    assert not same_compiler("gcc 12.2.0", None)
    assert not same_compiler(None, None)


def test_recorded_counts_are_of_known_jobs():
    from bench.kernels import instructions
    from bench.kernels.workload import JOBS

    record = instructions.load()
    assert set(record["instructions"]) == set(instructions.SETS)
    for jobs in record["instructions"].values():
        assert jobs.keys() <= JOBS.keys()


@pytest.mark.parametrize("name", ["signatures, affine32", "candidate pairs, 21 x 6"])
def test_the_jobs_run(name):
    from bench.kernels.workload import JOBS

    assert JOBS[name].few < JOBS[name].many
    JOBS[name].work(JOBS[name].few)


# ---- the report


def test_pages_and_figures_are_those_of_the_results():
    command = [sys.executable, "-m", "bench.report", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_blocks_are_filled_and_the_rest_is_left_alone(records):
    from bench.report.__main__ import filled

    text = "before\n<!-- bench machine -->\nold\n<!-- /bench -->\nafter\n"
    once = filled(text, records)
    assert once.startswith("before\n<!-- bench machine -->\n")
    assert once.endswith("<!-- /bench -->\nafter\n")
    assert "old" not in once
    assert "| command |" in once
    assert filled(once, records) == once


def test_an_unknown_block_is_an_error(records):
    from bench.report.__main__ import filled

    with pytest.raises(KeyError, match="nonsense"):
        filled("<!-- bench nonsense -->\n<!-- /bench -->", records)


def test_nothing_is_shown_of_no_results():
    from bench.report.__main__ import BLOCKS

    for name, block in BLOCKS.items():
        if name not in ("machine", "losses"):
            assert list(block({})) == [], name


def test_every_block_and_every_figure_has_its_place():
    from bench.report import figures
    from bench.report.__main__ import BLOCK, BLOCKS, PAGE, README

    placed = {m[2] for path in (PAGE, README) for m in BLOCK.finditer(path.read_text("utf-8"))}
    assert placed == set(BLOCKS)
    assert {f"figure {name}" for name in figures.FIGURES} <= placed


def test_results_of_a_quick_run_are_refused(tmp_path):
    from bench.report.records import load

    (tmp_path / "a.json").write_text('{"quick": true}')
    with pytest.raises(SystemExit, match="quick"):
        load(tmp_path)
    assert load(tmp_path, quick=True) == {"a": {"quick": True}}


def test_cases_in_which_another_library_is_faster_are_listed():
    from bench.report.speed import losses

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


def test_growth_is_shown_by_size():
    from bench.report import shown, speed

    def value(median):
        return {"median": median, "min": median, "max": median, "runs": 1}

    of_size = {
        "processor seconds, one thread": value(2.0),
        "seconds, two threads": value(1.5),
        "peak bytes a document above the texts": value(800.0),
        "time of 2 times as many": value(2.1),
    }
    scale = {"results": {"doubling": {"deduplicate": {"20,000 documents": of_size}}}}
    assert shown.growth({"scale": scale}) == {"deduplicate": [[20_000, 2.0, 16.0]]}
    row = list(speed.doubling({"scale": scale}))[2]
    assert row == "| `deduplicate`, 20,000 documents | 2 | 2.1 (2.1 to 2.1) | 1.5 | 800 |"


def figure_files():
    return sorted((ROOT / "docs" / "figures").glob("*.svg"))


@pytest.mark.parametrize("path", figure_files(), ids=lambda path: path.name)
def test_figures_stand_alone_and_have_text(path):
    root = ElementTree.parse(path).getroot()
    space = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{space}svg"
    assert len(list(root.iter(f"{space}text"))) > 5
    assert not list(root.iter(f"{space}image"))
    for element in root.iter():
        for key, value in element.attrib.items():
            if key.endswith("href"):
                assert value.startswith("#"), "a resource outside of the file"


def test_figures_come_for_light_and_for_dark_pages():
    names = [path.stem for path in figure_files()]
    assert names
    assert {n.removesuffix("-light") for n in names if n.endswith("-light")} == {
        n.removesuffix("-dark") for n in names if n.endswith("-dark")
    }


def test_a_figure_of_other_data_is_outdated(tmp_path, records):
    from bench.report import figures

    name, _, data = next(figures.shown(records))
    for path in figures.paths(tmp_path, name):
        path.write_text(figures.digest(data))
    assert not set(figures.outdated(records, tmp_path)) & {f"{name}-light.svg", f"{name}-dark.svg"}
    figures.paths(tmp_path, name)[0].write_text(figures.digest({}))
    assert f"{name}-light.svg" in figures.outdated(records, tmp_path)


# ---- the whole


def test_every_benchmark_has_a_main():
    from importlib import import_module
    from importlib.util import find_spec

    from bench.__main__ import ROOMS

    for name, room in ROOMS.items():
        if "datasketch" not in name or find_spec("datasketch"):
            assert callable(import_module(f"bench.{room}.{name}").main)


def test_quick_results_are_written_only_where_asked_for(tmp_path, capsys):
    from bench import common

    nothing = Namespace(quick=True, out=None, results=None)
    common.write("a", nothing, {"x": 1})
    common.write("a", Namespace(quick=True, out=None, results=tmp_path), {"x": 1})
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]
    assert not (common.RESULTS / "a.json").exists()
    assert "nothing written" in capsys.readouterr().err


def test_real_texts_and_truth_are_further_runs(tmp_path):
    from bench.__main__ import BENCHMARKS, runs

    def options(**more):
        return Namespace(**{"only": None, "corpus": None, "truth": None, **more})

    assert [name for name, _ in runs(options())] == list(BENCHMARKS)
    real = dict(list(runs(options(only=["peers"], corpus=tmp_path / "a.jsonl")))[1:])
    assert real["peers"][:2] == ["--corpus", str(tmp_path / "a.jsonl")]
    (tmp_path / "a.truth-char5-j50.tsv.gz").touch()
    _, (name, arguments) = runs(options(only=["accuracy"], truth=tmp_path))
    assert name == "accuracy"
    assert f"--corpus={tmp_path / 'a.jsonl.zst'}" in arguments
    assert "--size=5" in arguments


def test_a_failure_is_named_and_the_others_still_run(monkeypatch, capfd):
    from bench import __main__ as whole

    def command(name, *arguments):
        return [sys.executable, "-c", f"print({name!r}); raise SystemExit({name == 'bad'})"]

    monkeypatch.setattr(whole.common, "module_command", command)
    assert whole.run_all([("bad", []), ("good", [])]) == ["bad"]
    assert "good" in capfd.readouterr().out
