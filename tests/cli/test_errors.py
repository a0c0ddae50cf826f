"""The command line where something is wrong: one line and an exit status."""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

import warm
from fastlsh import __version__
from fastlsh.cli import dedup, main
from files import put_rows as put

ONE = "the quick brown fox jumps over the lazy dog and runs away"


@pytest.fixture
def three(run):
    return put("a.jsonl", {"text": ONE}, {"text": ONE}, {"text": ""})


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["tune"], None),
        (["pairs"], "the following arguments are required: INPUT (see fastlsh pairs --help)"),
        (
            ["pairs", "x", "--engin", "disk"],
            "unrecognized arguments: --engin disk; --engin: did you mean --engine? (see fastlsh p",
        ),
        (["pairs", "x", "--html"], "unrecognized arguments: --html (see fastlsh pairs --help)"),
        (["pairs", "no.jsonl"], "no.jsonl: No such file or directory"),
        (["pairs", "bad.jsonl"], "bad.jsonl: row 2: no key 'text' (there is: 'id')"),
        (["pairs", "a.jsonl", "--thresh", "1"], None),
        (["pairs", "a.jsonl", "--threshold", "x"], None),
        (["pairs", "a.jsonl", "--threshold", "2"], None),
        (["pairs", "a.jsonl", "--size", "0"], None),
        (["pairs", "a.jsonl", "--bands", "3"], None),
        (["pairs", "a.jsonl", "--recall", "1.5"], None),
        (["pairs", "a.jsonl", "--num-perm", "0"], None),
        (["pairs", "a.jsonl", "--threads", "0"], None),
        (["pairs", "a.jsonl", "--encoding", "x"], "unknown encoding 'x'"),
        (["pairs", "a.jsonl", "--format", "x"], None),
        (["pairs", "a.jsonl", "-o", "b.xyz"], "b.xyz: unknown format: a table is written as"),
        (["pairs", "a.jsonl", "-o", "no/b.tsv"], "no/b.tsv: there is no directory"),
        (["pairs", "a.jsonl", "-o", "a.jsonl"], "a.jsonl: the output is one of the inputs"),
        (["pairs", "a.jsonl", "--text", ""], "--text must name a column, not ''"),
        (["pairs", "a.jsonl", "--id", ""], "--id must name a column, not ''"),
        (["dedup", "a.jsonl", "-o", "b.jsonl", "--priority", ""], "--priority must name a column"),
        (["dedup", "a.jsonl", "-o", ""], "-o must name a file or directory, not ''"),
        (["dedup", "a.jsonl", "-o", "b.jsonl", "--work", ""], "--work must name a file or dir"),
        (["dedup", "a.jsonl", "-o", "b.jsonl", "--removed", ""], "--removed must name a file"),
        (["dedup", "a.jsonl", "--annotate"], None),
        (["dedup", "a.jsonl", "-o", "b.docx"], "b.docx: its suffix tells its format"),
        (["dedup", "a.jsonl", "-o", "a.jsonl"], "a.jsonl: the output is one of the inputs"),
        (["dedup", "a.jsonl", "-o", "b.jsonl", "--removed", "a.jsonl"], None),
        (["dedup", "a.jsonl", "-o", "b.jsonl", "--removed", "b.jsonl"], None),
        (["dedup", "a.jsonl", "-o", "b.jsonl", "--against", "no.jsonl"], "no.jsonl: No such"),
        (["dedup", "a.jsonl", "-o", "k.jsonl", "--against", "k.jsonl"], "k.jsonl: the output is"),
        (["dedup", "a.jsonl", "-o", "b.jsonl", "--max-candidates", "0"], None),
    ],
)
def test_bad_usage_and_bad_input(run, three, arguments, line):
    put("k.jsonl", {"text": ONE})
    put("bad.jsonl", {"text": ONE}, {"id": 2})
    before = sorted(os.listdir())
    status, out, err = run(*arguments)
    assert (status, out, len(err)) == (2, "", 1)
    assert err[0].startswith(f"fastlsh: {line or ''}")
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ("dedupe x", "dedupe: did you mean dedup? (see fastlsh --help)"),
        ("index bild x", "bild: did you mean build? (see fastlsh index --help)"),
        (
            "dedup x --treshold=.8",
            "--treshold: did you mean --threshold? (see fastlsh dedup --help)",
        ),
    ],
)
def test_the_name_that_was_meant(run, arguments, hint):
    status, _, (line,) = run(*arguments.split())
    assert status == 2
    assert line.endswith(f"; {hint}")


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["pairs", "-h"], ["dedup", "-h"]])
def test_help_and_version(run, arguments, capfd):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 0
    out = capfd.readouterr().out
    assert out.startswith("usage: fastlsh") or out == f"fastlsh {__version__}\n"


def test_help_is_what_a_command_without_arguments_prints(run, capfd):
    with pytest.raises(SystemExit) as caught:
        main([])
    assert caught.value.code == 0
    assert capfd.readouterr().out.startswith("usage: fastlsh")


@pytest.mark.parametrize("command", ["", "pairs", "dedup", "tune", "evaluate", "explain"])
def test_help_has_two_examples_and_leads_further(run, command, capfd):
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    out = capfd.readouterr().out
    examples = out.split("\nexamples:\n")[1].split("\n\n")[0].splitlines()
    assert len(examples) == 2
    assert all(f"fastlsh {command}" in line for line in examples)
    assert out.splitlines()[-1].startswith("documentation: ")


def test_the_help_of_dedup_begins_with_what_most_runs_need(run, capfd):
    with pytest.raises(SystemExit):
        main(["dedup", "--help"])
    out = capfd.readouterr().out
    groups = re.split(r"\n(?=\S[^\n]*:\n)", out)
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
        assert out.count(f"\n{heading}:\n") == 1


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--num-perm", "0"], "--num-perm must be between 1 and"),
        (["--threshold", "2"], "--threshold must be above 0"),
        (["--size", "0"], "--size must be"),
        (["--max-pairs", "-1"], "--max-pairs must be"),
        (["--threads", "0"], "--threads must be"),
        (
            ["--delimiter", ";"],
            "--delimiter is for files of CSV and TSV, and there are only: jsonl",
        ),
        (["--no-header"], "--no-header is for files of CSV and TSV, and there are only: jsonl"),
        (["--no-quotes"], "--no-quotes is for files of CSV and TSV, and there are only: jsonl"),
        (["--split", "lines"], "--split is for files of plain text, and there are only: jsonl"),
    ],
)
def test_errors_call_options_as_they_are_called_here(run, three, arguments, line):
    status, out, err = run("pairs", three, *arguments)
    assert (status, out, len(err)) == (2, "", 1)
    assert err[0].startswith(f"fastlsh: {line}")


def test_ignored_options_are_refused_by_the_other_commands(run, three):
    for command in (["evaluate", three], ["explain", three, "1", "2"]):
        assert "--delimiter is for files of CSV" in run(*command, "--delimiter", ";")[2][-1]
    more = ["-o", "b.jsonl"]
    assert "--delimiter is for files of CSV" in run("dedup", three, *more, "--delimiter", ";")[2][0]


def test_inputs_behind_against(run, three):
    put("b.jsonl", {"text": ONE})
    status, _, err = run("dedup", "--against", "b.jsonl", three, "-o", "k.jsonl")
    assert status == 2
    assert "all files behind --against belong to it: give INPUT before it" in err[0]


def test_a_full_disk_is_no_bad_input(run, three):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    status, _, err = run("pairs", three, "-o", "/dev/full")
    assert status == 1
    assert len(err) == 1
    assert err == ["fastlsh: /dev/full: No space left on device"]


def command(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "fastlsh", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.exhaustive  # by default one command is enough: tests/cli/test_pipes.py
def test_a_closed_pipe_ends_quietly(run):
    put("a.jsonl", *[{"text": ONE}] * 400)
    with command("pairs", "a.jsonl", "-q") as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) == 141
        assert process.stderr.read() == ""


@pytest.mark.exhaustive  # by default test_process.py
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_ctrl_c(run):
    os.mkfifo("a.jsonl")
    with command("pairs", "a.jsonl") as process:
        with open("a.jsonl", "w") as pipe:  # opens when the command does, which is reading then
            pipe.write('{"text": "')
            pipe.flush()
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130
        assert process.stderr.read() == "fastlsh: interrupted\n"


def test_inputs_from_a_pipe(run):
    if not os.path.exists("/dev/stdin"):
        pytest.skip("no /dev/stdin")
    line = json.dumps({"text": ONE}) + "\n"
    arguments = ("pairs", "/dev/stdin", "--format", "jsonl")
    done = warm.run("-m", "fastlsh", *arguments, data=2 * line.encode(), text=True)
    assert done.stdout.splitlines()[1] == "/dev/stdin:1\t/dev/stdin:2\t1.000000"
