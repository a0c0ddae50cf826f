"""The examples in docstrings are true. Those of pages: tests/docs/test_docs.py."""

import importlib
import inspect
import re
import warnings
from pathlib import Path

import pytest

import fastlsh
from pages import ROOT, run_examples

PACKAGE = Path(fastlsh.__file__).parent

NEEDED = {
    "fastlsh.integrations.arrow": ["pyarrow"],
    "fastlsh.integrations.datasets": ["datasets"],
    "fastlsh.integrations.datatrove": ["datatrove", "spacy"],
    "fastlsh.integrations.duckdb": ["duckdb", "pyarrow"],
    "fastlsh.integrations.polars": ["polars"],
    "fastlsh.plots": ["matplotlib"],
    "fastlsh.results.table": ["pandas", "polars", "pyarrow"],
}
"""The libraries that the examples of a module need."""

ELSEWHERE = "fastlsh.integrations.spark."
"""Its examples need a session: tests/integrations/spark/test_functions.py."""

WITHOUT = ("fastlsh.compat", "fastlsh.presets.", "fastlsh.textbook")
"""Names whose functions need no example of their own."""


def imported(name):
    """Import a module; skip the test if a library is missing that its examples need."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the libraries
        for library in NEEDED.get(name, []):
            pytest.importorskip(library)
        return importlib.import_module(name)


def names():
    """Return the modules with examples; the kernels' own are not imported by walking."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        some = ">>> " in path.read_text(encoding="utf-8")  # to look for none takes long, too
        if some and "_kernels" not in parts and parts[-1] != "__main__":
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", [name for name in names() if not name.startswith(ELSEWHERE)])
def test_docstrings(name, tmp_path):
    assert run_examples(imported(name), tmp_path) > 0


def test_a_wrong_example_is_noticed(tmp_path, monkeypatch):
    text = '"""What is it?\n\n>>> print(2 * 2)\n5\n"""\n'
    (tmp_path / "wrong_example.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(AssertionError, match="1 examples of wrong_example are wrong"):
        run_examples(importlib.import_module("wrong_example"), tmp_path)


def public():
    """Return the functions and methods of the reference."""
    text = (ROOT / "docs" / "reference.txt").read_text(encoding="utf-8")
    for dotted, options in re.findall(r"^::: (fastlsh\..+)\n((?:    .*\n)*)", text, re.M):
        if dotted.startswith(WITHOUT) or dotted == "fastlsh.presets":
            continue
        module, _, name = dotted.rpartition(".")
        each = getattr(imported(module), name)
        if not inspect.isclass(each):
            yield dotted, each
            continue
        listed = re.findall(r"\w+", "".join(re.findall(r"members: \[?(.+)", options)))
        for member in vars(each) if not listed or "inherited" in options else listed:
            function = inspect.getattr_static(each, member, None)
            function = getattr(function, "__func__", function)  # of a class method
            if inspect.isfunction(function) and not member.startswith("_"):
                yield f"{dotted}.{member}", function


@pytest.mark.skipif(not (ROOT / "docs" / "reference.txt").is_file(), reason="no docs here")
def test_every_public_function_and_method_has_an_example():
    every = dict(public())
    assert len(every) > 80
    assert {"fastlsh.Index.query", "fastlsh.Index.open", "fastlsh.Shingler.hashes"} <= every.keys()
    assert [name for name, each in every.items() if ">>> " not in (each.__doc__ or "")] == []
