"""The targets of the fuzzers on their seeds, without Atheris."""

import importlib
from pathlib import Path

import pytest

from every_kernel import MODULES, names_of
from fastlsh.io import InputError, read
from files import put
from refusals import refuses

HERE = Path(__file__).resolve().parent
CORPUS = HERE / "corpus"
NAMES = sorted(path.stem for path in HERE.glob("targets/[a-z]*.py"))
NEEDED = {"tables": "pyarrow", "work_directory": "pyarrow"}


@pytest.fixture(autouse=True)
def kernels_as_they_were(monkeypatch):
    for module in MODULES:
        for name in names_of(module):
            monkeypatch.setattr(module, name, getattr(module, name))


@pytest.mark.parametrize("name", NAMES)
def test_the_seeds_do_no_harm(name, monkeypatch):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    monkeypatch.syspath_prepend(str(HERE))
    target = importlib.import_module(f"targets.{name}")
    seeds = sorted(CORPUS.joinpath(name).iterdir())
    assert len(seeds) > 2
    for seed in seeds:
        target.one_input(seed.read_bytes())
    target.one_input(b"")


def test_every_target_has_seeds_and_nothing_else_has():
    assert sorted(path.name for path in CORPUS.iterdir()) == NAMES
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < 200_000


@pytest.mark.parametrize(
    ("seed", "how", "message"),
    [
        ("histogram", {"tokens": True}, r"^a.parquet: .*histogram size mismatch"),
        ("rows", {}, r"row group 1 has \d{12} rows, but 3 values"),
    ],
)
def test_tables_that_pyarrow_must_not_be_asked_for(here, seed, how, message):
    """It ends the process for a column that contradicts itself, before it is told to read it.

    And fills all memory with nulls for 155,000,000,000 rows, as the footer says.
    """
    pytest.importorskip("pyarrow")
    put("a.parquet", CORPUS.joinpath("tables", seed).read_bytes()[3:])
    for more in ({}, {"on_error": "skip"}):
        refuses(InputError, message, read, "a.parquet", **how, **more)
