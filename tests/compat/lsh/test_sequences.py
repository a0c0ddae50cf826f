"""Random sequences of calls: a strict drop-in answers, and fails, as lsh 0.3.0."""

from ast import literal_eval

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsh_sequences import RECORD, RECORDED, answers, sequence

OURS = "fastlsh.compat.lsh"


def test_the_recorded_answers_of_lsh():
    lines = RECORD.read_text("ascii").splitlines()
    assert len(lines) == RECORDED
    for line in lines:
        hasher, num_bands, calls, expected = literal_eval(line)
        assert answers(OURS, hasher, num_bands, calls, strict=True) == expected, (hasher, num_bands)


@settings(max_examples=100)
@given(st.data())
def test_the_answers_of_lsh(data):
    pytest.importorskip("lsh.cMinhash", reason="lsh 0.3.0 is built from its source, with Cython")

    class Drawn:
        def choice(self, values):
            return values[data.draw(st.integers(0, len(values) - 1))]

    drawn = sequence(Drawn())
    assert answers(OURS, *drawn, strict=True) == answers("lsh", *drawn), drawn
