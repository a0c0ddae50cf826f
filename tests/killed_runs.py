"""Runs on files that are stopped in a function, or killed at an event in a process of their own."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import warm
from shards import contents

HERE = Path(__file__).resolve().parent


def run(function, event, keywords, kill_after=None):
    """Run a job in a process of its own; return its events, None if it was killed."""
    given = json.dumps(keywords, default=str)
    arguments = [HERE / "files" / "crash.py", function.__name__, event, given]
    if kill_after is None:
        done = warm.run(*arguments)
    else:
        done = killed_after(kill_after, [sys.executable, *map(str, arguments)])
    if done.returncode == 0:
        return json.loads(done.stdout)
    assert done.returncode == -9, done.stderr
    return None


def killed_after(seconds, command):
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(HERE)},
    ) as process:  # fmt: skip
        time.sleep(seconds)
        process.kill()
        out, err = process.communicate()
    return subprocess.CompletedProcess(command, process.returncode, out, err)


class StoppedError(Exception):
    """What ends a run in a test."""


def after(calls, original):
    """Return a function that works so often, and then raises."""
    left = iter(range(calls))

    def call(*arguments, **keywords):
        if next(left, None) is None:
            raise StoppedError
        return original(*arguments, **keywords)

    return call


def stopped_in(monkeypatch, room, name, calls, function, *arguments, **keywords):
    """Run a job, which is stopped when it calls a function of a room once more than so often."""
    with monkeypatch.context() as patch:
        patch.setattr(room, name, after(calls, getattr(room, name)))
        with pytest.raises(StoppedError):
            function(*arguments, **keywords)


def prepared(function, folder, **keywords):
    """Write the outputs of one process; return the keywords of a run on disk, and these outputs."""
    outputs = []
    for name in ("expected", "out"):
        (folder / name).mkdir()
        removed = str(folder / name / "removed.tsv")
        outputs.append({"output": f"{folder}/{name}/", "removed": removed})
    function(**keywords, **outputs[0], engine="memory")
    work = {"engine": "disk", "work": str(folder / "work")}
    return {**keywords, **outputs[1], **work}, contents(folder / "expected")


def written(folder):
    return contents(folder / "out")


def finish(function, folder, keywords, expected):
    """Run to the end; compare what there is then."""
    assert run(function, 0, keywords) is not None
    assert written(folder) == expected
    assert not (folder / "work").exists()


def ended_again_and_again(function, folder, keywords, expected, fewest, times):
    """Kill one run so often, further on each time; what is written is whole, and so is the end."""
    events = run(function, 0, keywords)
    assert events > fewest
    for path in (folder / "out").rglob("*.*"):
        path.unlink()
    for event in range(10, events, events // times):
        if run(function, event, keywords) is not None:  # the rest was shorter than that
            break
        whole = {k: v for k, v in written(folder).items() if not Path(k).name.startswith(".")}
        assert whole.items() <= expected.items()
    finish(function, folder, keywords, expected)
