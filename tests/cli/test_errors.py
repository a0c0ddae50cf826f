"""The command line where something is wrong: one line and an exit status."""

import argparse
import os
import re
import shlex

import pytest

from fastlsh import __version__
from fastlsh.cli import dedup, main
from files import put_rows as put

ONE = "the quick brown fox jumps over the lazy dog and runs away"


@pytest.fixture
def three(run):
    return put("a.jsonl", {"text": ONE}, {"text": ONE}, {"text": ""})


REFUSED = [
    ("tune", ""),
    ("pairs", "the following arguments are required: INPUT (see fastlsh pairs --help)"),
    ("pairs x --engin disk",
     "unrecognized arguments: --engin disk; --engin: did you mean --engine? (see fastlsh p"),
    ("pairs x --html", "unrecognized arguments: --html (see fastlsh pairs --help)"),
    ("pairs bad.jsonl", "bad.jsonl: row 2: no key 'text' (there is: 'id')"),
    ("pairs a.jsonl --thresh 1", ""),
    ("pairs a.jsonl --threshold x", ""),
    ("pairs a.jsonl --size 0", "--size must be"),
    ("pairs a.jsonl --recall 1.5", ""),
    ("pairs a.jsonl --num-perm 0", "--num-perm must be between 1 and"),
    ("pairs a.jsonl --threads 0", "--threads must be"),
    ("pairs a.jsonl --max-pairs -1", "--max-pairs must be"),
    ("pairs a.jsonl --encoding x", "unknown encoding 'x'"),
    ("pairs a.jsonl --format x", ""),
    *((f"{command} --delimiter ;",
       "--delimiter is for files of CSV and TSV, and there are only: jsonl")
      for command in ("pairs a.jsonl", "dedup a.jsonl -o b.jsonl")),
    ("pairs a.jsonl --no-header",
     "--no-header is for files of CSV and TSV, and there are only: jsonl"),
    ("pairs a.jsonl --no-quotes",
     "--no-quotes is for files of CSV and TSV, and there are only: jsonl"),
    ("pairs a.jsonl --split lines",
     "--split is for files of plain text, and there are only: jsonl"),
    ("pairs a.jsonl -o b.xyz", "b.xyz: unknown format: a table is written as"),
    ("pairs a.jsonl -o a.jsonl", "a.jsonl: the output is one of the inputs"),
    ("pairs a.jsonl --text ''", "--text must name a column, not ''"),
    ("pairs a.jsonl --id ''", "--id must name a column, not ''"),
    ("dedup a.jsonl -o b.jsonl --priority ''", "--priority must name a column"),
    ("dedup a.jsonl -o ''", "-o must name a file or directory, not ''"),
    ("dedup a.jsonl -o b.jsonl --work ''", "--work must name a file or dir"),
    ("dedup a.jsonl -o b.jsonl --removed ''", "--removed must name a file"),
    ("dedup a.jsonl -o b.jsonl --removed a.jsonl", ""),
    ("dedup a.jsonl -o b.jsonl --against no.jsonl", "no.jsonl: No such"),
    ("dedup a.jsonl -o k.jsonl --against k.jsonl", "k.jsonl: the output is"),
    ("dedup a.jsonl -o b.jsonl --max-candidates 0", ""),
    ("dedup --against k.jsonl a.jsonl -o b.jsonl",
     "the following arguments are required: INPUT; all files behind --against belong to it: give"
     " INPUT before it"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "line"), REFUSED)
def test_bad_usage_and_bad_input(run, three, arguments, line):
    put("k.jsonl", {"text": ONE})
    put("bad.jsonl", {"text": ONE}, {"id": 2})
    before = sorted(os.listdir())
    assert run.refused(*shlex.split(arguments)).startswith(f"fastlsh: {line}")
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
    assert run.refused(*arguments.split()).endswith(f"; {hint}")


@pytest.mark.parametrize("arguments", ["", "--version", "--help", "pairs -h", "dedup -h"])
def test_help_and_version(run, arguments, capfd):
    with pytest.raises(SystemExit) as caught:
        main(arguments.split())
    assert caught.value.code == 0
    out = capfd.readouterr().out
    assert out.startswith("usage: fastlsh") or out == f"fastlsh {__version__}\n"


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


def test_ignored_options_are_refused_by_the_other_commands(run, three):
    for command in (["evaluate", three], ["explain", three, "1", "2"]):
        assert "--delimiter is for files of CSV" in run(*command, "--delimiter", ";")[2][-1]


def test_a_full_disk_is_no_bad_input(run, three):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full")
    status, _, err = run("pairs", three, "-o", "/dev/full")
    assert status == 1
    assert err == ["fastlsh: /dev/full: No space left on device"]
