"""Numbers that never change: whoever stored a signature or a key must find it again.

golden.json was written by the oracle.
"""

import pytest

from golden_cases import by_oracle, case_id, cases, check_kernels, check_library


@pytest.fixture(params=cases("golden.json"), ids=case_id)
def case(request):
    return request.param


def test_the_library(case):
    check_library(case)


def test_every_instruction_set(isa, case):
    check_kernels(isa, case)


def test_the_oracle(case):
    assert by_oracle(case) == case
