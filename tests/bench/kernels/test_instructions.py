"""Counted instructions: what is a slow-down, and of which compiler."""

import pytest

from bench.kernels import instructions
from bench.kernels.instructions import same_compiler
from bench.kernels.workload import JOBS


def verdicts(before, now):
    counts = {"avx2": {"job": now}}
    recorded = {"avx2": {"job": before}} if before else {}
    return list(instructions.verdicts(recorded, counts, {"job": "character"}))


def test_more_instructions_than_tolerated_are_a_slow_down():
    assert [v.slower for v in verdicts(100.0, 104.9)] == [False]
    assert [v.slower for v in verdicts(100.0, 105.1)] == [True]


def test_fewer_instructions_are_reported():
    (verdict,) = verdicts(100.0, 90.0)
    assert not verdict.slower
    assert "--update" in verdict.line


def test_a_job_without_a_record_fails():
    (verdict,) = verdicts(None, 1.0)
    assert verdict.slower
    assert "nothing recorded" in verdict.line


def test_counts_hold_for_one_major_version_of_the_compiler():
    assert same_compiler("gcc 12.2.0", "gcc 12.4.1")
    assert not same_compiler("gcc 12.2.0", "gcc 13.1.0")
    assert not same_compiler("gcc 12.2.0", None)
    assert not same_compiler(None, None)


def test_recorded_counts_are_of_known_jobs():
    record = instructions.load()
    assert set(record["instructions"]) == set(instructions.SETS)
    for jobs in record["instructions"].values():
        assert jobs.keys() <= JOBS.keys()


@pytest.mark.parametrize("name", ["signatures, affine32", "candidate pairs, 21 x 6"])
def test_the_jobs_run(name):
    assert JOBS[name].few < JOBS[name].many
    JOBS[name].work(JOBS[name].few)
