"""Writes the README's tables from the JSON files in results/; --check only compares.

They stand between the lines <!-- bench --> and <!-- /bench -->.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
BEGIN, END = "<!-- bench -->", "<!-- /bench -->"


def load(name: str) -> dict[str, Any] | None:
    """Return a file of results, None if there is none."""
    path = RESULTS / f"{name}.json"
    if not path.exists():
        return None
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if record["quick"]:
        raise SystemExit(f"{path.name} is of a quick run")
    return record


def number(value: float) -> str:
    """Return a number with two or three digits that say something."""
    return f"{value:,.0f}" if abs(value) >= 20 else f"{value:.3g}"


def spread(value: dict[str, Any], unit: str = "") -> str:
    """Return the median and the range."""
    return f"{number(value['median'])}{unit} ({number(value['min'])} to {number(value['max'])})"


def table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    """Yield a Markdown table, the first column to the left."""
    yield f"| {' | '.join(head)} |"
    yield f"| --- |{' ---: |' * (len(head) - 1)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def peers(record: dict[str, Any]) -> Iterator[str]:
    """Yield the comparison with other libraries."""
    results = record["results"]
    pairs = results["all pairs"]
    speed, accuracy = pairs["speed"], pairs["accuracy"]
    signatures = results["signatures, 1,100 characters"]
    ours = accuracy["fastlsh"]
    rows = [["**fastlsh**, verified exactly", "1", "1", f"{ours['recall']:.3f}",
             f"{ours['precision']:.3f}"]]  # fmt: skip
    rows += [
        [
            named(name, record["versions"]),
            spread(signatures[name]["time / fastlsh"], "x"),
            spread(speed[name]["time / fastlsh"], "x"),
            f"{accuracy[name]['recall']:.3f}",
            f"{accuracy[name]['precision']:.3f}",
        ]
        for name in signatures
    ]
    yield (
        "Time as a multiple of fastlsh's, from the same raw texts, one thread, 128 hash functions, "
        "9-character shingles: signatures of documents of 1,100 characters, and all pairs at "
        f"threshold 0.8 among {pairs['documents']:,} documents, with the recall and precision of "
        "the answer (slow libraries on the first part of the texts, fastlsh on the same part). "
        "Median and range of "
        f"{signatures[next(iter(signatures))]['time / fastlsh']['runs']} rounds."
    )
    yield ""
    head = ["", "signatures", "all pairs", "recall", "precision"]
    yield from table(head, rows)
    yield ""
    real = load("peers-file")
    if real:
        yield from real_texts(real)
    if "rensa" in signatures:
        yield (
            "rensa is compared by its digests of the full set, never by its `rho` digests, which "
            "sample token positions; it is fed by a generator, the fastest way we found, and from "
            "lists as in its README. The others keep a pair by their estimate."
        )


def real_texts(record: dict[str, Any]) -> Iterator[str]:
    """Yield the same of the texts of a file."""
    pairs = record["results"]["all pairs"]
    accuracy = pairs["accuracy"]
    for name, found in pairs["speed"].items():
        yield (
            f"All pairs among {pairs['documents']:,} real documents "
            f"({pairs['characters'] / 1e6:,.0f} M characters): "
            f"{named(name, record['versions'])} takes {spread(found['time / fastlsh'], 'x')} as "
            f"long; recall {accuracy[name]['recall']:.3f} against "
            f"{accuracy['fastlsh']['recall']:.3f}, precision {accuracy[name]['precision']:.3f} "
            f"against {accuracy['fastlsh']['precision']:.3f}."
        )
        yield ""


def named(name: str, versions: dict[str, str]) -> str:
    """Return the name of a contender with its version."""
    library, _, rest = name.partition(",")
    version = versions.get(library.lower())
    return f"{library} {version}{', ' + rest.strip() if rest else ''}" if version else name


def own_rows() -> Iterator[list[str]]:
    """Yield what fastlsh is measured by alone."""
    kernels = load("kernels")
    if kernels:
        results = kernels["results"]
        for name, found in results.get("instruction sets, 1,100 characters", {}).items():
            yield [f"Raw text to signatures / bare minimum loop, {name}",
                   spread(found["raw text / limit"])]  # fmt: skip
        rate = results["rate per character, short / long"]["50 / 1,100"]
        yield ["Rate per character, documents of 50 / of 1,100", spread(rate)]
        speed = results["threads"].get("speed of two / one")
        if speed:
            yield ["Signatures: speed of two threads / one", spread(speed)]
            loop = results["threads"].get("the limit's loop")
            if loop:
                yield ["The same of the bare loop, in the same rounds", spread(loop)]
    for name in ("end_to_end", "end_to_end-file"):
        record = load(name)
        for collection, found in (record or {"results": {}})["results"].items():
            for function in ("near_duplicates", "deduplicate"):
                part = found[f"{function}, 1 thread"]["everything else / signatures"]
                kind = "made texts" if name == "end_to_end" else "real texts"
                yield [f"`{function}`: everything else / signatures, {kind}, {collection}",
                       spread(part)]  # fmt: skip
    scale = load("scale")
    if scale:
        for kind, found in scale["results"].get("linear", {}).items():
            yield [f"`deduplicate`: time of 100,000 / of 10,000 documents, {kind}",
                   spread(found["time of ten times as many"])]  # fmt: skip
        lean = scale["results"].get("lean")
        if lean:
            yield ["`near_duplicates`: bytes a document besides texts, signatures and pairs, "
                   f"{lean['documents']:,} documents",
                   spread(lean["bytes a document besides signatures and 24 a pair"])]  # fmt: skip


def accuracy() -> Iterator[str]:
    """Yield recall against exact truth: a table per threshold, and one by similarity."""
    records = {p.stem.partition("-")[2]: load(p.stem) for p in RESULTS.glob("accuracy-*.json")}
    found = {name: record["results"] for name, record in sorted(records.items()) if record}
    if not found:
        return
    yield (
        "Recall of `near_duplicates` with its default parameters against exact truth (precision is "
        "1.000 throughout, or the benchmark fails): with seed 1, and the range of seeds 1 to 8."
    )
    yield ""
    thresholds = [key for key in next(iter(found.values())) if key.startswith("threshold")]
    head = [
        f"{name}, {results['documents']:,} documents, {results['size']} characters"
        for name, results in found.items()
    ]
    yield from table(
        ["", *head],
        [
            [key]
            + [
                f"{r[key]['recall, seed 1']:.4f} ({r[key]['recall, all seeds']['min']:.4f} to "
                f"{r[key]['recall, all seeds']['max']:.4f}), {r[key]['pairs']:,} pairs"
                for r in found.values()
            ]
            for key in thresholds
        ],
    )
    yield ""
    yield "By similarity, threshold 0.6, seed 1: observed (predicted by `LSHParams.probability`)."
    yield ""
    bins = {name: r["threshold 0.6"]["by similarity, seed 1"] for name, r in found.items()}
    rows = dict.fromkeys(key for each in bins.values() for key in each)
    yield from table(
        ["similarity", *found],
        [
            [key]
            + [
                f"{each[key]['recall']:.4f} ({each[key]['predicted']:.4f}), "
                f"{each[key]['pairs']:,} pairs"
                if key in each
                else ""
                for each in bins.values()
            ]
            for key in rows
        ],
    )
    yield ""


def lines() -> Iterator[str]:
    """Yield the part of the README."""
    yield BEGIN
    yield ""
    record = load("peers")
    if record:
        yield from peers(record)
        yield ""
    yield from accuracy()
    rows = list(own_rows())
    if rows:
        yield from table(["fastlsh alone", "median (range)"], rows)
        yield ""
    measured = [load(p.stem) for p in sorted(RESULTS.glob("*.json"))]
    sources = sorted(
        {
            f"{r['machine']['cpu']} ({r['machine']['instruction_set']}, "
            f"{r['machine']['cores']} cores), Python {r['versions']['python']}, "
            f"numpy {r['versions']['numpy']}, commit {r['commit']}, {r['date']}"
            for r in measured
            if r
        }
    )
    yield from (f"Measured on: {source}." for source in sources)
    yield END


def replaced(text: str) -> str:
    """Return the README with its part made anew."""
    begin, end = text.find(BEGIN), text.find(END)
    if begin < 0 or end < begin:
        raise SystemExit(f"the README has no lines {BEGIN} and {END}")
    return text[:begin] + "\n".join(lines()) + text[end + len(END) :]


def main() -> None:
    """Write or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if the README is not up to date")
    parser.add_argument("--readme", type=Path, default=HERE.parent / "README.md")
    parser.add_argument("--print", action="store_true", help="only print the part")
    options = parser.parse_args()
    if options.print:
        print("\n".join(lines()))
        return
    old = options.readme.read_text(encoding="utf-8")
    new = replaced(old)
    if options.check and new != old:
        print("the README's tables are not those of bench/results: run bench/table.py",
              file=sys.stderr)  # fmt: skip
        raise SystemExit(1)
    if not options.check:
        options.readme.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
