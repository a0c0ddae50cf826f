"""Awkward files: each has the right answer, or one line that says why not.

The files are made by a generator outside the repository; where it is absent these tests skip.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fastlsh.cli import main
from fastlsh.io import read

DATA = Path(os.environ.get("FASTLSH_DATA", Path(__file__).parents[3] / "shared" / "data"))
MESSY = DATA / "messy"

pytestmark = pytest.mark.skipif(not MESSY.is_dir(), reason="no test data: set FASTLSH_DATA")

STRINGS = ("string", "large_string", "string_view", "binary", "dictionary")

# documents, empty ones -> names
COUNTS = {
    (0, 0): "empty.jsonl.gz empty_table.parquet header_only.csv",
    (
        1,
        0,
    ): "cr_only.txt crlf.txt mixed_newlines.txt no_final_newline.txt nul_bytes.txt one_char.txt"
    " one_newline.txt utf8_bom.txt whitespace_only.txt",
    (1, 1): "empty.txt",
    (2, 0): "bom.jsonl",
    (4, 0): "lone_surrogates.jsonl",
    (10, 0): "no_final_newline.jsonl",
    (13, 1): "crlf.jsonl",
    (30, 0): "array.json",
    (50, 50): "null_type.parquet",
    (100, 0): "plain.tsv",
    (100, 1): "good_multiframe.jsonl.zst good_multimember.jsonl.gz",
    (274, 16): "chunked_sliced_no_id.parquet",
    (276, 1): "good.jsonl good.jsonl.bz2 good.jsonl.gz good.jsonl.xz good.jsonl.zst",
    (276, 17): " ".join(
        ["zstd_int_id.parquet"]
        + [f"nulls_{kind}.{suffix}" for kind in STRINGS for suffix in ("parquet", "arrow")]
    ),
    (281, 2): "quoted.csv",
    (1000, 1000): "all_empty_1k.jsonl",
    (2000, 0): "chain_2k.jsonl",
    (5000, 0): "all_identical_5k.jsonl",
}
GOOD = {name: counts for counts, names in COUNTS.items() for name in names.split()}

# name -> what follows the file's name in the message
BAD = {
    "bad_lines.jsonl": "row 2: not JSON: Expecting value at column 1",
    "binary.bin": "unknown format",
    "cp1252.txt": "not utf-8: byte 0xe9 at offset 3",
    "dup_header.csv": "row 1: 2 columns are named 'text'",
    "gb18030.txt": "not utf-8: byte 0xd5 at offset 0",
    "invalid_utf8.txt": "not utf-8: byte 0xff at offset 14",
    "koi8r.txt": "not utf-8: byte 0xfc at offset 0",
    "latin1.txt": "not utf-8: byte 0xe9 at offset 3",
    "list_column.parquet": "column 'text' is list<",
    "nested.jsonl": "row 1: no key 'text' (there is: 'meta', 'doc')",
    "not_really_gzip.jsonl.gz": "Not a gzipped file",
    "ragged.csv": "row 2: 4 fields instead of 2",
    "semicolon_latin1.csv": "row 1: no column 'text' (there is: 'id;text')",
    "shift_jis.txt": "not utf-8: byte 0x82 at offset 0",
    "truncated.jsonl.gz": "truncated: ",
    "truncated.jsonl.zst": "Truncated ",
    "utf16le_bom.txt": "not utf-8: byte 0xff at offset 0",
}


@pytest.fixture
def run(capfd):
    def call(*arguments):
        status = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        lines = [line for line in err.splitlines() if "fastlsh: warning: " not in line]
        return status, out.splitlines(), lines

    return call


def need(name):
    if name.endswith((".parquet", ".arrow", ".zst")):
        pytest.importorskip("pyarrow")
    if not (MESSY / name).exists():
        pytest.skip("the generator could not make it")
    return MESSY / name


def test_every_file_has_an_expectation():
    assert {path.name for path in MESSY.iterdir()} - {"long_line_2MB.txt"} <= {*GOOD, *BAD}


@pytest.mark.parametrize("name", GOOD)
def test_good_files(name, run, tmp_path):
    path = need(name)
    documents, empty = GOOD[name]
    if name.startswith("all_identical"):  # they have more pairs than a test should print
        documents = 200
        lines = path.read_bytes().splitlines(keepends=True)[:documents]
        path = tmp_path / f"few_{name}"
        path.write_bytes(b"".join(lines))
    status, out, err = run("pairs", path)
    noun = "document" if documents == 1 else "documents"
    found = f"{documents:,} {noun}" + (f", {empty:,} empty" if empty else "")
    assert status == 0
    assert err[-1].startswith(f"fastlsh: {found}: ")
    assert out[0] == "id_a\tid_b\tjaccard"
    if name.startswith("all_identical"):
        assert len(out) == 1 + 200 * 199 // 2
        path, documents = need(name), GOOD[name][0]
    kept = tmp_path / (f"{name}.jsonl" if name.endswith(".txt") else name)
    assert run("dedup", path, "-o", kept, "--removed", tmp_path / "removed.tsv")[0] == 0
    removed = (tmp_path / "removed.tsv").read_bytes().count(b"\n") - 1
    assert len(read(kept)) == documents - removed


@pytest.mark.parametrize("name", BAD)
def test_bad_files(name, run, tmp_path):
    path = need(name)
    status, out, err = run("pairs", path)
    assert (status, out, len(err)) == (2, [], 1)
    assert err[0].startswith(f"fastlsh: {path}: {BAD[name]}")
    suffix = "".join(path.suffixes).replace("txt", "jsonl")
    assert run("dedup", path, "-o", tmp_path / f"kept{suffix}")[0] == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_huge(run, tmp_path):
    maker = DATA / "make_messy.py"
    command = [sys.executable, maker, tmp_path, "--huge"]
    subprocess.run(command, check=True, timeout=1200, stdout=subprocess.DEVNULL)
    status, out, _ = run("pairs", tmp_path / "huge_doc.jsonl", "--threshold", 0.05)
    assert (status, out[1].split("\t")[:2]) == (0, ["huge", "huge_edit"])
    assert run("pairs", tmp_path / "huge_doc_50MB.txt")[2][0] == "fastlsh: 1 document, 0 empty"
    same = tmp_path / "dup_100k.jsonl"
    status, _, err = run("pairs", same)
    assert (status, len(err)) == (2, 1)
    assert run("dedup", same, "-o", tmp_path / "kept.jsonl")[0] == 0
    assert read(tmp_path / "kept.jsonl").ids == ["d000000"]
