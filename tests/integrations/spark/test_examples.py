"""The examples in the docstrings of the Spark functions are true."""

import pytest

from fastlsh.integrations.spark import functions, overlapping
from pages import run_examples


@pytest.mark.parametrize("module", [functions, overlapping])
def test_docstrings(spark, tmp_path, module):
    assert run_examples(module, tmp_path, spark=spark) > 0
