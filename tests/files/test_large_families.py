"""Families that are much larger than a part: mapped files, the same bytes, and linear time."""

import json
import random
import subprocess
import sys
from itertools import chain as joined

import pytest

from fastlsh import deduplicate_files, exact_jaccard
from fastlsh.parallel import scratch
from in_stages import both_engines
from shards import small_budget

resource = pytest.importorskip("resource")

LETTERS = "etaoinshrdlcumwfgypbvkjxqz"
LINKED = 6
"""Percent of a text that the next one of a chain does not have."""


def writer(seed):
    """Return a function that makes a text of so many characters."""
    draw = random.Random(seed)
    words = ["".join(draw.choices(LETTERS, k=draw.randrange(2, 10))) for _ in range(5_000)]
    return lambda length: " ".join(draw.choices(words, k=length // 3 + 1))[:length]


def identical(count, length):
    """Yield the same text again and again."""
    text = writer(1)(length)
    yield from (text for _ in range(count))


def chain(count, length):
    """Yield texts that are each a window of one long text, a little further on each time."""
    step = length * LINKED // 100
    text = writer(2)(length + count * step)
    yield from (text[i * step : i * step + length] for i in range(count))


def half(count, length):
    """Yield a chain, and after each of its documents one that is like no other."""
    other = writer(3)
    yield from joined.from_iterable((text, other(length)) for text in chain(count // 2, length))


def template(count, length):
    """Yield texts that share all but a few words."""
    draw, own = random.Random(4), length * 44 // 300
    shared = writer(4)(length - own)
    yield from (shared + "".join(draw.choices(LETTERS, k=own)) for _ in range(count))


def written(path, texts):
    """Write the texts as JSON lines."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": i, "text": t}) + "\n" for i, t in enumerate(texts))
    return path


KEPT = {
    identical: (0, 0), chain: (0.49, 0.55), half: (0.74, 0.78),
    template: (1, 1),
}  # fmt: skip
"""Which share of each collection is kept: from, to, give or take one document."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", KEPT, ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore:.*without being compared")
def test_a_family_that_is_larger_than_a_part(tmp_path, monkeypatch, kind):
    small_budget(monkeypatch, block=20_000, segment=300, rows=500, part=50, texts=20_000)
    monkeypatch.setattr(scratch, "SMALL", 1)  # every array that may be a file is one
    count = 1_200
    path = written(tmp_path / "in.jsonl", kind(count, 300))
    told = []
    found, _ = both_engines(
        deduplicate_files, tmp_path, path, "k.jsonl", "removed.tsv", "clusters.tsv",
        on_message=told.append,
    )  # fmt: skip
    low, high = (share * count for share in KEPT[kind])
    assert low - 1 <= found.n_kept <= high + 1
    (message,) = (message for message in told if "a family that does not fit" in message)
    assert "which takes longer. Longer shingles" in message


@pytest.mark.exhaustive
def test_a_family_that_needs_more_than_the_memory_says_so(tmp_path, monkeypatch):
    small_budget(monkeypatch, part=50)
    path = written(tmp_path / "in.jsonl", identical(300, 300))
    told = []
    output = tmp_path / "k.jsonl"
    deduplicate_files(path, output, engine="disk", memory="2M", on_message=told.append)
    assert "takes longer and about 231 MB of memory, more than the 2M given. L" in told[-1]


def test_a_chain_is_one_family_of_unlike_documents():
    texts = list(chain(8, 300))
    assert exact_jaccard(texts[:-1], texts[1:]).min() > 0.85
    assert exact_jaccard(texts[:-2], texts[2:]).max() < 0.8


@pytest.mark.slow
@pytest.mark.parametrize("kind", KEPT, ids=lambda kind: kind.__name__)
def test_twice_as_many_take_twice_as_long(tmp_path, kind):
    """Processor time; what every run takes, loading what it needs, makes it less."""
    seconds = []
    for count in (20_000, 40_000):
        path = written(tmp_path / "in.jsonl", kind(count, 1_000))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = ["dedup", str(path), "-o", str(tmp_path / "k.jsonl"), "-q", "--engine", "disk"]
        subprocess.run([sys.executable, "-m", "fastlsh", *command, "--memory", "300M"], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert seconds[1] < 2.6 * seconds[0]
