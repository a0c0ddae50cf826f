"""The sample of an audit, and the precision that answers tell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh.evaluation import Removals, Share, threshold_for


def removals_of(rows, sources=("a",)):
    similarity, size, source = zip(*rows, strict=True)
    return Removals(np.array(similarity, float), np.array(size), np.array(source), sources)


REMOVALS = st.lists(
    st.tuples(
        st.sampled_from([0.5, 0.54, 0.8, 0.81, 0.95, 1.0, float("nan")]),
        st.sampled_from([2, 3, 10, 11, 500]), st.sampled_from([0, 1]),
    ),
    min_size=1, max_size=200,
)  # fmt: skip


@given(REMOVALS, st.integers(1, 250), st.integers(0, 5))
def test_strata_have_equal_shares_of_the_sample(rows, count, seed):
    removals = removals_of(rows, ("a", "b"))
    drawn = removals.sample(count, seed)
    assert len(drawn) == len(set(drawn.tolist())) == min(count, len(rows))
    assert drawn.tolist() == removals.sample(count, seed).tolist()
    strata = removals.strata()
    chosen = {each: int((strata[drawn] == each).sum()) for each in set(strata.tolist())}
    for each, number in chosen.items():
        if number < (strata == each).sum():  # it has more: none has two more from this one
            assert max(chosen.values()) <= number + 1


def test_the_answer_of_a_plain_sample_is_its_share():
    removals = removals_of([(0.87, 2, 0)] * 1000)
    rows = removals.sample(40, 1)
    duplicate = np.arange(40) < 30
    whole, step, size, threshold = removals.precisions(rows, duplicate)
    for each in (whole, step, size, threshold):
        assert (each.removed, each.judged, each.duplicates) == (1000, 40, 30)
        assert each.precision == 0.75
        assert (each.low, each.high) == pytest.approx(Share(30, 40).interval)
    assert (step.level, size.level, threshold.level) == ("0.85 to 0.90", "2", "0.85")


def test_strata_count_by_their_removals():
    removals = removals_of([(0.81, 2, 0)] * 900 + [(1.0, 5, 0)] * 100)
    rows = removals.sample(40, 1)
    duplicate = removals.similarity[rows] == 1
    found = {(each.kind, each.level): each for each in removals.precisions(rows, duplicate)}
    assert found["all", "all"].precision == pytest.approx(0.1)
    assert found["all", "all"].judged == 40
    assert found["threshold", "0.8"] == found["all", "all"]._replace(kind="threshold", level="0.8")
    assert found["threshold", "1"].precision == found["similarity", "1"].precision == 1.0
    assert found["cluster", "2"].precision == found["similarity", "0.80 to 0.85"].precision == 0.0
    assert found["cluster", "3 to 10"].duplicates == 20
    # 20 answers for 90 % of the removals are hardly more than 20 of a plain sample.
    effective = 1 / (0.9**2 / 20 + 0.1**2 / 20)
    assert 24 < effective < 25
    assert found["all", "all"].low == pytest.approx(Share(effective * 0.1, effective).interval[0])


def test_what_was_not_verified_has_no_threshold():
    removals = removals_of([(float("nan"), 2, 0), (1.0, 2, 1)], ("a", "b"))
    found = removals.precisions(np.array([0, 1]), np.array([False, True]))
    named = {(each.kind, each.level): each.duplicates for each in found}
    assert named["similarity", "not verified"] == 0
    assert [level for kind, level in named if kind == "threshold"] == ["1"]
    assert (named["source", "a"], named["source", "b"]) == (0, 1)


@given(REMOVALS, st.data())
def test_intervals_contain_the_precision(rows, data):
    removals = removals_of(rows, ("a", "b"))
    drawn = removals.sample(30, 1)
    duplicate = np.array(data.draw(st.lists(st.booleans(), min_size=len(drawn),
                                            max_size=len(drawn))))  # fmt: skip
    for each in removals.precisions(drawn, duplicate):
        assert 0 <= each.low <= each.high <= 1
        if each.judged:
            assert each.low <= each.precision <= each.high


def test_without_answers():
    removals = removals_of([(0.8, 2, 0)])
    whole, *_ = removals.precisions(np.empty(0, np.int64), np.empty(0, bool))
    assert (whole.removed, whole.judged, whole.low, whole.high) == (1, 0, 0.0, 1.0)
    assert np.isnan(whole.precision)
    assert threshold_for(removals.precisions(np.empty(0, np.int64), np.empty(0, bool)), 0.5) is None


def test_the_threshold_for_a_precision():
    removals = removals_of([(0.72, 2, 0)] * 300 + [(0.87, 2, 0)] * 300 + [(0.96, 2, 0)] * 300)
    rows = removals.sample(300, 1)
    found = removals.precisions(rows, removals.similarity[rows] > 0.9)
    assert threshold_for(found, 0.95).level == "0.95"
    assert threshold_for(found, 0.95).removed == 300
    assert threshold_for(found, 0.4).level == "0.85"
    assert threshold_for(found, 0.2).level == "0.7"
    assert threshold_for(found, 0.99) is None
    with pytest.raises(ValueError, match="precision must be above 0 and at most 1, got 95"):
        threshold_for(found, 95)


@pytest.mark.exhaustive
def test_the_interval_holds_its_promise():
    """Of many audits of removals whose precision is known, about 95 % contain it."""
    draw = np.random.default_rng(0)
    step = draw.choice([0.72, 0.87, 1.0], 6000, p=[0.5, 0.3, 0.2])
    truth = draw.random(6000) < np.select([step == 0.72, step == 0.87], [0.6, 0.9], 0.99)
    removals = Removals(step, np.full(6000, 2), np.zeros(6000, int), ["a"])
    inside = 0
    for seed in range(400):
        rows = removals.sample(120, seed)
        whole, *_ = removals.precisions(rows, truth[rows])
        inside += whole.low <= truth.mean() <= whole.high
    assert inside >= 0.93 * 400
