"""tests/systems/numbers.tsv: no number is left without a test that computes it."""

import os
import subprocess
import sys

import pytest

import source_numbers
from source_numbers import SYSTEMS, Number, UnavailableError, check, table


def test_the_command_prints_the_table_without_pytest():
    """A number that cannot be computed is a line that says why."""
    code = (
        "import sys; sys.modules['pytest'] = None; import runpy; "
        f"runpy.run_path({str(SYSTEMS.parent / 'source_numbers.py')!r}, run_name='__main__')"
    )
    print_table = [sys.executable, "-c", code]
    done = subprocess.run(
        print_table,
        capture_output=True,
        text=True,
        check=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1", "FASTLSH_DATA": "absent"},
    )
    lines = done.stdout.splitlines()
    assert len(lines) == 1 + len(table())
    assert not [line for line in lines if "left out" in line]


def test_what_cannot_be_computed_is_left_out_with_its_reason(capsys, monkeypatch):
    def absent():
        raise UnavailableError("the data is absent")

    of_systems = source_numbers.computations()
    of_systems["C"] = dict.fromkeys(of_systems["C"], absent)
    monkeypatch.setattr(source_numbers, "computations", lambda: of_systems)
    source_numbers.main()
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 1 + len(table())
    left_out = [line for line in lines if line.endswith("\tleft out: the data is absent")]
    assert len(left_out) == len(of_systems["C"])


def test_each_system_of_the_table_has_a_module():
    assert sorted(source_numbers.computations()) == sorted({each.system for each in table()})


def test_a_number_without_a_computation_fails():
    with pytest.raises(AssertionError, match="nothing computes"):
        check(Number("A", "section", "quantity", "1"), {})


def test_a_mistake_that_is_none_fails():
    with pytest.raises(AssertionError, match="the source is right"):
        check(Number("A", "section", "quantity", "1", "1"), {"quantity": lambda: 1})
