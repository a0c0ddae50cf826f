"""Files and inputs: compression, encodings, names, several of them."""

import importlib
import os
import pickle
import random
from functools import partial

import pytest

from combinations import first
from fastlsh.io import InputError, read, read_blocks
from files import put, refusal
from required import missing

COMPRESS = {"gz": "gzip", "bz2": "bz2", "xz": "lzma"}


@pytest.fixture(params=COMPRESS)
def suffix(request):
    return request.param


@pytest.fixture
def compress(suffix):
    """The function that compresses, where this Python was built with it."""
    try:
        whole = importlib.import_module(COMPRESS[suffix]).compress
    except ImportError as error:
        missing(COMPRESS[suffix], str(error))
    quick = {"gz": {"compresslevel": 1}, "bz2": {"compresslevel": 1}, "xz": {"preset": 0}}
    return partial(whole, **quick[suffix])


def test_progress_of_a_compressed_file_is_what_was_read_of_it(here, suffix, compress, monkeypatch):
    """Not nothing until the file is done: it may be the only one."""
    draw = random.Random(0)
    rows = "".join(f'{{"text": "{draw.getrandbits(4000):x}"}}\n' for _ in range(2_000))
    name = put(f"a.jsonl.{suffix}", compress(rows.encode()))
    size, seen = os.path.getsize(name), []
    monkeypatch.setattr("fastlsh.io.reading.read_blocks", partial(read_blocks, size=1 << 18))
    read(name, threads=1, progress=lambda *call: seen.append(call))
    assert {(stage, total) for stage, _, total in seen} == {("reading", size)}
    done = [done for _, done, _ in seen]
    assert done == sorted(done)
    assert len({count for count in done if 0.1 < count / size < 0.95}) >= 3
    assert done[-1] == size


@pytest.mark.parametrize("on_error", ["fail", "skip"])
def test_broken_compression(here, suffix, compress, on_error):
    whole = compress(b'{"text": "a"}\n' * 1000)
    name = f"a.jsonl.{suffix}"
    assert "truncated" in refusal(put(name, whole[:-9]), on_error=on_error)
    assert "truncated" in refusal(put(name, b""), on_error=on_error)
    assert refusal(put(name, b'{"text": "a"}\n'), on_error=on_error).startswith(name)


@pytest.mark.exhaustive
@pytest.mark.parametrize("absent", first("_lzma", "_bz2", "_ctypes"))
def test_a_python_without(run_python, here, absent):
    """Nothing is imported before a file needs it, and then the file is named, and the module."""
    put("a.jsonl", '{"text": "a"}\n')
    for suffix in COMPRESS:
        put(f"a.jsonl.{suffix}", "x")
    code = f"""
import sys
sys.modules[{absent!r}] = None
from fastlsh.cli import main
for suffix in ("", ".gz", ".bz2", ".xz"):
    print(main(["dedup", "a.jsonl" + suffix, "-o", "b.jsonl", "-q"]))
print(main(["dedup", "a.jsonl", "-o", "b.jsonl.bz2", "-q"]))
print(main(["dedup", "a.jsonl", "-o", "b.jsonl.xz", "-q"]))
"""
    done = run_python(code)
    without = {"_bz2": "bz2", "_lzma": "xz"}.get(absent)
    wrong = [2 if suffix == without else 0 for suffix in ("bz2", "xz")]
    expected = [str(status) for status in (0, 2, 2, 2, *wrong)]
    assert done.stdout.split() == expected, done.stderr
    assert "Traceback" not in done.stderr
    if without:
        reason = f".{without} needs the module {absent}, which this Python was built without"
        assert f"fastlsh: a.jsonl.{without}: {reason}\n" in done.stderr
        assert done.stderr.count(reason) == 2


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252"]
)
def test_encodings(here, encoding):
    line = '{"id": "é", "text": "a"}\n'.encode(encoding)
    assert read(put("a.jsonl", line), encoding=encoding).ids == ["é"]
    cells = "id,text\né,a\n".encode(encoding)
    assert read(put("a.csv", cells), encoding=encoding).ids == ["é"]
    assert read(put("a.txt", "é\r".encode(encoding)), encoding=encoding).texts == ["é\r"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_what_is_no_text_is_bad_in_its_row_alone(here, encoding):
    codec = "utf-16-be" if encoding == "utf-16-be" else f"{encoding}-le"
    lines = ['{"text": "a"}\n', '{"text": "\ud800"}\n', '{"text": "b"}\n']
    name = put("a.jsonl", "".join(lines).encode(encoding, "surrogatepass"))
    first = "0xd8" if encoding == "utf-16-be" else "0x00"
    reason = f"not {codec}: byte {first} at character 11"
    assert f"row 2: {reason}" in refusal(name, encoding=encoding)
    assert read(name, encoding=encoding, on_error="skip").texts == ["a", "b"]
    half = put("b.jsonl", '{"text": "a"}\n'.encode(encoding) + b"x")
    reason = f"row 2: not {codec}: byte 0x78 at character 1"
    assert reason in refusal(half, encoding=encoding)
    assert read(half, encoding=encoding, on_error="skip").texts == ["a"]


def test_files_that_cannot_be_read(here, tmp_path):
    assert refusal("no.jsonl") == "no.jsonl: No such file or directory"
    assert "unknown format" in refusal(put("a.bin", "x"))
    assert "format=" in refusal("a.bin")
    assert read("a.bin", format="txt").texts == ["x"]
    assert refusal("a\nb\x1b.jsonl") == "a\\nb\\x1b.jsonl: No such file or directory"
    assert "null" in refusal("a\0.jsonl")
    if hasattr(os, "geteuid") and os.geteuid() != 0:
        (tmp_path / "a.bin").chmod(0)
        assert refusal("a.bin", format="txt") == "a.bin: Permission denied"


def test_columns_in_another_order(here):
    names = [put("a.csv", "id,text\n1,a\n"), put("b.csv", "text,id\nb,2\n")]
    assert read(names).ids == ["1", "2"]


@pytest.mark.parametrize(
    "keywords",
    [{"encoding": "none"}, {"encoding": "hex"}, {"delimiter": "ab"}, {"delimiter": '"'},
     {"on_error": "ignore"}, {"format": "xml"}],
)  # fmt: skip
def test_wrong_parameters(here, keywords):
    with pytest.raises(ValueError, match=str(next(iter(keywords.values())))):
        read(put("a.csv", "text\n"), **keywords)


def test_no_input():
    with pytest.raises(ValueError, match="no input"):
        read([])


def test_errors_can_be_pickled():
    error = pickle.loads(pickle.dumps(InputError("a\nb", "wrong", 3)))
    assert str(error) == "a\\nb: row 3: wrong"
    assert (error.path, error.row, error.reason) == ("a\nb", 3, "wrong")
