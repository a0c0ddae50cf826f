"""The room for gathered texts: estimated by the texts, and asked for before they are written."""

import shutil

import pytest

from fastlsh import InputError, deduplicate_files
from fastlsh.files.disk import decide, gather
from fastlsh.io import write_table
from killed_runs import stopped_in
from shards import small_budget

WIDE = 5_000
TEXT = "the same words for nearly all of the documents {}"


@pytest.fixture(
    params=[("jsonl", 60), pytest.param(("parquet", 200), marks=pytest.mark.exhaustive)]
)
def run(request, tmp_path, monkeypatch):
    """The keywords of a run, how many documents it has, and the bytes of their texts.

    The rows have a hundred times as much. All documents share buckets.
    """
    pytest.importorskip("pyarrow")
    small_budget(monkeypatch, block=50_000, texts=500)
    kind, n = request.param
    texts = [TEXT.format(i // 2) for i in range(n)]
    path = tmp_path / f"in.{kind}"
    write_table(str(path), {"id": list(range(n)), "text": texts, "wide": ["x" * WIDE] * n})
    keywords = {
        "inputs": [str(path)], "output": str(tmp_path / f"out.{kind}"),
        "work": tmp_path / "work", "engine": "disk", "threads": 1,
    }  # fmt: skip
    return keywords, n, sum(map(len, texts))


def free(monkeypatch, size):
    usage = shutil.disk_usage("/")._replace(free=size)
    monkeypatch.setattr(gather.shutil, "disk_usage", lambda _: usage)


def test_other_columns_need_no_room(run, monkeypatch):
    keywords, documents, texts = run
    free(monkeypatch, 2 * texts)
    assert deduplicate_files(**keywords).n_removed > documents // 2


def test_too_little_room_is_noticed_before_the_texts_are_written(run, monkeypatch):
    keywords, _, texts = run
    free(monkeypatch, texts // 2)
    with pytest.raises(InputError, match="and their texts take about"):
        deduplicate_files(**keywords)
    assert not list(keywords["work"].glob("texts-*"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("stage", [(gather, "_TextsWriter", 1), (decide, "decide_part", 0)])
def test_texts_that_are_gathered_need_no_more_room(run, monkeypatch, stage):
    keywords, documents, texts = run
    stopped_in(monkeypatch, *stage, deduplicate_files, **keywords)
    gathered = sum(path.stat().st_size for path in keywords["work"].glob("texts-*[0-9]/*"))
    free(monkeypatch, 0 if stage[0] is decide else 2 * texts - gathered)
    assert deduplicate_files(**keywords).n_removed > documents // 2
