"""The tables, made of nothing but the JSON files of the benchmarks."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.timing import number, spread

Records = Mapping[str, dict[str, Any]]
"""What each benchmark wrote, by the name of its file."""


def load(folder: Path, *, quick: bool = False) -> Records:
    """Return all files of results; those of quick runs only where asked for."""
    records = {}
    for path in sorted(folder.glob("*.json")):
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if record["quick"] and not quick:
            raise SystemExit(f"{path.name} is of a quick run")
        records[path.stem] = record
    return records


def results(records: Records, name: str, *keys: str) -> dict[str, Any]:
    """Return the results of a benchmark, or a part of them; empty if there are none."""
    found: dict[str, Any] = records.get(name, {}).get("results", {})
    for key in keys:
        found = found.get(key, {})
    return found


def table(head: list[str], rows: Iterable[list[str]]) -> Iterator[str]:
    """Yield a Markdown table, the first column to the left, and an empty line."""
    yield f"| {' | '.join(head)} |"
    yield f"| --- |{' ---: |' * (len(head) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def named(name: str, versions: Mapping[str, str]) -> str:
    """Return the name of a contender with its version; ours in bold."""
    library, _, rest = name.partition(",")
    version = versions.get(library.lower())
    full = f"{library} {version}{', ' + rest.strip() if rest else ''}" if version else name
    return f"**{name}**" if is_ours(name) else full


def is_ours(name: str) -> bool:
    """Whether a contender is fastlsh, in whatever scheme."""
    return name.partition(",")[0] == "fastlsh"


# ---- cases


def speeds(records: Records, name: str) -> Iterator[str]:
    """Yield the speeds of all sides of a case, and their times as multiples, by its rows."""
    found = results(records, name)
    if not found:
        return
    versions = records[name]["versions"]
    rows = list(found)
    unit = next(key for key in next(iter(found[rows[0]].values())) if not key.startswith("time /"))
    yield from table(
        [unit, *rows],
        ([named(side, versions), *(speed_cell(found[row].get(side), unit) for row in rows)]
         for side in found[rows[0]]),
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
    for case in LOST:
        for row, found in results(records, case).items():
            for name, values in found.items():
                lines += [
                    [f"{LOST[case]}, {row}", name, key.removeprefix("time / "), spread(ratio)]
                    for key, ratio in values.items()
                    if key.startswith("time / ") and not is_ours(name) and ratio["median"] < 1
                ]
    for name, what in (("peers", "synthetic documents"), ("peers-file", "real documents")):
        for other, values in results(records, name, "all pairs", "speed").items():
            ratio = values["time / fastlsh"]
            if not is_ours(other) and ratio["median"] < 1:
                lines.append([f"all pairs, {what}", other, "fastlsh", spread(ratio)])
    if lines:
        yield from table(["input", "library", "scheme of fastlsh", "time / fastlsh's"], lines)
    else:
        yield "None among the measured cases."
        yield ""


LOST = {
    "characters": "raw texts", "words": "raw texts", "hashes": "precomputed hashes",
    "index": "index", "dropin": "drop-in", "dropin_redis": "drop-in, in Redis",
}  # fmt: skip
"""The cases with other libraries, in words."""


def bare_loop(records: Records) -> Iterator[str]:
    """Yield the kernels against the bare loop, per instruction set and per length."""
    found = results(records, "bare_loop")
    if not found:
        return
    sides = [side for side in next(iter(found.values())) if side != "bare loop"]
    yield from table(
        ["time / the bare loop's", "the bare loop, M hashes/s", *sides],
        ([row, number(values["bare loop"]["M hashes/s"]["median"]),
          *(spread(values[side]["time / bare loop"]) for side in sides)]
         for row, values in found.items()),
    )  # fmt: skip


# ---- answers


def peers(records: Records) -> Iterator[str]:
    """Yield the comparison with other libraries from raw texts to pairs."""
    pairs = results(records, "peers", "all pairs")
    if not pairs:
        return
    speed, accuracy = pairs["speed"], pairs["accuracy"]
    signatures = results(records, "peers", "signatures, 1,100 characters")
    yield (
        "Time as a multiple of fastlsh's, from the same raw texts, one thread, 128 hash functions, "
        "9-character shingles: signatures of documents of 1,100 characters, and all pairs at "
        f"threshold 0.8 among {pairs['documents']:,} documents, with the recall and precision of "
        f"the answer. {shares(pairs)} Median and range of {rounds(signatures)} rounds."
    )
    yield ""
    rows = beside_ours(records["peers"], accuracy, with_range, signatures, speed)
    yield from table(["", "signatures", "all pairs", *ANSWER], rows)


def beside_ours(
    record: Any, accuracy: Any, cell: Callable[[Any], str], *times: Any
) -> list[list[str]]:
    """Return a row of fastlsh and of each library: times as multiples of ours, and the answer."""
    ours = [f"**fastlsh, {record['machine']['instruction_set']}**", *["1"] * len(times)]
    return [[*ours, *answer(accuracy["fastlsh"])]] + [
        [named(name, record["versions"]), *(cell(each[name]) for each in times),
         *answer(accuracy[name])]
        for name in times[0]
    ]  # fmt: skip


def with_range(found: Any) -> str:
    """Return the median and the range of a time as multiples of ours."""
    return spread(found["time / fastlsh"], "x")


IN_SHORT = ("fastlsh, avx2", "rensa", "FastSketchLSH", "datasketch")
"""The rows of the README: fastlsh without AVX-512, and a fast, a slower and the slowest library."""


def in_short(records: Records) -> Iterator[str]:
    """Yield the README's table: times, and the quality of the answer on real documents."""
    made, real = (results(records, name, "all pairs") for name in ("peers", "peers-file"))
    signatures = results(records, "peers", "signatures, 1,100 characters")
    if not (made and real and signatures):
        return
    names = [name for name in IN_SHORT if name in signatures]
    yield (
        "Times, as multiples of fastlsh's, start from raw texts, on one thread: signatures of "
        "1,100 characters, and all pairs at 0.8 of real documents (medians of "
        f"{rounds(signatures)} and {rounds(real['speed'])} rounds). "
        f"{promises(real, names)} True pairs are all that a library or [wider search]"
        "(docs/benchmarks.md#what-is-fast) finds, compared exactly."
    )
    yield ""
    signatures = {name: signatures[name] for name in names}
    rows = beside_ours(records["peers"], real["accuracy"], median, signatures, real["speed"])
    for documents, found in results(records, "pure_python").items():
        shown = f"[{documents}](docs/benchmarks.md#pure-python)"
        empty = [""] * (len(ANSWER) + 1)
        rows.append([f"pure Python, {shown}", median(found["pure Python"]), *empty])
    yield from table(["", "signatures", "all pairs", *ANSWER], rows)


def pure_python(records: Records) -> Iterator[str]:
    """Yield how long the same signatures take in pure Python."""
    for documents, found in results(records, "pure_python").items():
        machine = records["pure_python"]["machine"]
        theirs, ours = found["pure Python"], found["fastlsh"]
        yield (
            f"Signatures of the same {documents} of 1,100 characters, equal bit for bit, take "
            f"{spread(theirs['time / fastlsh'])} times as much processor time as with fastlsh: "
            f"{number(theirs['M characters/s']['median'])} against "
            f"{number(ours['M characters/s']['median'])} M characters/s ({machine['cpu']}, "
            f"{machine['instruction_set']}; median and range of {theirs['time / fastlsh']['runs']} "
            "rounds)."
        )
        yield ""


def beside(records: Records, name: str) -> Iterator[str]:
    """Yield a paragraph about one library for those who come from it."""
    made, real = (results(records, each, "all pairs") for each in ("peers", "peers-file"))
    signatures = results(records, "peers", "signatures, 1,100 characters")
    if not (made and real and signatures):
        return
    found, ours = real["accuracy"][name], real["accuracy"]["fastlsh"]
    yield (
        f"**Measured**: signatures of texts of 1,100 characters take {median(signatures[name])} as "
        "long as with fastlsh. All pairs at threshold 0.8 take "
        f"{median(made['speed'][name])} among {made['accuracy'][name]['documents']:,} synthetic "
        f"documents and {median(real['speed'][name])} among {found['documents']:,} real ones. "
        f"Of the real pairs, the library with {found['bands x rows']} bands and rows finds "
        f"{found['recall']:.3f} with a precision of {found['precision']:.3f}; fastlsh with "
        f"{ours['bands x rows']} finds {ours['recall']:.3f} with {ours['precision']:.3f}."
    )
    yield ""


def median(found: dict[str, Any]) -> str:
    """Return a multiple of fastlsh's time."""
    return f"{number(found['time / fastlsh']['median'])}x"


def rounds(found: dict[str, Any]) -> int:
    """Return in how many rounds each contender was timed, which is the same number for all."""
    (count,) = {each["time / fastlsh"]["runs"] for each in found.values()}
    return int(count)


def shares(pairs: dict[str, Any]) -> str:
    """Return what a reader must know of the answers: their documents, and what the truth is."""
    truth = pairs["accuracy"]["truth"]
    compared = truth == "all pairs compared exactly"
    return (
        "A slow library gets the first documents only, and fastlsh is timed on the same ones. "
        "The true pairs are "
        + ("those of an exact comparison of all documents." if compared else
           "those that any of the libraries, or fastlsh with 256 functions and a recall of 0.9999, "
           "finds and an exact comparison confirms.")
    )  # fmt: skip


def promises(pairs: dict[str, Any], names: Iterable[str]) -> str:
    """Return the recall at the threshold that the bands of these contenders and ours promise."""
    used = {pairs["accuracy"][name]["bands x rows"] for name in ("fastlsh", *names)}
    found = (
        f"{1 - (1 - 0.8**rows) ** bands:.3f} ({bands}x{rows})"
        for bands, rows in (map(int, each.split(" x ")) for each in sorted(used, reverse=True))
    )
    return f"Bands find a pair at 0.8 with probability {' or '.join(found)}."


ANSWER = ("recall", "precision", "bands", "documents")


def answer(found: dict[str, Any]) -> list[str]:
    """Return the columns of `ANSWER`: recall and precision, with which bands, of how many."""
    return [
        f"{found['recall']:.3f}",
        f"{found['precision']:.3f}",
        found["bands x rows"].replace(" x ", "x"),
        f"{found['documents']:,}",
    ]


def real_texts(records: Records) -> Iterator[str]:
    """Yield the same of the texts of a file."""
    pairs = results(records, "peers-file", "all pairs")
    if not pairs:
        return
    accuracy = pairs["accuracy"]
    yield (
        f"All pairs at threshold 0.8 among {pairs['documents']:,} real documents "
        f"({pairs['characters'] / 1e6:,.0f} M characters). {shares(pairs)} Median and range of "
        f"{rounds(pairs['speed'])} rounds."
    )
    yield ""
    rows = beside_ours(records["peers-file"], accuracy, with_range, pairs["speed"])
    yield from table(["", "all pairs", *ANSWER], rows)


def recall(records: Records) -> Iterator[str]:
    """Yield recall against exact truth: a table per threshold, and one by similarity."""
    found = {
        name.removeprefix("accuracy-"): record["results"]
        for name, record in records.items()
        if name.startswith("accuracy-")
    }
    if not found:
        return
    first = next(iter(found.values()))
    thresholds = [key for key in first if key.startswith("threshold")]
    head = [
        f"{name}, {r['documents']:,} documents, {r['size']} characters" for name, r in found.items()
    ]
    yield from table(
        ["", *head],
        ([key, *(recall_cell(r[key]) for r in found.values())] for key in thresholds),
    )
    yield "By similarity, threshold 0.6, seed 1: observed (predicted by `LSHParams.probability`)."
    yield ""
    bins = {name: r["threshold 0.6"]["by similarity, seed 1"] for name, r in found.items()}
    yield from table(
        ["similarity", *found],
        ([key, *(bin_cell(each.get(key)) for each in bins.values())]
         for key in dict.fromkeys(key for each in bins.values() for key in each)),
    )  # fmt: skip


def recall_cell(found: dict[str, Any]) -> str:
    """Return the recall of seed 1, its range, and of how many pairs."""
    seeds = found["recall, all seeds"]
    return (
        f"{found['recall, seed 1']:.4f} ({seeds['min']:.4f} to {seeds['max']:.4f}), "
        f"{found['pairs']:,} pairs"
    )


def bin_cell(found: dict[str, Any] | None) -> str:
    """Return observed and predicted recall of a range of similarity."""
    if found is None:
        return ""
    return f"{found['recall']:.4f} ({found['predicted']:.4f}), {found['pairs']:,} pairs"


# ---- what a run costs

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
