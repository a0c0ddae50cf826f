"""The rows of the drop-in benchmark: every public call of the libraries that fastlsh replaces."""

from bench.peers.calls import indexes, lsh, sketches, storages
from bench.peers.calls.lsh import LSHWorld
from bench.peers.calls.registry import Row, Work, plain, public_calls
from bench.peers.calls.world import World

__all__ = [
    "LEFT_OUT", "LSH_ROWS", "ROWS", "SKIPPED", "LSHWorld", "Row", "Work", "World", "plain",
    "public_calls",
]  # fmt: skip

ROWS: list[Row] = [*sketches.ROWS, *indexes.ROWS, *storages.ROWS]
"""Calls of datasketch."""
LSH_ROWS: list[Row] = lsh.ROWS
"""Calls of lsh."""

SKIPPED = ("aio", "experimental", "hnsw", "hyperloglog", "hyperloglog_const", "lsh_bloom")
"""Modules of datasketch that the drop-in does not replace."""
LEFT_OUT = {"RedisBuffer", "RedisListStorage", "RedisSetStorage", "RedisStorage"}
"""Classes whose calls take as long as the server."""
