"""Every public call of datasketch and lsh beside that of the drop-in: processor time, one thread.

No call may take more than 1.1 times as long as the original's; a call of less than a microsecond,
no more than 0.3 microseconds longer. Both run in turns in this process. Their answers are
compared first. What a call takes depends on the number of keys of an index or elements of a set:
rows without a number do not. The exit status is 1 if a call takes longer than it may.
A library that is not installed is left out, with a warning. All calls take 10 minutes.
"""

import gc
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from time import process_time
from typing import Any

from bench import common
from bench.peers.calls import LSH_ROWS, ROWS, LSHWorld, Row, Work, World, plain

SIZES = (20, 1_000, 20_000)
LIBRARIES: tuple[tuple[str, Sequence[Row], Any], ...] = (
    ("datasketch", ROWS, World), ("lsh", LSH_ROWS, LSHWorld),
)  # fmt: skip
"""Each library with the rows of its calls and what they are made with."""
ANY = "any number"
"""Stands for the number of keys where it does not matter."""
RATIO, SHORT, MORE = 1.1, 1e-6, 0.3e-6
"""The allowed ratio; calls shorter than this number of seconds may take so much longer."""
LEAST, LONG = 0.004, 2.0
"""Seconds of a measurement; seconds after which a row has no more than three rounds."""


def prepared(work: Work) -> Callable[[], float]:
    """Return a function that measures the seconds of one call."""

    def once() -> float:
        if work.before:
            work.before()
        return common.seconds(work.run, 1, process_time)

    taken = once()
    runs = max(1, min(int(LEAST / max(taken, 1e-9)), 100_000))

    def measured() -> float:
        if work.before:
            total = sum(once() for _ in range(min(runs, 20)))
            return total / min(runs, 20) / work.calls
        return common.seconds(work.run, runs, process_time) / runs / work.calls

    return measured


def compare(row: Row, worlds: Sequence[Any], count: int) -> dict[str, Any]:
    """Time a row with both libraries."""
    works: list[Work] = []
    answers = []
    for world in worlds:
        work = row.make(world)
        if work.before:
            work.before()
        answers.append(plain(work.run()))
        works.append(work)
    assert answers[0] == answers[1], f"{row.name}: {answers[0]!r:.300} != {answers[1]!r:.300}"
    del answers
    gc.collect()
    sides = [prepared(work) for work in works]
    found = summary(rounds_of(sides, count))
    # One disturbance must not decide: what seems slow is measured again, more often.
    return found if found["within"] else summary(rounds_of(sides, 3 * count))


def rounds_of(sides: Sequence[Callable[[], float]], count: int) -> list[list[float]]:
    """Return the seconds of a call on either side, in some rounds."""
    pairs = []
    start = process_time()
    gc.disable()  # as timeit does: it would hit either side by chance
    for number in range(count):
        seconds = [0.0, 0.0]
        for side in (0, 1) if number % 2 == 0 else (1, 0):
            seconds[side] = sides[side]()
        pairs.append(seconds)
        if number >= 2 and process_time() - start > LONG:
            break
    gc.enable()
    return pairs


def summary(pairs: list[list[float]]) -> dict[str, Any]:
    """Return the medians of some rounds, and whether they are within the limits."""
    ratio = statistics.median(ours / theirs for theirs, ours in pairs)
    more = statistics.median(ours - theirs for theirs, ours in pairs)
    theirs, ours = (statistics.median(pair[side] for pair in pairs) for side in (0, 1))
    return {
        "original us": common.significant(1e6 * theirs),
        "fastlsh us": common.significant(1e6 * ours),
        "fastlsh / original": common.significant(ratio),
        "within": ratio <= RATIO or (theirs < SHORT and more <= MORE),
    }


def chosen(only: Sequence[str], rows: Sequence[Row], first: bool) -> Iterator[Row]:
    """Yield the rows to time with a size; the first size has the rows that do not depend on it."""
    for row in rows:
        if (row.sized or first) and (not only or any(word in row.name for word in only)):
            yield row


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/dropin.json."""
    parser = common.parser(__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="rows whose names contain a word")
    parser.add_argument("--sizes", nargs="*", type=int, help=f"numbers of keys (default {SIZES})")
    options = parser.parse_args(arguments)
    count = common.rounds(options)
    sizes = options.sizes or (SIZES[:1] if options.quick else SIZES)
    rows: dict[str, Any] = {}
    slow: list[str] = []
    for name, its_rows, world in LIBRARIES:
        try:
            libraries = [import_module(name), import_module(f"fastlsh.compat.{name}")]
        except ImportError as error:
            print(f"warning: without {name}: {error}", file=sys.stderr)
            continue
        for size in sizes:
            for row in chosen(options.only, its_rows, size == sizes[0]):
                # New objects for each row: no call finds what another has left behind.
                found = compare(row, [world(library, size) for library in libraries], count)
                label = f"{size:,} keys" if row.sized else ANY
                if not found.pop("within"):
                    slow.append(f"{row.name}, {label}")
                rows.setdefault(row.name, {})[label] = found
                print(f"{row.name}, {label}: {found}", file=sys.stderr, flush=True)
    common.write("dropin", options, {"slower than allowed": slow, "calls": rows})
    if slow and not options.quick:
        raise SystemExit(1)
