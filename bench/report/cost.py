"""What a run costs: measured jobs on files, in core-hours and dollars, and published figures."""

from collections.abc import Iterator, Mapping
from typing import Any

from bench.report.records import Records, results, table

TEXTS = {"jobs": "generated documents", "jobs-file": "real documents"}

DOLLARS = (0.045, 0.09)
"""What an hour of one core costs, in dollars: low and high prices of cloud providers."""

PUBLISHED = (
    ("NeMo Curator, NVIDIA H100", "488 GB a GPU-hour", "24",
     "8 TB in 2.05 hours on eight GPUs, 190 dollars"),
    ("the same on processors, by its makers", "", "39", "the same 8 TB for 315 dollars"),
    ("distributed-curator on Spark, 2,016 processors", "0.28 M documents a vCPU-hour", "",
     "2.5 billion web pages in 4.5 hours for 620 dollars; 64 functions, threshold 0.9"),
    ("fastdedup, exact", "305 M documents a core-hour", "",
     "14.8 million documents, 29 GB of Parquet, in 175 s; equal documents only, by hash"),
    ("fastdedup, fuzzy", "4.4 M documents a core-hour", "",
     "14.9 million documents in 36 minutes 44 s on about 5.5 cores"),
    ("datatrove, MinHash signatures", "2.8 to 3.3 GB a task-hour", "",
     "4 TB in 71 minutes with 1,200 tasks, 8 TB in 61 with 2,400; signatures only"),
)  # fmt: skip
"""System, its rate, dollars for a TB, and how its work differs."""


def cost(records: Records) -> Iterator[str]:
    """Yield what a core-hour does, what a TB costs, and what others have published."""
    measured = _measured(records)
    if not measured:
        return
    for name in measured:
        yield from _costs(records, name)
    yield "| published elsewhere | rate | dollars for 1 TB | how the work differs |"
    yield "| --- | --- | ---: | --- |"
    yield from (f"| {' | '.join(row)} |" for row in PUBLISHED)
    yield ""


def _measured(records: Records) -> list[str]:
    return [name for name in ("jobs", "jobs-file") if results(records, name)]


def _costs(records: Records, benchmark: str) -> Iterator[str]:
    found = results(records, benchmark)
    sizes = found["bytes"]
    runs = max(len(taken) for taken in found["runs"].values())
    yield (
        f"{found['documents']:,} {TEXTS[benchmark]}: {sizes['jsonl'] / 1e9:.2f} GB of JSON lines,"
        f" or {sizes['parquet'] / 1e9:.2f} GB of Parquet with Snappy. Medians of {runs} runs with"
        f" {found['threads']} threads; {records[benchmark]['machine']['cpu']},"
        f" commit {records[benchmark]['commit']}."
    )
    yield ""
    yield from table(
        ["job", "processor s", "wall s", "memory", "GB a core-hour", "M documents a core-hour",
         "dollars for 1 TB"],
        (_row(name, job, found) for name, job in found["jobs"].items() if _is_file_job(name)),
    )  # fmt: skip


def beyond(records: Records) -> Iterator[str]:
    """Yield the processor time beyond the signatures, beside a validation of the same lines."""
    for name in _measured(records):
        yield from _beyond(results(records, name), TEXTS[name])


def _beyond(found: Mapping[str, Any], texts: str) -> Iterator[str]:
    jobs = found["jobs"]
    lines = jobs["msgspec, lines validated"]["processor s"]
    rows = []
    for name, job in jobs.items():
        kind, engine, search, when = [*name.split(", "), "", "", ""][:4]
        signatures = jobs.get(f"signatures, {search}")
        if when == "now" and signatures:
            rest = job["processor s"] - signatures["processor s"]
            before = jobs.get(name.removesuffix("now") + "before", {}).get("processor s")
            rows.append([f"{kind}, {engine}, {search}", f"{before:.1f}" if before else "",
                         f"{job['processor s']:.1f}", f"{signatures['processor s']:.1f}",
                         f"{rest:.1f}", f"{rest / lines:.1f}",
                         f"{job['processor s'] / job['wall s']:.2f}"])  # fmt: skip
    yield f"{found['documents']:,} {texts}:"
    yield ""
    yield from table(
        ["job", "before, s", "now, s", "of these, signatures", "all else", "all else / msgspec",
         "processor / wall time"],
        rows,
    )  # fmt: skip
    equal = jobs["equal texts of a list"]["processor s"]
    python = jobs["equal texts of a list, Python's set"]["processor s"]
    n = found["documents of a list"]
    yield (
        f"msgspec validates the same lines in {lines:.1f} s. Equal texts of a list:"
        f" {n / equal:,.0f} documents/s on one core; a set of Python's strings"
        f" takes {n / python:,.0f} documents/s."
    )
    yield ""


def width(records: Records) -> Iterator[str]:
    """Yield how far a run widens, by a replay of its pieces, and what its threads wait for."""
    found = results(records, "width")
    if not found:
        return
    jobs = {name: job for name, job in found.items() if isinstance(job, dict)}
    widths = list(next(iter(jobs.values()))["replayed s"])
    yield (
        f"{found['documents']:,} documents in {found['shards']} files, affine32, to a directory;"
        f" {records['width']['machine']['cpu']}, commit {records['width']['commit']}."
    )
    yield ""
    yield from table(
        ["job", *(f"{n} thread{'s' * (n != '1')}, s" for n in widths), "replay / measured, 1 and 2",
         "lock held, s", "one thread alone of two"],
        ([name, *(f"{time:.2f}" for time in job["replayed s"].values()),
          " and ".join(f"{ratio:.2f}" for ratio in job["replayed / measured"].values()),
          f"{job['lock held, s']:.2f}" if "lock held, s" in job else "not measured",
          f"{100 * job['one thread alone']:.0f} %"]
         for name, job in jobs.items()),
    )  # fmt: skip


def spans(records: Records) -> Iterator[str]:
    """Yield how the removal of repeated passages grows, by unit and by share of repeated text."""
    rows = []
    for name, unit in (("spans-char", "500 characters"), ("spans-word", "100 words")):
        for text, found in (results(records, name) or {}).items():
            sizes = [size for name, size in found.items() if name.endswith(" shards")]
            last = sizes[-1] if sizes else found
            real, _, length = text.partition(", L = ")
            rows.append([
                f"{length} characters" if length else unit, real,
                f"{last['MB of text']:,.0f}", f"{last['processor s']:.1f}",
                f"{last['MB of text a core-second']:.0f}",
                f"{found['slope']:.2f}" if sizes else "",
                f"{last['gathered MB'] / last['MB of text']:.2f}",
                f"{last['work bytes a byte of text']:.2f}", f"{last['anonymous MB']}",
            ])  # fmt: skip
    if rows:
        yield from table(
            ["passages of at least", "text", "MB of text", "processor s", "MB a core-second",
             "slope", "gathered texts / text", "work directory / text", "memory, MB"],
            rows,
        )  # fmt: skip


def _is_file_job(name: str) -> bool:
    return name.endswith(", now")


def _row(name: str, job: Mapping[str, float], found: Mapping[str, Any]) -> list[str]:
    hours = job["processor s"] / 3600
    size = found["bytes"][name.partition(",")[0]]
    low, high = (price * hours * 1e12 / size for price in DOLLARS)
    return [
        name.removesuffix(", now"), f"{job['processor s']:.1f}", f"{job['wall s']:.1f}",
        f"{job['anonymous MB']:,} MB", f"{size / 1e9 / hours:,.0f}",
        f"{found['documents'] / 1e6 / hours:,.0f}", f"{low:.2f} to {high:.2f}",
    ]  # fmt: skip
