"""Runs on disk need no optional package."""

import json
import subprocess
import sys

import pytest

RUN = """
import sys

sys.modules["pyarrow"] = None

import fastlsh

work, name, source, *outputs = sys.argv[1:]
for engine, output in zip(("memory", "disk"), outputs):
    result = getattr(fastlsh, name)([source], output, engine=engine, work=work)
    assert result.engine == engine
"""

TEXT = " ".join(f"word{number}" for number in range(200))


@pytest.mark.parametrize(
    "name", ["deduplicate_files", "deduplicate_line_files", "deduplicate_span_files"]
)
@pytest.mark.parametrize("end", [" é", " \ud800"], ids=["strict", "lone surrogates"])
def test_runs_on_disk_without_pyarrow(tmp_path, name, end):
    texts = [f"{TEXT}\nrow", f"{TEXT}\nrow{end}", "another text", f"{TEXT}\n{end} row"]
    source, outputs = tmp_path / "a.jsonl", [tmp_path / "b.jsonl", tmp_path / "c.jsonl"]
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    subprocess.run(
        [sys.executable, "-c", RUN, tmp_path / "work", name, source, *outputs], check=True
    )
    memory, disk = (output.read_bytes() for output in outputs)
    assert memory == disk
    assert len(disk) < source.stat().st_size
