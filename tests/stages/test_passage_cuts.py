"""Matches of passages: fewer of them make the same cuts."""

import random

import numpy as np
import pytest

from combinations import rounds
from fastlsh.files.disk.decide import Match, NarrowMatch, sorted_matches, united
from fastlsh.files.run.workdir import save_array, save_blocks
from fastlsh.stages import united_matches
from fastlsh.stages.passage_cuts import cut_rows


def matches_of(seed):
    """Return matches in order, many of which overlap, touch or lie in others."""
    draw = random.Random(seed)
    texts, size = draw.randrange(1, 5), draw.choice([12, 40, 200])
    rows = []
    for _ in range(draw.randrange(60)):
        text, begin = draw.randrange(texts), draw.randrange(1, size)
        kept = draw.randrange(text + 1)
        shift = draw.randrange(1, 4) * size // 12
        at = begin - shift if kept == text else begin + shift
        if at >= 0:
            rows.append((text, begin, begin + draw.randrange(1, size // 2), kept, at))
    rows.sort(key=lambda row: row[:2])
    return np.array(rows, np.int64).reshape(-1, 5), texts


def test_fewer_matches_make_the_same_cuts():
    for seed in range(rounds(300)):
        matches, texts = matches_of(seed)
        fewer = united_matches(matches)
        assert len(fewer) <= len(matches), seed
        cuts = cut_rows(fewer, texts), cut_rows(matches, texts)
        np.testing.assert_array_equal(*cuts, err_msg=f"seed {seed}")
        step = 1 + seed % 7
        blocks = [matches[start : start + step] for start in range(0, len(matches), step)]
        rows = np.concatenate(list(united(sorted_matches(block) for block in blocks)))
        rows = rows.view(np.int64).reshape(-1, 5)
        np.testing.assert_array_equal(rows, fewer, err_msg=f"seed {seed}")


def test_matches_of_one_stretch_are_one():
    matches = np.array([[1, 0, 9, 0, 5], [1, 4, 12, 0, 9], [1, 6, 8, 0, 0], [1, 12, 14, 0, 17]])
    assert united_matches(matches).tolist() == [[1, 0, 14, 0, 5]]


def test_numbers_that_need_64_bits_keep_them():
    matches = np.array([[2, 0, 9, 1, 5], [1, 4, 1 << 32, 0, 9]])
    assert sorted_matches(matches).dtype == Match
    assert sorted_matches(matches[:1]).dtype == NarrowMatch
    assert sorted_matches(matches).tolist() == [tuple(row) for row in matches[::-1].tolist()]


@pytest.mark.parametrize("sizes", [[], [0], [3, 0, 5], [1000]])
def test_blocks_are_the_bytes_of_one_array(tmp_path, sizes):
    blocks = [np.arange(size * 5).reshape(-1, 5).view(Match).reshape(-1) for size in sizes]
    save_blocks(tmp_path / "blocks.npy", Match, blocks)
    save_array(tmp_path / "array.npy", np.concatenate([np.empty(0, Match), *blocks]))
    assert (tmp_path / "blocks.npy").read_bytes() == (tmp_path / "array.npy").read_bytes()
