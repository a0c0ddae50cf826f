"""A page, written and read again."""

import pytest

from fastlsh import report
from report_page import Page


@pytest.fixture
def page(tmp_path):
    """Return a function that writes a report, and returns what is on its page."""

    def make(result, texts, **options):
        path = tmp_path / "report.html"
        report(result, texts, path, **options)
        return Page(path.read_text(encoding="utf-8"))

    return make
