"""Damaged Arrow and Parquet files: an answer, or one line that says why not; never a crash."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from fastlsh.io import InputError, Options, Source, read, write_rows
from fastlsh.io.blocks.parquet import ParquetSource
from files import put, put_table
from refusals import refuses

pa = pytest.importorskip("pyarrow")
feather = pytest.importorskip("pyarrow.feather")

CORRUPTION = Path(__file__).parents[1] / "corruption.py"
FILES = int(os.environ.get("FASTLSH_DAMAGED", "40"))
TEXTS = ["one text and more", "one text and more", None, "", "something else"]


def corrupt(folder, first, stop):
    """Try so many damaged files in a process of their own; return what went wrong."""
    folder.mkdir()
    command = [sys.executable, str(CORRUPTION), str(folder), str(first), str(stop)]
    if sys.platform == "linux":  # a length that is wrong must not take all memory there is
        command = ["sh", "-c", 'ulimit -v 8000000; exec "$@"', "sh", *command]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.exhaustive
def test_files_damaged_at_random(tmp_path):
    half = FILES // 2 if FILES > 300 else FILES
    runs = [
        corrupt(tmp_path / f"{begin}", begin, min(begin + half, FILES))
        for begin in range(0, FILES, half)
    ]
    counts = Counter()
    for process in runs:
        out, err = process.communicate()
        *failures, last = out.splitlines() or [""]
        at = err.split()[-1:]
        assert process.returncode == 0, f"status {process.returncode} at number {at}: {err[-500:]}"
        assert failures == []
        counts.update(json.loads(last))
    # All ways are taken; "damaged" is what the checks of the columns find.
    assert sum(counts.values()) == FILES
    assert min(counts["answered"], counts["refused"]) > FILES // 10
    assert counts["damaged"] > FILES // 100


def values(name, texts=TEXTS, ids=(b"a", b"b", b"c", b"d", b"e")):
    """Write an uncompressed file; return its bytes."""
    feather.write_feather(
        pa.table({"id": pa.array(ids, pa.binary()), "text": texts}),
        name,
        compression="uncompressed",
    )
    return bytearray(Path(name).read_bytes())


def offsets_of(values):
    ends = np.cumsum([0, *(len(value or "") for value in values)]).astype("<i4")
    return ends.tobytes()


@pytest.mark.parametrize("wrong", [0, -50, 2**30, 2**30 + 1, 2**30 + 6])
@pytest.mark.parametrize("column", ["id", "text"])
def test_offsets_that_point_elsewhere(here, column, wrong):
    data = values("a.arrow")
    found = offsets_of("abcde" if column == "id" else TEXTS)
    at = data.index(found)
    data[at + 12 : at + 16] = wrong.to_bytes(4, "little", signed=True)
    put("a.arrow", bytes(data))
    refuses(InputError, f"a\\.arrow: column '{column}' is damaged: ", read, "a.arrow")
    with pytest.raises(InputError):
        read("a.arrow", on_error="skip")  # what cannot be read to its end always raises


def test_a_column_that_is_only_copied_is_looked_at_too(run):
    texts = pa.array([f"the text of row {n}" for n in ("one", "two", "three")])
    table = pa.table({"text": texts, "more": pa.array(["alpha", "be", "gamma"])})
    feather.write_feather(table, "a.arrow", compression="uncompressed")
    data = bytearray(Path("a.arrow").read_bytes())
    at = data.index(offsets_of(["alpha", "be", "gamma"]))
    data[at + 4 : at + 8] = (2**30).to_bytes(4, "little")
    put("a.arrow", bytes(data))
    assert run("pairs", "a.arrow")[0] == 0  # which does not read it
    status, _, err = run("dedup", "a.arrow", "-o", "b.arrow")
    assert (status, len(err)) == (2, 1)
    assert err[0].startswith("fastlsh: a.arrow: column 'more' is damaged: ")
    assert os.listdir() == ["a.arrow"]


@pytest.mark.parametrize("kind", ["string", "list", "struct", "dictionary"])
def test_bytes_that_are_no_text_are_copied_as_they_are(here, kind):
    raw = pa.array([b"a", b"\xff", b"c"])
    more = pa.Array.from_buffers(pa.string(), 3, raw.buffers())
    if kind == "list":
        more = pa.ListArray.from_arrays([0, 1, 2, 3], more)
    elif kind == "struct":
        more = pa.StructArray.from_arrays([more], ["x"])
    elif kind == "dictionary":
        more = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), more)
    table = pa.table({"text": ["x", "y", "z"], "more": more})
    feather.write_feather(table, "a.arrow", compression="uncompressed")
    write_rows(read("a.arrow"), np.array([False, True, True]), "b.arrow")
    assert feather.read_table("b.arrow").num_rows == 2
    assert b"\xff" in Path("b.arrow").read_bytes()


def test_ids_that_are_not_utf8(here):
    raw = pa.array([b"a", b"\xff", b"c"])
    ids = pa.Array.from_buffers(pa.string(), 3, raw.buffers())
    feather.write_feather(pa.table({"id": ids, "text": ["x", "y", "z"]}), "a.arrow")
    refuses(InputError, r"row 2: 'id' is not utf-8: byte 0xff at offset 0", read, "a.arrow")
    found = read("a.arrow", on_error="skip")
    assert (found.ids, found.skipped) == (["a", "c"], 1)


def test_a_damaged_name_of_a_column(here):
    """Of the columns that are read as dictionaries, the schema lacks one."""
    put_table("a.parquet", [{"text": "one"}, {"text": "two"}])
    file = ParquetSource(Source("a.parquet", "parquet", None, Options()))
    with (
        pytest.raises(
            InputError, match=r"a\.parquet: damaged: the footer lacks the column b'tixt'"
        ),
        file.open(None, read_dictionary=["tixt"]),
    ):
        pass
