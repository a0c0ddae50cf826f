"""What `paired` and `instructions` call worse, and what `width` replays."""

import pytest

from bench import instructions, paired, timing
from bench.replay import Piece, Region


def test_sides_take_turns_and_ratios_are_of_the_same_round():
    assert "".join(timing.alternating("abc", 3)) == "abccbaabc"
    found = timing.ratio([2, 9, 8], [1, 3, 2])
    assert found == {"median": 3.0, "min": 2.0, "max": 4.0, "runs": 3}


def test_the_median_counts_and_other_answers_are_named():
    def result(ratios, *, same=True):
        return {"after / before": timing.ratio(ratios, [1] * 3), "same answers": same}

    found = {"a": result([1.03] * 3), "b": result([1.031] * 3), "c": result([0.5] * 3, same=False),
             "d": result([0.9, 1.0, 9.0])}  # fmt: skip
    assert paired.complaints(found, 1.03) == ["b: 1.03 (1.03 to 1.03), above 1.03",
                                              "c: other answers"]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "now", "slower"), [(100, 104.9, False), (100, 105.1, True), (None, 1, True)]
)
def test_more_instructions_than_tolerated_are_a_slow_down(before, now, slower):
    recorded = {"avx2": {"job": before}} if before else {}
    (verdict,) = instructions.verdicts(recorded, {"avx2": {"job": now}}, {"job": "character"})
    assert verdict.slower == slower


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
