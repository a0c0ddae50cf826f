"""Memory or disk, and how the memory is divided."""

import gzip
import json
import pickle
import re
import sys

import pytest

from fastlsh import deduplicate_files, near_duplicate_files
from fastlsh.files import budget as of_process
from fastlsh.files.budget import BASE, Budget, free_memory, parse_memory
from fastlsh.files.cutting import Cutting
from fastlsh.files.estimate import choose, estimate
from fastlsh.files.requests import Engine, Request
from fastlsh.io import expand
from fastlsh.parallel import amount
from fastlsh.parameters import SearchParams
from refusals import refuses
from shards import rows_of, write_shards


@pytest.mark.parametrize(
    ("text", "size"),
    [("4G", 4 << 30), ("300m", 300 << 20), ("1.5GiB", 3 << 29), ("2 TB", 2 << 40), ("512", 512)],
)
def test_sizes(text, size):
    assert parse_memory(text) == size
    for again in (parse_memory(text), pickle.loads(pickle.dumps(parse_memory(f" {text} ")))):
        assert (amount(again), json.dumps(again)) == (text, str(size))
    assert amount(parse_memory(text) + 0) == amount(size)


@pytest.mark.parametrize("text", ["", "G", "much", "4X", "nan", "infG"])
def test_what_is_no_size(text):
    refuses(ValueError, r"is not an amount of memory: write 4G, 300M or a", parse_memory, text)


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """A process in a control group of a job, below that of its node."""
    monkeypatch.setattr(of_process, "_GROUPS", tmp_path / "groups")
    monkeypatch.setattr(of_process, "_PROCESS", tmp_path)
    monkeypatch.setattr(of_process, "_limits", lambda: iter(()))

    def write(group, **files):
        folder = tmp_path / "groups" / group
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / f"memory.{name}").write_text(text)

    def belong(line):
        (tmp_path / "cgroup").write_text(line)
        return free_memory()

    write.belong = belong
    return write


def test_the_least_control_group_counts(groups):
    groups("node", max="max\n", current="5\n")
    groups("node/job_7", max="900000\n", current="700000\n", stat="anon 1\ninactive_file 50\n")
    groups("node/job_7/step", max="max\n", current="1\n")
    assert groups.belong("0::/node/job_7/step\n") == 200_050
    assert groups.belong("0::/node\n") > 1 << 20
    groups("", max="4000", current="5000")  # of a container, whose own groups are not there
    assert groups.belong("0::/docker/1234\n") == 0


def test_the_first_version_of_control_groups(groups):
    groups("memory/job", limit_in_bytes="9000", usage_in_bytes="1000", stat="inactive_file 5")
    assert groups.belong("3:cpu:/job\n4:memory:/job/a:b\n") == 8005


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="measured on Linux only")
def test_the_limit_of_the_address_space_counts(run_python):
    done = run_python(
        "import resource\n"
        "from fastlsh.files.budget import free_memory\n"
        "before, most = free_memory(), 1 << 30\n"
        "resource.setrlimit(resource.RLIMIT_AS, (most, most))\n"
        "assert 0 < free_memory() < min(before, most)\n"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("memory", [256 << 20, 1 << 30, 64 << 30])
@pytest.mark.parametrize("threads", [1, 2, 64])
@pytest.mark.parametrize("num_perm", [32, 128, 1024])
def test_the_parts_of_a_budget_fit_into_it(memory, threads, num_perm):
    params = SearchParams.of(0.8, num_perm=num_perm)
    budget = Budget.of(memory, params, threads)
    keys = 8 * (params.lsh.bands + 1)
    room = max(memory - BASE, 0)
    least = 1 << 16  # of rows, whatever the memory
    threads = min(threads, budget.threads)
    assert budget.threads >= 1
    assert budget.segment * keys <= max(room // 3, keys << 10)
    assert 40 * budget.rows * threads <= max(room // 3, 40 * least * threads)
    assert 24 * budget.block * threads <= room
    assert budget.block >= 1 << 19


def test_the_estimate_grows_with_the_files(tmp_path):
    params = SearchParams.of(0.8)
    needs = []
    for n in (100, 1000):
        folder = tmp_path / str(n)
        folder.mkdir()
        found = estimate(expand(write_shards(folder, rows_of(1, n), 3)), params)
        assert 0.7 * n < found.documents < 1.4 * n
        needs.append(found.memory - BASE)
    assert 7 < needs[1] / needs[0] < 14


def request(inputs, memory):
    return Request.of(inputs, (), SearchParams.of(0.8), {"memory": memory})


def test_the_engine_is_chosen_by_the_memory(tmp_path):
    inputs = write_shards(tmp_path, rows_of(1, 300), 2)
    told = []
    result = deduplicate_files(
        inputs, tmp_path / "a.jsonl", memory="256M", on_message=told.append, threads=1
    )
    assert (result.engine, told) == ("memory", [])
    assert re.fullmatch(r"memory \(needs [\d.]+ MB, memory= is 256M\)", result.reason)
    choice = choose(request(inputs, BASE), expand(inputs))
    assert (choice.engine, choice.by_estimate) == (Engine.DISK, False)
    assert re.fullmatch(r"disk \(needs [\d.]+ MB, 168 MB are allowed\)", choice.reason)


def test_a_window_takes_more_than_a_sentence(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("A sentence. " * 9000)
    of = [Cutting("sentence", 0, window=size) for size in (1, 2)]
    one, two = (estimate(expand([path]), SearchParams.of(), cutting) for cutting in of)
    assert (one.signed, two.signed) == (9000, 8999)
    assert two.memory - one.memory > 31 * 8999


def test_what_a_file_expands_to_is_measured(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    row = json.dumps({"text": "the same template again and again " * 30}) + "\n"
    with gzip.open(path, "wt") as file:
        file.write(row * 20_000)
    params = SearchParams.of(0.8)
    found = estimate(expand([path]), params)
    assert 0.5 < found.text / (len(row) * 20_000) < 1.5
    assert choose(request([path], BASE + (16 << 20)), expand([path])).engine is Engine.DISK


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"engine": "disk", "memory": "100M"}, "at least 256M, got 100M: "),
        ({"engine": "disk", "memory": "256"}, "at least 256M, got 256 bytes: "),
        ({"engine": "disk", "memory": 256}, "at least 256M, got 256 bytes: "),
        ({"engine": "ssd"}, "engine must be one of auto, memory, disk, got 'ssd'"),
        ({"keep": "last", "priority": "score"}, "give keep= or priority=, not both"),
        ({"keep": "best"}, "keep must be one of first, last, longest"),
    ],
)
def test_what_is_refused(tmp_path, how, said):
    inputs = write_shards(tmp_path, rows_of(1, 20), 1)
    refuses(ValueError, said, deduplicate_files, inputs, tmp_path / "k.jsonl", **how)
    with pytest.raises(ValueError, match=r"needs a work directory \(work=\)"):
        near_duplicate_files(inputs, None, engine="disk")
