"""The sections on speed and memory."""

from collections.abc import Iterator
from typing import Any

from bench.common.timing import number, spread
from bench.report.records import Records, is_ours, medians, named, results, table

INPUTS = {
    "raw texts, characters": ("documents of", "characters"),
    "raw texts, words": ("words per shingle:", ""),
    "ready hashes": ("hashes per document:", ""),
}
OF_LIMIT = {
    "ready hashes": "from_hashes / limit",
    "raw texts": "raw text / limit",
    "raw texts, fss": "raw text, fss / limit",
}


def throughput(records: Records, part: str) -> Iterator[str]:
    """Yield the speeds of all contenders for one kind of input, and the ratios to ours."""
    found = results(records, "throughput", part)
    if not found:
        return
    versions = records["throughput"]["versions"]
    sizes = list(found)
    before, after = INPUTS[part]
    unit = next(key for key in next(iter(found[sizes[0]].values())) if key.startswith("M "))
    yield from table(
        [unit, *(f"{before} {size} {after}".strip() for size in sizes)],
        ([named(name, versions), *(speed_cell(found[s].get(name), unit) for s in sizes)]
         for name in found[sizes[0]]),
    )  # fmt: skip


def speed_cell(found: dict[str, Any] | None, unit: str) -> str:
    """Return the speed, and the time as multiples of those of our schemes."""
    if found is None:
        return ""
    ratios = [f"{number(v['median'])}x" for key, v in found.items() if key.startswith("time / ")]
    cell = number(found[unit]["median"])
    return f"{cell} ({', '.join(ratios)})" if ratios else cell


def losses(records: Records) -> Iterator[str]:
    """Yield every measured case in which another library takes less time than fastlsh."""
    lines = []
    for part, sizes in results(records, "throughput").items():
        before, after = INPUTS[part]
        for size, found in sizes.items():
            for name, values in found.items():
                lines += [
                    f"* {part}, {before} {size} {after}".rstrip() + f": {name} takes "
                    f"{spread(ratio)} of the time of {key.removeprefix('time / ')}."
                    for key, ratio in values.items()
                    if key.startswith("time / ") and not is_ours(name) and ratio["median"] < 1
                ]
    for name in ("peers", "peers-file"):
        for other, values in results(records, name, "all pairs", "speed").items():
            ratio = values["time / fastlsh"]
            if not is_ours(other) and ratio["median"] < 1:
                lines.append(f"* all pairs: {other} takes {spread(ratio)} of our time.")
    yield from lines or ["* None among the measured ones."]
    yield ""


def limit(records: Records) -> Iterator[str]:
    """Yield the kernels against the bare loop, per instruction set and per length."""
    sets = results(records, "kernels", "instruction sets, 1,100 characters")
    lengths = results(records, "kernels", "limit")
    if not sets:
        return
    shown = {f"{name}, 1,100 characters": found for name, found in sets.items()}
    isa = records["kernels"]["machine"]["instruction_set"]
    shown |= {f"{isa}, {name}": found for name, found in lengths.items()}
    yield from table(
        ["time / the limit's", "the limit, M hashes/s", *OF_LIMIT, "raw texts, M characters/s"],
        ([name, number(1e3 / found["limit, ns per hash"]["median"]),
          *(spread(found[key]) if key in found else "" for key in OF_LIMIT.values()),
          number(found["raw text, M characters/s"]["median"])]
         for name, found in shown.items()),
    )  # fmt: skip


def other(records: Records, name: str, heading: str) -> Iterator[str]:
    """Yield a section with all numbers of a benchmark as they are, a table for each part of it."""
    found = results(records, name)
    if found:
        yield f"## {heading}"
        yield ""
        parts = {
            key: of for key, of in found.items() if isinstance(of, dict) and "median" not in of
        }
        plain = {key: value for key, value in found.items() if key not in parts}
        for title, part in {"": plain, **parts}.items():
            if part:
                yield from [f"**{title}**", ""] if title else []
                yield from table(["", "median (range)"], map(list, medians(part)))
