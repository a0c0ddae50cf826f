"""The page on counting duplicates runs."""

import pytest

from pages import run_here


def test_the_page_runs(tmp_path):
    for module in ("duckdb", "polars", "pyarrow"):
        pytest.importorskip(module)
    page = run_here("docs/tasks/count-duplicates.md", tmp_path)
    assert not page.left_out
