"""Functions and commands in processes of their own, and the memory that these take.

Nothing of the caller is in such a process: not its memory, its caches or its settings; and the
interpreter may be that of another environment, with another fastlsh.
"""

import contextlib
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from time import perf_counter, sleep
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
    command = [*under, python, "-m", "bench.processes", name, json.dumps(arguments)]
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


def cores() -> int:
    """Return how many processors this process may use."""
    return len(processors())


# ---- memory


def peak() -> int:
    """Return the most bytes that this process has had in memory at a time."""
    if Path("/proc/self/status").exists():  # getrusage counts what the parent had before exec
        return held("self", "VmHWM")
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def held(process: int | str, field: str = "RssAnon") -> int:
    """Return a size from the status that Linux keeps of a process; 0 if it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in status.splitlines() if field in line)


# ---- commands

SAMPLED = 0.2
"""Seconds between two looks at memory and disk."""


def sampled(command: Sequence[str], look: Callable[[int], object]) -> dict[str, float]:
    """Run a command; return its times and the most memory that was seen.

    `look` is called now and then with the anonymous bytes that the process holds.
    """
    environment = {**os.environ}
    # Where Python writes no bytecode, each run would compile all of the package anew.
    if environment.pop("PYTHONDONTWRITEBYTECODE", None):
        environment.setdefault("PYTHONPYCACHEPREFIX", str(ROOT / "build" / "bytecode"))
    start = perf_counter()
    process = subprocess.Popen(command, env=environment)
    most = 0
    while True:
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
        if ended:
            break
        now = held(process.pid)
        most = max(most, now)
        look(now)
        sleep(SAMPLED)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with status {process.returncode}")
    return {
        "processor s": round(used.ru_utime + used.ru_stime, 2),
        "wall s": round(perf_counter() - start, 1),
        "anonymous MB": round(most / 1e6),
    }


def main() -> None:
    """Be the process that `run` starts: nothing but the result goes to stdout."""
    module, _, name = sys.argv[1].partition(":")
    with contextlib.redirect_stdout(sys.stderr):
        result = getattr(importlib.import_module(module), name)(*json.loads(sys.argv[2]))
    print(json.dumps(result))


if __name__ == "__main__":
    main()
