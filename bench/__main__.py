"""Runs one benchmark: python -m bench NAME [OPTION ...]; --help says which options it has.

Each writes bench/results/NAME.json, of which `python -m bench report` makes the tables. With
--quick everything is small, and nothing is kept unless --results or --out says where.
"""

import importlib
import sys
from collections.abc import Callable, Sequence

from bench.cases import CASES, main

PROGRAMS = {
    "peers": "peers", "accuracy": "accuracy", "decontamination": "decontamination",
    "disk": "growth:disk", "spans": "growth:spans", "jobs": "jobs", "width": "width",
    "instructions": "instructions", "paired": "paired", "report": "report",
}  # fmt: skip
"""The module of each program, and its function unless that is `main`."""
NAMES = (*CASES, *PROGRAMS)


def program(name: str) -> Callable[[Sequence[str]], None]:
    """Return what a name runs, with the rest of the arguments."""
    if name in CASES:
        return lambda arguments: main(name, arguments)
    module, _, function = PROGRAMS[name].partition(":")
    found: Callable[[Sequence[str]], None] = getattr(
        importlib.import_module(f"bench.{module}"), function or "main"
    )
    return found


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        sys.exit(f"{__doc__}\ncases: {', '.join(CASES)}\nprograms: {', '.join(PROGRAMS)}")
    program(sys.argv[1])(sys.argv[2:])
