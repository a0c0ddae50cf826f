"""tests/systems/numbers.tsv: no number is left without a test that computes it."""

import re

import pytest

from source_numbers import SYSTEMS, Number, check, table


def test_each_system_of_the_table_has_a_test():
    tested = [
        re.search(r'^SYSTEM = "(.)"$', path.read_text(encoding="utf-8"), re.MULTILINE)[1]
        for path in SYSTEMS.glob("test_*.py")
    ]
    assert sorted(tested) == sorted({number.system for number in table()})


def test_a_number_without_a_computation_fails():
    with pytest.raises(AssertionError, match="nothing computes"):
        check(Number("A", "section", "quantity", "1"), {})


def test_a_mistake_that_is_none_fails():
    with pytest.raises(AssertionError, match="the source is right"):
        check(Number("A", "section", "quantity", "1", "1"), {"quantity": lambda: 1})
