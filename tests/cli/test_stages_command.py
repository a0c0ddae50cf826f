"""Stages on the command line, and the plans that hand them to a scheduler."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fastlsh.cli import main
from fastlsh.files.run.stages import STAGES
from shards import contents, rows_of, write_shards

on_posix = pytest.mark.skipif(os.name == "nt", reason="needs a shell")

FASTLSH = """\
#!/bin/sh
# Notes a command of a plan, which the test runs in its own process afterwards.
end=$(printf '\\037') line=
for word; do line=$line$word$end; done
printf '%s\\n' "$line" >> "$JOBS/commands"  # at once: others do so, too
"""

SBATCH = """\
#!/bin/bash
# Runs a job at once, as Slurm would later, and notes what it was submitted with.
number=$(($(cat "$JOBS/number" 2>/dev/null || echo 0) + 1))
echo $number > "$JOBS/number"
array= command=
for option; do
  case $option in
    --array=1-*) array=${option#--array=1-} ;;
    --wrap=*) command=${option#--wrap=} ;;
    *) echo "$number $option" >> "$JOBS/options" ;;
  esac
done
for task in $(seq ${array:-1}); do
  SLURM_ARRAY_TASK_ID=$task sh -c "$command" >&2 || exit 1
done
echo $number
"""


@pytest.fixture
def command(tmp_path, monkeypatch):
    """A command; the current directory has an odd name."""
    folder = tmp_path / "it's $HOME"
    folder.mkdir()
    monkeypatch.chdir(folder)
    write_shards(folder, rows_of(5, 120), 4)
    words = ["dedup", "in*.jsonl", "--threshold", "0.7", "--threads", "1", "--memory", "300M", "-q"]
    return [*words, "-o", "two/", "--removed", "two.tsv", "--work", "work $x"]


@pytest.fixture
def answered(command):
    """The command, and what it writes in one process."""
    words = command[: command.index("-o")]
    assert main([*words, "-o", "one/", "--removed", "one.tsv"]) == 0
    return command


def same():
    """Whether the command has written what one process has."""
    with open("one.tsv", "rb") as one, open("two.tsv", "rb") as two:
        return contents(Path("two")) == contents(Path("one")) and one.read() == two.read()


def plan_of(capfd, command, kind, parts=2):
    capfd.readouterr()
    assert main([*command, "--plan", kind, f"--parts={parts}"]) == 0
    return capfd.readouterr().out


def run(script, folder, *, processes=False, **files):
    """Run a script with some programs on the path before all others, and then its commands."""
    if not processes:
        files["fastlsh"] = FASTLSH
    programs = folder / "programs"
    programs.mkdir()
    for name, code in files.items():
        (programs / name).write_text(code, encoding="utf-8")
        (programs / name).chmod(0o755)
    before = os.pathsep.join([str(programs), os.path.dirname(sys.executable)])
    environment = {**os.environ, "JOBS": str(programs), "HOME": "/elsewhere"}
    environment["PATH"] = before + os.pathsep + os.environ["PATH"]
    (folder / "plan").write_text(script, encoding="utf-8")
    shell = "bash" if script.startswith("#!/bin/bash") else "sh"
    checked = subprocess.run([shell, "-n", folder / "plan"], capture_output=True)
    assert (checked.returncode, checked.stderr) == (0, b"")
    done = subprocess.run(
        [shell, folder / "plan"], capture_output=True, text=True, env=environment, cwd=os.getcwd()
    )
    assert done.returncode == 0, done.stderr
    if not processes:
        for line in (programs / "commands").read_text("utf-8").splitlines():
            assert main(line.split("\x1f")[:-1]) == 0, line
    return done.stdout, programs


@on_posix
def test_the_plan_for_sh_runs_as_printed(answered, tmp_path, capfd):
    run(plan_of(capfd, answered, "sh"), tmp_path)
    assert same()
    assert os.listdir("work $x") == ["finished.json"]


@on_posix
@pytest.mark.parametrize(
    ("kind", "processes"),  # these as they are for users
    [
        ("sh", False),
        pytest.param("sh", True, marks=pytest.mark.exhaustive),
        pytest.param("slurm", False, marks=pytest.mark.exhaustive),
    ],
)
@pytest.mark.usefixtures("command")
def test_the_plan_of_a_decontamination_runs_as_printed(tmp_path, capfd, kind, processes):
    rows = map(json.loads, Path("in1.jsonl").read_text("utf-8").splitlines())
    question = max((row["text"] or "" for row in rows), key=len)
    Path("evals.jsonl").write_text(json.dumps({"question": question}), "utf-8")
    words = ["decontaminate", "in*.jsonl", "--evals", "evals.jsonl", "--threads", "1"]
    assert main([*words, "-o", "one/", "--hits", "one.tsv", "-q"]) == 0
    words += ["-o", "two/", "--hits", "two.tsv", "--work", "work $x", "--memory", "300M"]
    before = sorted(os.listdir())
    script = plan_of(capfd, words, kind)
    assert sorted(os.listdir()) == before
    programs = {"sbatch": SBATCH} if kind == "slurm" else {}
    run(script, tmp_path, processes=processes, **programs)
    assert same()
    assert os.listdir("work $x") == ["finished.json"]
    assert main([*words, "--stage", "write", "--part", "1/2"]) == 0
    assert "fastlsh: stage write, part 1/2: done" in capfd.readouterr().err.splitlines()


@on_posix
def test_the_plan_for_slurm(answered, tmp_path, capfd):
    """Each job is an array, has its memory, and waits until the one before has succeeded."""
    out, jobs = run(plan_of(capfd, answered, "slurm"), tmp_path, sbatch=SBATCH)
    assert out == "the last job is 8\n"
    assert same()
    options = (jobs / "options").read_text("utf-8").splitlines()
    for number in range(1, 9):
        of_job = {line.partition(" ")[2] for line in options if line.startswith(f"{number} ")}
        assert {"--parsable", "--cpus-per-task=1", "--mem=375M"} <= of_job
        waits = {option for option in of_job if option.startswith("--dependency=")}
        assert waits == (set() if number == 1 else {f"--dependency=afterok:{number - 1}"})


def test_a_plan_with_options_that_end(command, capfd):
    """Everything behind -- is a file, also a name like that of an option."""
    os.rename("in0.jsonl", "--parts")
    words = [*(word for word in command if word != "in*.jsonl"), "--format", "jsonl"]
    capfd.readouterr()
    assert main([*words, "--plan", "sh", "--parts", "2", "--", "in1.jsonl", "--parts"]) == 0
    lines = [line for line in capfd.readouterr().out.splitlines() if "--stage" in line]
    assert len(lines) == 8
    for line in lines:
        given, _, files = line.removesuffix(" &").partition(" -- ")
        assert files == "in1.jsonl --parts"
        assert given.count("--memory") == 1
        assert line.strip().startswith("fastlsh dedup --memory 300M --stage ")


def test_a_plan_of_a_run_that_only_counts(command, capfd):
    words = ["dedup", "in*.jsonl", "--work", "w", "--memory", "1G", "--threads", "1"]
    assert "--stage finish" in plan_of(capfd, words, "sh", 2)


def test_the_plan_of_an_overlap_merges_nothing(command, capfd):
    words = ["overlap", "in0.jsonl", "in1.jsonl", "-o", "t.tsv", "--work", "w"]
    script = plan_of(capfd, [*words, "--memory", "300M", "--threads", "2"], "sh", 3)
    assert "--stage decide --part $part/3" in script
    assert "--stage merge" not in script


def test_memory_of_stages_that_have_all_documents(command, capfd, monkeypatch):
    """A stage with all documents gets more memory, and its command says so."""
    monkeypatch.setattr("fastlsh.files.scheduling.SURPLUS", 1_000_000.0)
    script = plan_of(capfd, command, "sh", 2)
    given = {}
    for line in script.splitlines():
        if "--stage" in line:
            words = line.split()
            given[words[words.index("--stage") + 1]] = int(words[words.index("--stage") - 1][:-1])
    assert given["sign"] == given["write"] == 300
    assert 300 < given["unite"] < given["finish"]


def test_the_last_stage_tells_of_skipped_rows_where_no_document_is_left(run):
    Path("a.jsonl").write_text('{"text": 5}\n', encoding="utf-8")
    words = ["dedup", "a.jsonl", "-o", "k.jsonl", "--on-error", "skip"]
    expected = run.done(*words)[1]
    for stage in STAGES:
        _, lines = run.done(*words, "--memory", "300M", "--work", "work", "--stage", stage)
    assert lines[1:] == expected
    assert "1 row skipped" in lines[-1]
