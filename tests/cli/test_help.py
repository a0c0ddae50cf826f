"""Help, and screens of 80 columns: no line is wider, unless a file or a text is."""

import argparse
import re

import pytest

from fastlsh import __version__
from fastlsh.cli import dedup, main
from fastlsh.cli.command import parser
from fastlsh.parallel.display import format_progress
from pages import ROOT

WIDE = 80
NOTICES = ROOT / "examples" / "notices.jsonl"


def helps(command, path=()):
    """Yield the help of a command, and of all below it."""
    yield " ".join(path), command.format_help()
    for action in command._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from helps(inner, (*path, name))


@pytest.fixture
def pages(monkeypatch):
    """The help of each command."""
    monkeypatch.setenv("COLUMNS", str(WIDE))
    return dict(helps(parser()))


def too_wide(text):
    return [line for line in text.splitlines() if len(line) > WIDE]


@pytest.mark.parametrize("arguments", ["", "--version", "--help", "pairs -h", "dedup -h"])
def test_help_and_version(arguments, capfd):
    with pytest.raises(SystemExit) as caught:
        main(arguments.split())
    assert caught.value.code == 0
    out = capfd.readouterr().out
    assert out.startswith("usage: fastlsh") or out == f"fastlsh {__version__}\n"


def test_help_has_two_examples_and_leads_further(pages):
    assert {"index query", "completion"} <= pages.keys()
    assert {name: too_wide(text) for name, text in pages.items() if too_wide(text)} == {}
    for command in ("", "pairs", "dedup", "tune", "evaluate", "explain"):
        examples = pages[command].split("\nexamples:\n")[1].split("\n\n")[0].splitlines()
        assert len(examples) == 2
        assert all(f"fastlsh {command}" in line for line in examples)
        assert pages[command].splitlines()[-1].startswith("documentation: ")
    text = " ".join(pages["pairs"].split())
    assert "--strip-accents remove accents; texts stay decomposed, so that a syllable of" in text


def test_the_help_of_dedup_begins_with_what_most_runs_need(pages):
    groups = re.split(r"\n(?=\S[^\n]*:\n)", pages["dedup"])
    options = [re.findall(r"^  (?:-\w(?: \w+)?, )?--([\w-]+)", each, re.M) for each in groups]
    first, *others = [found for found in options if found]
    assert first == ["help", *dedup.FIRST]
    assert len(dedup.FIRST) == 12
    everything = [name for found in (first, *others) for name in found]
    given = argparse.ArgumentParser()
    dedup.add_arguments(given)
    assert sorted(everything) == sorted(
        name.removeprefix("--") for name in given._option_string_actions if name.startswith("--")
    )
    for heading in ("output", "indexes", "input", "similarity", "search", "memory and disk"):
        assert pages["dedup"].count(f"\n{heading}:\n") == 1


@pytest.mark.parametrize(
    "command",
    [
        ["tune", "--threshold", "0.8", "--compare"],
        ["tune", "--threshold", "0.37", "--num-perm", "1024", "--compare"],
        ["evaluate", NOTICES, "--threshold", "0.7"],
        ["pairs", NOTICES],
        ["dedup", NOTICES, "-o", "kept.jsonl"],
        ["dedup", NOTICES, "-o", "kept.jsonl", "--by", "line"],
    ],
)
def test_screens_fit(command, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(WIDE))
    out, err = run.done(*command)
    assert out.strip() or err
    # The summary of a run is one line, which the terminal breaks.
    assert too_wide(out) == []
    assert len(too_wide("\n".join(err))) <= 1


@pytest.mark.parametrize("stage", ["gathering", "signatures", "identical documents"])
@pytest.mark.parametrize("done", [0.37, 1.0])
def test_progress_fits(stage, done):
    total = 9_876_543_210_987
    assert len(format_progress(stage, int(done * total), total, 12_345_678_901, 3_555_555.0)) < WIDE
