"""How much memory this process has and has had."""

import sys
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak() -> int:
    """Return the most bytes that this process has had in memory at a time."""
    if STATUS.exists():  # getrusage counts what the parent had before exec
        return field("VmHWM")
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def resident() -> int:
    """Return the bytes of this process that are in memory now (Linux)."""
    return field("VmRSS")


def field(name: str) -> int:
    """Return a size from the status that Linux keeps of this process, in bytes."""
    for line in STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise OSError(f"{STATUS} has no {name}")
