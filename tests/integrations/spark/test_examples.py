"""The examples in the docstrings of the Spark functions are true."""

from fastlsh.integrations.spark import functions
from pages import run_examples


def test_docstrings(spark, tmp_path):
    assert run_examples(functions, tmp_path, spark=spark) > 0
