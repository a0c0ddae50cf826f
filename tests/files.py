"""What the tests of files share."""

import json
from pathlib import Path

import pytest

from fastlsh.io import (
    InputError,
    ReadOptions,
    RunPaths,
    check_outputs,
    expand,
    plan_outputs,
    read,
)


def put(name, data):
    with open(name, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return name


def get(name):
    with open(name, "rb") as file:
        return file.read()


def put_rows(name, *rows):
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return name


def check_rows_output(inputs, output, *, recursive=False, convert=None):
    """Check that rows of the inputs can be written, as a run does; return the planned outputs."""
    sources = expand(inputs, recursive=recursive, mixed=True)
    plan = plan_outputs(sources, output, convert)
    run_paths = RunPaths(ReadOptions(recursive=recursive))
    run_paths.reads(None, inputs, sources)
    run_paths.writes("output", [each.path for each in plan])
    run_paths.check()
    check_outputs(plan, sources, output)
    return plan


def refusal(*args, **keywords):
    with pytest.raises(InputError) as caught:
        read(*args, **keywords)
    text = str(caught.value)
    assert text.isprintable()
    return text
