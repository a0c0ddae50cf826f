"""Every benchmark runs, small, and the report takes what it writes."""

import importlib.util
import subprocess
import sys

import pytest

from bench import ROOT, processes, report
from bench.__main__ import NAMES
from bench.report import BLOCKS
from bench.tables import load

NEEDED = {"jobs": "msgspec"}
# All are tried by .ci/run and the job "benchmarks"; the default run of .ci tries these.
QUICK = {"accuracy", "hashes"}
WRITING = sorted({*NAMES} - {"instructions", "paired", "report"})


def run(name, *arguments):
    command = [sys.executable, "-m", "bench", name, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (n not in QUICK)) for n in WRITING]
)
def test_it_runs_small(name, tmp_path, request):
    library = NEEDED.get(name)
    if library and not importlib.util.find_spec(library):
        pytest.skip(f"{library} is not installed: pip install {library}")
    more = []
    if name == "dropin_redis":
        pytest.importorskip("redis")
        more = ["--redis", request.getfixturevalue("redis_address")]
    done = run(name, "--quick", "--repeats=1", f"--results={tmp_path}", *more)
    assert done.returncode == 0, done.stderr
    records = load(tmp_path, quick=True)
    (stem,) = records
    assert stem.startswith(name)
    assert records[stem]["command"].startswith(f"python -m bench {name} --quick")
    assert all(records[stem]["results"].values())
    for block in BLOCKS.values():
        list(block(records))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["jobs", "peers", "spans"])
def test_it_runs_on_the_texts_of_a_file(name, tmp_path):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    texts = ROOT / "examples" / "notices.jsonl"
    more = ["--documents=200"] if name == "peers" else []
    done = run(name, "--quick", "--repeats=1", f"--results={tmp_path}", f"--corpus={texts}", *more)
    assert done.returncode == 0, done.stderr
    assert len(load(tmp_path, quick=True)) == 1


@pytest.mark.slow
def test_a_version_agrees_with_itself(tmp_path):
    options = [f"--before={sys.executable}", "--limit=1000", f"--results={tmp_path}"]
    done = run("paired", "--quick", "--repeats=1", *options)
    assert done.returncode == 0, done.stderr
    found = load(tmp_path, quick=True)["paired"]["results"]["measurements"]
    assert all(each["same answers"] for each in found.values())


@pytest.mark.slow
def test_instructions_are_counted_of_jobs_that_run():
    from bench.instructions import JOBS, load, work

    for name, job in JOBS.items():
        processes.call(work, name, job.few)
    for recorded in load()["instructions"].values():
        assert recorded.keys() == JOBS.keys()


def test_a_name_that_is_none_is_refused():
    done = run("nonsense")
    assert done.returncode == 1
    assert "cases: characters" in done.stderr


def test_pages_are_those_of_the_results():
    report.main(["--check"])
