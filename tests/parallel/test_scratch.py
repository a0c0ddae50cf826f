"""Arrays in mapped files: as those in memory, without a name, and refused if there is no room."""

import errno
import os
from functools import partial

import numpy as np
import pytest

from fastlsh import Shingler
from fastlsh.parallel import mapped_file, mapped_in, scratch
from fastlsh.stages import SearchParams, decide_part, find_pairs_of_part
from refusals import refuses


def test_small_arrays_are_in_memory_and_large_ones_in_files(tmp_path):
    empty = mapped_in(tmp_path)
    small, large = empty((3, 4), np.uint32), empty((2, 1 << 19), np.uint32)
    assert small.flags.owndata
    assert not large.flags.owndata
    assert large.shape == (2, 1 << 19)
    large[:] = 7
    assert large.sum() == 7 << 20
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="no posix_fallocate")
def test_a_full_disk_is_told_at_once(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    refuses(OSError, "No space left", mapped_in(tmp_path), 1 << 20, np.uint64)


@pytest.mark.parametrize("verify", ["exact", "signature"])
def test_the_answer_for_a_part_is_the_same(tmp_path, monkeypatch, verify):
    monkeypatch.setattr(scratch, "SMALL", 1)
    texts = [f"{'a few words ' * (i % 7 + 3)}{i % 11} {'others ' * (i % 3)}" for i in range(200)]
    params = SearchParams.of(0.6, shingler=Shingler(size=5), verify=verify)
    for search in (decide_part, partial(find_pairs_of_part, estimates=True)):
        plain = search(texts, range(200), params)
        mapped = search(texts, range(200), params, scratch=tmp_path)
        for ours, theirs in zip(plain, mapped, strict=True):
            assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("by_file", [True, False])
def test_a_mapped_file_is_filled_piece_by_piece(tmp_path, monkeypatch, by_file):
    if not by_file:
        monkeypatch.delattr(os, "pwrite", raising=False)
    with mapped_file(tmp_path, 10_000) as (write, array):
        write(memoryview(b"ab"), 9_998)
        write(memoryview(b"x" * 5000), 3)
    assert array.tobytes() == b"\0" * 3 + b"x" * 5000 + b"\0" * 4995 + b"ab"
    assert not list(tmp_path.iterdir())
