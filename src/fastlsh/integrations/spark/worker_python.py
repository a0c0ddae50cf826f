"""Whether the Python of the workers has fastlsh, where that can be asked."""

import subprocess
import sys
from functools import cache
from typing import Any


def check_workers(df: Any) -> None:
    """Raise ImportError if workers on this machine run a Python without fastlsh.

    They run ``PYSPARK_PYTHON``, or else the first ``python3`` of their ``PATH``, as the session was
    created. On a cluster, and over Spark Connect, this machine cannot tell.
    """
    try:
        context = df.sparkSession.sparkContext
        local, python = context.master.startswith("local"), context.pythonExec
    except Exception:  # Spark Connect has no context, and says so by an error of its own
        return
    if local and python != sys.executable and not _has_fastlsh(python):
        raise ImportError(
            f"the workers of Spark run {python}, which cannot import fastlsh: set"
            f" PYSPARK_PYTHON={sys.executable} before the session is created"
        )


@cache
def _has_fastlsh(python: str) -> bool:
    command = [python, "-c", "import fastlsh"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
