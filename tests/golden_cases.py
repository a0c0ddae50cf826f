"""Numbers that never change, with a key and without: what each side makes of a case.

Hashes and keys, 64 bits wide, are in hexadecimal.
"""

import json
from pathlib import Path

import numpy as np

import oracle
from fastlsh import LSHParams, MinHasher, Shingler, band_keys
from fastlsh._kernels.text._plans import CHARACTERS, WORDS
from fastlsh._kernels.text._texts import spans_of_list
from fastlsh.signatures import draw_scheme


def cases(name):
    """Return the cases of a file of this folder."""
    return json.loads(Path(__file__).with_name(name).read_text(encoding="ascii"))


def case_id(case):
    """Name a case."""
    names = [case["unit"], case["size"], len(case["text"]), case["num_perm"], case["seed"]]
    return "-".join(map(str, [scheme_of(case), *names]))


def scheme_of(case):
    return case.get("scheme", "affine32")


def in_hex(values):
    return [f"{value:016x}" for value in values]


def check_library(case, key=None):
    """Compare what the public functions answer."""
    shingler = Shingler(case["unit"], case["size"], key=key)
    hasher = MinHasher(
        case["num_perm"], seed=case["seed"], shingler=shingler, scheme=scheme_of(case)
    )
    signatures = hasher.signatures([case["text"]])
    keys = band_keys(signatures, LSHParams(case["bands"], case["rows"]))
    assert in_hex(shingler.hashes(case["text"]).tolist()) == case["hashes"]
    assert signatures[0].tolist() == case["signature"]
    assert in_hex(keys[:, 0].tolist()) == case["keys"]


def check_kernels(isa, case, key=None):
    """Compare what the kernels of an instruction set answer."""
    functions = draw_scheme(scheme_of(case), case["num_perm"], case["seed"], key)
    out = np.empty((1, case["num_perm"]), np.uint32)
    unit = WORDS if case["unit"] == "word" else CHARACTERS
    spans = spans_of_list([case["text"]], 0, case["unit"] == "byte")
    plan = key and key.plan(unit, case["size"])
    isa.signatures(spans, unit, case["size"], *functions, out, prepared=plan)
    assert out[0].tolist() == case["signature"]
    keys = np.empty((case["bands"], 1), np.uint64)
    isa.band_keys(out, 0, case["rows"], keys)
    assert in_hex(keys[:, 0].tolist()) == case["keys"]


def by_oracle(case, functions=oracle):
    """Return the case with the numbers that the oracle computes, that of a key if given."""
    windows = oracle.windows(oracle.units_of(case["text"], case["unit"]), case["size"])
    hashes = sorted(set(map(functions.window_hash, windows)))
    signature = functions.signature(hashes, case["num_perm"], case["seed"], scheme_of(case))
    keys = oracle.band_keys([signature], case["bands"], case["rows"])
    return {
        **case,
        "hashes": in_hex(hashes),
        "signature": signature,
        "keys": in_hex(key for (key,) in keys),
    }
