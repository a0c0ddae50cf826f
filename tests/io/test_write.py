"""Writing rows as they came, and the checks before."""

import importlib
import json
import os
from functools import partial

import numpy as np
import pytest

from fastlsh.io import InputError, check_target, read, write_rows
from files import check_rows_output, get, put
from refusals import refuses
from required import library, missing

CSV = 'id,text,n\r\n1,"a ""b""",x\r\n2,"c\r\nd",\r\n3,e,"y"\r\n'


def chosen(inputs, flags, out, **keywords):
    found = read(inputs, **keywords)
    write_rows(found, np.array(flags, bool), out)
    return get(out)


# --- rows


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl", b'{"text" : "\\u0061", "x":1.0}\r\n{"text":"b\xc3\xa9"}\n{"text":null}'),
        ("a.jsonl", b'\xef\xbb\xbf{"text": "a"}\n{"text": "b"}\n{"text": "c"}\n'),
        ("a.csv", CSV),
        ("a.csv", "\ufeff" + CSV.rstrip()),
        ("a.tsv", 'text\tid\n"a\tb"\t1\nb\t2\n\xa0\t3\n'),
    ],
)
def test_all_rows_are_the_file(here, name, data):
    put(name, data)
    assert chosen(name, [1, 1, 1], "out." + name[2:]) == get(name)


def test_a_mark_of_utf_16_stays(here):
    marked = "\ufeffid,text\n1,a\n".encode("utf-16-be")
    put("c.csv", marked)
    assert chosen("c.csv", [1], "d.csv", encoding="utf-16") == marked


def test_some_rows(here):
    put("a.csv", CSV)
    assert chosen("a.csv", [0, 1, 0], "b.csv") == b'id,text,n\r\n2,"c\r\nd",\r\n'
    assert chosen("a.csv", [0, 0, 0], "b.csv") == b"id,text,n\r\n"
    put("a.tsv", "1\ta\n2\tb\n")
    assert chosen("a.tsv", [0, 1], "b.tsv", header=False) == b"2\tb\n"


A, B, C, D = (json.dumps({"text": letter}) for letter in "abcd")


@pytest.mark.parametrize(
    ("name", "files", "expected"),
    [
        ("a.jsonl", [f"{A}\n", f"{B}\r\n{C}", D], f"{A}\n{B}\r\n{C}\r\n{D}"),
        ("a.jsonl", [f"{A}\r\n", f"{B}\n{C}", D], f"{A}\r\n{B}\n{C}\n{D}"),
        ("a.jsonl", [f"{A}\r\n", B, f"{C}\r", D], f"{A}\r\n{B}\n{C}\r\r\n{D}"),
        ("a.csv", ["t\na\n", "t\r\nb", "t\nc"], "t\na\nb\r\nc"),
        ("a.csv", ["t\r\na", "t\rb\rc", "t\nd\n"], "t\r\na\r\nb\rc\rd\n"),
        ("a.csv", ["t\r\na\r\n", 't\n"b\r\nb"\n"c"', "t\nd"], 't\r\na\r\n"b\r\nb"\n"c"\nd'),
        ("a.csv", ["t", "t\r\nb", "t\r\nc"], "t\nb\r\nc"),
    ],
)
@pytest.mark.parametrize("size", [1, 1 << 20])
def test_the_end_of_a_row_is_that_of_its_file(here, monkeypatch, name, files, expected, size):
    reading = importlib.import_module("fastlsh.io.reading")
    monkeypatch.setattr(reading, "read_blocks", partial(reading.read_blocks, size=size))
    names = [f"{number}{name}" for number in range(len(files))]
    for each, data in zip(names, files, strict=True):
        put(each, data)
    keywords = {"text": "t"} if name.endswith("csv") else {}
    documents = len(read(names, **keywords))
    assert chosen(names, [1] * documents, "out" + name[1:], **keywords) == expected.encode()


def test_the_end_of_a_row_that_is_not_written_counts(here):
    put("a.jsonl", f"{A}\r\n{B}")
    put("b.jsonl", C)
    rows = chosen(["a.jsonl", "b.jsonl"], [0, 1, 1], "c.jsonl")
    assert rows == f"{B}\r\n{C}".encode()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_paragraph_ends_as_those_of_its_file(here, end):
    put("a.txt", f"a{end}{end}b")
    put("b.txt", f"c{end}")
    rows = chosen(["a.txt", "b.txt"], [1, 1, 1], "c.txt", split="paragraphs")
    assert rows == f"a{end}{end}b{end}{end}c{end}{end}".encode()


@pytest.mark.parametrize("codec", ["gzip", "bz2", "lzma"])
def test_compressed_rows(here, codec):
    try:
        importlib.import_module(codec)
    except ImportError as error:
        missing(codec, str(error))
    suffix = {"gzip": ".gz", "bz2": ".bz2", "lzma": ".xz"}[codec]
    put("a.jsonl", b'{"text": "a"}\n')
    first = chosen("a.jsonl", [1], f"b.jsonl{suffix}")
    assert read(f"b.jsonl{suffix}").texts == ["a"]
    assert chosen(f"b.jsonl{suffix}", [1], f"c.jsonl{suffix}") == first
    assert chosen(f"b.jsonl{suffix}", [1], "d.jsonl") == get("a.jsonl")


def test_flags_must_fit(here):
    put("a.csv", CSV)
    with pytest.raises(ValueError, match="2 items for 3 documents"):
        write_rows(read("a.csv"), np.ones(2, bool), "b.csv")


# --- checks


@pytest.mark.parametrize(
    ("inputs", "out", "message"),
    [
        (["a.csv"], "b.docx", "its suffix tells its format, so it must be one of .parquet .jsonl"),
        (
            ["a.csv", "a.jsonl"],
            "/dev/stdout",
            "rows of csv and jsonl cannot be written to one file of no format: give convert_to=",
        ),
        (["a.csv"], "b.txt", "its suffix tells its format, so it must be one of .parquet"),
        (["d"], "b.txt", "its suffix tells its format, so it must be one of .parquet"),
        (["a.csv"], "a.csv", "the output is one of the inputs"),
        (["a.csv"], "link.csv", "the output is one of the inputs"),
        (["a.csv"], "no/b.csv", "there is no directory"),
        (
            ["a.csv"],
            "b",
            "it needs a suffix, which tells its format: .parquet .jsonl .* convert_to=;"
            " .* ends with /",
        ),
        (["a.parquet"], "b.parquet.gz", "parquet cannot be written as .gz"),
    ],
)
def test_output_that_does_not_fit(here, inputs, out, message):
    (here / "d").mkdir()
    for name in ("a.csv", "a.jsonl", "a.parquet", "d/a.txt", "d/b.txt"):
        put(name, CSV)
    os.symlink("a.csv", "link.csv")
    refuses(InputError, message, check_rows_output, inputs, out)


def test_output_that_fits(here):
    (here / "d").mkdir()
    put("a.csv", CSV)
    put("d/a.txt", "")
    check_rows_output(["a.csv"], "b.csv.xz")
    check_rows_output("d", "b.jsonl")
    check_rows_output(["d/a.txt"], "b.txt.gz")  # one document: a copy
    check_target("new.tsv")
    refuses(InputError, "the output is a directory", check_target, "d")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_cannot_be_read_twice(here):
    os.mkfifo("pipe.jsonl")
    refuses(InputError, "not a regular file", check_rows_output, "pipe.jsonl", "b.jsonl")


# --- several outputs at a time


@pytest.mark.parametrize("kind", ["jsonl", "jsonl.gz", "csv", "parquet", "txt"])
def test_threads_change_no_byte_of_a_directory(here, kind):
    if kind == "parquet":
        library("pyarrow")
    for number in range(5):
        rows = [{"id": n, "text": f"{number} {n} " * 9} for n in range(40 * number + 1)]
        put(f"rows/{number}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    found = read("rows")
    if kind == "txt":
        for number in range(5):
            put(f"texts/{number}.txt", f"{number}")
        found = read("texts")
    else:
        write_rows(found, np.ones(len(found), bool), "in/", convert=kind, threads=1)
        found = read("in")
    kept = np.arange(len(found)) % 3 > 0
    written = []
    for threads in (1, 2, 3, 16):
        told = []
        write_rows(
            found, kept, f"out{threads}/", threads=threads,
            progress=lambda stage, done, size, told=told: told.append(done / size),
        )  # fmt: skip
        assert told == sorted(told)
        assert told[-1] == 1
        folder = f"out{threads}"
        written.append({name: get(f"{folder}/{name}") for name in os.listdir(folder)})
    assert len(written[0]) >= 3
    assert written[1:] == written[:1] * 3


def test_an_error_in_one_of_several_outputs_leaves_none(here):
    for number in range(6):
        put(f"in/{number}.jsonl", '{"text": "a"}\n' * (1000 if number == 3 else 2))
    found = read("in")
    put("in/3.jsonl", '{"text": "b"}\n' * 1000)
    with pytest.raises(InputError, match=r"3\.jsonl: changed during the run"):
        write_rows(found, np.ones(len(found), bool), "out/", threads=4)
    assert os.listdir() == ["in"]
