"""Command lines and what comes of them, as text: the same text for every engine."""

import contextlib
import difflib
import io
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import shards
from fastlsh import Key, decontaminate_files, deduplicate_files, near_duplicate_files, overlap_files
from fastlsh.cli import main
from golden.files import contents, make_inputs, masked, quoted, shown, shown_index
from in_stages import in_parts, stages_of

HERE = Path(__file__).parent
EXPECTED = HERE / "expected"

DISK = ["--memory", "300M", "--work", "work", "--threads", "2"]
ENGINES = {
    "once": None,
    "memory": ["--engine", "memory", "--memory", "1G", "--threads", "2"],
    "disk": ["--engine", "disk", *DISK],
    "stages": DISK,
}
"""The options that each engine adds to a command that has engines."""

FUNCTIONS = {
    "dedup": deduplicate_files, "pairs": near_duplicate_files, "overlap": overlap_files,
    "decontaminate": decontaminate_files,
}  # fmt: skip
"""The commands that have engines, and their functions."""

WITHOUT_ENGINE = "decontaminate"
"""The command that works on disk if it has a work directory, and has no option for it."""


class Command(NamedTuple):
    """Command lines that run one after the other."""

    name: str
    engines: list[str]
    quick: bool
    lines: list[str]


class Outcome(NamedTuple):
    """What has come of the command lines, for one engine."""

    answer: str
    """What every engine must give: statuses, standard outputs and files."""

    messages: str
    """What may differ: standard errors, logs, and whether the work directory is left behind."""


def commands() -> dict[str, Command]:
    """Return the commands of the table by their names."""
    found: list[Command] = []
    for line in (HERE / "commands.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith(" "):
            found[-1].lines.append(line.strip())
            continue
        name, _, words = line.partition(":")
        engines = [word for word in words.split() if word != "quick"]
        if not engines or not set(engines) <= set(ENGINES):
            raise ValueError(f"commands.txt: a name and its engines should stand here: {line}")
        found.append(Command(name, engines, words.endswith(" quick"), []))
    table = {command.name: command for command in found}
    if len(table) < len(found):
        raise ValueError("commands.txt: a name occurs twice")
    return table


def recorded(command: Command) -> str:
    """Run a command on each of its engines; return the text that its expected file has.

    Raises
    ------
    AssertionError
        The engines do not agree.
    """
    outcomes = {engine: run(command, engine) for engine in command.engines}
    first = command.engines[0]
    for engine, outcome in outcomes.items():
        assert outcome.answer == outcomes[first].answer, (
            f"{command.name}: two engines have different answers\n"
            + difference(outcomes[first].answer, outcome.answer, first, engine)
        )
    texts = [outcomes[first].answer]
    for engine, outcome in outcomes.items():
        title = "messages" if engine == "once" else f"messages, {engine}"
        texts.append(f"==== {title}\n{outcome.messages}")
    return "\n".join(texts)


def difference(one: str, other: str, name_of_one: str, name_of_other: str) -> str:
    """Return the lines that differ."""
    lines = difflib.unified_diff(
        one.splitlines(), other.splitlines(), name_of_one, name_of_other, lineterm="", n=2
    )
    return "\n".join(lines)


def run(command: Command, engine: str) -> Outcome:
    """Run a command on one engine, in a directory of its own."""
    with contextlib.ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory())).resolve()
        make_inputs(folder)
        patch.chdir(folder)
        patch.setenv("COLUMNS", "80")
        if engine == "stages":
            spans = any("--by span" in line for line in command.lines)
            shards.small_budget(patch, **shards.OF_PASSAGES if spans else {})
        before = contents(folder)
        folders = {str(folder): "<folder>", tempfile.gettempdir(): "<temporary>"}
        answers, messages = [], []
        for line in command.lines:
            status, out, err = _run_line(line, engine)
            result = f"exit status {status}, standard output: {shown('standard output.log', out)}"
            answers.append(f"$ fastlsh {line}\n{result}\n")
            if len(command.lines) > 1:
                messages.append(f"$ fastlsh {line}\n")
            messages.append(f"{quoted(masked(err, folders))}\n")
        if (folder / "work").exists():
            messages.append("==== work/\nleft behind\n")
            shutil.rmtree("work")
        after = contents(folder)
        for name in sorted({*before, *after}):
            if before.get(name) != after.get(name):
                of = messages if name.endswith(".log") else answers
                of.append(f"==== {name}\n{_shown(command, name, after.get(name))}\n")
    return Outcome("\n".join(answers), "".join(messages))


def _shown(command: Command, name: str, data: bytes | None) -> str:
    if data is None:
        return "removed"
    if name.endswith(".index"):
        keyed = any("--key-file" in line for line in command.lines)
        return shown_index(Path(name), Key.from_file("secret.key") if keyed else None)
    return shown(name, data)


def _run_line(line: str, engine: str) -> tuple[int, bytes, str]:
    line, _, stdin = line.partition(" < ")
    words = shlex.split(line)
    options = ENGINES[engine]
    if options is None or words[0] not in FUNCTIONS or "--plan" in words:
        return call(words, stdin)
    if words[0] == WITHOUT_ENGINE and options[0] == "--engine":
        options = options[2:]
    words += options
    if engine != "stages":
        return call(words, stdin)
    stages = stages_of(FUNCTIONS[words[0]], "--group" in words)
    lines: dict[str, None] = {}  # most stages begin with the same one

    def of_stage(stage: str, part: tuple[int, int] | None) -> tuple[int, bytes]:
        more = [] if part is None else ["--part", "{}/{}".format(*part)]
        status, out, err = call([*words, "--stage", stage, *more], stdin)
        lines.update(dict.fromkeys(err.splitlines(keepends=True)))
        return status, out

    status, out = in_parts(of_stage, {}, 2, stages=stages)
    return status, out, "".join(lines)


def call(words: list[str], stdin: str = "") -> tuple[int, bytes, str]:
    """Run a command; return its exit status, its standard output and its standard error."""
    with _streams(stdin or os.devnull) as (out, err):
        try:
            status = main(words)
        except SystemExit as ended:  # of --version
            status = int(ended.code or 0)
    return status, out.getvalue(), err.getvalue().decode()


@contextlib.contextmanager
def _streams(stdin: str) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """Give a command its standard streams, the files 0, 1 and 2, which it reads and writes."""
    results = io.BytesIO(), io.BytesIO()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    with contextlib.ExitStack() as stack:
        given = stack.enter_context(open(stdin, "rb"))
        taken = [stack.enter_context(tempfile.TemporaryFile()) for _ in results]
        saved = [os.dup(number) for number in range(3)]
        files = [given, *taken]
        before = sys.stdout, sys.stderr
        try:
            for number, file in enumerate(files):
                os.dup2(file.fileno(), number)
            with (
                open(1, "w", encoding="utf-8", newline="\n", closefd=False) as sys.stdout,
                open(2, "w", encoding="utf-8", newline="\n", closefd=False) as sys.stderr,
            ):
                yield results
        finally:
            sys.stdout, sys.stderr = before
            for number, file in enumerate(saved):
                os.dup2(file, number)
                os.close(file)
            for result, file in zip(results, taken, strict=True):
                file.seek(0)
                result.write(file.read())
