"""The columns of several files that become one output: which types go together."""

import datetime
import json
from decimal import Decimal
from functools import partial
from itertools import permutations

import numpy as np
import pytest

from combinations import every
from fastlsh.io import (
    InputError,
    ReadOptions,
    check_joined,
    errors,
    expand,
    plan_outputs,
    read,
    write_rows,
)
from files import load_table as load
from files import put_rows, save_table

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

NOON = datetime.datetime(2024, 5, 6, 12, 0, 0, 1000)
FAR = datetime.datetime(9999, 5, 6)
DAY = datetime.date(2024, 5, 6)
save = partial(save_table, rows=1)


def join(names, output, kept=None, **more):
    sources = expand(names, options=ReadOptions(**more), mixed=True)
    check_joined(plan_outputs(sources, output), sources, 1)
    found = read(names, mixed=True, **more)
    write_rows(found, np.ones(len(found), bool) if kept is None else np.array(kept), output)


def types_of(names):
    """Return the types of the column x as the files have them: Parquet drops dictionaries."""
    return [load(name).schema.field("x").type for name in names]


def two(one, other, form="parquet"):
    """Write two files with a column x of these arrays; return their names."""
    for name, array in ((f"a.{form}", one), (f"b.{form}", other)):
        save(pa.table({"text": [f"{name} {n}" for n in range(len(array))], "x": array}), name)
    return [f"a.{form}", f"b.{form}"]


def of(kind, *values):
    return pa.array(values, kind)


def dictionary(array):
    return array.dictionary_encode()


JOINED = [
    (of("int8", 1, -1), of("uint8", 255), "int16", [1, -1, 255]),
    (of("uint32", 2**32 - 1), of("int8", -1), "int64", [2**32 - 1, -1]),
    (of("uint8", 1), of("uint64", 2**64 - 1), "uint64", [1, 2**64 - 1]),
    (of("int64", 2**53 + 2, None), of("double", 0.5), "double", [2.0**53 + 2, None, 0.5]),
    (of("int64", -(2**63)), of("float", 0.5), "double", [-(2.0**63), 0.5]),
    (of("uint64", 2**63), of("double", 0.5), "double", [2.0**63, 0.5]),
    (of("int64", 2**53 + 1), of("double", None), "int64", [2**53 + 1, None]),
    (of("int8", 1), of("float", 0.5), "double", [1.0, 0.5]),
    (of("halffloat", np.float16(0.5)), of("float", 1.5), "float", [0.5, 1.5]),
    (of("bool", None, None), of("string", "a"), "string", [None, None, "a"]),
    (of("null", None), of(pa.list_(pa.int8()), [1]), "list<element: int8>", [None, [1]]),
    (of(pa.struct([("k", "int8")]), None), of("int32", 5), "int32", [None, 5]),
    (of("string", "a"), of("large_string", "b"), "large_string", ["a", "b"]),
    (of("string_view", "a"), dictionary(of("string", "b", "b")), "large_string", ["a", "b", "b"]),
    (dictionary(of("int64", 1, None)), of("int8", 2), "int64", [1, None, 2]),
    (dictionary(of("int64", 2**53 + 2)), of("double", 1.5), "double", [2.0**53 + 2, 1.5]),
    (of("binary", b"a"), of("large_binary", b"\xff"), "large_binary", [b"a", b"\xff"]),
    (of(pa.binary(2), b"ab"), of("binary", b"c"), "large_binary", [b"ab", b"c"]),
    (of(pa.binary(2), b"ab"), of(pa.binary(3), b"abc"), "large_binary", [b"ab", b"abc"]),
    (of(pa.binary(2), b"ab"), of(pa.binary(2), b"cd"), "fixed_size_binary[2]", [b"ab", b"cd"]),
    (of(pa.timestamp("ms"), NOON), of(pa.timestamp("ns"), NOON), "timestamp[ns]", None),
    (of(pa.timestamp("us", "UTC"), NOON), of(pa.timestamp("ms", "UTC"), NOON),
     "timestamp[us, tz=UTC]", None),
    (of("date32", DAY), of(pa.timestamp("us"), NOON), "timestamp[us]", None),
    (of("date64", DAY), of(pa.timestamp("ms"), NOON), "timestamp[ms]", None),
    (of("date32", DAY), of("date64", DAY), "date64[ms]", [DAY, DAY]),
    (of(pa.decimal128(5, 2), Decimal("1.25")), of(pa.decimal128(9, 2), Decimal("1234567.25")),
     "decimal128(9, 2)", [Decimal("1.25"), Decimal("1234567.25")]),
    (of(pa.list_(pa.int8()), [1]), of(pa.list_(pa.int8()), []), "list<element: int8>", [[1], []]),
]  # fmt: skip


@pytest.mark.parametrize("form", every(2, ["parquet", "arrow"]))
def test_types_that_are_joined(here, form):
    """One column for each pair of types, in two files of two rows; in both orders."""
    cases = [
        case
        for case in JOINED  # Parquet has no such types
        if form == "arrow" or not {"halffloat", "date64[ms]"} & {str(a.type) for a in case[:2]}
    ]
    columns = [
        [pa.concat_arrays([a, pa.nulls(2 - len(a), a.type)]) for a in case[:2]] for case in cases
    ]
    for name, number in (("a", 0), ("b", 1)):
        table = {f"x{n}": each[number] for n, each in enumerate(columns)}
        save(pa.table({"text": ["one", "two"], **table}), f"{name}.{form}")
    for order in ("ab", "ba"):
        join([f"{name}.{form}" for name in order], f"out.{form}")
        found = load(f"out.{form}")
        for n, (one, _, kind, values) in enumerate(cases):
            assert str(found.schema.field(f"x{n}").type).replace("item", "element") == kind
            if values is not None:
                halves = values[: len(one)], values[len(one) :]
                rows = {"a": [*halves[0], None][:2], "b": [*halves[1], None][:2]}
                assert found.column(f"x{n}").to_pylist() == [*rows[order[0]], *rows[order[1]]], kind


def test_of_columns_of_nulls_the_first_type_remains(here):
    join(two(of("int8", None), of("string", None)), "out.parquet")
    assert str(parquet.read_schema("out.parquet").field("x").type) == "int8"


REFUSED = [
    (of("int64", 1), of("string", "a"), ""),
    (of("bool", True), of("int8", 1), ""),
    (of("bool", True), of("string", "a"), ""),
    (of("uint64", 1), of("int8", 1), ""),
    (of("binary", b"a"), of("string", "a"), ""),
    (of(pa.timestamp("us"), NOON), of(pa.timestamp("us", "UTC"), NOON), ""),
    (of(pa.timestamp("us", "UTC"), NOON), of(pa.timestamp("us", "Asia/Tokyo"), NOON), ""),
    (of("date32", DAY), of(pa.timestamp("us", "UTC"), NOON), ""),
    (of("date32", DAY), of("string", "2024-05-06"), ""),
    (of(pa.decimal128(5, 2), Decimal("1.25")), of(pa.decimal128(5, 1), Decimal("1.5")), ""),
    (of(pa.decimal128(5, 2), Decimal("1.25")), of("int64", 1), ""),
    (of(pa.list_(pa.int8()), [1]), of(pa.list_(pa.int16()), [1]), ""),
    (of(pa.struct([("k", "int8")]), {"k": 1}), of(pa.struct([("j", "int8")]), {"j": 1}), ""),
    (of("int64", 7, 2**53 + 1), of("double", 0.5), str(2**53 + 1)),
    (of("uint64", 2**64 - 1), of("double", 0.5), str(2**64 - 1)),
    (dictionary(of("int64", 2**60 + 1)), of("float", 0.5), str(2**60 + 1)),
    (of(pa.timestamp("us"), NOON, FAR), of(pa.timestamp("ns"), NOON), "9999-05-06"),
]  # fmt: skip


@pytest.mark.parametrize("form", every(2, ["arrow", "parquet"]))
def test_types_that_are_refused(here, form):
    for one, other, value in REFUSED:
        for first, second in ((one, other), (other, one)):
            names = two(first, second, form)
            sources = expand(names)
            with pytest.raises(InputError) as caught:
                check_joined(plan_outputs(sources, f"out.{form}"), sources, 1)
            told = str(caught.value).replace("element", "item")
            kinds = [str(kind).replace("element", "item") for kind in types_of(names)]
            for part in ("'x'", *names, *kinds, value):
                assert part in told, (one, other)
            assert "-o DIR/ keeps each as it is" in told


def test_three_types_are_joined_in_any_order(here):
    arrays = [of("int32", 1), of("uint32", 2), of("float", 0.5)]
    for order in permutations(arrays):
        for name, array in zip("abc", order, strict=True):
            save(pa.table({"text": [name], "x": array}), f"{name}.parquet")
        join(["a.parquet", "b.parquet", "c.parquet"], "out.parquet")
        assert str(parquet.read_schema("out.parquet").field("x").type) == "double"


def test_what_is_not_null_stays_so_only_if_all_are(here):
    fields = [pa.field("text", "string", False), pa.field("x", "int64", False)]
    strict = pa.schema(fields, metadata={"made": "by hand"})
    tables = [pa.table({"text": ["a"], "x": [1]}, schema=strict)] * 2
    save(tables[0], "a.parquet")
    save(tables[1], "b.parquet")
    join(["a.parquet", "b.parquet"], "same.parquet")
    found = parquet.read_schema("same.parquet")
    assert found.metadata[b"made"] == b"by hand"
    assert not found.field("x").nullable
    save(pa.table({"text": ["b"], "x": pa.array([None], "int64")}), "b.parquet")
    join(["a.parquet", "b.parquet"], "wide.parquet")
    assert [field.nullable for field in parquet.read_schema("wide.parquet")] == [True, True]


def test_columns_of_one_name_are_joined_with_no_other(here):
    twice = pa.table([["a"], [1], [2]], names=["text", "x", "x"])
    save(twice, "a.parquet")
    save(twice, "b.parquet")
    join(["a.parquet", "b.parquet"], "same.parquet")
    assert parquet.read_schema("same.parquet").names == ["text", "x", "x"]
    save(pa.table({"text": ["b"]}), "b.parquet")
    with pytest.raises(InputError, match=r"a\.parquet: 2 columns are named 'x'"):
        join(["a.parquet", "b.parquet"], "out.parquet")


def test_rows_of_csv_keep_their_bytes_unless_another_order_is_needed(here):
    (here / "a.csv").write_bytes(b'id;text;n\r\n1;"a";x\r\n')
    (here / "b.csv").write_bytes(b'n;text;id\n"y";"b;c";2\n')
    (here / "c.csv").write_bytes(b'id;text;n\n3;"c";z')
    join(["a.csv", "b.csv", "c.csv"], "out.csv", delimiter=";")
    assert (here / "out.csv").read_bytes() == (b'id;text;n\r\n1;"a";x\r\n2;"b;c";y\n3;"c";z')
    (here / "d.tsv").write_bytes(b'n\ttext\tid\ny\t"b,c"\t2\n')
    (here / "e.csv").write_bytes(b"id,text,n\n5,e,\n")
    join(["d.tsv", "e.csv"], "out.csv", quotes=False)
    assert (here / "out.csv").read_bytes() == b'n,text,id\ny,"""b,c""",2\n,e,5\n'


def test_how_the_items_of_lists_are_called_does_not_matter(here):
    for number, name in enumerate(["item", "element"]):
        kind = pa.list_(pa.field(name, pa.int64()))
        columns = {"text": ["ab"[number]], "l": pa.array([[number]], kind)}
        columns["n"] = pa.array([{"l": [number]}], pa.struct([("l", kind)]))
        save(pa.table(columns | ({"more": ["x"]} if number else {})), f"{name}.parquet")
    for out in ("out.jsonl", "out.csv", "out.parquet"):
        with pytest.warns(UserWarning, match="columns are missing in 1 of 2 files"):
            join(["item.parquet", "element.parquet"], out)
    table = parquet.read_table("out.parquet").to_pylist()
    assert [(row["l"], row["n"], row["more"]) for row in table] == [
        ([0], {"l": [0]}, None),
        ([1], {"l": [1]}, "x"),
    ]
    assert [*map(json.loads, (here / "out.jsonl").read_text("utf-8").splitlines())] == table
    assert (here / "out.csv").read_text("utf-8").splitlines()[2] == 'b,[1],"{""l"": [1]}",x'


def test_csv_without_a_header_is_joined_by_position(here):
    (here / "a.csv").write_text("1,a\n", "utf-8")
    (here / "b.csv").write_text("", "utf-8")
    (here / "c.csv").write_text("2,c", "utf-8")
    join(["a.csv", "b.csv", "c.csv"], "out.csv", header=False)
    assert (here / "out.csv").read_text("utf-8") == "1,a\n2,c"


def test_json_lines_are_joined_with_tables(here):
    save(pa.table({"text": ["a"], "n": pa.array([1], "int32"), "when": [NOON]}), "a.parquet")
    put_rows(
        "b.jsonl", {"n": 2**53 + 2, "text": "b", "m": {"k": 1}}, {"text": "c", "m": {"j": [0.5]}}
    )
    (here / "c.txt").write_text("d", "utf-8")
    with pytest.warns(UserWarning, match=r"in 3 of 3 files, .* of m, id, when, n$"):
        join(["a.parquet", "b.jsonl", "c.txt"], "out.parquet")
    found = parquet.read_table("out.parquet")
    assert found.column_names == ["text", "n", "when", "m", "id"]
    assert found.column("n").to_pylist() == [1, 2**53 + 2, None, None]
    assert found.column("m").to_pylist()[1:3] == [{"k": 1, "j": None}, {"k": None, "j": [0.5]}]
    assert found.column("text").to_pylist() == ["a", "b", "c", "d"]
    put_rows("b.jsonl", {"text": "b", "n": "two"})
    with pytest.raises(InputError, match=r"^b\.jsonl: the column 'n' is string, but int32 in a\.p"):
        join(["a.parquet", "b.jsonl"], "other.parquet")
    assert not (here / "other.parquet").exists()


@pytest.mark.parametrize(
    ("one", "other", "value"),
    [
        (1, "a", None), (True, 1, None), ({"k": 1}, {"k": "a"}, None),
        (2**53 + 1, 0.5, 2**53 + 1), (0.5, 2**53 + 1, 2**53 + 1),
    ],
)  # fmt: skip
def test_keys_of_json_lines_that_cannot_be_joined(here, one, other, value):
    names = [
        put_rows("a.jsonl", {"text": "a", "x": one}),
        put_rows("b.jsonl", {"text": "b", "x": other}),
    ]
    with pytest.raises(InputError, match=r"the column 'x") as caught:
        join(names, "out.parquet")
    told = str(caught.value)
    assert "a.jsonl" in told
    assert "b.jsonl" in told
    assert "-o DIR/ keeps each as it is" in told
    assert value is None or str(value) in told
    assert not (here / "out.parquet").exists()


def test_integers_beside_fractions_in_json_lines(here):
    exact = [{"text": "a", "x": 2**53 + 2}, {"text": "b", "x": 0.5}, {"text": "c", "x": 2**60}]
    for names in (
        [put_rows("a.jsonl", *exact)],
        [put_rows(f"{n}.jsonl", row) for n, row in enumerate(exact)],
    ):
        join(names, "out.parquet")
        found = parquet.read_table("out.parquet").column("x").to_pylist()
        assert found == [2.0**53 + 2, 0.5, 2.0**60]


def test_json_lines_keep_their_bytes_beside_tables(here):
    (here / "a.jsonl").write_bytes(b'{"text" : "a", "x":1.0e2}')
    save(pa.table({"text": ["b"], "x": ["c"]}), "b.parquet")
    join(["a.jsonl", "b.parquet"], "out.jsonl")
    assert (here / "out.jsonl").read_bytes() == (
        b'{"text" : "a", "x":1.0e2}\n{"text": "b", "x": "c"}\n'
    )


def test_a_column_of_nulls_is_all_null_in_the_whole_file(here):
    """Not only in the rows that are kept, which a search decides."""
    names = two(of("int64", 1, None), of("string", "a"))
    with pytest.raises(InputError, match="'x' is string, but int64"):
        join(names, "out.parquet", kept=[False, True, True])


def test_what_is_behind_a_limit_is_not_joined(here):
    names = two(of("int64", 1, 2), of("string", "a"))
    found = read(names, limit=1)
    write_rows(found, np.ones(1, bool), "out.parquet")
    assert parquet.read_table("out.parquet").column("x").to_pylist() == [1]
    found = read(names, limit=3)
    with pytest.raises(InputError, match="'x' is string, but int64"):
        write_rows(found, np.ones(3, bool), "out.parquet")


def test_modules_of_pyarrow_are_imported_by_one_thread_at_a_time(monkeypatch):
    """They import each other, and files are looked at by several threads."""
    held = []
    monkeypatch.setattr(errors, "import_module", lambda _: held.append(errors._IMPORTING.locked()))
    errors.pyarrow("a.parquet", "pyarrow.parquet")
    assert held == [True]
