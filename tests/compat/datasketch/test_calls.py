"""Thousands of calls, most of them with odd arguments, answered as datasketch answers them."""

import json
import sys

import numpy as np
import pytest

from datasketch_calls import CALLS, RECORDED, digest, outcome
from fastlsh.compat import datasketch as ours

pytestmark = pytest.mark.skipif(
    np.__version__ < "2" or sys.byteorder != "little",
    reason="recorded with numpy 2, whose conversions raise more, on little-endian machines",
)


@pytest.fixture(scope="module")
def recorded():
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def test_every_call_is_recorded(recorded):
    assert {name: set(of_name) for name, of_name in CALLS.items()} == {
        name: set(of_name) for name, of_name in recorded.items()
    }


@pytest.mark.parametrize("name", CALLS)
def test_answers_are_those_recorded(recorded, name):
    found = {label: digest(outcome(call, ours)) for label, call in CALLS[name].items()}
    assert found == recorded[name]


@pytest.mark.parametrize("name", CALLS)
def test_answers_are_datasketchs(name):
    theirs = pytest.importorskip("datasketch", "2.0")
    for label, call in CALLS[name].items():
        assert outcome(call, ours) == outcome(call, theirs), label


ALWAYS_RAISE = {
    "ensemble: index again", "MinHash(unknown)", "bulk(unknown)", "union of one", "union of none",
}  # fmt: skip
"""Calls none of whose arguments is right."""


def test_most_calls_have_answers(recorded):
    raising = {
        name
        for name, answers in recorded.items()
        if len(answers) > 1 and not any(one.startswith("=") for one in answers.values())
    }
    assert raising == ALWAYS_RAISE
