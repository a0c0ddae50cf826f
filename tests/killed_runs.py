"""Runs on files that are killed at a certain event, in processes of their own."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import warm

HERE = Path(__file__).resolve().parent


def run(event, keywords, kill_after=None):
    """Run in a process of its own; return what it printed, None if it was killed."""
    arguments = [HERE / "files" / "crash.py", event, json.dumps(keywords)]
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


def prepared(function, folder, **keywords):
    """Write the outputs of one process; return the keywords of a run on disk, and these outputs."""
    outputs = []
    for name in ("expected", "out"):
        (folder / name).mkdir()
        removed = str(folder / name / "removed.tsv")
        outputs.append({"output": f"{folder}/{name}/", "removed": removed})
    function(**keywords, **outputs[0], engine="memory")
    expected = {path.name: path.read_bytes() for path in (folder / "expected").iterdir()}
    return {**keywords, **outputs[1], "engine": "disk", "work": str(folder / "work")}, expected


def written(folder):
    return {path.name: path.read_bytes() for path in (folder / "out").iterdir()}


def finish(folder, keywords, expected):
    """Run to the end; compare what there is then."""
    assert run(0, keywords) is not None
    assert written(folder) == expected
    assert not (folder / "work").exists()


def ended_again_and_again(folder, keywords, expected, fewest, times):
    """Kill one run so often, further on each time; what is written is whole, and so is the end."""
    events = run(0, keywords)[0]
    assert events > fewest
    for path in (folder / "out").iterdir():
        path.unlink()
    for event in range(10, events, events // times):
        if run(event, keywords) is not None:  # the rest was shorter than that
            break
        whole = {k: v for k, v in written(folder).items() if not k.startswith(".")}
        assert whole.items() <= expected.items()
    finish(folder, keywords, expected)
