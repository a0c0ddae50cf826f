"""The replay of recorded work on more threads."""

import pytest

from bench.pipelines.replay import Piece, Region


def parts(*times):
    return Region("a", [[Piece(time)] for time in times])


def blocks(*times):
    return Region("a", [[Piece(time) for time in item] for item in times])


def test_a_call_on_parts_takes_as_long_as_its_longest_chain_of_parts():
    region = parts(1, 1, 1, 3)
    assert [region.time(threads) for threads in (1, 2, 3, 4, 9)] == [6, 4, 4, 3, 3]


def test_what_the_calling_thread_does_alone_is_a_limit():
    many = [(1, 0, 0)] * 10
    assert blocks(*many).time(1) == blocks(*many).time(64) == 10


def test_work_of_blocks_is_shared_and_used_in_order():
    one = blocks(*[(0, 1, 0)] * 8)
    assert one.time(1) == 8
    assert one.time(2) == pytest.approx(4)
    assert one.time(8) == pytest.approx(1)
    assert blocks((0, 5, 1), (0, 1, 1), (0, 1, 1)).time(4) == 8  # the last wait for the first


def test_regions_inside_a_piece_and_work_beside_it_count():
    inner = Piece(1, [parts(2, 2)], [3])
    assert inner.time(1) == 8
    assert inner.time(2) == 3
    assert Region("a", [[inner]]).time(2) == 3
