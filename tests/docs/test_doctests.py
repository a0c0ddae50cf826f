"""The examples in docstrings are true. Those of pages: tests/docs/test_docs.py."""

import doctest
import importlib
import warnings
from pathlib import Path

import pytest

import fastlsh

PACKAGE = Path(fastlsh.__file__).parent

# Their classes are classes of a library, which importing them needs.
OF_LIBRARIES = ("fastlsh.integrations.datatrove", "fastlsh.integrations.polars")


def names():
    """Return the modules with examples; the kernels' own are not imported by walking."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        some = ">>> " in path.read_text(encoding="utf-8")  # to look for none takes long, too
        if some and "_kernels" not in parts and parts[-1] != "__main__":
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("name", list(names()))
def test_docstrings(name):
    if name in OF_LIBRARIES:
        pytest.importorskip(name.rpartition(".")[2])
    with warnings.catch_warnings():
        if name in OF_LIBRARIES:
            warnings.simplefilter("ignore")  # theirs
        module = importlib.import_module(name)
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


def test_there_are_some():
    found = sum(
        doctest.testmod(importlib.import_module(f"fastlsh.{name}")).attempted
        for name in ("search.pairs", "search.deduplication", "signatures.minhasher")
    )
    assert found >= 5
