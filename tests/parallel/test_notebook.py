"""Progress in a notebook: one output for each stage, which changes."""

import sys
from types import SimpleNamespace

import pytest

import fastlsh
from fastlsh.parallel import Progress, display
from fastlsh.parallel.display import NotebookLine, notebook_line


class Cell:
    """Below which outputs appear."""

    def __init__(self):
        self.outputs = []

    def display(self, data, *, raw, display_id):
        assert raw
        assert display_id
        self.outputs.append([data["text/plain"]])
        return SimpleNamespace(update=lambda new, raw: self.outputs[-1].append(new["text/plain"]))


@pytest.fixture
def cell(monkeypatch):
    """A cell of a notebook that this process seems to be the kernel of."""
    found = Cell()
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(display, "import_module", lambda name: found)
    return found


def test_a_stage_is_one_output(cell):
    line = NotebookLine(cell.display)
    line.write("\rsigning: 10%   ")
    line.write("\rsigning: 100%\n")
    line.flush()
    line.write("\rwriting: 5%")
    assert cell.outputs == [["signing: 10%", "signing: 100%"], ["writing: 5%"]]


def test_progress_goes_below_the_cell(cell, capsys):
    fastlsh.deduplicate([f"text {n} of its own" for n in range(50)] * 2, progress=True)
    assert [lines[-1].split()[:2] for lines in cell.outputs] == [["signatures:", "100"]]
    assert capsys.readouterr().err == ""


def test_elsewhere_it_goes_to_stderr(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert notebook_line() is None
    terminal = SimpleNamespace(get_ipython=lambda: object())
    monkeypatch.setitem(sys.modules, "IPython", terminal)
    assert notebook_line() is None
    Progress(True).stage("work", 2)(2)
    assert capsys.readouterr().err.startswith("\rwork: 2 done")
