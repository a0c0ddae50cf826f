"""A shared directory whose clients see the files of others late, and lose removed ones: stages."""

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from contaminated_files import collection
from fastlsh import decontaminate_files, deduplicate_files
from fastlsh.files.run.stages import OF_DECONTAMINATION, STAGES, WHOLE
from files import put_table
from shards import contents, rows_of, write_shards

pytest.importorskip("pyarrow")  # which compresses the texts of a run on disk
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or shutil.which("gcc") is None, reason="needs Linux and gcc"
    ),
]

SECONDS = 3
"""How late a name is seen, if nothing makes the client ask its server."""
PARTS = 3
PROGRAM = "import sys, crash; crash.small()"
TESTS = Path(__file__).parents[1]
WAITS = ("has not finished", "no run has begun here", "is missing", "No such file", "Stale file")
"""What a process says that sees too little: the scheduler starts it again."""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("late") / "late_files.so"
    code = Path(__file__).with_name("late_files.c")
    command = ["gcc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", path, code]
    subprocess.run([*command, "-ldl", "-lpthread"], check=True)
    return path


class Client:
    """Runs commands as one of many machines that share a folder."""

    def __init__(self, library, root, revalidates):
        self.refused = 0
        self._environment = {
            **os.environ, "LD_PRELOAD": str(library), "LATE_ROOT": str(root),
            "LATE_SECONDS": str(SECONDS), "LATE_REVALIDATES": str(int(revalidates)),
            "PYTHONPATH": os.pathsep.join(map(str, (TESTS, TESTS / "files"))),
        }  # fmt: skip

    def start(self, words):
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *map(str, words)], env=self._environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def all_of(self, commands):
        """Run commands at once, each again until it succeeds, as a scheduler does."""
        until = time.time() + 60 + 20 * SECONDS
        waiting = [(words, self.start(words)) for words in commands]
        while waiting:
            words, process = waiting.pop(0)
            _, err = process.communicate()
            if process.returncode == 0:
                continue
            if not any(each in err for each in WAITS) or "Traceback" in err or time.time() > until:
                for _, other in waiting:
                    other.communicate()
                raise AssertionError(err)
            self.refused += 1
            time.sleep(SECONDS / 4)
            waiting.append((words, self.start(words)))


def prepared(folder, command):
    """Write a collection; return the words of a command without its outputs, and its stages."""
    outputs = {"output": f"{folder}/one/"}
    if command == "decontaminate":
        rows, items = collection(5, 220)
        inputs = put_table(folder / "train" / "in.jsonl", rows[:1]).parent
        for shard in range(4):
            put_table(inputs / f"in{shard}.jsonl", rows[shard::4])
        evals = put_table(folder / "evals.jsonl", items)
        decontaminate_files(inputs, evals, hits=folder / "one" / "table.tsv", **outputs)
        return [command, inputs, "--evals", evals], "--hits", OF_DECONTAMINATION
    inputs = write_shards(folder, rows_of(3, 220), 6)
    deduplicate_files(inputs, removed=folder / "one" / "table.tsv", threshold=0.7, **outputs)
    return [command, *inputs, "--threshold", "0.7"], "--removed", STAGES


@pytest.mark.parametrize("revalidates", [True, False])
@pytest.mark.parametrize("command", ["dedup", "decontaminate"])
def test_many_processes_on_a_folder_that_is_late(tmp_path, library, command, revalidates):
    (tmp_path / "one").mkdir()
    (tmp_path / "shared" / "two").mkdir(parents=True)
    given, table, stages = prepared(tmp_path, command)
    time.sleep(SECONDS)
    client = Client(library, tmp_path / "shared", revalidates)
    words = [
        *given, "-o", f"{tmp_path}/shared/two/", table, tmp_path / "shared" / "two" / "table.tsv",
        "--work", tmp_path / "shared" / "work", "--memory", "300M", "--threads", "1",
    ]  # fmt: skip
    draw = random.Random(1)
    for stage in stages:
        parts = [None] if stage in WHOLE else [f"{part}/{PARTS}" for part in range(1, PARTS + 1)]
        parts.append(draw.choice(parts))  # started twice
        draw.shuffle(parts)
        client.all_of(
            [*words, "--stage", stage, *(() if part is None else ("--part", part))]
            for part in parts
        )
    assert contents(tmp_path / "shared" / "two") == contents(tmp_path / "one")
    assert os.listdir(tmp_path / "shared" / "work") == ["finished.json"]
    if not revalidates:
        assert client.refused > 0
