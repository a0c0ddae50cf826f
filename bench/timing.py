"""Fair timing: everything in turns, ratios within a round, medians with their range."""

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping
from time import perf_counter
from typing import Any

Clock = Callable[[], float]


def alternating(names: Iterable[str], count: int) -> Iterator[str]:
    """Yield all names once a round, every second round backwards.

    What disturbs the machine, or changes it slowly, then disturbs all alike.
    """
    ordered = list(names)
    for number in range(count):
        yield from ordered if number % 2 == 0 else reversed(ordered)


def interleave(
    work: Mapping[str, Callable[[], Any]], count: int, clock: Clock = perf_counter
) -> dict[str, list[float]]:
    """Time each function once a round, after a warm-up; seconds by name.

    Ratios are taken within a round. `clock` may be `time.process_time` where all sides use one
    thread.
    """
    times: dict[str, list[float]] = {name: [] for name in work}
    for function in work.values():
        function()
    for name in alternating(work, count):
        times[name].append(seconds(work[name], clock=clock))
    return times


def seconds(work: Callable[[], Any], calls: int = 1, clock: Clock = perf_counter) -> float:
    """Return the time of so many calls."""
    start = clock()
    for _ in range(calls):
        work()
    return clock() - start


def calls_that_last(work: Callable[[], Any], least: float, clock: Clock = perf_counter) -> int:
    """Return how many calls take at least so many seconds."""
    calls = 1
    while (taken := seconds(work, calls, clock)) < least:
        calls *= 2 if taken < least / 8 else 1 + int(least / taken)
    return calls


def summary(values: Iterable[float]) -> dict[str, Any]:
    """Return median, least, greatest and count."""
    numbers = list(values)
    return {
        "median": significant(statistics.median(numbers)),
        "min": significant(min(numbers)),
        "max": significant(max(numbers)),
        "runs": len(numbers),
    }


def ratio(above: Iterable[float], below: Iterable[float], factor: float = 1.0) -> dict[str, Any]:
    """Return the summary of the ratios within each round, times `factor`."""
    return summary(factor * a / b for a, b in zip(above, below, strict=True))


def significant(value: float) -> float:
    """Round to four significant digits."""
    return float(f"{value:.4g}")


def spread(value: Mapping[str, Any], unit: str = "") -> str:
    """Return the median and the range of a summary as text."""
    return f"{number(value['median'])}{unit} ({number(value['min'])} to {number(value['max'])})"


def number(value: float) -> str:
    """Return a number with two or three digits that say something."""
    return f"{value:,.0f}" if abs(value) >= 20 else f"{value:.3g}"
