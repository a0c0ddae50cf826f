"""The numbers that the sources of docs/systems print, and which function computes each of them.

``tests/systems/numbers.tsv`` has one number per line: system, section of the source, quantity, and
value as JSON. Where the source prints another value by mistake, a fifth column holds that value.
The module of a page in ``tests/systems`` computes the numbers of its system.
``python tests/source_numbers.py`` prints every number beside the computed one, and what is left
out, with the reason.
"""

import csv
import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

SYSTEMS = Path(__file__).parent / "systems"


class UnavailableError(Exception):
    """A number cannot be computed here; the message says why."""


class Number(NamedTuple):
    """One number of a source."""

    system: str
    section: str
    quantity: str
    value: str
    mistake: str = ""  # the value that the source prints, if it is wrong


def table() -> list[Number]:
    """Return all numbers, in the order of the table."""
    with open(SYSTEMS / "numbers.tsv", encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines, "excel-tab", quoting=csv.QUOTE_NONE)
        next(rows)
        return [Number(*row) for row in rows]


def computations() -> dict[str, dict[str, Callable[[], Any]]]:
    """Return how each quantity of each system is computed."""
    found = {}
    for path in sorted(SYSTEMS.glob("[!_]*.py")):
        if not path.name.startswith("test_"):
            names = runpy.run_path(str(path))
            found[names["SYSTEM"]] = names["COMPUTATIONS"]
    return found


def check(number: Number, computations: dict[str, Callable[[], Any]]) -> Any:
    """Compute a number, and compare it with the source's, to the digits that the source prints."""
    assert number.quantity in computations, f"nothing computes {number}"
    computed = json.loads(json.dumps(computations[number.quantity]()))
    rounded = _rounded(computed, json.loads(number.value, parse_float=str))
    assert rounded == json.loads(number.value), f"{number}: computed {computed}"
    if number.mistake:
        assert rounded != json.loads(number.mistake), f"{number}: the source is right"
    return computed


def _rounded(computed: Any, printed: Any) -> Any:
    if isinstance(printed, list):
        assert isinstance(computed, list)
        assert len(computed) == len(printed)
        return [_rounded(*each) for each in zip(computed, printed, strict=True)]
    if isinstance(computed, float) and isinstance(printed, str):
        return round(computed, len(printed.partition(".")[2]))
    return computed


def main() -> None:
    """Print the table, in its order."""
    # The modules of the pages import this one by its name.
    sys.modules.setdefault("source_numbers", sys.modules[__name__])
    compute = computations()
    print(*Number._fields, "computed", sep="\t")
    for number in table():
        try:
            computed = check(number, compute[number.system])
        except UnavailableError as reason:
            computed = f"left out: {reason}"
        print(*number, computed, sep="\t")


if __name__ == "__main__":
    main()
