"""Arrays of JSON give what lines of the same rows give, in every job and on every engine."""

import gzip
import json
from pathlib import Path

import pytest

from combinations import covering
from fastlsh import (
    decontaminate_files,
    deduplicate_files,
    deduplicate_line_files,
    deduplicate_span_files,
    near_duplicate_files,
    overlap_files,
)
from fastlsh.files.disk import sign
from files import lines_of as lines
from in_stages import ENGINES, run_with
from killed_runs import stopped_in
from shards import OF_PASSAGES, contents, rows_of, small_budget

pytest.importorskip("pyarrow")

ROWS = rows_of(3, 60)
PARTS = ROWS[:20], ROWS[20:35], ROWS[35:]
FOUND = [row for row in ROWS if len((row["text"] or "").split()) > 40][:1]
INPUTS = ["0.json", "1.json.gz", "2.jsonl"]
TABLE = {"removed": "removed.json"}
TABLES = {"removed.json", "clusters.tsv", "hits.tsv"}
JOBS = {
    "documents": (deduplicate_files, {**TABLE, "clusters": "clusters.tsv"}),
    "annotated": (deduplicate_files, {"annotate": True}),
    "against": (deduplicate_files, {"against": "old.json", **TABLE}),
    "lines": (deduplicate_line_files, {"threshold": 1.0, **TABLE}),
    "spans": (deduplicate_span_files, {"min_length": 40, **TABLE}),
    "pairs": (near_duplicate_files, {"threshold": 0.6}),
    "overlap": (overlap_files, {"threshold": 0.6}),
    "items": (decontaminate_files, {"evals": "old.json", "hits": "hits.tsv"}),
    "cut items": (decontaminate_files, {"evals": "old.json", "rule": "span"}),
}


def write(folder, first, second, old):
    """Write the rows into three files, of which two have this content, and other rows."""
    folder.mkdir()
    (folder / "0.json").write_bytes(first.encode())
    (folder / "1.json.gz").write_bytes(gzip.compress(second.encode()))
    (folder / "2.jsonl").write_text(lines(PARTS[2]))
    (folder / "old.json").write_text(old)
    return folder


@pytest.fixture
def folders(tmp_path):
    """Two folders with the same rows: in lines, and in arrays beside lines."""
    of_lines = write(tmp_path / "lines", *map(lines, PARTS[:2]), lines(FOUND))
    pretty = json.dumps(PARTS[0], indent=2).replace("\n", "\r\n")
    of_arrays = f"\ufeff\n{pretty}\n", json.dumps(PARTS[1]), json.dumps(FOUND, indent=1)
    return of_lines, write(tmp_path / "arrays", *of_arrays)


def run(name, engine, output):
    """Run a job here; return the tables that it has written."""
    function, more = JOBS[name]
    run_with(engine, function, INPUTS, output=output, work="work", **more)
    return [Path(path).read_text() for path in sorted(TABLES & {*more.values()})]


@pytest.mark.parametrize(("name", "engine"), covering(JOBS, ENGINES))
def test_every_job_takes_arrays(folders, monkeypatch, name, engine):
    small_budget(monkeypatch, **(OF_PASSAGES if name == "spans" else {}))
    of_lines, of_arrays = folders
    monkeypatch.chdir(of_lines)
    expected = run(name, engine, "out.jsonl"), Path("out.jsonl").read_text()
    monkeypatch.chdir(of_arrays)
    assert run(name, engine, "out.json") == expected[0]
    found = json.loads(Path("out.json").read_text().removeprefix("\ufeff"))
    assert found == list(map(json.loads, expected[1].splitlines()))
    assert len(found) > 1
    assert run(name, "memory", "lines.jsonl") == expected[0]
    found = Path("lines.jsonl").read_text().removeprefix("\ufeff")
    assert list(map(json.loads, found.splitlines())) == list(
        map(json.loads, expected[1].splitlines())
    )
    assert len(found.splitlines()) == found.count("\n") == found.count("\n{") + 1


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_each_file_of_a_directory_keeps_its_form(folders, monkeypatch, engine):
    monkeypatch.chdir(folders[1])
    done = deduplicate_files(INPUTS, "out/", engine=engine, memory="300M")
    first = Path("out/0.json").read_bytes()
    second = gzip.decompress(Path("out/1.json.gz").read_bytes())
    assert first.startswith(b'\xef\xbb\xbf[\n{\r\n    "id": "d0",\r\n    "text": ')
    assert second.startswith(b'[\n{"id": "d20", "text": ')
    third = Path("out/2.jsonl").read_text().splitlines()
    kept = len(json.loads(first.decode("utf-8-sig"))) + len(json.loads(second)) + len(third)
    assert kept == done.n_kept
    deduplicate_files(INPUTS, "again/", engine=engine, memory="300M", convert_to="jsonl")
    assert sorted(contents(Path("again"))) == ["0.jsonl", "1.jsonl", "2.jsonl"]
    assert Path("again/1.jsonl").read_bytes() == second[2:-3].replace(b"},\n", b"}\n") + b"\n"


def test_an_interrupted_run_goes_on_in_the_middle_of_an_array(folders, monkeypatch):
    small_budget(monkeypatch)
    monkeypatch.chdir(folders[1])
    keywords = {"inputs": INPUTS, "work": "work", "memory": "300M", "engine": "disk"}
    deduplicate_files(**keywords, output="right.json")
    stopped_in(
        monkeypatch, sign, "sign_block", 5, deduplicate_files,
        **keywords, output="out.json", threads=1,
    )  # fmt: skip
    deduplicate_files(**keywords, output="out.json")
    assert Path("out.json").read_bytes() == Path("right.json").read_bytes()
