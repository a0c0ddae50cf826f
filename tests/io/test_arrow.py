"""Parquet, Arrow and Zstandard: through pyarrow, and a clear word where it is absent."""

from functools import partial

import numpy as np
import pytest

from combinations import every
from fastlsh.io import InputError, read, write_rows
from files import load_table as load
from files import save_table
from refusals import refuses

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

VALUES = ["é", None, "", "d"]


def arrays():
    yield "string", pa.array(VALUES, pa.string())
    yield "large_string", pa.array(VALUES, pa.large_string())
    yield "dictionary", pa.array(VALUES).dictionary_encode()
    encoded = [None if v is None else v.encode() for v in VALUES]
    yield "binary", pa.array(encoded, pa.binary())
    yield "large_binary", pa.array(encoded, pa.large_binary())
    yield "binary_dictionary", pa.array(encoded).dictionary_encode()
    if hasattr(pa, "string_view"):
        yield "string_view", pa.array(VALUES, pa.string_view())
        yield "binary_view", pa.array(encoded, pa.binary_view())


TABLES = [pytest.param(pa.table({"text": a, "n": range(4)}), id=name) for name, a in arrays()]


save = partial(save_table, rows=3)


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", every(2, ["a.parquet", "a.arrow", "stream.arrow"]))
@pytest.mark.parametrize("table", TABLES)
def test_read_and_write(table, name):
    kind = str(table.schema[0].type)
    if name.endswith("parquet") and kind.startswith("dictionary<values=binary"):
        pytest.skip("Parquet has no such type")
    save(table, name)
    found = read(name)
    assert isinstance(found.texts, pa.ChunkedArray)
    assert found.texts.to_pylist() == VALUES
    assert found.ids == [f"{name}:{row}" for row in (1, 2, 3, 4)]
    kept = np.array([True, False, True, True])
    out = "out." + name.rpartition(".")[2]
    write_rows(found, kept, out)
    written = load(out)
    assert written.schema == found.parts[0].head.layout == table.schema
    assert written.column("n").to_pylist() == [0, 2, 3]
    texts = table.column("text").to_pylist()
    assert written.column("text").to_pylist() == [texts[0], texts[2], texts[3]]


def test_no_rows():
    save(pa.table({"text": pa.array([], pa.string())}), "a.parquet")
    found = read("a.parquet")
    assert (len(found), len(found.texts)) == (0, 0)
    write_rows(found, np.zeros(0, bool), "b.parquet")
    assert load("b.parquet").schema == load("a.parquet").schema


def test_null_column_is_empty_documents():
    save(pa.table({"text": pa.nulls(3)}), "a.parquet")
    found = read("a.parquet")
    assert found.texts.type == pa.string()
    assert found.texts.null_count == 3


def test_ids():
    save(pa.table({"text": ["a", "b"], "id": [3, None], "key": [b"x", b"y"]}), "a.parquet")
    assert read("a.parquet").ids == [3, "a.parquet:2"]
    assert read("a.parquet", id="key").ids == ["x", "y"]
    refuses(InputError, r"a\.parquet: row 2: 'id' is null", read, "a.parquet", id="id")
    assert read("a.parquet", id="id", on_error="skip").ids == [3]
    refuses(InputError, "no column 'nope'", read, "a.parquet", id="nope")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"text": [["a"]]}, "column 'text' is list<"),
        ({"text": [1]}, "column 'text' is int64, not text"),
        ({"other": ["a"]}, r"no column 'text' \(there is: 'other'\)"),
        ({"text": ["a"], "id": [[1]]}, "column 'id' is list<.*not an id"),
    ],
)
@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_bad_columns(name, columns, message):
    save(pa.table(columns), name)
    refuses(InputError, message, read, name)


def test_repeated_column():
    save(pa.Table.from_arrays([pa.array(["a"])] * 2, names=["text", "text"]), "a.arrow")
    refuses(InputError, "2 columns are named 'text'", read, "a.arrow")


def invalid(kind):
    raw = pa.array([b"a", b"\xff", b"b", b"c\xed\xa0\x80"])
    if kind == "binary":
        return raw
    text = pa.Array.from_buffers(pa.string(), 4, raw.buffers())
    if kind == "dictionary":
        return pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), text)
    return text


@pytest.mark.parametrize("kind", ["binary", "string", "dictionary"])
def test_invalid_utf8(kind):
    save(pa.table({"text": invalid(kind), "n": range(4)}), "a.arrow", rows=2)
    refuses(InputError, r"a\.arrow: row 2: not utf-8: byte 0xff at offset 0", read, "a.arrow")
    found = read("a.arrow", on_error="skip")
    assert found.texts.to_pylist() == ["a", "b"]
    assert found.ids == ["a.arrow:1", "a.arrow:3"]
    assert [error.row for error in found.skipped_reasons] == [2, 4]
    write_rows(found, np.array([False, True]), "b.arrow")
    assert load("b.arrow").column("n").to_pylist() == [2]


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "stream.arrow"])
def test_broken_files(name, tmp_path):
    save(pa.table({"text": ["a" * 1000] * 4}), name)
    whole = (tmp_path / name).read_bytes()
    for data in (whole[: len(whole) // 2], b"", b"not this at all"):
        (tmp_path / name).write_bytes(data)
        refuses(InputError, f"{name}: ", read, name)


def test_inputs_of_several_types():
    save(pa.table({"text": pa.array(["a"], pa.string())}), "a.parquet")
    save(pa.table({"text": pa.array([b"b"], pa.binary())}), "b.parquet")
    save(pa.table({"text": pa.array(["c"]).dictionary_encode()}), "c.arrow")
    found = read(["a.parquet", "b.parquet", "c.arrow"])
    assert found.texts.type == pa.large_string()
    assert found.texts.to_pylist() == ["a", "b", "c"]
    with open("d.jsonl", "w") as file:
        file.write('{"text": "d"}\n')
    assert read(["b.parquet", "d.jsonl"]).texts == ["b", "d"]


def test_dictionaries_of_several_files():
    for name, word in [("a.arrow", "x"), ("b.arrow", "y")]:
        save(pa.table({"text": pa.array([word, "z"]).dictionary_encode()}), name)
    found = read(["a.arrow", "b.arrow"])
    write_rows(found, np.array([True, False, True, True]), "c.arrow")
    assert load("c.arrow").column("text").to_pylist() == ["x", "y", "z"]


def test_a_pyarrow_that_cannot_be_loaded(monkeypatch, tmp_path):
    def fail(_):
        raise ImportError("libarrow.so: failed to map segment")

    (tmp_path / "a.parquet").write_bytes(b"x")
    monkeypatch.setattr("fastlsh.io.errors.import_module", fail)
    refuses(InputError, r"pyarrow cannot be imported: libarrow\.so: failed", read, "a.parquet")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_feather_version_1(here):
    feather = pytest.importorskip("pyarrow.feather")
    feather.write_feather(pa.table({"text": ["a"]}), "a.arrow", version=1)
    refuses(InputError, r"a\.arrow: Feather version 1 is not supported: write", read, "a.arrow")
