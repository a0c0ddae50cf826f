"""What a result depends on besides the code: machine, compiler, versions, commit."""

import contextlib
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import fastlsh
from bench import ROOT
from bench.common.children import processors
from fastlsh import _kernels

PACKAGES = (
    "numpy", "pyarrow", "datasketch", "rensa", "gaoya", "fastsketchlsh", "scipy", "datatrove",
    "spacy",
)  # fmt: skip


def commit() -> str:
    """Return the commit of the source tree, with a + if the package was changed since."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(ROOT), *words]
        if shutil.which("git") is None:
            return ""
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    changed = git("status", "--porcelain", "--", "src", "setup.py")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + ("+" if changed else "")


def load() -> float | None:
    """Return the load; near the number of cores or above it makes the spreads wide."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def machine() -> dict[str, Any]:
    """Return what a reader has to know of the machine."""
    return {
        "cpu": cpu_model(),
        "cores": cores(),
        "instruction_set": _kernels.isa,
        "system": f"{platform.system()} {platform.machine()}",
        "compiler": kernels_compiler(),
    }


def cpu_model() -> str:
    """Return the processor's name."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def cores() -> int:
    """Return how many processors this process may use."""
    return len(processors())


def kernels_compiler() -> str | None:
    """Return the compiler of the kernels as "gcc 12.2.0", read from the built module itself."""
    built = (
        path
        for name, module in sys.modules.items()
        if name.startswith("fastlsh._kernels.") and name.endswith(f"._{_kernels.isa}")
        if (path := getattr(module, "__file__", None))
    )
    path = next(built, None)
    found = re.search(rb"GCC: \([^)]*\) ([0-9.]+)", Path(path).read_bytes() if path else b"")
    if not found:
        return None
    return f"gcc {found[1].decode()}"


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that are installed."""
    found = {"python": platform.python_version(), "fastlsh": fastlsh.__version__}
    for name in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[name] = importlib.metadata.version(name)
    return found
