"""One launcher: what it runs, with which arguments, and what it says of failures."""

from argparse import Namespace

import pytest

from bench import ROOT
from bench import __main__ as whole
from bench.__main__ import BENCHMARKS, ROOMS, runs
from bench.pipelines import index


def test_real_texts_and_truth_are_further_runs(tmp_path):
    def options(**more):
        return Namespace(**{"names": [], "corpus": None, "truth": None, **more})

    assert [name for name, _ in runs(options())] == list(BENCHMARKS)
    real = dict(list(runs(options(names=["peers"], corpus=tmp_path / "a.jsonl")))[1:])
    assert real["peers"][:2] == ["--corpus", str(tmp_path / "a.jsonl")]
    (tmp_path / "a.truth-char5-j50.tsv.gz").touch()
    _, (name, arguments) = runs(options(names=["accuracy"], truth=tmp_path))
    assert name == "accuracy"
    assert f"--corpus={tmp_path / 'a.jsonl.zst'}" in arguments
    assert "--size=5" in arguments


def test_a_failure_is_named_and_the_others_still_run(capfd):
    assert whole.run_all([("nonsense", []), ("report", ["--check"])]) == ["nonsense"]
    assert "[2/2] report --check" in capfd.readouterr().out


@pytest.mark.parametrize("arguments", [["nonsense"], ["--quick", "nonsense"], ["peers", "report"]])
def test_unknown_names_are_refused(arguments, capsys):
    with pytest.raises(SystemExit):
        whole.main(arguments)
    assert f"{arguments[-1]} is none of" in capsys.readouterr().err


def test_one_name_runs_that_benchmark_with_its_options(monkeypatch):
    seen = []
    monkeypatch.setattr(index, "main", seen.append)
    whole.main(["index", "--quick", "--repeats", "3"])
    assert seen == [["--quick", "--repeats", "3"]]


def test_several_names_run_one_after_the_other_and_then_the_report(monkeypatch):
    seen = []
    monkeypatch.setattr(whole, "run_all", seen.extend)
    for arguments in (["index", "kernels", "--quick"], ["--quick", "index", "kernels"]):
        whole.main(arguments)
        assert [name for name, _ in seen] == ["index", "kernels", "report"]
        assert all("--quick" in arguments for _, arguments in seen[:2])
        seen.clear()
    whole.main([])
    assert [name for name, _ in seen] == [*BENCHMARKS, "report"]
    assert not any(arguments for _, arguments in seen)


def test_every_module_of_a_room_with_a_main_can_be_run():
    found = {
        path.stem: path.parent.name
        for path in (ROOT / "bench").glob("*/*.py")
        if path.parent.name != "common" and "\ndef main(" in path.read_text("utf-8")
    }
    assert found == ROOMS


def test_no_file_is_long():
    for path in [*(ROOT / "bench").rglob("*.py"), *(ROOT / "tests" / "bench").rglob("*.py")]:
        assert len(path.read_text("utf-8").splitlines()) <= 400, path
