"""The table of cases: what is timed beside what, in one process and in turns.

    python -m bench NAME [--quick] [--repeats N] [--redis ADDRESS]

Each case has rows. For each row, `setup` makes the sides: a call for each, and how many units it
works on. All sides take turns in every round; the ratios are of times per unit within a round. A
setup asserts that the sides give equal answers where they should. Libraries that are not installed
are left out.
"""

from argparse import Namespace
from collections.abc import Callable, Sequence
from time import perf_counter, process_time
from typing import Any, NamedTuple

from bench import processes, records, sides
from bench.sides import Sides
from bench.timing import Clock, interleave, ratio, summary
from fastlsh import _kernels


class Case(NamedTuple):
    """A line of the table."""

    name: str
    setup: Callable[[Any, Namespace], Sides]
    """Makes the sides of a row: with which size or name, and the options."""
    rows: Sequence[Any]
    label: str
    """What a row is called, with its size or name in it."""
    unit: str
    beside: tuple[str, ...] = ("fastlsh", "fastlsh, fss")
    """The sides of whose time all others are a multiple."""
    clock: Clock = perf_counter
    every_set: bool = False
    """Whether each instruction set has rows of its own."""


CASES = {
    case.name: case
    for case in (
        Case("characters", sides.characters, (50, 150, 500, 1_500, 5_000, 15_000, 50_000),
             "documents of {:,} characters", "M characters"),
        Case("words", sides.words, (1, 3, 5), "shingles of {} words", "M characters"),
        Case("hashes", sides.hashes, (50, 500, 5_000, 50_000), "{:,} hashes per document",
             "M hashes"),
        Case("pure_python", sides.pure_python, (400,), "{} documents", "M characters",
             clock=process_time),
        Case("bare_loop", sides.bare_loop, (50, 1_100, 12_000), "{:,} characters", "M hashes",
             beside=("bare loop",), every_set=True),
        Case("forms", sides.forms, (1_100,), "documents of {:,} characters", "M characters",
             beside=("ASCII",)),
        Case("threads", sides.threads, (1_100,), "documents of {:,} characters", "M characters",
             beside=("one thread",)),
        Case("index", sides.index, (50_000,), "{:,} signatures inserted and queried",
             "k signatures", beside=("fastlsh",)),
        Case("opening", sides.opening, (1_000_000,), "index files of up to {:,} documents",
             "openings", beside=("small",)),
        Case("dropin", sides.dropin, sides.DROPIN, "{}", "k items", beside=("fastlsh",),
             clock=process_time),
        Case("dropin_redis", sides.dropin_redis, ("insert", "query"), "{}", "k keys",
             beside=("fastlsh",)),
    )
}  # fmt: skip


def measured(name: str, quick: bool, count: int, redis: str | None) -> dict[str, Any]:
    """Time all rows of a case in this process."""
    case = CASES[name]
    options = Namespace(quick=quick, redis=redis)
    results: dict[str, Any] = {}
    few = quick and isinstance(case.rows[0], int)
    for row in case.rows[:2] if few else case.rows:
        made = case.setup(row, options)
        calls = {side: each.call for side, each in made.items()}
        times = interleave(calls, count, case.clock)
        per_unit = {side: [t / made[side].units for t in found] for side, found in times.items()}
        results[case.label.format(row)] = {
            side: {
                f"{case.unit}/s": summary(1 / t for t in found),
                **{
                    f"time / {us}": ratio(found, per_unit[us])
                    for us in case.beside
                    if us != side and us in made
                },
            }
            for side, found in per_unit.items()
        }
        print(f"{name}, {case.label.format(row)}: done", flush=True)
    return results


def main(name: str, arguments: Sequence[str]) -> None:
    """Measure one case and write results/NAME.json."""
    parser = records.parser(__doc__)
    parser.add_argument("--redis", metavar="ADDRESS", help="redis://HOST:PORT, of a server to fill")
    options = parser.parse_args(arguments)
    run = (name, options.quick, records.rounds(options), options.redis)
    results: dict[str, Any] = {}
    if CASES[name].every_set:
        for isa in _kernels.instruction_sets():
            found = processes.call(measured, *run, environment={"FASTLSH_ISA": isa})
            results |= {f"{isa}, {row}": values for row, values in found.items()}
    else:
        results = measured(*run)
    records.write(name, options, results)
