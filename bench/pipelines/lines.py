"""Repeated lines out of documents, beside the plain Python that does the same: a set of lines.

Documents of 20 lines, of which 4 in 10 are among 500 that all share. Equal lines, as they are and
in the normalisation of CCNet; one thread of both, and all threads of fastlsh. Processor time where
one thread works, and the answers are compared. "in 8 bytes" remembers hashes instead of lines, as
CCNet does: a collision then removes a line that nothing else has.
"""

import hashlib
import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from random import Random
from typing import Any

import fastlsh
from bench import common
from bench.common.corpus import Writer

LINES = 20
SHARED = 500
MARKS = "，。、„”“«»」「《》´∶：？！（）；–—．～’…━〈〉【】％►"
LIKE_CCNET: dict[str, Any] = {
    "lowercase": True, "numbers": "0", "punctuation": "remove", "punctuation_characters": MARKS,
}  # fmt: skip
DIGIT = re.compile(r"\d")
MARK = re.compile(f"[{MARKS}\\x00-\\x1f\\x7f-\\x9f]")


def corpus(count: int) -> list[str]:
    """Return documents."""
    write, draw = Writer(8), Random(8)
    shared = [line.capitalize() + "." for line in write.texts(SHARED, 40)]
    own = iter(write.texts(count * LINES, 70))
    return [
        "\n".join(draw.choice(shared) if draw.random() < 0.4 else next(own) for _ in range(LINES))
        for _ in range(count)
    ]


def plain(line: str) -> str:
    """Return a line as CCNet compares it."""
    return MARK.sub("", DIGIT.sub("0", line.strip().lower()))


def digest(line: str) -> bytes:
    """Return what CCNet remembers of a line."""
    return hashlib.sha1(line.encode()).digest()[:8]


def in_python(documents: list[str], *same: Callable[[Any], Any]) -> list[str]:
    """Return documents without the lines that were there before."""
    seen: set[Any] = set()
    result = []
    for text in documents:
        kept = []
        for line in text.split("\n"):
            key: Any = line
            for step in same:
                key = step(key)
            if key not in seen:
                seen.add(key)
                kept.append(line)
        result.append("\n".join(kept))
    return result


def in_fastlsh(documents: list[str], threads: int | None, **steps: Any) -> list[str | None]:
    """Return the same."""
    shingler = fastlsh.Shingler(**steps)
    return fastlsh.deduplicate_lines(documents, shingler=shingler, threads=threads).texts


def main(arguments: Sequence[str]) -> None:
    """Measure and write results/lines.json."""
    options = common.parser(__doc__).parse_args(arguments)
    documents = corpus(50 if options.quick else 20_000)
    results: dict[str, Any] = {}
    for name, steps, same in (("as they are", {}, ()), ("as CCNet", LIKE_CCNET, (plain,))):
        ours = in_fastlsh(documents, 1, **steps)
        assert ours == in_python(documents, *same) == in_python(documents, *same, digest)
        work: dict[str, Callable[[], Any]] = {
            "a set of lines": partial(in_python, documents, *same),
            "in 8 bytes": partial(in_python, documents, *same, digest),
            "fastlsh": partial(in_fastlsh, documents, 1, **steps),
        }
        times = common.interleave(work, common.rounds(options), time.process_time)
        results[f"times as fast as Python, one thread, {name}"] = {
            other: common.ratio(times[other], times["fastlsh"]) for other in list(work)[:2]
        }
        work["fastlsh"] = partial(in_fastlsh, documents, None, **steps)
        times = common.interleave(work, common.rounds(options))
        results[f"times as fast as Python, all threads, {name}"] = {
            other: common.ratio(times[other], times["fastlsh"]) for other in list(work)[:2]
        }
        results[f"M characters/s, all threads, {name}"] = common.summary(
            sum(map(len, documents)) / 1e6 / t for t in times["fastlsh"]
        )
    common.write("lines", options, results)
