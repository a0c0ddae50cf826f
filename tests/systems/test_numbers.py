"""Each number of the sources of docs/systems, computed by the module of its page."""

import pytest

from source_numbers import UnavailableError, check, computations, table

COMPUTATIONS = computations()


@pytest.mark.parametrize("number", table(), ids=lambda n: f"{n.system}, {n.section}, {n.quantity}")
def test_number_of_the_source(number):
    try:
        check(number, COMPUTATIONS[number.system])
    except UnavailableError as reason:
        pytest.skip(f"{reason}")


def test_each_computation_has_a_number():
    tabled = {
        system: [number.quantity for number in table() if number.system == system]
        for system in COMPUTATIONS
    }
    assert {system: list(of_it) for system, of_it in COMPUTATIONS.items()} == tabled
