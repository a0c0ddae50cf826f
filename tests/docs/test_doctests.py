"""The examples in docstrings and in the README are true."""

import doctest
import importlib
from pathlib import Path

import pytest

import fastlsh

PACKAGE = Path(fastlsh.__file__).parent
README = Path(__file__).parents[2] / "README.md"


def names():
    """Return every module of Python; the kernels' own are not imported by walking."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if "_kernels" not in parts and parts[-1] != "__main__":
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("name", list(names()))
def test_docstrings(name):
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0


def test_there_are_some():
    found = sum(
        doctest.testmod(importlib.import_module(f"fastlsh.{name}")).attempted
        for name in ("search.pairs", "search.deduplication", "signatures.minhasher")
    )
    assert found >= 5


def test_readme(monkeypatch):
    if not README.is_file():
        pytest.skip("no README here")
    monkeypatch.chdir(README.parent)
    text = "\n".join(
        "" if line.startswith("```") else line
        for line in README.read_text(encoding="utf-8").splitlines()
    )
    test = doctest.DocTestParser().get_doctest(text, {}, "README", str(README), 0)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.DocTestRunner(optionflags=options).run(test).failed == 0
