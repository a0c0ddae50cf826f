"""The numbers that the sources of docs/systems print, and which function computes each of them.

``tests/systems/numbers.tsv`` has one number per line: system, section of the source, quantity, and
value as JSON. Where the source prints another value by mistake, a fifth column holds that value.
``python tests/source_numbers.py`` prints every number beside the computed one.
"""

import csv
import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

SYSTEMS = Path(__file__).parent / "systems"


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


def numbers(system: str) -> list[Number]:
    """Return the numbers of one system, in the order of the table."""
    return [number for number in table() if number.system == system]


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
    computations = {}
    for path in SYSTEMS.glob("test_*.py"):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        computations[module.SYSTEM] = module.COMPUTATIONS
    print(*Number._fields, "computed", sep="\t")
    for number in table():
        print(*number, check(number, computations[number.system]), sep="\t")


if __name__ == "__main__":
    main()
