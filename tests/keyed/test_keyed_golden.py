"""Numbers that never change for one key, that of the bytes 0 to 31: docs/signature-spec.md.

golden_keyed.json was written by the oracle.
"""

from pathlib import Path

import pytest

from fastlsh import Key, MinHasher, Shingler
from golden_cases import by_oracle, case_id, cases, check_kernels, check_library
from oracle_keyed import Keyed

TESTS = Path(__file__).parents[1]
KEY = Key(bytes(range(32)))
KEYED = Keyed(bytes(range(32)))


@pytest.fixture(params=cases("golden_keyed.json"), ids=case_id)
def case(request):
    return request.param


def test_the_library(case):
    check_library(case, KEY)


def test_every_instruction_set(isa, case):
    check_kernels(isa, case, KEY)


def test_the_oracle(case):
    assert by_oracle(case, KEYED) == case


def test_the_specification_shows_these_numbers():
    page = TESTS.parent / "docs" / "signature-spec.md"
    if not page.is_file():
        pytest.skip("the documentation is not here")
    section = page.read_text(encoding="utf-8").partition("## 11.")[2]
    hasher = MinHasher(4, key=KEY)
    a, b = KEY.functions(4, 1)
    for row in (a, b, hasher.signatures(["near-duplicate"])[0]):
        assert ", ".join(map(str, row.tolist())) in section
    two = Shingler("word", 2, key=KEY).hashes("two words")
    for number in (KEYED.modulus % 2**64, KEYED.add, KEYED.summand(97), two[0]):
        assert f"`{number:016x}`" in section
    assert f"`{KEY.fingerprint}`" in section
    assert f"`{hasher.shingler.hashes('near')[0]:016x}`" in section
