"""The page about large collections runs."""

import pytest

from pages import run_here


def test_the_page_runs(tmp_path):
    pytest.importorskip("pyarrow")
    page = run_here("docs/large-collections.md", tmp_path)
    assert page.ran == 2
    assert not page.left_out
