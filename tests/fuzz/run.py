"""Runs one target under Atheris: what .ci/fuzz calls, once for each.

    python tests/fuzz/run.py TARGET [OPTION of libFuzzer | FOLDER | FILE]...

A target is a module of `targets`: `one_input(data)` takes any bytes, raises nothing but what it
catches itself, and returns nothing. test_targets.py runs all of them on their corpus without
Atheris.
"""

import importlib
import sys
from pathlib import Path

import atheris

HERE = Path(__file__).resolve().parent


def main():
    sys.path[:0] = [str(HERE), str(HERE.parent)]
    with atheris.instrument_imports(include=["fastlsh"]):
        target = importlib.import_module(f"targets.{sys.argv[1]}")
    atheris.Setup([sys.argv[0], *sys.argv[2:]], target.one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
