"""Several units are signed at a time: the answer and the errors are those of one at a time."""

import json
import threading
from pathlib import Path

import pytest

from combinations import every
from fastlsh import InputError, deduplicate_files
from fastlsh.files.disk import sign
from fastlsh.files.run import manifest
from fastlsh.io import Options, Source
from files import put_table, table_rows
from shards import content_of, contents, rows_of, small_budget, write_shards

pytest.importorskip("pyarrow")


@pytest.fixture
def keywords(tmp_path, monkeypatch):
    """Seven files, each a unit of its own."""
    small_budget(monkeypatch)
    monkeypatch.setattr(manifest, "UNIT", 1)
    monkeypatch.setattr(manifest, "is_divisible", lambda source: False)
    inputs = write_shards(tmp_path, rows_of(8, 49), 7)
    return {"inputs": inputs, "engine": "disk", "memory": "300M", "work": tmp_path / "work"}


def written(keywords, folder, threads, output="out.jsonl"):
    folder.mkdir()
    deduplicate_files(
        output=folder / output, removed=folder / "removed.tsv", threads=threads, **keywords
    )
    return contents(folder)


def changed(monkeypatch, change):
    """Let a function of the file's number and its blocks change what is read."""
    read = sign.read_blocks
    monkeypatch.setattr(
        sign, "read_blocks",
        lambda source, *sizes, **more: change(
            int(Path(source.path).stem[2:]), read(source, *sizes, **more)
        ),
    )  # fmt: skip


@pytest.mark.exhaustive
def test_the_first_broken_file_is_named_and_what_lies_before_stays_done(
    keywords, tmp_path, monkeypatch
):
    expected = written(keywords, tmp_path / "one", 1)
    later, seen = threading.Event(), set()

    def failing(number, blocks):
        if number == 2:
            assert later.wait(30)
            raise InputError(keywords["inputs"][2], "Input/output error")
        if number == 3:
            later.set()
            raise InputError(keywords["inputs"][3], "Input/output error")
        yield from blocks

    def noting(number, blocks):
        seen.add(number)
        return blocks

    with monkeypatch.context() as patch:
        changed(patch, failing)
        with pytest.raises(InputError, match=r"in2\.jsonl: Input/output error"):
            written(keywords, tmp_path / "two", 4)
    assert json.loads((tmp_path / "work" / "broken.json").read_text("utf-8").split("\n")[0])
    changed(monkeypatch, noting)
    deduplicate_files(
        output=tmp_path / "two" / "out.jsonl", removed=tmp_path / "two" / "removed.tsv",
        threads=4, **keywords,
    )  # fmt: skip
    assert {2, 3} <= seen
    assert not seen & {0, 1}
    assert contents(tmp_path / "two") == expected


@pytest.mark.parametrize("threads", every(2, [1, 4], 1))
def test_progress_ascends_to_the_end_of_each_stage(keywords, tmp_path, threads):
    told = {}
    keywords["progress"] = lambda stage, done, of: told.setdefault(stage, []).append((done, of))
    written(keywords, tmp_path / "out", threads)
    size = sum(Path(name).stat().st_size for name in keywords["inputs"])
    for stage in ("signing", "gathering"):
        assert told[stage] == sorted(told[stage])
        assert told[stage][-1] == (size, size)
        # The calling thread tells between its own units; the others may have done all by then.
        assert len(told[stage]) > 1 or threads > 1


def as_parquet(inputs):
    """Write JSON lines as Parquet, in row groups of three rows."""
    paths = [(name, Path(name).with_suffix(".parquet")) for name in inputs]
    return [str(put_table(path, table_rows(name), row_group_size=3)) for name, path in paths]


def source_of(name):
    return Source(name, name.rpartition(".")[2], None, Options())


@pytest.mark.parametrize("in_turns", every(2, ["limit", "parquet"]))
def test_threads_do_not_wait_at_the_end_of_a_unit(keywords, tmp_path, monkeypatch, in_turns):
    if in_turns == "parquet":
        keywords["inputs"] = as_parquet(keywords["inputs"])
    else:
        keywords["limit"] = 45
    last = len(list(sign.read_blocks(source_of(keywords["inputs"][1]), 700))) - 1
    output = "out." + keywords["inputs"][0].rpartition(".")[2]
    expected = written(keywords, tmp_path / "one", 1, output)
    both = threading.Barrier(2, timeout=30)
    of_block = sign.sign_block

    def meeting(job, source, block):
        if (source, block.extent.index) in ((1, last), (2, 0)):
            both.wait()
        return of_block(job, source, block)

    monkeypatch.setattr(sign, "sign_block", meeting)
    assert written(keywords, tmp_path / "four", 4, output) == expected
    assert not both.broken


@pytest.mark.parametrize("threads", every(2, [1, 4], 1))
def test_units_before_a_bad_row_stay_done_where_blocks_are_one_sequence(
    keywords, tmp_path, threads
):
    with open(keywords["inputs"][3], "a", encoding="utf-8") as file:
        file.write("no JSON\n")
    with pytest.raises(InputError, match=r"in3\.jsonl: row 8"):
        written({**keywords, "limit": 45}, tmp_path / "out", threads)
    runs = sorted(path.name for path in keywords["work"].glob("segment-*"))
    assert [name for name in runs if name < "segment-000003"] == [
        f"segment-{number:06}-000000" for number in range(3)
    ]
    assert all(content_of(keywords["work"] / name / "blocks.json")["last"] for name in runs[:3])
