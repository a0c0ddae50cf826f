"""A message about a package that is missing names the package, which `pip install` finds."""

import importlib
import re
import sys
from pathlib import Path

import pytest

from fastlsh import InputError
from fastlsh.io import errors as io_errors
from files import put, put_rows


@pytest.mark.parametrize(
    "case",
    [
        ("pyarrow", "in.parquet", "pairs in.parquet"),
        ("pyarrow", "out.jsonl.zst", "dedup in.jsonl -o out.jsonl.zst"),
        ("pyarrow", "out.parquet", "dedup in.jsonl -o out.parquet --convert-to parquet"),
        ("pyarrow", "d/in.parquet", "dedup in.jsonl -o d/ --convert-to parquet"),
        ("pyarrow", "removed.tsv.zst", "dedup in.jsonl -o out.jsonl --removed removed.tsv.zst"),
        ("pyarrow", "pairs.parquet", "pairs in.jsonl -o pairs.parquet"),
        ("pyarrow", "hits.parquet", "decontaminate in.jsonl --evals e.jsonl --hits hits.parquet"),
        ("matplotlib", "plot.svg", "evaluate in.jsonl --plot plot.svg"),
        ("matplotlib", "a.svg: plots need matplotlib: ", "tune --threshold 0.8 --plot a.svg"),
        ("shtab", "completion needs shtab: ", "completion bash"),
        ("tokenizers", "t.json", "dedup in.jsonl -o o --by span --unit token --tokenizer t.json"),
        ("redis", "redis://127.0.0.1:1#x", "index build redis://127.0.0.1:1/0#x in.jsonl"),
        ("redis", "redis://127.0.0.1:1#index", "index info redis://user:secret@127.0.0.1:1/0"),
    ],
)  # fmt: skip
def test_one_line_names_the_file_and_the_package(run, here, monkeypatch, case):
    package, named, command = case
    put_rows("in.jsonl", {"text": "a few words"}, {"text": "other words"})
    put_rows("e.jsonl", {"text": "an item"})
    put("in.parquet", b"PAR1")
    put("t.json", b"{}")
    before = sorted(here.iterdir())
    monkeypatch.setitem(sys.modules, package, None)
    importlib.invalidate_caches()
    line = run.refused(*command.split())
    assert line.startswith(f"fastlsh: {named}")
    assert line.endswith(f"pip install {package}")
    assert "secret" not in line
    assert sorted(here.iterdir()) == before


def test_no_message_advises_to_install_the_package_by_its_own_name():
    """It may not be registered: another one of that name would be installed."""
    folders = (Path(io_errors.__file__).parents[1], Path(__file__).parents[2] / "docs")
    sources = [*folders[0].rglob("*.py"), *folders[1].rglob("*.md")]
    named = [path for path in sources if re.search(r"fastlsh\[\w+\]", path.read_text("utf-8"))]
    assert len(sources) > 200
    assert named == []
    with pytest.raises(InputError, match=r"pip install pyarrow$"):
        io_errors.pyarrow("a.parquet", "a_module_that_is_missing")
