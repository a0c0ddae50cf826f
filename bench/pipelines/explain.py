"""What an explanation costs: two documents of 10,000 characters, of which a tenth was edited.

Processor time of one thread, in turns within a round, with the signatures of the two documents and
with difflib.SequenceMatcher on their characters (autojunk off: it would take every letter for
junk) and on their words. Then documents of other lengths, and some in which everything repeats:
time for each character must stay about the same.
"""

import difflib
from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

import fastlsh
from bench import common
from bench.common.corpus import Writer

LENGTH = 10_000
EDITED = 0.1


def edited_pair(length: int) -> tuple[str, str]:
    """Return a text and the same with a tenth of its words replaced."""
    writer = Writer(0)
    text = writer.text(length)
    return text, writer.edited(text, EDITED)


def repeating(length: int) -> tuple[str, str]:
    """Return two texts in which every shingle stands everywhere."""
    return "ab" * (length // 2), "ba" * (length // 4) + "b" + "ba" * (length // 4)


def check(a: str, b: str, found: fastlsh.Explanation) -> None:
    """Assert that similarity and places are right."""
    assert found.similarity == fastlsh.jaccard(a, b)
    size = found.shingler.size
    shared = {a[i : i + size] for i in range(len(a) - size + 1)}
    shared &= {b[i : i + size] for i in range(len(b) - size + 1)}
    covered = {
        place
        for i in range(len(a) - size + 1)
        if a[i : i + size] in shared
        for place in range(i, i + size)
    }
    assert covered == {place for places in found.covered_a for place in range(*places)}
    for span in found.spans:
        assert a[span.a_start : span.a_stop] == b[span.b_start : span.b_stop]


def matching_blocks(a: Any, b: Any) -> list[Any]:
    """Return what difflib finds alike."""
    return difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()


def beside_others(length: int, count: int) -> dict[str, Any]:
    """Time everything on one pair."""
    a, b = edited_pair(length)
    hasher = fastlsh.MinHasher(threads=1)
    found = fastlsh.explain(a, b)
    check(a, b, found)
    words = a.split(), b.split()
    sides: dict[str, Callable[[], Any]] = {
        "explain": lambda: fastlsh.explain(a, b),
        "signatures": lambda: hasher.signatures([a, b]),
        "page": found.to_html,
        "terminal": found.to_terminal,
        "difflib, characters": lambda: matching_blocks(a, b),
        "difflib, words": lambda: matching_blocks(*words),
    }
    times = common.interleave(sides, count, process_time)
    ours = times["explain"]
    return {
        "Jaccard similarity": common.significant(found.similarity),
        "matching spans": len(found.spans),
        "explain, ms": common.summary(1e3 * t for t in ours),
        "explain / signatures of both": common.ratio(ours, times["signatures"]),
        "difflib on characters / explain": common.ratio(times["difflib, characters"], ours),
        "difflib on words / explain": common.ratio(times["difflib, words"], ours),
        "to_html, ms": common.summary(1e3 * t for t in times["page"]),
        "to_terminal, ms": common.summary(1e3 * t for t in times["terminal"]),
    }


def by_length(lengths: list[int], count: int) -> dict[str, Any]:
    """Time pairs of several lengths in turns."""
    result = {}
    for name, made in {"edited": edited_pair, "repeating": repeating}.items():
        pairs = {f"{length:,}": made(length) for length in lengths}
        sides = {key: (lambda p=pair: fastlsh.explain(*p)) for key, pair in pairs.items()}
        times = common.interleave(sides, count, process_time)
        for key, (a, b) in pairs.items():
            nanoseconds = [1e9 * t / (len(a) + len(b)) for t in times[key]]
            result[f"{name}, {key} characters"] = common.summary(nanoseconds)
    return result


def main(arguments: Sequence[str]) -> None:
    """Measure."""
    options = common.parser(__doc__).parse_args(arguments)
    count = common.rounds(options)
    length = LENGTH // 10 if options.quick else LENGTH
    lengths = [1_000, 10_000] if options.quick else [1_000, 10_000, 100_000, 1_000_000]
    results = {
        f"two documents of {length:,} characters": beside_others(length, count),
        "ns a character of both": by_length(lengths, count),
    }
    common.write("explain", options, results)
