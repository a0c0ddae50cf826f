"""Inputs and outputs behind URLs, on a server of this machine."""

import gzip
import json
import os
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from fastlsh.io import InputError, expand, read, write_rows
from files import ONE, OTHER, check_rows_output, get, put, put_rows, save_table
from refusals import refuses


def rows(*texts):
    return "".join(json.dumps({"id": i, "text": t}) + "\n" for i, t in enumerate(texts)).encode()


def large(megabytes):
    """Return rows of texts without repetition."""
    source = random.Random(1)
    return rows(*(source.randbytes(1 << 19).hex() for _ in range(megabytes)))


def only_line(err):
    (line,) = err
    return line


# --- reading


def test_files_patterns_and_directories(storage):
    storage.put("in/b.jsonl", rows("b"))
    storage.put("in/a.jsonl.gz", gzip.compress(rows("a")))
    storage.put("in/deep/c.jsonl", rows("c"))
    storage.put("in/_temporary/d.jsonl", rows("d"))
    storage.put("in/.hidden.jsonl", rows("h"))
    storage.put("in/", b"")  # consoles make such objects for folders
    assert read("s3://data/in/b.jsonl").texts == ["b"]
    with pytest.warns(UserWarning, match="data/in") as told:
        assert read("s3://data/in").texts == ["a", "b"]
    assert [str(each.message).partition(": ")[2] for each in told] == [
        "2 without rows, by their names (.hidden.jsonl, _temporary)",
        "directories, which recursive=True reads: deep",
    ]
    with pytest.warns(UserWarning, match="passed over"):
        assert read("s3://data/in/", recursive=True).texts == ["a", "b", "c"]
    assert read("s3://data/in/*.jsonl").texts == ["b"]
    assert read("s3://data/in/**/*.jsonl").texts == ["d", "b", "c"]
    assert read("s3://data/in/b.jsonl").repeated_ids == 0
    assert [s.path for s in expand("s3://data/i?/[b-z].jsonl")] == ["s3://data/in/b.jsonl"]
    storage.put("[ab].jsonl", rows("literal"))  # a key that looks like a pattern wins
    storage.put("a.jsonl", rows("a"))
    assert read("s3://data/[ab].jsonl").texts == ["literal"]
    url = storage.put("a b/é.jsonl", b'{"text": "x"}\n')
    assert read(url).ids == ["s3://data/a b/é.jsonl:1"]


def test_columns(storage, here):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"text": ["a", "b", None], "n": [[1], [], None]})
    for name in ("a.parquet", "a.arrow"):
        save_table(table, name, 2)
        url = storage.put(name, get(name))
        found = read(url)
        assert found.texts.to_pylist() == ["a", "b", None]
        write_rows(found, np.array([1, 0, 1], bool), f"s3://data/out/{name}")
        assert read(f"s3://data/out/{name}").texts.to_pylist() == ["a", None]


def test_compressed_both_ways(storage):
    pytest.importorskip("pyarrow")
    url = storage.put("a.jsonl", rows("a", "b"))
    for suffix in ("gz", "bz2", "xz", "zst"):
        write_rows(read(url), np.ones(2, bool), f"s3://data/a.jsonl.{suffix}")
        assert read(f"s3://data/a.jsonl.{suffix}").texts == ["a", "b"]
        storage.put("cut.jsonl." + suffix, storage.get(f"a.jsonl.{suffix}")[:-4])
        refuses(InputError, f"cut.jsonl.{suffix}: ", read, f"s3://data/cut.jsonl.{suffix}")


# --- writing


def test_dedup_there_and_back(storage, run):
    storage.put("in/a.jsonl", rows(ONE, ONE))
    storage.put("in/b.jsonl", rows(OTHER))
    status, _, _ = run("dedup", "s3://data/in", "-o", "s3://data/out/", "--removed", "r.tsv", "-q")
    assert status == 0
    assert storage.get("out/a.jsonl") == rows(ONE)
    assert storage.get("out/b.jsonl") == rows(OTHER)
    run("dedup", "s3://data/in", "-o", "s3://data/one.jsonl.gz", "-q")
    assert len(gzip.decompress(storage.get("one.jsonl.gz")).splitlines()) == 2
    run("dedup", "s3://data/in", "-o", "here/", "--report", "s3://data/r.html", "-q")
    assert sorted(os.listdir("here")) == ["a.jsonl", "b.jsonl"]
    assert storage.get("r.html").startswith(b"<!DOCTYPE html>")
    assert storage.uploads() == []


def test_on_disk_the_work_of_a_url_is_in_the_current_directory(storage, run):
    storage.put("in/a.jsonl", rows(ONE, ONE, OTHER))
    command = ["dedup", "s3://data/in", "-o", "s3://data/clean/", "--engine", "disk"]
    status, _, err = run(*command, "--keep-work")
    assert status == 0, err
    assert storage.get("clean/a.jsonl").count(b"\n") == 2
    assert Path("clean.work").is_dir()
    status, _, err = run(*command)
    assert status == 0, err
    assert any(line.startswith("fastlsh: continuing the run in clean.work") for line in err)
    assert not Path("clean.work").exists()


def test_stages_of_objects(storage, run, here):
    """The work directory is a folder that processes share; inputs and outputs are objects."""
    notice = " ".join(f"word{number}" for number in range(40))
    texts = [f"{notice} {number % 7} {number}" for number in range(60)]
    for number in range(4):
        storage.put(f"in/{number}.jsonl", rows(*texts[number::4]))
    given = ["dedup", "s3://data/in/", "--threads", "1", "--memory", "300M", "-q"]
    assert run(*given, "-o", "s3://data/one/", "--removed", here / "one.tsv")[0] == 0
    given += ["-o", "s3://data/two/", "--removed", here / "two.tsv", "--work", here / "work"]
    for stage in ("sign", "link", "unite", "gather", "decide", "merge", "write", "finish"):
        whole = stage in ("unite", "merge", "finish")
        for part in ([],) if whole else (["--part", "2/2"], ["--part", "1/2"]):
            run.done(*given, "--stage", stage, *part)
    for number in range(4):
        assert storage.get(f"two/{number}.jsonl") == storage.get(f"one/{number}.jsonl")
    assert (here / "one.tsv").read_bytes() == (here / "two.tsv").read_bytes()
    assert os.listdir(here / "work") == ["finished.json"]


def test_empty_outputs(storage):
    url = storage.put("in/a.jsonl", rows("a"))
    write_rows(read(url), np.zeros(1, bool), "s3://data/out/")
    assert storage.get("out/a.jsonl") == b""
    storage.put("out/t.txt", b"of an earlier run")
    write_rows(read(storage.put("in/t.txt", b"t")), np.zeros(1, bool), "s3://data/out/")
    assert storage.keys() == ["in/a.jsonl", "in/t.txt", "out/a.jsonl"]


def test_outputs_that_are_inputs(storage):
    url = storage.put("in/a.jsonl", rows("a"))
    for inputs, output in [(url, url), ("s3://data/in", "s3a://data/in/"), (url, "s3://data/in/")]:
        refuses(InputError, "the output is one of the inputs", check_rows_output, inputs, output)
    with pytest.raises(InputError, match="would lie among the inputs of the directory"):
        check_rows_output("s3://data/in", "s3://data/in/b.jsonl")


def test_inputs_here_and_there_have_no_common_folder(storage, here):
    inputs = [storage.put("a.jsonl", rows("a")), put_rows("b.jsonl", {"text": "b"})]
    assert len(check_rows_output(inputs, "both.jsonl")) == 1
    refuses(InputError, "has no folder in common with s3://data", check_rows_output, inputs, "out/")


# --- what goes wrong


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["s3://data/no.jsonl"], "s3://data/no.jsonl: No such file or directory"),
        (["s3://data/no/"], "s3://data/no/: No such file or directory"),
        (["s3://data/*.csv"], "s3://data/*.csv: no file matches this pattern"),
        (["s3://none/a.jsonl"], "s3://none/a.jsonl: "),
        (["s3://data/a.jsonl", "-o", "s3://none/p.tsv"], "s3://none/p.tsv: there is no bucket"),
        (["none://data/a.jsonl"], "none://data/a.jsonl: Protocol not known: none"),
    ],
)
def test_what_is_missing(storage, run, arguments, reason):
    storage.put("a.jsonl", rows("a"))
    status, out, err = run("pairs", *arguments)
    assert (status, out) == (2, "")
    assert only_line(err).startswith(f"fastlsh: {reason}")


def test_no_credentials(storage, run, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    status, _, err = run("pairs", storage.put("a.jsonl", rows("a")))
    assert status == 2
    assert only_line(err) == "fastlsh: s3://data/a.jsonl: Unable to locate credentials"


def test_packages_that_are_missing(here, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    line = only_line(run("pairs", "s3://data/a.jsonl")[2])
    assert line == ("fastlsh: s3://data/a.jsonl: URLs need fsspec: pip install fsspec s3fs")


def test_a_package_of_a_scheme_that_is_missing(storage, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, "s3")
    line = only_line(run("pairs", "s3://data/a.jsonl")[2])
    assert line == ("fastlsh: s3://data/a.jsonl: s3:// needs a package: pip install s3fs")


@pytest.mark.parametrize("megabytes", [0, 9])
def test_the_connection_cut_while_reading(storage, cut, run, megabytes):
    url = storage.put("a.jsonl", large(30))
    cut.left = megabytes << 20
    status, _, err = run("dedup", url, "-o", "kept.jsonl")
    assert status == 2
    assert only_line(err).startswith(f"fastlsh: {url}: ")
    assert os.listdir() == []


def test_a_connection_that_is_cut_once_is_made_again(storage, cut, here):
    data = large(30)
    url = storage.put("a.jsonl", data)
    cut.once, cut.left = True, 9 << 20
    found = read(url)
    assert (cut.left, len(found)) == (None, 30)
    cut.left = 50 << 20  # in the upload of the second part
    write_rows(found, np.ones(30, bool), "s3://data/b.jsonl")
    assert cut.left is None
    assert storage.get("b.jsonl") == data
    assert storage.uploads() == []


@pytest.mark.parametrize("megabytes", [1, 39])
def test_the_connection_cut_while_writing(storage, cut, here, megabytes):
    put("a.jsonl", large(40))
    found = read("a.jsonl")
    storage.put("out/a.jsonl", b"earlier")
    cut.left = megabytes << 20
    with pytest.raises(InputError, match=r"^s3://data/out/a\.jsonl: "):
        write_rows(found, np.ones(40, bool), "s3://data/out/")
    assert storage.get("out/a.jsonl") == b"earlier"
    assert storage.keys() == ["out/a.jsonl"]
    assert os.listdir() == ["a.jsonl"]


def test_an_error_takes_back_what_was_sent(storage, here):
    put("in/a.jsonl", large(20))
    put("in/b.jsonl", rows("b"))
    found = read("in")
    put("in/b.jsonl", rows("c"))
    with pytest.raises(InputError, match=r"b\.jsonl: changed"):
        write_rows(found, np.ones(21, bool), "s3://data/out/")
    assert (storage.keys(), storage.uploads()) == ([], [])


def test_an_interrupt_takes_back_what_was_sent(storage, here, monkeypatch):
    put("a.jsonl", large(40))
    found = read("a.jsonl")
    import s3fs

    send = s3fs.S3File._upload_chunk
    calls = []

    def interrupted(self, final=False):
        calls.append(final)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return send(self, final)

    monkeypatch.setattr(s3fs.S3File, "_upload_chunk", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_rows(found, np.ones(40, bool), "s3://data/a.jsonl")
    assert (storage.keys(), storage.uploads()) == ([], [])


# --- other services


def test_services_that_rename(here):
    pytest.importorskip("fsspec")
    put("in/a.jsonl", rows("a"))
    url = f"file://{here}"
    found = read(f"{url}/in")
    write_rows(found, np.ones(1, bool), f"{url}/out/new/")
    assert (here / "out/new/a.jsonl").read_bytes() == rows("a")
    assert os.listdir("out/new") == ["a.jsonl"]


def test_services_that_write_at_once(here):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/in/a.jsonl", rows("a"))
    memory.pipe_file("/in/b.jsonl", rows("b"))
    write_rows(read("memory://in"), np.ones(2, bool), "memory://out/")
    assert memory.cat_file("/out/b.jsonl") == rows("b")
    memory.rm("/in", recursive=True)
    memory.rm("/out", recursive=True)


def test_the_web_is_read_only(here, run):
    pytest.importorskip("aiohttp")
    put_rows("a.jsonl", {"text": "a"})
    line = only_line(run("pairs", "a.jsonl", "-o", "https://localhost/p.tsv")[2])
    assert line == "fastlsh: https://localhost/p.tsv: http addresses cannot be written to"
