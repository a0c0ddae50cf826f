"""Runs a function in a process of its own, on one processor if need be.

Nothing of the caller is in that process: not its memory, its caches or its settings; and the
interpreter may be that of another environment, with another fastlsh.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from bench import ROOT


def call(function: Callable[..., Any], *arguments: Any, **how: Any) -> Any:
    """Return what a function of a module returns in a process of its own, by way of JSON.

    See `run` for `how`.
    """
    return json.loads(run(function, *arguments, **how).stdout)


def run(
    function: Callable[..., Any],
    *arguments: Any,
    python: str = sys.executable,
    environment: Mapping[str, str] | None = None,
    processor: int | None = None,
    under: Sequence[str] = (),
) -> subprocess.CompletedProcess[str]:
    """Call a function of a module in a process of its own and return the finished process.

    Parameters
    ----------
    function, arguments
        The arguments go there as JSON.
    python
        The interpreter.
    environment
        What is added to the environment.
    processor
        The only one that the process may use.
    under
        A command that runs the process, such as valgrind.
    """
    name = f"{function.__module__}:{function.__qualname__}"
    command = [*under, python, "-m", "bench.common.child", name, json.dumps(arguments)]
    with pinned(processor):
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **(environment or {})},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{name}{arguments} failed:\n{done.stderr.strip()[-2000:]}")
    return done


@contextlib.contextmanager
def pinned(processor: int | None) -> Iterator[None]:
    """Let what is started by this thread run on one processor, where the system can."""
    if processor is None or not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {processor})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def processors() -> list[int]:
    """Return the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))
