"""`tune`: a rule, and a description of what it chose."""

import pytest

from fastlsh import LSHParams, tune


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({}, LSHParams.for_threshold(0.7, 96)),
        ({"recall": 0.9}, LSHParams.for_threshold(0.7, 96, recall=0.9)),
        ({"weights": (1, 3)}, LSHParams.for_threshold(0.7, 96, weights=(1, 3))),
        ({"steepest": "up"}, LSHParams.steepest_at(0.7, 96, rounding="up")),
        ({"bands": 8, "rows": 12}, LSHParams(8, 12)),
    ],
)
def test_each_rule(rule, expected):
    found = tune(0.7, 96, **rule)
    assert found.params == expected
    lines = str(found).splitlines()
    used = expected.bands * expected.rows
    assert lines[0].startswith(f"{expected.bands} bands x {expected.rows} rows ({used} of 96")
    shown = {line.split()[0]: line.split()[1] for line in lines[3:-3]}
    assert float(shown["0.7"]) == pytest.approx(expected.probability(0.7), abs=5e-4)


def test_choices_use_the_rule():
    assert tune(0.7, 96, recall=0.9).choices == LSHParams.choices(0.7, 96, recall=0.9)
    assert tune(0.7, 96, weights=(1, 3)).choices == LSHParams.choices(0.7, 96, weights=(1, 3))
    assert "steepest, up" in tune(0.7, 96).comparison()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"bands": 3}, "bands and rows must be given together"),
        ({"recall": 0.9, "steepest": "up"}, "recall= and steepest= are different rules"),
        ({"bands": 30, "rows": 9}, "need num_perm=270, got 128"),
        ({"steepest": "over"}, "over"),
        ({"threshold": 0.0}, "threshold"),
        ({"num_perm": 0}, "num_perm"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        tune(**{"threshold": 0.8, **arguments})
