"""The page about integrations runs, as far as the libraries are installed."""

import importlib.util
import os
import re
import warnings

import pytest

from pages import ROOT, run_here

PAGE = ROOT / "docs" / "integrations.md"
NEEDED = re.findall(r"<!-- needs: (\w+) -->", PAGE.read_text(encoding="utf-8"))


@pytest.mark.filterwarnings("ignore")  # theirs
def test_the_page(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path))
    installed = [name for name in NEEDED if importlib.util.find_spec(name)]
    if os.environ.get("FASTLSH_INTEGRATIONS") == "required":
        assert installed == NEEDED
    with warnings.catch_warnings():
        page = run_here("docs/integrations.md", tmp_path)
    assert page.ran == 1 + len(installed)
