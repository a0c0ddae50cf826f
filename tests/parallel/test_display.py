"""What people see of a run, on a terminal, in a file or in a notebook; not too often."""

import io
import sys
from types import SimpleNamespace

import pytest

import fastlsh
from fastlsh.parallel import Display, Progress, amount, display, finish_line
from fastlsh.parallel.display import NotebookLine, duration, notebook_line


class Screen(io.StringIO):
    def __init__(self, live):
        super().__init__()
        self.live = live

    def isatty(self):
        return self.live


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def shown(live, steps):
    """Return what is written for (second, stage, done, total)."""
    screen, clock = Screen(live), Clock()
    show = Display(screen, clock)
    for clock.now, stage, done, total in steps:
        show(stage, done, total)
    return screen.getvalue()


def test_a_live_line_on_a_terminal():
    text = shown(
        True,
        [
            (0, "signing", 0, 2_000_000_000),
            (10, "signing", 500_000_000, 2_000_000_000),
            (10.1, "signing", 510_000_000, 2_000_000_000),  # too soon
            (40, "signing", 2_000_000_000, 2_000_000_000),
            (40, "decisions", 0, 30_000),
            (41, "decisions", 10_000, 30_000),
            (43, "decisions", 30_000, 30_000),
        ],
    )
    lines = [line.split("\r")[1:] for line in text.split("\n")[:-1]]
    assert [[part.rstrip() for part in line] for line in lines] == [
        [
            "signing: 0% of 2 GB",
            "signing: 25% of 2 GB, 50 MB/s, 30 s left",
            "signing: 2 GB in 40 s, 50 MB/s",
        ],
        [
            "decisions: 0% of 30,000",
            "decisions: 33% of 30,000, 10,000/s, 2.0 s left",
            "decisions: 30,000 in 3.0 s, 10,000/s",
        ],
    ]


def test_a_shorter_line_leaves_nothing_of_the_longer_one():
    text = shown(True, [(0, "a", 0, 10**9), (1, "a", 1, 10**9), (2, "a", 10**9 - 1, 10**9)])
    before, _, after = (part.rstrip("\n") for part in text.split("\r")[1:])
    assert len(after) >= len(before)


def test_a_line_a_minute_elsewhere():
    steps = [(second, "reading", second, 200) for second in range(0, 201, 5)]
    assert shown(False, steps).splitlines() == [
        "reading: 30% of 200 bytes, 1 bytes/s, 2 min left",
        "reading: 60% of 200 bytes, 1 bytes/s, 80 s left",
        "reading: 90% of 200 bytes, 1 bytes/s, 20 s left",
    ]
    assert shown(False, steps[:10]) == ""


def test_what_an_earlier_run_has_done_is_no_rate():
    text = shown(True, [(0, "signing", 900, 1000), (10, "signing", 950, 1000)])
    assert "95% of 1 KB, 5 bytes/s, 10 s left" in text


def test_no_rate_without_a_time():
    """Stages that report once, or were done before, say nothing of their speed."""
    text = shown(True, [(5, "decisions", 1, 430_382), (5.002, "decisions", 430_382, 430_382)])
    assert text.split("\r")[-1].strip() == "decisions: 430,382 done"
    assert shown(True, [(20, "linking", 7, 7)]) == "\rlinking: 7 done\n"
    assert "/s" not in shown(True, [(0, "a", 0, 10), (0.09, "a", 9, 10), (0.2, "b", 0, 1)])


@pytest.mark.parametrize("live", [False, True])
def test_a_message_begins_on_a_new_line(live):
    screen, clock = Screen(live), Clock()
    show = Display(screen, clock)
    clock.now = 100
    show("signing", 1, 2)
    finish_line()
    finish_line()
    assert screen.getvalue().endswith("50% of 2 bytes\n")
    assert screen.getvalue().count("\n") == 1
    clock.now = 200
    show("signing", 2, 2)
    before = screen.getvalue()
    finish_line()
    assert screen.getvalue() == before


def test_nothing_to_do():
    assert shown(True, [(0, "decisions", 0, 0)]) == "\rdecisions: 0 done\n"


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 KB"), (999_600, "1 MB"), (3.2e12, "3.2 TB")],
)
def test_amounts(size, text):
    assert amount(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.04, "0.0 s"), (59, "59 s"), (100, "2 min"), (36_000, "10 h 0 min")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text


# ---- in a notebook


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
