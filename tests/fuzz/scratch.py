"""A folder for the files of a target, in memory where there is one."""

import atexit
import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")


def folder():
    """Return a new folder that is removed at exit."""
    made = tempfile.mkdtemp(prefix="fastlsh-fuzz-", dir=MEMORY if MEMORY.is_dir() else None)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)
