"""Every benchmark runs, small, and the report takes what it writes."""

import importlib.util
import subprocess
import sys

import pytest

from bench import ROOT
from bench.__main__ import BENCHMARKS
from bench.report.records import load
from bench.report.report import BLOCKS

NEEDED = {"jobs": "msgspec"}
# All are tried by .ci/run and the job "benchmarks"; the default run tries these.
QUICK = {"accuracy", "throughput"}
MORE = {"decontamination", "disk", "jobs", "spans", "width"}
ALL = sorted({*BENCHMARKS, *MORE})


def run(name, *arguments):
    command = [sys.executable, "-m", "bench", name, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in QUICK)) for name in ALL]
)
def test_it_runs_small(name, tmp_path):
    library = NEEDED.get(name)
    if library and not importlib.util.find_spec(library):
        pytest.skip(f"{library} is not installed: pip install {library}")
    done = run(name, "--quick", "--repeats=1", f"--results={tmp_path}")
    assert done.returncode == 0, done.stderr
    records = load(tmp_path, quick=True)
    (stem,) = records
    assert stem.startswith(name)
    assert records[stem]["command"].startswith(f"python -m bench {name} --quick")
    assert records[stem]["results"]
    for block in BLOCKS.values():
        list(block(records))


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) for name in ("jobs", "peers")]
)
def test_it_runs_on_the_texts_of_a_file(name, tmp_path):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    texts = ROOT / "examples" / "notices.jsonl"
    more = ["--documents=200"] if name == "peers" else []
    done = run(name, "--quick", "--repeats=1", f"--results={tmp_path}", f"--corpus={texts}", *more)
    assert done.returncode == 0, done.stderr
    assert list(load(tmp_path, quick=True)) == [f"{name}-file"]
