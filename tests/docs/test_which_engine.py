"""The pages about engines: the walk through 500 GB on a few rows, and the engine in a page."""

import io
import json
import re
import shlex

import pytest

import fastlsh
from combinations import first
from fastlsh.cli import main
from files import put_table, table_rows
from pages import ROOT, run_here

PAGE = ROOT / "docs" / "which-engine.md"


def walk():
    """Yield the words of each command of the walk, on the bucket of the tests."""
    text = PAGE.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in re.findall(r"^    fastlsh (.+)$", text, flags=re.MULTILINE):
        yield shlex.split(line.replace("s3://corpus", "s3://data").replace("/scratch/", ""))


@pytest.mark.skipif(not PAGE.is_file(), reason="no docs here")
def test_the_walk(storage, tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(tmp_path)
    texts = [f"{n} " + " ".join(f"{n * n}word{m}" for m in range(60)) for n in range(40)]

    def put(key, numbers):
        rows = [{"id": f"{key} {n}", "text": texts[n]} for n in numbers]
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        storage.put(key, pa.Codec("zstd").compress(data, asbytes=True))

    def kept(key):
        with pa.CompressedInputStream(io.BytesIO(storage.get(key)), "zstd") as stream:
            return [json.loads(line)["id"] for line in stream.read().splitlines()]

    put("raw/a.jsonl.zst", range(20))
    put("raw/b.jsonl.zst", range(15, 30))
    put("next/c.jsonl.zst", range(25, 40))
    trial, run, following = walk()
    assert main([*trial, "-q"]) == 0
    assert (tmp_path / "try.html").is_file()
    for _ in range(2):  # again, as after an interruption
        assert main([*run, "-q"]) == 0
    assert kept("clean/a.jsonl.zst") == [f"raw/a.jsonl.zst {n}" for n in range(20)]
    assert kept("clean/b.jsonl.zst") == [f"raw/b.jsonl.zst {n}" for n in range(20, 30)]
    removed = parquet.read_table(io.BytesIO(storage.get("removed.parquet")))
    assert removed["kept_id"].to_pylist() == [f"raw/a.jsonl.zst {n}" for n in range(15, 20)]
    assert main([*following, "-q"]) == 0
    assert kept("clean-next/c.jsonl.zst") == [f"next/c.jsonl.zst {n}" for n in range(30, 40)]
    assert {path.name for path in tmp_path.glob("*.work")} == set()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    pytest.importorskip("pyarrow")
    page = run_here("docs/engines.md", tmp_path_factory.mktemp("engine"))
    assert page.ran == 3
    assert not page.left_out
    return page


@pytest.mark.parametrize("sizes", first((7, 31), (1, 1), (1, 31), (7, 1)))
def test_the_engine_answers_what_memory_does(page, sizes, here):
    notices = page.names["notices"][:150]
    put_table("notices.parquet", notices, row_group_size=40)
    page.names.update(zip(("PARTS", "ROWS"), sizes, strict=True))
    params = fastlsh.stages.SearchParams.of(0.6, num_perm=32, bands=8, rows=4)
    proofs = page.names["deduplicate"]("notices.parquet", "kept.parquet", params)
    texts = [notice["text"] for notice in notices]
    whole = fastlsh.deduplicate(texts, 0.6, num_perm=32, bands=8, rows=4)
    assert len(proofs) > 20
    assert proofs.tolist() == [(a, int(b), similarity) for a, b, similarity in whole.proofs()]
    assert table_rows("kept.parquet") == [notices[i] for i in whole.selected]
