"""Numbers that never change for one key, that of the bytes 0 to 31: docs/signature-spec.md.

golden_keyed.json was written by the oracle. Hashes and keys, 64 bits wide, are in hexadecimal.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import oracle
from fastlsh import Key, LSHParams, MinHasher, Shingler, band_keys
from fastlsh._kernels import CHARACTERS, WORDS, spans_of_list
from fastlsh.signatures import draw_scheme
from oracle_keyed import Keyed

TESTS = Path(__file__).parents[1]
CASES = json.loads((TESTS / "golden_keyed.json").read_text(encoding="ascii"))
KEY = Key(bytes(range(32)))
KEYED = Keyed(bytes(range(32)))


@pytest.fixture(params=CASES, ids=lambda case: f"{case['unit']}-{case['size']}-{len(case['text'])}")
def case(request):
    return request.param


def in_hex(values):
    return [f"{value:016x}" for value in values]


def scheme_of(case):
    return case.get("scheme", "affine32")


def test_the_library(case):
    shingler = Shingler(case["unit"], case["size"], key=KEY)
    hasher = MinHasher(
        case["num_perm"], seed=case["seed"], shingler=shingler, scheme=scheme_of(case)
    )
    signatures = hasher.signatures([case["text"]])
    keys = band_keys(signatures, LSHParams(case["bands"], case["rows"]))
    assert in_hex(shingler.hashes(case["text"]).tolist()) == case["hashes"]
    assert signatures[0].tolist() == case["signature"]
    assert in_hex(keys[:, 0].tolist()) == case["keys"]


def test_every_instruction_set(isa, case):
    functions = draw_scheme(scheme_of(case), case["num_perm"], case["seed"], KEY)
    out = np.empty((1, case["num_perm"]), np.uint32)
    unit = WORDS if case["unit"] == "word" else CHARACTERS
    spans = spans_of_list([case["text"]], 0, case["unit"] == "byte")
    plan = KEY.plan(unit, case["size"])
    isa.signatures(spans, unit, case["size"], *functions, out, keyed=plan)
    assert out[0].tolist() == case["signature"]


def test_the_oracle(case):
    windows = oracle.windows(oracle.units_of(case["text"], case["unit"]), case["size"])
    hashes = sorted(set(map(KEYED.window_hash, windows)))
    signature = KEYED.signature(hashes, case["num_perm"], case["seed"], scheme_of(case))
    keys = oracle.band_keys([signature], case["bands"], case["rows"])
    assert in_hex(hashes) == case["hashes"]
    assert signature == case["signature"]
    assert in_hex(key for (key,) in keys) == case["keys"]


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
