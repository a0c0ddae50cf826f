"""The workers without Spark: batches that are cut anywhere, whole families, another Python."""

import itertools
import logging
import os
import random
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from fastlsh import stages
from fastlsh.integrations.spark import families, workers
from fastlsh.integrations.spark.search_columns import BAD_TEXT, NOT_EMPTY, NULL_ID, REPEATED, SHORT
from fastlsh.integrations.spark.workers import check_workers
from spark_collections import started

pa = pytest.importorskip("pyarrow")


def batches(columns, cuts):
    """Return Arrow batches of columns, cut at these rows; some of them empty."""
    n = len(next(iter(columns.values())))
    borders = sorted([0, *cuts, n])
    table = {name: pa.array(column) for name, column in columns.items()}
    return [
        pa.record_batch([column.slice(a, b - a) for column in table.values()], names=list(table))
        for a, b in itertools.pairwise(borders)
    ]


def collected(found):
    """Return the rows of batches as tuples."""
    return [tuple(row.values()) for batch in found for row in batch.to_pylist()]


@pytest.mark.parametrize("seed", range(20))
def test_links_connect_what_shares_a_key(seed, monkeypatch):
    draw = random.Random(seed)
    monkeypatch.setattr(workers, "UNITED", draw.choice([0, 3, 1 << 22]))
    monkeypatch.setattr(workers, "ROWS", draw.choice([1, 2, 10_000]))
    rows = {(draw.choice([-5, 0, 1, 2, 3, 7, 9]), draw.randrange(30)) for _ in range(25)}
    twice = [row for row in sorted(rows) if draw.random() < 0.2]
    everything = sorted([*rows, *twice, (12, NULL_ID)])
    keys, numbers = zip(*everything, strict=True)
    cuts = [draw.randrange(len(keys) + 1) for _ in range(draw.randrange(5))]
    found = collected(workers.link(batches({"key": keys, "number": numbers}, cuts)))
    problems = Counter((number, code) for number, code in found if code < 0)
    expected = {(number, REPEATED) for _, number in twice} | {(12, NULL_ID)}
    assert set(problems) == expected
    union, truth = stages.UnionFind(), stages.UnionFind()
    for later, earlier in found:
        if earlier >= 0:
            union.unite([later], [earlier])
    for key in {key for key, _ in rows if key != 0}:
        members = [number for other, number in rows if other == key]
        truth.unite(members, members[:1] * len(members))
    for a, b in zip(union.families(), truth.families(), strict=True):
        assert a.tolist() == b.tolist()


def test_rows_out_of_order_are_refused():
    with pytest.raises(ValueError, match="rows must be sorted by key, then by number"):
        list(workers.link(batches({"key": [3, 2], "number": [1, 1]}, [1])))


def test_keys_of_texts():
    params = stages.SearchParams.of(0.8, num_perm=8, bands=4, rows=2)
    texts = ["one text", None, b"\xff", "another"]
    number, problem = np.array([5, 6, 7, 8]), np.array([0, 0, 0, NULL_ID], np.int32)
    sign = workers.signer(params)

    def signed(column):
        columns = [pa.array(number), pa.array(problem), column]
        return sorted(collected(sign([pa.record_batch(columns, names=list("npt"))])))

    found = signed(pa.array(["one text", None, "", "another"]))
    keys = stages.sign_batch(["one text", "another"], params).keys.view(np.int64).T.tolist()
    expected = [(key, n) for n, row in zip([5, 8], keys, strict=True) for key in row]
    own = [(n, n) for n in number.tolist()]
    counts = [(2, NOT_EMPTY), (2, SHORT)]
    assert found == sorted([*expected, *own, *counts, (8, NULL_ID)])
    torn = signed(pa.array([t.encode() if isinstance(t, str) else t for t in texts], pa.binary()))
    assert torn == sorted([*own, (0, NOT_EMPTY), (0, SHORT), (7, BAD_TEXT), (8, NULL_ID)])


@pytest.mark.parametrize("seed", range(20))
def test_whole_families(seed):
    draw = random.Random(seed)
    family = sorted(draw.randrange(8) for _ in range(40))
    rows = {"family": family, "text": ["x" * draw.randrange(50) for _ in family]}
    cuts = [draw.randrange(41) for _ in range(draw.randrange(8))]
    part, spill = draw.choice([1, 300, 10**9]), draw.choice([1, 500, 10**9])
    found = []
    for table in families.whole_families(batches(rows, cuts), part, spill):
        assert not found or found[-1]["family"] != table["family"][0].as_py()
        found += table.to_pylist()
    expected = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
    assert found == expected


def test_a_large_family_is_in_a_file_for_as_long_as_it_is_needed(monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path},elsewhere")
    rows = {"family": [1] * 90 + [2] * 10, "text": [f"{i} of them" for i in range(100)]}
    before = pa.total_allocated_bytes()
    given = (batch for batch in batches(rows, range(10, 100, 10)))
    with caplog.at_level(logging.WARNING):
        tables = families.whole_families(given, 100, 500)
        first = next(tables)
        assert len(first) == 90
        assert len(list(Path(tmp_path).rglob("rows.arrow"))) == 1
        assert pa.total_allocated_bytes() - before < 10_000
        assert [len(table) for table in tables] == [10]
    assert list(tmp_path.iterdir()) == []
    assert "one family of 90 documents" in caplog.text
    assert first["text"].to_pylist() == rows["text"][:90]  # mapped, though its file is gone


def frame(master, python):
    context = SimpleNamespace(master=master, pythonExec=python)
    return SimpleNamespace(sparkSession=SimpleNamespace(sparkContext=context))


@pytest.fixture
def bare(tmp_path):
    """A Python without fastlsh."""
    path = tmp_path / "python3"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    path.chmod(0o755)
    return path


@pytest.mark.skipif(os.name == "nt", reason="a script of sh")
def test_a_python_without_fastlsh_is_named(bare, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    for python in (str(bare), "no-such-python"):
        with pytest.raises(ImportError) as error:
            check_workers(frame("local[2]", python))
        assert str(error.value) == (
            f"the workers of Spark run {python}, which cannot import fastlsh: set"
            f" PYSPARK_PYTHON={sys.executable} before the session is created"
        )


def test_what_has_fastlsh_or_cannot_be_asked_passes(bare):
    check_workers(frame("local[2]", sys.executable))
    check_workers(frame("spark://host:7077", str(bare)))
    check_workers(SimpleNamespace(sparkSession=SimpleNamespace()))  # as over Spark Connect


def test_a_session_with_another_python(installed, bare):
    """In a process of its own, as a session is made once."""
    code = """
from pyspark.sql import SparkSession
from fastlsh.integrations.spark import deduplicate
session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
deduplicate(session.createDataFrame([(1, "one text")], "id long, text string"))
"""
    done = started(bare.parent, sys.executable, "-c", code, python=str(bare))
    assert done.returncode == 1
    *_, last = done.stderr.strip().splitlines()
    assert last.startswith(f"ImportError: the workers of Spark run {bare}, which cannot import")
