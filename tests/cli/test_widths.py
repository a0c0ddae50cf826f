"""Screens of 80 columns: nothing that the commands say is wider, unless a file or a text is."""

import argparse

import pytest

import warm
from fastlsh.cli.command import parser
from fastlsh.parallel.display import format_progress
from pages import ROOT

WIDE = 80
EXAMPLES = ROOT / "examples"


def helps(command, path=()):
    """Yield the help of a command, and of all below it."""
    yield " ".join(path), command.format_help()
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from helps(inner, (*path, name))


def too_wide(text):
    return [line for line in text.splitlines() if len(line) > WIDE]


def test_help_fits(monkeypatch):
    monkeypatch.setenv("COLUMNS", str(WIDE))
    pages = dict(helps(parser()))
    assert {"", "dedup", "index query", "completion"} <= pages.keys()
    assert {name: too_wide(text) for name, text in pages.items() if too_wide(text)} == {}


COMMANDS = [
    ["tune", "--threshold", "0.8", "--compare"],
    ["tune", "--threshold", "0.37", "--num-perm", "1024", "--compare"],
    ["evaluate", EXAMPLES / "notices.jsonl", "--threshold", "0.7"],
    ["pairs", EXAMPLES / "notices.jsonl"],
    ["dedup", EXAMPLES / "notices.jsonl", "-o", "kept.jsonl"],
    ["dedup", EXAMPLES / "notices.jsonl", "-o", "kept.jsonl", "--by", "line"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(map(str, command[:1])))
def test_screens_fit(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(WIDE))
    done = warm.run("-m", "fastlsh", *command, text=True)
    assert done.returncode == 0
    assert (done.stdout + done.stderr).strip()
    # The summary of a run is one line, which the terminal breaks.
    assert too_wide(done.stdout) == []
    assert len(too_wide(done.stderr)) <= 1


@pytest.mark.parametrize("stage", ["gathering", "signatures", "identical documents"])
@pytest.mark.parametrize("done", [0.37, 1.0])
def test_progress_fits(stage, done):
    total = 9_876_543_210_987
    assert len(format_progress(stage, int(done * total), total, 12_345_678_901, 3_555_555.0)) < WIDE
