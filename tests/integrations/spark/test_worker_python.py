"""Workers that take another Python are named in one line, before any task runs."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from fastlsh.integrations.spark.workers import check_workers


def frame(master, python):
    context = SimpleNamespace(master=master, pythonExec=python)
    return SimpleNamespace(sparkSession=SimpleNamespace(sparkContext=context))


@pytest.fixture
def bare(tmp_path):
    """A Python without fastlsh."""
    path = tmp_path / "python3"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    path.chmod(0o755)
    return str(path)


@pytest.mark.skipif(os.name == "nt", reason="a script of sh")
def test_a_python_without_fastlsh_is_named(bare, monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    for python in (bare, "no-such-python"):
        with pytest.raises(ImportError) as error:
            check_workers(frame("local[2]", python))
        assert str(error.value) == (
            f"the workers of Spark run {python}, which cannot import fastlsh: set"
            f" PYSPARK_PYTHON={sys.executable} before the session is created"
        )


def test_what_has_fastlsh_or_cannot_be_asked_passes(bare):
    check_workers(frame("local[2]", sys.executable))
    check_workers(frame("spark://host:7077", bare))
    check_workers(SimpleNamespace(sparkSession=SimpleNamespace()))  # as over Spark Connect


def test_a_session_with_another_python(installed, bare):
    """In a process of its own, as a session is made once."""
    code = """
from pyspark.sql import SparkSession
from fastlsh.integrations.spark import deduplicate
session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
deduplicate(session.createDataFrame([(1, "one text")], "id long, text string"))
"""
    environment = {**os.environ, "PYSPARK_PYTHON": bare, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    *_, last = done.stderr.strip().splitlines()
    assert last.startswith(f"ImportError: the workers of Spark run {bare}, which cannot import")
