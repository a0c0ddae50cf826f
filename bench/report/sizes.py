"""What a collection of a given size needs, by the arithmetic of the measurements on disk."""

from collections.abc import Iterator

from bench.report.records import Records, results, table

JOB = "jsonl, disk, affine32"
"""The job whose times are multiplied."""

SIZES = (1_000_000, 10_000_000, 100_000_000, 500_000_000, 1_000_000_000)


def needs(records: Records) -> Iterator[str]:
    """Yield time, memory and work directory by the number of documents, and how they follow."""
    runs, stages = results(records, "disk"), results(records, "keys-memory")
    if not runs or not stages or not results(records, "jobs"):
        return
    times = _times(records)
    *_, largest = (name for name in runs["growth"] if name != "slope")
    disk = runs["growth"][largest]
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
    }
    yield from table(
        ["measured on two cores", "documents of 1 KB", "result", "per document"],
        [
            ["a whole run in memory, its memory with the texts", name,
             f"{memory['anonymous MB']:,} MB", f"{each['memory'] / 1e3:.1f} KB"],
            ["a run on disk, most memory with `--memory 1G`", largest,
             f"{disk['anonymous MB']:,} MB", ""],
            ["a run on disk, work directory", largest,
             f"{disk['work MB'] / 1e3:.1f} GB", f"{each['work']} bytes"],
            ["linking alone, without texts, most memory", f"{stages['documents']:,}",
             f"{linked:,} MB", f"{each['linking']:.1f} bytes"],
        ],
    )  # fmt: skip
    yield f"So, by multiplication, with the times of `{JOB}` of [what a run costs](cost.md):"
    yield ""
    yield from table(
        ["documents of 1 KB", "in memory", "on disk: memory", "work directory",
         "processor time", "wall time, two cores"],
        (
            [f"{n:,}", size(n * each["memory"]),
             size(max(n * each["linking"], disk["anonymous MB"] * 1e6)), size(n * each["work"]),
             *(duration(n * time) for time in times)]
            for n in SIZES
        ),
    )  # fmt: skip


def example(records: Records) -> Iterator[str]:
    """Yield what 500 GB of JSON lines need."""
    jobs, stages = results(records, "jobs"), results(records, "keys-memory")
    if not jobs or not stages:
        return
    row = jobs["bytes"]["jsonl"] / jobs["documents"]
    count = 500e9 / row
    linking = stages["stages"]["linking"]["anonymous MB"] * 1e6 / stages["documents"]
    by = f"{count / 1e6:.0f} million ×"
    processor, wall = (duration(count * time) for time in _times(records))
    yield from table(
        ["quantity", "arithmetic", "result"],
        [
            ["documents", f"500 GB / {row / 1e3:.2f} KB", f"{count / 1e6:.0f} million"],
            ["processor time", f"{by} that of `{JOB}` in [what a run costs](cost.md)", processor],
            ["wall time, two cores", "the same", wall],
            ["keys in the work directory, until they are linked", f"{by} 144 bytes",
             size(count * 144)],
            ["texts in the work directory, after that", "500 GB × 18 % to 37 %", "90 to 185 GB"],
            ["memory", f"{by} {linking:.1f} bytes",
             f"{size(count * linking)}: give `--memory 8G`"],
            ["reading over a network of 1 Gbit/s, if the shards take 150 GB",
             "3 × 150 GB at 125 MB/s", "1 hour"],
        ],
    )  # fmt: skip


def _times(records: Records) -> tuple[float, float]:
    """Return the seconds of processors, and of two cores, for a document on disk."""
    jobs = results(records, "jobs")
    job = jobs["jobs"][f"{JOB}, now"]
    return job["processor s"] / jobs["documents"], job["wall s"] / jobs["documents"]


def size(count: float) -> str:
    """Return a number of bytes in GB."""
    return f"{count / 1e9:,.1f} GB" if count < 1e10 else f"{count / 1e9:,.0f} GB"


def duration(seconds: float) -> str:
    """Return a time in its usual unit."""
    for unit, name in ((3600, "hours"), (60, "minutes")):
        if seconds >= 1.5 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.0f} seconds"
