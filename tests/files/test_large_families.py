"""Families that are much larger than a part: mapped files, the same bytes, and linear time."""

import subprocess
import sys

import pytest

import families
from fastlsh import deduplicate_files, exact_jaccard
from fastlsh.parallel import scratch
from in_stages import both_engines
from shards import small_budget

resource = pytest.importorskip("resource")

KEPT = {
    families.identical: (0, 0), families.chain: (0.49, 0.55), families.half: (0.74, 0.78),
    families.template: (1, 1),
}  # fmt: skip
"""Which share of each collection is kept: from, to, give or take one document."""


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", KEPT, ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore:.*without being compared")
def test_a_family_that_is_larger_than_a_part(tmp_path, monkeypatch, kind):
    small_budget(monkeypatch, block=20_000, segment=300, rows=500, part=50, texts=20_000)
    monkeypatch.setattr(scratch, "SMALL", 1)  # every array that may be a file is one
    count = 1_200
    path = families.write(tmp_path / "in.jsonl", kind(count, 300))
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
    path = families.write(tmp_path / "in.jsonl", families.identical(300, 300))
    told = []
    output = tmp_path / "k.jsonl"
    deduplicate_files(path, output, engine="disk", memory="2M", on_message=told.append)
    assert "takes longer and about 231 MB of memory, more than the 2M given. L" in told[-1]


def test_a_chain_is_one_family_of_unlike_documents():
    texts = list(families.chain(8, 300))
    assert exact_jaccard(texts[:-1], texts[1:]).min() > 0.85
    assert exact_jaccard(texts[:-2], texts[2:]).max() < 0.8


@pytest.mark.slow
@pytest.mark.parametrize("kind", KEPT, ids=lambda kind: kind.__name__)
def test_twice_as_many_take_twice_as_long(tmp_path, kind):
    """Processor time; what every run takes, loading what it needs, makes it less."""
    seconds = []
    for count in (20_000, 40_000):
        path = families.write(tmp_path / "in.jsonl", kind(count, 1_000))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = ["dedup", str(path), "-o", str(tmp_path / "k.jsonl"), "-q", "--engine", "disk"]
        subprocess.run([sys.executable, "-m", "fastlsh", *command, "--memory", "300M"], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert seconds[1] < 2.6 * seconds[0]
