"""What inputs stand for: patterns, directories, links, awkward names."""

import os
import sys
import threading
from pathlib import Path

import pytest

from fastlsh.io import InputError, expand, filesystems, read, spooled_inputs
from files import put, refusal, save_table

ROW = '{"text": "a"}\n'


def fill(*names, data=ROW):
    for name in names:
        put(name, data)


def found(*inputs, kind=None, **keywords):
    return [source.path.replace(os.sep, "/") for source in expand(inputs, kind, **keywords)]


def why(*inputs, **keywords):
    with pytest.raises(InputError) as caught:
        expand(inputs, **keywords)
    return str(caught.value)


# --- patterns


def test_patterns(here):
    fill("d/b.jsonl", "d/a.jsonl", "d/.c.jsonl", "d/e/f.jsonl", "d/x.csv")
    assert found("d/*.jsonl") == ["d/a.jsonl", "d/b.jsonl"]
    assert found("d/[b-z].jsonl", "d/?.csv") == ["d/b.jsonl", "d/x.csv"]
    assert found("d/**/*.jsonl") == ["d/a.jsonl", "d/b.jsonl", "d/e/f.jsonl"]
    assert found("d/**", kind="jsonl") == ["d/a.jsonl", "d/b.jsonl", "d/e/f.jsonl", "d/x.csv"]
    assert found("d/.*.jsonl") == ["d/.c.jsonl"]
    assert found(str(here / "d" / "*.csv")) == [f"{here}/d/x.csv".replace(os.sep, "/")]


def test_directories_that_match(here):
    fill("d/p=1/a.jsonl", "d/p=1/b.jsonl", "d/p=2/a.jsonl", "d/q/a.jsonl")
    assert found("d/p=*") == ["d/p=1/a.jsonl", "d/p=1/b.jsonl", "d/p=2/a.jsonl"]


def test_a_name_that_looks_like_a_pattern_wins(here):
    fill("[ab].jsonl", "a.jsonl")
    assert found("[ab].jsonl") == ["[ab].jsonl"]
    os.unlink("[ab].jsonl")
    assert found("[ab].jsonl") == ["a.jsonl"]


def test_a_pattern_without_match_is_named(here):
    fill("d/.a.jsonl", "d/e/f.txt")
    assert why("d/*.jsonl") == "d/*.jsonl: no file matches this pattern"
    assert why("d/**/e") == "d/**/e: no file matches this pattern"  # a directory
    assert why("n?/*.csv") == "n?/*.csv: no file matches this pattern"


def test_a_file_that_matches_must_have_a_format(here):
    fill("a.jsonl", "b.md")
    assert "b.md: unknown format" in why("*")


# --- directories


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz", "csv", "tsv.zst", "parquet", "arrow"])
def test_directories_of_any_format(here, suffix):
    fill(f"d/b.{suffix}", f"d/a.{suffix}", f"d/_c.{suffix}", f"d/.d.{suffix}")
    with pytest.warns(UserWarning, match=rf"d: 1 without rows, by their names \(\.d\.{suffix}\)"):
        assert found("d") == [f"d/_c.{suffix}", f"d/a.{suffix}", f"d/b.{suffix}"]


def test_compressions_may_differ(here):
    fill("d/a.jsonl", "d/b.jsonl.gz", "d/c.ndjson.zst")
    assert [s.compression for s in expand("d")] == [None, "gz", "zst"]
    assert [s.compression for s in expand("d", "jsonl.xz")] == ["xz", "gz", "zst"]


WITHOUT_ROWS = (
    ".a.jsonl.crc", ".hidden.jsonl", "LICENSE", "LICENSE.txt", "README", "README.md", "README.txt",
    "_SUCCESS", "_common_metadata", "_metadata", "cache.lock", "dataset_info.json",
    "dataset_infos.json", "notes.md", "part-0.jsonl.crc", "state.json",
)  # fmt: skip


def test_what_stands_beside_shards_is_passed_over_and_counted(here):
    fill("d/a.jsonl", "d/e/f.jsonl", "d/.git/g.jsonl", *(f"d/{name}" for name in WITHOUT_ROWS))
    for kind in (None, "jsonl"):
        with pytest.warns(UserWarning, match="d") as told:
            assert found("d", kind=kind) == ["d/a.jsonl"]
        assert [str(each.message) for each in told] == [
            "passed over in d: 17 without rows, by their names"
            " (.a.jsonl.crc, .git, .hidden.jsonl and 14 more)",
            "left out of d: directories, which recursive=True reads: e",
        ]
        assert {each.filename for each in told} == {__file__}


def test_a_file_of_an_unknown_format_in_a_directory(here):
    fill("d/a.jsonl", "d/e/b.jsonl", "d/e/c.rows", "d/e/d.rows", "d/e/part-1.gz")
    reason = why("d", recursive=True)
    assert reason.startswith("d/e/c.rows: unknown format: name it with format=")
    assert reason.endswith("skip_unknown=True (there are 3 of them)")
    names = "c.rows, d/e/d.rows, d/e/part-1.gz"
    for kind in (None, "jsonl"):
        with pytest.warns(UserWarning, match="skipped") as told:
            read = found("d", kind=kind, recursive=True, skip_unknown=True)
        assert read == ["d/a.jsonl", "d/e/b.jsonl"]
        assert str(told[0].message) == f"skipped d/e/{names}: unknown format; give format="
    every = found("d", kind="jsonl", recursive=True)
    assert every[2:] == ["d/e/c.rows", "d/e/d.rows", "d/e/part-1.gz"]


def test_recursive_in_the_order_of_bytes(here):
    fill("d/a/x.jsonl", "d/a-b/x.jsonl", "d/a.jsonl", "d/é.jsonl", "d/Z.jsonl", "d/z/_t/x.jsonl")
    fill("d/_temporary/0/x.jsonl", "d/.git/x.jsonl")
    with pytest.warns(UserWarning, match=r"d: 3 without rows.*\(.git, _temporary, z/_t\)"):
        assert found("d", recursive=True) == [
            "d/Z.jsonl", "d/a-b/x.jsonl", "d/a.jsonl", "d/a/x.jsonl", "d/é.jsonl",
        ]  # fmt: skip


def test_several_formats_in_a_directory(here):
    fill("d/a.jsonl", "d/b.csv", "d/c.jsonl", "d/notes.txt")
    assert why("d").startswith(
        "d: the directory has files of several formats (1 .csv, 2 .jsonl, 1 .txt): choose one"
    )
    with pytest.warns(UserWarning, match=r"other files: b\.csv, notes\.txt"):
        assert found("d", kind="jsonl") == ["d/a.jsonl", "d/c.jsonl"]
    assert len(found("d", mixed=True)) == 4


def test_format_names_files_without_suffix_in_a_directory(here):
    fill("d/part-0", "d/part-1.gz", "d/a.json", "d/b.json.bz2")
    sources = expand("d", "jsonl")
    assert [(s.path, s.format, s.compression) for s in sources] == [
        (os.path.join("d", "a.json"), "jsonl", None),
        (os.path.join("d", "b.json.bz2"), "jsonl", "bz2"),
        (os.path.join("d", "part-0"), "jsonl", None),
        (os.path.join("d", "part-1.gz"), "jsonl", "gz"),
    ]


def test_directories_with_nothing_to_read(here):
    fill("d/e/a.jsonl", "n/README.md")
    assert "recursive=True reads what is in them" in why("d")
    assert why("n").startswith("n: the directory has no file of a known format (there is: README")
    assert (
        "parquet cannot be read through .gz" in why("p") if fill("p/a.parquet.gz") is None else None
    )


def test_a_tree_of_source_files_is_read_as_plain_text(here):
    fill("code/a.py", "code/e/b.py", "code/e/notes.txt")
    assert "code/a.py: unknown format: name it with format=, give a pattern" in why("code")
    assert found("code/**/*.py", kind="txt") == ["code/a.py", "code/e/b.py"]
    inside = ["code/a.py", "code/e/b.py", "code/e/notes.txt"]
    assert found("code", kind="txt", recursive=True) == inside


# --- links, awkward names


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links")
def test_links(here):
    fill("blobs/x", "d/b.jsonl")
    os.symlink("../blobs/x", "d/a.jsonl")
    os.symlink("..", "d/loop")
    os.symlink("../blobs", "d/z")
    once = r"read once, .*: d/a.jsonl \(also d/loop/blobs/x\), d/a.jsonl \(also d/z/x\)$"
    with pytest.warns(UserWarning, match=once):
        inside = found("d", kind="jsonl", recursive=True)
    assert inside == ["d/a.jsonl", "d/b.jsonl"]  # and circles end
    os.unlink("d/loop")
    os.unlink("d/z")
    os.symlink("nowhere", "d/c.jsonl")
    assert why("d") == "d/c.jsonl: No such file or directory"
    assert why("d/*.jsonl") == "d/c.jsonl: No such file or directory"


@pytest.mark.parametrize("name", ["a b.jsonl", "a\nb.jsonl", "*.jsonl", "é\u2028.jsonl"])
def test_awkward_names(here, name):
    if os.name == "nt":
        pytest.skip("not names there")
    put(f"d/{name}", ROW)
    assert found("d") == [f"d/{name}"]
    assert read("d").ids == [f"d/{name}:1"]
    assert found(f"d/{name}") == [f"d/{name}"]


def test_names_that_are_no_text(here):
    if sys.platform != "linux":
        pytest.skip("names are text here")
    fill(os.fsdecode(b"d/\xff.jsonl"), os.fsdecode(b"d/\xe9\x80.jsonl"), "d/\U0001f600.jsonl")
    names = [os.fsencode(name) for name in found("d")]
    assert names == sorted(names)
    assert len(read("d")) == 3
    put(os.fsdecode(b"d/\xff.jsonl"), "{\n")
    assert refusal("d").startswith("d/\\udcff.jsonl: row 1: not JSON")


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_tables_whose_names_are_not_text(here, kind):
    if sys.platform != "linux":
        pytest.skip("names are text here")
    pa = pytest.importorskip("pyarrow")
    name = os.fsdecode(b"\xff.") + kind
    save_table(pa.table({"text": ["a", "b"]}), name)
    assert list(read(".").texts.to_pylist()) == ["a", "b"]


def test_pipes_are_left_out_of_directories(here):
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes")
    fill("d/a.jsonl")
    os.mkfifo("d/b.jsonl")
    with pytest.warns(UserWarning, match=r"b\.jsonl"):
        assert found("d") == ["d/a.jsonl"]


def test_directories_that_cannot_be_read(here):
    if not hasattr(os, "geteuid") or os.geteuid() == 0:
        pytest.skip("root reads everything: run as another user")
    fill("d/e/a.jsonl")
    Path("d/e").chmod(0)
    try:
        assert why("d", recursive=True) == "d/e: Permission denied"
    finally:
        Path("d/e").chmod(0o700)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_copied_pipe_is_read_by_those_who_were_given_the_copy(tmp_path):
    pipe = str(tmp_path / "pipe.jsonl")
    os.mkfifo(pipe)
    writer = threading.Thread(target=put, args=(pipe, ROW))
    writer.start()
    with spooled_inputs([pipe], None, lambda _: None, twice=True) as (copied,):
        writer.join()
        assert [len(read(copied)) for _ in range(2)] == [1, 1]
        assert (copied, filesystems.is_piped(copied), filesystems.is_piped(pipe)) == (
            pipe,
            False,
            True,
        )
    assert filesystems.is_piped(copied)
