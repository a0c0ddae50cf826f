"""Repeated passages on disk stay in their memory, whatever their unit is."""

import sys

import pytest

from bench.pipelines import spans
from fastlsh.files.budget import parse_memory


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at the memory as Linux tells it")
@pytest.mark.parametrize("unit", spans.LENGTHS)
@pytest.mark.parametrize("share", [0.3, 0.99])
def test_memory_stays_in_its_limit(tmp_path, unit, share):
    """Of 300 MB of text."""
    shards = [
        spans.write_shard(tmp_path / f"{number}.jsonl", number, share, 20_000)
        for number in range(5)
    ]
    taken = spans.cost(shards, tmp_path, spans.LENGTHS[unit], unit, memory="300M")
    assert 0 < taken["anonymous MB"] * 1e6 < parse_memory("300M")
