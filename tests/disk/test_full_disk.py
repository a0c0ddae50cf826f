"""A disk that is full in the middle of a run: an error and no signal, and the run goes on later."""

import os
import subprocess

import numpy as np
import pytest

import warm
from fastlsh.disk.workdir import new_array
from shards import rows_of, write_shards

pytest.importorskip("pyarrow")


@pytest.fixture
def small_disk(tmp_path):
    """A function that makes the folder ``small`` a disk of so many KB, or changes its size."""
    folder = tmp_path / "small"
    folder.mkdir()

    def mount(size, *more):
        options = ",".join([*more, f"size={size}k"])
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            pytest.skip("no small disk: run as root on Linux, where mount is allowed")
        return folder

    yield mount
    subprocess.run(["umount", str(folder)], capture_output=True)


def test_an_array_for_which_there_is_no_room(small_disk):
    folder = small_disk(64)
    with pytest.raises(OSError, match="No space left on device"):
        new_array(folder / "a.npy", np.uint64, (1 << 20,))


@pytest.mark.parametrize("size", [12, 60, 120])
def test_a_run_goes_on_when_there_is_room(tmp_path, small_disk, size):
    inputs = write_shards(tmp_path, rows_of(1, 300), 2)
    folder = small_disk(size)
    command = ["-m", "fastlsh", "dedup", *inputs, "-o", folder / "k.jsonl",
               "--removed", folder / "r.tsv", "--engine", "disk", "-q"]  # fmt: skip
    full = warm.run(*command, text=True)
    assert (full.returncode in (1, 2), full.stderr.count("\n")) == (True, 1), full.stderr
    assert ".tmp" not in full.stderr
    assert set(os.listdir(folder)) <= {"k.jsonl.work"}
    small_disk(10_000, "remount")
    assert warm.run(*command, text=True).stderr == ""
    assert sorted(os.listdir(folder)) == ["k.jsonl", "r.tsv"]
    memory = tmp_path / "m.jsonl"
    assert warm.run(*command[:3], *inputs, "-o", memory, "-q").returncode == 0
    assert memory.read_bytes() == (folder / "k.jsonl").read_bytes()
