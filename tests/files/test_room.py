"""The room for gathered texts: estimated by the texts, and asked for before they are written."""

import shutil

import pytest

from combinations import every
from fastlsh import InputError, deduplicate_files
from fastlsh.files.disk import decide, gather
from fastlsh.files.disk import documents as on_disk
from fastlsh.io import write_table
from shards import small_budget

DOCUMENTS, WIDE = 40, 5_000
TEXT = "the same words for nearly all of the documents {}"
TEXTS = sum(len(TEXT.format(n // 2)) for n in range(DOCUMENTS))


class StoppedError(Exception):
    """What ends a run."""


def stop(*_, **__):
    raise StoppedError


@pytest.fixture(params=every(2, ["jsonl", "parquet"]))
def keywords(request, tmp_path, monkeypatch):
    """A run on 200 KB of rows with 2 KB of texts, all of which share buckets."""
    pytest.importorskip("pyarrow")
    small_budget(monkeypatch, block=50_000, pending=500)
    columns = {
        "id": list(range(DOCUMENTS)),
        "text": [TEXT.format(n // 2) for n in range(DOCUMENTS)],
        "wide": ["x" * WIDE] * DOCUMENTS,
    }
    path = tmp_path / f"in.{request.param}"
    write_table(str(path), columns)
    return {
        "inputs": [str(path)], "output": str(tmp_path / f"out.{request.param}"),
        "work": tmp_path / "work", "engine": "disk", "threads": 1,
    }  # fmt: skip


def free(monkeypatch, size):
    usage = shutil.disk_usage("/")._replace(free=size)
    monkeypatch.setattr(on_disk.shutil, "disk_usage", lambda _: usage)


def test_other_columns_need_no_room(keywords, monkeypatch):
    free(monkeypatch, 2 * TEXTS)
    assert deduplicate_files(**keywords).n_removed > DOCUMENTS // 2


def test_too_little_room_is_noticed_before_the_texts_are_written(keywords, monkeypatch):
    free(monkeypatch, TEXTS // 2)
    with pytest.raises(InputError, match="and their texts take about"):
        deduplicate_files(**keywords)
    assert not list(keywords["work"].glob("texts-*"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("stage", [(gather, "_RunWriter", 2), (decide, "decide_part", 0)])
def test_texts_that_are_gathered_need_no_more_room(keywords, monkeypatch, stage):
    module, name, calls = stage
    left = iter(range(calls))
    original = getattr(module, name)
    with monkeypatch.context() as patch:
        patch.setattr(
            module, name, lambda *a, **k: stop() if next(left, None) is None else original(*a, **k)
        )
        with pytest.raises(StoppedError):
            deduplicate_files(**keywords)
    assert getattr(module, name) is original
    gathered = sum(path.stat().st_size for path in keywords["work"].glob("texts-*[0-9]/*"))
    free(monkeypatch, 0 if module is decide else 2 * TEXTS - gathered)
    assert deduplicate_files(**keywords).n_removed > DOCUMENTS // 2
