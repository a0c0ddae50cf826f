"""The pages about other libraries run, as far as these are installed."""

import importlib.util
import os
import re
import warnings

import pytest

import fastlsh
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


ENGINES = ["dask", "daft", "ray"]


@pytest.mark.filterwarnings("ignore")  # theirs
def test_the_recipes_answer_what_memory_does(tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    installed = [name for name in ENGINES if importlib.util.find_spec(name)]
    if not installed:
        pytest.skip(f"none of {', '.join(ENGINES)} is installed")
    if "ray" in installed:
        import ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        with warnings.catch_warnings():
            page = run_here("docs/recipes.md", tmp_path)
        assert page.ran == 1 + len(installed)
        expected = [
            (removed, int(kept), similarity)
            for removed, kept, similarity in fastlsh.deduplicate(page.names["texts"])
        ]
        sources = {
            "dask": lambda dask, rows: dask.dataframe.from_pandas(rows, npartitions=3),
            "daft": lambda daft, rows: daft.from_pydict(rows.to_dict("list")),
            "ray": lambda ray, rows: ray.data.from_pandas(rows),
        }
        for name in installed:
            shuffled = page.names["notices"].sample(frac=1, random_state=1)
            source = sources[name](importlib.import_module(name), shuffled)
            proofs = page.names[f"{name}_proofs"](source)
            assert sorted(proofs.itertuples(index=False, name=None)) == expected, name
    finally:
        if "ray" in installed:
            ray.shutdown()
