"""Tables of results, and files that appear whole or not at all."""

import csv
import gzip
import importlib.util
import io
import json
import os
import stat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fastlsh._kernels.text._texts import column_of
from fastlsh.io import Ids, Lookup, read, replacing, write_table
from fastlsh.io.table_columns import csv_row, csv_text
from fastlsh.texts import as_texts
from files import get, put

COLUMNS = {
    "id": Lookup(["a\tb", "c\\d\n", "\ud83d", 7], np.array([0, 1, 2, 3])),
    "jaccard": np.array([1.0, 0.8123456789, np.nan, 0.5]),
}


def test_tsv(here):
    write_table("a.tsv", COLUMNS)
    assert get("a.tsv").decode().split("\n") == [
        "id\tjaccard",
        "a\\tb\t1.000000",
        "c\\\\d\\n\t0.812346",
        "\\ud83d\tnan",
        "7\t0.500000",
        "",
    ]


def test_csv(here):
    write_table("a.csv", {"id": ['a"b', "c,\nd"], "n": np.array([1.5, 2])})
    assert get("a.csv") == b'id,n\n"a""b",1.500000\n"c,\nd",2.000000\n'


def test_jsonl(here):
    write_table("a.jsonl.gz", COLUMNS)
    rows = [json.loads(line) for line in gzip.decompress(get("a.jsonl.gz")).splitlines()]
    assert [row["id"] for row in rows] == ["a\tb", "c\\d\n", "\ud83d", 7]
    assert [row["jaccard"] for row in rows] == [1.0, 0.8123456789, None, 0.5]


def test_parquet(here):
    pq = pytest.importorskip("pyarrow.parquet")
    write_table("a.parquet", {**COLUMNS, "n": Lookup([5, 6], np.array([1, 0, 0, 1]))})
    table = pq.read_table("a.parquet")
    assert table.column("id").to_pylist() == ["a\tb", "c\\d\n", "\\ud83d", "7"]
    assert table.column("n").to_pylist() == [6, 5, 5, 6]
    write_table("b.parquet", {"n": Lookup([2**70, 1], np.array([0]))})
    assert pq.read_table("b.parquet").column("n").to_pylist() == [str(2**70)]


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.jsonl", "a.parquet"])
def test_tables_without_rows(here, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    write_table(name, {"id": Lookup([], np.zeros(0, np.int64)), "jaccard": np.zeros(0)})
    assert get(name) in (b"id\tjaccard\n", b"id,jaccard\n", b"") or name == "a.parquet"


@pytest.mark.parametrize("name", ["a.tsv", "a.jsonl", "a.parquet"])
def test_tables_of_many_blocks(here, name, monkeypatch):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    monkeypatch.setattr("fastlsh.io.table_columns._ROWS", 3)
    write_table(name, {"text": Lookup(["x", "y"], np.arange(10) % 2)})
    texts = read(name).texts
    assert list(map(str, texts)) == ["x", "y"] * 5


class Stored:
    """Ids that are made where they are taken; it notes how many bytes of them at a time."""

    integers = False

    def __init__(self, lengths):
        self.lengths = np.array(lengths)
        self.taken = []

    def take(self, positions):
        self.taken.append(int(self.lengths[positions].sum()))
        return [f"{i}".ljust(self.lengths[i], "x") for i in positions.tolist()]

    def sizes(self, positions):
        return self.lengths[positions]


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.jsonl", "a.parquet"])
def test_long_ids_are_made_a_few_at_a_time(here, name, monkeypatch):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    lengths = [5] * 40 + [300] * 40 + [5000, 5, 5000, 5000] + [5] * 40
    positions = np.arange(len(lengths))
    written = []
    for most in (1 << 22, 1000):
        monkeypatch.setattr("fastlsh.io.table_columns._BYTES", most)
        values = Stored(lengths)
        write_table(
            name, {"id": Lookup(values, positions), "kept": Lookup(values, positions[::-1])}
        )
        written.append((get(name), max(values.taken)))
        assert list(Lookup(values, positions)) == values.take(positions)
    assert written[0][0] == written[1][0]
    assert written[0][1] == sum(lengths)
    assert written[1][1] <= 5000 + 1000


def test_sizes_of_ids_of_all_kinds():
    names = ["", "long" * 9, "x", "middle"]
    kinds = [names, [*names[:3], 7], np.arange(4), None]
    if importlib.util.find_spec("pyarrow"):
        arrow = importlib.import_module("pyarrow")
        kinds += [arrow.chunked_array([names[:1], names[1:]]), arrow.chunked_array([[1, 2, 3, 4]])]
        kinds += [arrow.chunked_array([names], type=arrow.string_view())]
    kinds += [column_of(as_texts(names).spans(0, 4))]
    ids = Ids()
    for kind in kinds:
        ids.add("file", kind, np.arange(4))
    order = np.random.default_rng(1).permutation(len(ids))
    sizes = ids.sizes(order)
    for size, name in zip(sizes.tolist(), ids.take(order), strict=True):
        assert len(str(name)) <= size <= len(str(name)) + 40


@pytest.mark.parametrize("name", ["t.tsv", "t.csv"])
def test_sums_of_floats_have_all_digits(here, name):
    sums = np.array([0.1 + 0.2, 1e-9, 12345678901.25])
    write_table(name, {"sum_score": sums, "cluster_score": sums, "similarity": sums})
    lines = Path(name).read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split("\t" if name == "t.tsv" else ",") for line in lines]
    assert [[*map(float, row[:2])] for row in rows] == [[each, each] for each in sums]
    assert rows[0] == ["0.30000000000000004"] * 2 + ["0.300000"]


# --- whole or not at all


def test_links_are_followed_and_rights_are_usual(here):
    put("real.tsv", "old")
    os.symlink("real.tsv", "a.tsv")
    with replacing("a.tsv") as name:
        put(name, "new")
    assert os.path.islink("a.tsv")
    assert get("real.tsv") == b"new"
    put("other", "")
    assert stat.S_IMODE(os.stat("real.tsv").st_mode) == stat.S_IMODE(os.stat("other").st_mode)


def test_lookup_is_a_sequence():
    found = Lookup("abc", np.array([2, 0]))
    assert (len(found), found[0], found[:], list(found)) == (2, "c", ["c", "a"], ["c", "a"])


# --- CSV: the same bytes on every Python

CELLS = st.text(st.sampled_from("a, \"'\r\n\t;é"), max_size=4)
ROWS = st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n)))


@given(ROWS, st.sampled_from(",;\t"))
@example([["a\rb", "c"], ["d", "e"]], ",")
def test_it_is_read_as_it_was(rows, delimiter):
    text = csv_text(rows, delimiter)
    assert text == "".join(csv_row(cells, delimiter) for cells in rows)
    assert [*csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)] == rows


def test_a_carriage_return_is_quoted():
    assert csv_text([["a\rb", "c"], ["d", "e f"], ['g"', ""]]) == '"a\rb","c"\nd,e f\n"g""",\n'
