"""Families that are much larger than a part: mapped files, the same bytes, and memory in bounds.

`python -m bench hostile` measures the same collections at a million documents and more.
"""

import os
import sys
from pathlib import Path

import pytest

from bench.pipelines import hostile
from bench.pipelines.disk import LIMITS, dedup, write_shards
from fastlsh import deduplicate_files
from fastlsh.files.budget import parse_memory
from fastlsh.parallel import scratch
from shards import small_budget

pytest.importorskip("pyarrow")

LENGTH = 300


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(hostile, "LONG", LENGTH)
    monkeypatch.setattr(hostile, "PIECE", 300)


@pytest.mark.parametrize("kind", hostile.KINDS)
@pytest.mark.filterwarnings("ignore:.*without being compared")
def test_a_family_that_is_larger_than_a_part(tmp_path, monkeypatch, short, kind):
    small_budget(monkeypatch, block=20_000, run=300, rows=500, part=50, pending=20_000)
    monkeypatch.setattr(scratch, "SMALL", 1)  # every array that may be a file is one
    count = 60 if kind == "files" else 1_200
    inputs = hostile.write(tmp_path, kind, count)[:1]
    told = []
    found = {}
    for engine in ("memory", "disk"):
        place = tmp_path / engine
        place.mkdir()
        found[engine] = deduplicate_files(
            inputs, place / "k.jsonl", removed=place / "r.tsv", clusters=place / "c.tsv",
            engine=engine, on_message=told.append, recursive=True,
        )  # fmt: skip
    for name in ("k.jsonl", "r.tsv", "c.tsv"):
        assert (tmp_path / "memory" / name).read_bytes() == (tmp_path / "disk" / name).read_bytes()
    assert found["memory"].limited == found["disk"].limited
    low, high = (share * count for share in hostile.KINDS[kind][2])
    assert low - 1 <= found["disk"].n_kept <= high + 2
    large = [message for message in told if "a family that does not fit" in message]
    assert len(large) == (kind != "files")
    assert all("which takes longer. Longer shingles" in message for message in large)


def test_a_family_that_needs_more_than_the_memory_says_so(tmp_path, monkeypatch, short):
    small_budget(monkeypatch, part=50)
    inputs = hostile.write(tmp_path, "identical", 300)
    told = []
    deduplicate_files(
        inputs, tmp_path / "k.jsonl", engine="disk", memory="2M", on_message=told.append
    )
    assert "takes longer and about 231 MB of memory, more than the 2M given. L" in told[-1]


def test_a_chain_is_one_family_of_unlike_documents():
    from fastlsh import exact_jaccard

    texts = list(hostile.chain(2 * hostile.PIECE + 3))[hostile.PIECE - 3 : hostile.PIECE + 3]
    near = exact_jaccard(texts[:-1], texts[1:])
    assert near.min() > 0.88
    assert exact_jaccard(texts[:-2], texts[2:]).max() < 0.79
    assert {len(text) for text in texts} == {hostile.LONG}


@pytest.mark.skipif(sys.platform != "linux", reason="looks at the memory as Linux tells it")
def test_a_measured_run_does_not_compile_what_another_one_has_compiled(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.setenv("PYTHONPYCACHEPREFIX", str(tmp_path / "bytecode"))
    dedup(write_shards(tmp_path, 10, 10), tmp_path / "k.jsonl", "--engine", "memory")
    assert list((tmp_path / "bytecode").rglob("fastlsh/cli/command.*.pyc"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at the memory as Linux tells it")
@pytest.mark.parametrize("memory", LIMITS)
def test_memory_stays_in_its_limit(tmp_path, memory):
    shards = write_shards(tmp_path, 200_000, 50_000)
    taken = dedup(shards, tmp_path / "k.jsonl", "--engine", "disk", "--memory", memory)
    assert 0 < taken["anonymous MB"] * 1e6 < parse_memory(memory)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["identical", "chain", "half", "template"])
def test_twice_as_many_take_twice_as_long(tmp_path, kind):
    """Processor time; what every run takes, loading what it needs, makes it less."""
    count = 40_000
    few, many = (hostile.measured(tmp_path, kind, each, "300M") for each in (count // 2, count))
    assert many["processor s"] < 2.6 * few["processor s"]
    assert many["anonymous MB"] * 1e6 < parse_memory("300M")


CGROUPS = Path("/sys/fs/cgroup/memory")


@pytest.mark.slow
@pytest.mark.skipif(
    not os.access(CGROUPS / "cgroup.procs", os.W_OK),
    reason="no memory cgroups (version 1): run as root where they are mounted",
)
def test_a_family_larger_than_its_container(tmp_path):
    """A chain of 150 MB, whose texts, signatures and tables take more than 300 MB, files included.

    The container kills what takes more than 420 MB, the Python that starts the run included.
    """
    group = CGROUPS / f"fastlsh-{os.getpid()}"
    group.mkdir()
    try:
        (group / "memory.limit_in_bytes").write_text("420M")
        inputs = hostile.write(tmp_path, "chain", 150_000)
        (group / "cgroup.procs").write_text(str(os.getpid()))
        taken = dedup(inputs, tmp_path / "k.jsonl", "--engine", "disk", "--memory", "300M")
    finally:
        (CGROUPS / "cgroup.procs").write_text(str(os.getpid()))
        group.rmdir()
    assert taken["anonymous MB"] * 1e6 < parse_memory("300M")
