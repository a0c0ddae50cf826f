"""What a collection of a given size needs, by the arithmetic of the measurements on disk."""

from collections.abc import Iterator

from bench.report.records import Records, results, table

SIZES = (1_000_000, 10_000_000, 100_000_000, 500_000_000, 1_000_000_000)


def needs(records: Records) -> Iterator[str]:
    """Yield time, memory and work directory by the number of documents, and how they follow."""
    runs, stages = results(records, "disk"), results(records, "keys-memory")
    if not runs or not stages:
        return
    *_, largest = (name for name in runs["growth"] if name != "slope")
    disk, count = runs["growth"][largest], int(largest.replace(",", ""))
    ((name, memory),) = (
        (name.removeprefix("same answer, "), found["memory"])
        for name, found in runs.items()
        if name.startswith("same answer, ")
    )
    linked = stages["stages"]["linking"]["anonymous MB"]
    each = {
        "memory": memory["anonymous MB"] * 1e6 / int(name.replace(",", "")),
        "linking": linked * 1e6 / stages["documents"],
        "work": disk["work bytes / document"],
        "processor": disk["processor s"] / count,
        "wall": disk["wall s"] / count,
    }
    yield from table(
        ["measured on two cores", "documents of 1 KB", "result", "per document"],
        [
            ["a whole run in memory, its memory with the texts", name,
             f"{memory['anonymous MB']:,} MB", f"{each['memory'] / 1e3:.1f} KB"],
            ["a run on disk, wall time", largest,
             f"{disk['wall s']:.0f} s", f"{each['wall'] * 1e6:.1f} µs"],
            ["a run on disk, processor time", largest,
             f"{disk['processor s']:.0f} s", f"{each['processor'] * 1e6:.1f} µs"],
            ["a run on disk, most memory with `--memory 1G`", largest,
             f"{disk['anonymous MB']:,} MB", ""],
            ["a run on disk, work directory", largest,
             f"{disk['work MB'] / 1e3:.1f} GB", f"{each['work']} bytes"],
            ["linking alone, without texts, most memory", f"{stages['documents']:,}",
             f"{linked:,} MB", f"{each['linking']:.1f} bytes"],
        ],
    )  # fmt: skip
    yield "So, by multiplication:"
    yield ""
    yield from table(
        ["documents of 1 KB", "in memory", "on disk: memory", "work directory",
         "processor time", "wall time, two cores"],
        (
            [f"{n:,}", size(n * each["memory"]),
             size(max(n * each["linking"], disk["anonymous MB"] * 1e6)), size(n * each["work"]),
             duration(n * each["processor"]), duration(n * each["wall"])]
            for n in SIZES
        ),
    )  # fmt: skip


def size(count: float) -> str:
    """Return a number of bytes in GB."""
    return f"{count / 1e9:,.1f} GB" if count < 1e10 else f"{count / 1e9:,.0f} GB"


def duration(seconds: float) -> str:
    """Return a time in its usual unit."""
    for unit, name in ((3600, "hours"), (60, "minutes")):
        if seconds >= 1.5 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.0f} seconds"
