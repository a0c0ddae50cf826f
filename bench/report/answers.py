"""The sections on the accuracy of estimates and on the pairs that come out."""

from collections.abc import Iterable, Iterator
from typing import Any

from bench.common.timing import number, spread
from bench.report.records import ACCURACY, Records, named, results, table


def estimates(records: Records) -> Iterator[str]:
    """Yield RMSE / ideal, bias and speed of each library by the size of the sets."""
    found = results(records, "estimates")
    if not found:
        return
    versions = records["estimates"]["versions"]
    sizes = list(found)
    yield from table(
        ["RMSE / ideal ± standard error; z of the bias; M words/s",
         *(f"sets of {size}" for size in sizes)],
        ([named(name, versions), *(estimate_cell(found[size][name]) for size in sizes)]
         for name in found[sizes[0]]),
    )  # fmt: skip
    pairs = sorted({e["pairs"] for e in found[sizes[0]].values()})
    cells = sum(len(e["bias"]) for by_name in found.values() for e in by_name.values())
    yield (
        f"{' or '.join(f'{p:,}' for p in pairs)} pairs of sets in each cell, a third of them at "
        f"each of the similarities 0.2, 0.5 and 0.8. z is the one of these three farthest from 0; "
        f"of {cells} such numbers from unbiased estimates, the farthest is about "
        f"{expected_extreme(cells):.1f}."
    )
    yield ""


def expected_extreme(count: int) -> float:
    """Return the |z| that about one of so many normal deviates exceeds."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(1 - 0.5 / max(count, 1))


def estimate_cell(found: dict[str, Any]) -> str:
    """Return the accuracy and the speed of one library."""
    return (
        f"{found['RMSE / ideal']:.3f} ± {found['standard error']:.3f}; "
        f"{found['z farthest from 0']:+.1f}; {number(found['M words/s']['median'])}"
    )


def peers(records: Records) -> Iterator[str]:
    """Yield the comparison with other libraries from raw texts to pairs."""
    pairs = results(records, "peers", "all pairs")
    if not pairs:
        return
    speed, accuracy = pairs["speed"], pairs["accuracy"]
    signatures = results(records, "peers", "signatures, 1,100 characters")
    versions = records["peers"]["versions"]
    yield (
        "Time as a multiple of fastlsh's, from the same raw texts, one thread, 128 hash functions, "
        "9-character shingles: signatures of documents of 1,100 characters, and all pairs at "
        f"threshold 0.8 among {pairs['documents']:,} documents, with the recall and precision of "
        f"the answer. {shares(pairs)} Median and range of {rounds(signatures)} rounds."
    )
    yield ""
    rows = [["**fastlsh**, verified exactly", "1", "1", *answer(accuracy["fastlsh"])]]
    rows += [
        [named(name, versions), spread(signatures[name]["time / fastlsh"], "x"),
         spread(speed[name]["time / fastlsh"], "x"), *answer(accuracy[name])]
        for name in signatures
    ]  # fmt: skip
    yield from table(["", "signatures", "all pairs", *ANSWER], rows)


IN_SHORT = ("rensa", "FastSketchLSH", "datasketch")
"""What the README compares with: the fastest, one in between, and the slowest."""


def in_short(records: Records) -> Iterator[str]:
    """Yield four rows: times and the answer's quality on synthetic and on real documents."""
    made, real = (results(records, name, "all pairs") for name in ("peers", "peers-file"))
    signatures = results(records, "peers", "signatures, 1,100 characters")
    if not (made and real and signatures):
        return
    versions = records["peers"]["versions"]
    yield (
        "Times start from raw texts, on one thread, and are multiples of fastlsh's for the same "
        f"documents: signatures of 1,100 characters (medians of {rounds(signatures)} rounds), and "
        f"all pairs at 0.8 of real documents (medians of {rounds(real['speed'])}). "
        f"{promises(real, IN_SHORT)} The true pairs are all that a library or a [wider search]"
        "(docs/benchmarks.md#from-raw-texts-to-pairs) finds, compared exactly."
    )
    yield ""
    rows = [["**fastlsh**", "1", "1", *answer(real["accuracy"]["fastlsh"])]]
    rows += [
        [named(name, versions), median(signatures[name]), median(real["speed"][name]),
         *answer(real["accuracy"][name])]
        for name in IN_SHORT
    ]  # fmt: skip
    found = results(records, "pure_python")
    if found:
        shown = f"[{found['documents']} documents](docs/benchmarks.md#pure-python)"
        empty = [""] * (len(ANSWER) + 1)
        rows.append([f"pure Python, {shown}", median(found["pure Python"]), *empty])
    yield from table(["", "signatures", "all pairs", *ANSWER], rows)


def pure_python(records: Records) -> Iterator[str]:
    """Yield how long the same signatures take in pure Python."""
    found = results(records, "pure_python")
    if not found:
        return
    machine = records["pure_python"]["machine"]
    theirs, ours = found["pure Python"], found["fastlsh"]
    yield (
        f"Signatures of the same {found['documents']} documents of "
        f"{found['characters per document']:,} characters, equal bit for bit, take "
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
    accuracy, versions = pairs["accuracy"], records["peers-file"]["versions"]
    yield (
        f"All pairs at threshold 0.8 among {pairs['documents']:,} real documents "
        f"({pairs['characters'] / 1e6:,.0f} M characters). {shares(pairs)} Median and range of "
        f"{rounds(pairs['speed'])} rounds."
    )
    yield ""
    rows = [["**fastlsh**, verified exactly", "1", *answer(accuracy["fastlsh"])]]
    rows += [
        [named(name, versions), spread(found["time / fastlsh"], "x"), *answer(accuracy[name])]
        for name, found in pairs["speed"].items()
    ]
    yield from table(["", "all pairs", *ANSWER], rows)


def recall(records: Records) -> Iterator[str]:
    """Yield recall against exact truth: a table per threshold, and one by similarity."""
    found = {
        name.removeprefix(ACCURACY): record["results"]
        for name, record in records.items()
        if name.startswith(ACCURACY)
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
