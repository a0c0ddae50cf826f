"""How much memory this process may still take."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath

_GROUPS = Path("/sys/fs/cgroup")
_PROCESS = Path("/proc/self")


def free_memory() -> int:
    """Return the bytes that this process may still take.

    The least of what is available on the machine, in each control group that the process belongs
    to (of a container, or of a job of Slurm), and within its own limits (``ulimit -v``).
    """
    return max(min([_machine(), *_control_groups(), *_limits()]), 0)


def _machine() -> int:
    with suppress(OSError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    # Not Linux: half of all memory.
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return 4 << 30


def _control_groups() -> Iterator[int]:
    """Yield what each control group above this process leaves free, in both versions of Linux."""
    for folder in _folders():
        for limit, usage in (
            ("memory.max", "memory.current"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ):
            with suppress(OSError, ValueError):  # ValueError: "max" is no limit
                allowed, used = (int((folder / name).read_text()) for name in (limit, usage))
                yield allowed - used + _cache(folder / "memory.stat")


def _folders() -> Iterator[Path]:
    """Yield the folders of the groups that count memory, up to the root, which a container has."""
    with suppress(OSError):
        for line in (_PROCESS / "cgroup").read_text().splitlines():
            _, controllers, group = line.split(":", 2)
            if controllers in ("", "memory"):
                inside = PurePosixPath(group.lstrip("/"))
                for each in (inside, *inside.parents):
                    yield _GROUPS / controllers / each


def _cache(statistics: Path) -> int:
    """Return the bytes of files that the kernel would give up."""
    try:
        values = dict(line.split() for line in statistics.read_text().splitlines())
    except (OSError, ValueError):
        return 0
    names = ("total_inactive_file", "inactive_file")
    return next((int(values[name]) for name in names if name in values), 0)


def _limits() -> Iterator[int]:
    """Yield what the limit of the address space leaves free."""
    try:
        import resource
    except ImportError:  # Windows
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        with suppress(OSError):
            pages = int((_PROCESS / "statm").read_text().split()[0])
            yield limit - pages * resource.getpagesize()
