"""Runs on disk need no optional package."""

import json
import subprocess
import sys

import pytest

from combinations import every

RUN = """
import sys

sys.modules["pyarrow"] = None

import fastlsh

work, source, name = sys.argv[1:]
for engine in ("memory", "disk"):
    result = getattr(fastlsh, name)([source], f"{engine}.jsonl", engine=engine, work=work)
    assert result.engine == engine
"""

TEXT = " ".join(f"word{number}" for number in range(200))


NAMES = ["deduplicate_files", "deduplicate_line_files", "deduplicate_span_files"]


@pytest.mark.parametrize("name", every(3, NAMES))
@pytest.mark.parametrize("end", every(2, [" é", " \ud800"]), ids=["strict", "lone surrogates"])
def test_runs_on_disk_without_pyarrow(tmp_path, name, end):
    texts = [f"{TEXT}\nrow", f"{TEXT}\nrow{end}", "another text", f"{TEXT}\n{end} row"]
    source = tmp_path / "a.jsonl"
    source.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    command = [sys.executable, "-c", RUN, tmp_path / "work", source, name]
    subprocess.run(command, check=True, cwd=tmp_path)
    memory, disk = ((tmp_path / f"{engine}.jsonl").read_bytes() for engine in ("memory", "disk"))
    assert memory == disk
    assert len(disk) < source.stat().st_size
