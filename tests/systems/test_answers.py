"""Each number of B, short answers (docs/systems/answers.md)."""

import pytest

from fastlsh import LSHParams, textbook
from source_numbers import check, numbers

SYSTEM = "B"
COMPUTATIONS = {
    "2^32 as it is written": lambda: 2 ^ 32,
    "b for t = 0.6 and k = 100": lambda: textbook.solve_bands(0.6, 100),
    "b for t = 0.6 and k = 100, in full bands": lambda: (
        LSHParams.steepest_at(0.6, 100, rounding="down").bands
    ),
}


@pytest.mark.parametrize("number", numbers(SYSTEM), ids=lambda number: number.quantity)
def test_number_of_the_source(number):
    check(number, COMPUTATIONS)


def test_each_computation_has_a_number():
    assert list(COMPUTATIONS) == [number.quantity for number in numbers(SYSTEM)]
