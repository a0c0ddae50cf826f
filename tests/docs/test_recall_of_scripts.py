"""docs/parameters.md states what `recall_of_scripts` measures."""

from pathlib import Path

import pytest

from recall_of_scripts import SCRIPTS, line, table

PAGE = Path(__file__).parents[2] / "docs" / "parameters.md"
pytestmark = pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning")


@pytest.fixture(scope="module")
def lines():
    if not PAGE.is_file():
        pytest.skip("no docs here")
    return PAGE.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("script", SCRIPTS)
def test_short_texts(lines, script):
    assert line(script, 40) in lines


@pytest.mark.exhaustive
def test_the_table(lines):
    found = table()
    assert lines[lines.index(found[0]) :][: len(found)] == found
