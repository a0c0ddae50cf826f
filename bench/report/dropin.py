"""The table of the drop-ins: every public call beside that of datasketch or lsh."""

import statistics
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from bench.common.timing import number
from bench.report.records import Records, results, table

RATIO = "fastlsh / original"


def by_class(records: Records) -> Iterator[str]:
    """Yield the range of the times of the calls of each class, and the calls over the limit."""
    found = results(records, "dropin")
    if not found:
        return
    ratios: dict[str, list[float]] = defaultdict(list)
    calls: dict[str, set[str]] = defaultdict(set)
    for name, of_sizes in found["calls"].items():
        call = name.partition(":")[0]
        kind, _, method = call.partition(".")
        group = f"`{kind}`" if method else "functions"
        calls[group].add(call)
        ratios[group] += [of_size[RATIO] for of_size in of_sizes.values()]
    slow: list[Any] = found["slower than allowed"]
    yield "The time of every public call, as a share of the original's, with several numbers of"
    yield "keys or elements, and with each kind of arguments. Allowed are 1.1, or 0.3 microseconds"
    yield "more for a call of less than a microsecond."
    yield ""
    yield from table(
        ["", "calls", "least", "median", "greatest"],
        (
            [group, str(len(calls[group])), number(min(one)), number(statistics.median(one)),
             number(max(one))]
            for group, one in ratios.items()
        ),
    )  # fmt: skip
    yield f"Over the limit: {', '.join(slow) or 'no call'}."
    yield ""
