"""The benchmark of the drop-in: it has all calls, their answers are equal, and none is slow."""

import pytest

theirs = pytest.importorskip("datasketch", "2.0")

from bench.peers.calls import LEFT_OUT, ROWS, SKIPPED, World, plain, public_calls  # noqa: E402
from bench.peers.dropin import compare  # noqa: E402
from fastlsh.compat import datasketch as ours  # noqa: E402

N = 20
MUCH = 1.5
"""Allowed here, where a busy machine must not decide; the benchmark allows 1.1."""
WORST = {
    "DictListStorage.get: of an index", "DictListStorage.__iter__: of an index",
    "DictSetStorage.get: of an index", "MinHashLSH.get_counts", "MinHashLSH.get_subset_counts",
    "MinHashLSH.merge", "MinHashLSH.add_to_query_buffer", "MinHash.update_batch: nothing",
    "LeanMinHash.deserialize: @", "LeanMinHash.deserialize: >",
}  # fmt: skip
"""Calls that have been several times slower than datasketch's."""


def test_every_public_call_has_a_row():
    calls = {
        call for call in public_calls(theirs, SKIPPED) if call.partition(".")[0] not in LEFT_OUT
    }
    assert len(calls) > 100
    assert calls - {row.call for row in ROWS} == set()


@pytest.mark.parametrize("name", sorted({row.call.partition(".")[0] for row in ROWS}))
def test_answers_are_equal(name):
    for row in ROWS:
        if row.call.partition(".")[0] == name and row.call != "MinHashLSHEnsemble.index":
            assert answer(row, theirs) == answer(row, ours), row.name


def answer(row, library):
    """Return what a row answers."""
    work = row.make(World(library, N))
    if work.before:
        work.before()
    return plain(work.run())


@pytest.mark.parametrize("name", sorted(WORST))
def test_no_call_is_much_slower(name):
    (row,) = [row for row in ROWS if row.name == name]
    found = compare(row, [World(theirs, N), World(ours, N)], 5)
    more = found["fastlsh us"] - found["original us"]
    assert found["fastlsh / original"] < MUCH or more < 0.5
