"""Keys in the paths of files are columns of their rows."""

import os
from datetime import date
from pathlib import Path

import pytest

from fastlsh import InputError
from fastlsh.io import Options, expand, identity_hashes, read
from fastlsh.io.files import are_keys
from files import put_rows, put_table
from refusals import refuses

NULL = "__HIVE_DEFAULT_PARTITION__"


def fill(*paths, rows=({"text": "a"},)):
    for path in paths:
        put_rows(path, *rows)


def keys(inputs, **options):
    sources = expand(inputs, None, Options(**options))
    return [{key.name: key.value for key in source.keys} for source in sources]


def test_what_keys_are():
    assert are_keys(["in/lang=en", "s3://b/lang=/", "a/b=c=d"])
    assert not are_keys([])
    for name in ("lang", "=en", "lang=en/x"):
        assert not are_keys(["lang=en", name])


@pytest.mark.parametrize(
    ("names", "values"),
    [
        (["7", "-12", "0", NULL], [7, -12, 0, None]),
        (["01", "2", NULL], ["01", "2", None]),
        (["-0", "2"], ["-0", "2"]),
        (["1_0", "2"], ["1_0", "2"]),
        (["9" * 30, "2"], ["9" * 30, "2"]),
        ([str(-(1 << 63)), str((1 << 63) - 1)], [-(1 << 63), (1 << 63) - 1]),
        ([str(1 << 63), "2"], [str(1 << 63), "2"]),
        (["", "a b=c", "web%20crawl", "%C3%A9%2F"], ["", "a b=c", "web crawl", "é/"]),
    ],
)
def test_values(here, names, values):
    paths = [f"in/k%3D={name}/a.jsonl" for name in names]
    fill(*paths)
    assert keys(paths) == [{"k=": value} for value in values]
    kinds = {key.kind for source in expand("in") for key in source.keys}
    assert kinds == {"int64" if type(values[0]) is int else "string"}
    assert [key for each in expand("in") for key in each.optional] == ["k="] * len(names)


def test_which_keys_count(here):
    fill("a=1/in/b=2/x.jsonl", "a=1/in/b=2/c=3/y.jsonl", "a=2/in/b=2/x.jsonl")
    both = [{"b": 2, "c": 3}, {"b": 2}]
    assert keys("a=1/in") == both  # below the directory
    assert keys("./a=1//in/") == both
    assert keys("a=1/in/**/*.jsonl") == both  # in what the pattern matches
    assert keys("a=1/in/b=*") == both
    assert keys("a=1/in/b=2/x.jsonl") == [{}]
    assert keys("a=1/in/b=2/x.jsonl", labels=("a",)) == [{"a": 1}]  # named
    assert keys("a=1/in/b=2/x.jsonl", priority="b") == [{"b": 2}]
    assert keys(["a=1/in/b=2/x.jsonl", "a=2/in/b=2/x.jsonl"]) == [{"a": 1}, {"a": 2}]  # differ
    assert keys(str(Path("a=2/in").absolute())) == [{"b": 2}]


def test_subdirectories_that_are_keys_are_read(here):
    fill("in/a=1/b=x/r.jsonl", "in/a=2/r.jsonl", "in/_temporary/t.jsonl")
    with pytest.warns(UserWarning, match=r"1 without rows, by their names \(_temporary\)"):
        assert [s.path.replace(os.sep, "/") for s in expand("in")] == [
            "in/a=1/b=x/r.jsonl", "in/a=2/r.jsonl",
        ]  # fmt: skip
    fill("in/other/r.jsonl")
    refuses(InputError, "but directories: recursive=True", expand, "in")


def test_a_missing_column_names_those_of_the_path(here):
    fill("in/day=07/r.jsonl", "in/day=10/r.jsonl")
    refuses(InputError, r"no key 'date' \(there is: .*'day'\)", read, "in", labels=("date",))


def test_numbers_and_ids(here):
    fill("in/day=07/r.jsonl", "in/day=10/r.jsonl", f"in/day={NULL}/r.jsonl")
    found = read("in", priority="day", id="day")
    assert str(found.numbers["day"].tolist()) == "[7.0, 10.0, nan]"
    assert found.missing_priorities == 1
    assert [*found.ids] == ["07", "10", f"in/day={NULL}/r.jsonl:1"]
    with pytest.raises(InputError, match=f"day={NULL}/r.jsonl: 'day' is null, not a number"):
        read("in", counts=("day",))
    fill("in/day=x/r.jsonl")
    with pytest.raises(InputError, match=r"in/day=x/r.jsonl: 'day' is 'x', neither a number nor"):
        read("in", priority="day")


def test_a_value_is_the_same_whatever_is_beside_it(here):
    fill(
        "in/month=01/r.jsonl",
        "in/month=10/r.jsonl",
        "late/month=10/r.jsonl",
        f"late/month={NULL}/r.jsonl",
    )
    early, ten = read("in", labels=("month",)).labels["month"].tolist()
    late = read("late", labels=("month",)).labels["month"].tolist()
    assert [ten, *identity_hashes([10]).tolist()] == [late[0]] * 2
    assert early == identity_hashes(["01"])[0]
    assert len({early, *late}) == 3


AGREES = [
    ("en", ["en", ...]), ("2024", [2024, "2024", 2024.0, ...]), ("01", ["01", 1]),
    ("true", [True, "true"]),
    (NULL, [None, ...]), ("2024-05-01", ["2024-05-01"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "values"), AGREES)
def test_rows_that_agree(here, name, values):
    rows = [{"text": "a", **({} if value is ... else {"k": value})} for value in values]
    fill(f"in/k={name}/r.jsonl", rows=rows)
    for more in ({}, {"limit": 1}):
        found = read("in", labels=("k",), **more)
        assert len(set(found.labels["k"].tolist())) == 1
    assert found.slow_rows == 0


@pytest.mark.parametrize(("value", "shown"), [("fr", "'fr'"), (None, "None"), (1, "1")])
@pytest.mark.parametrize("bad", [[], [{"text": 5}]])
def test_rows_that_differ(here, value, shown, bad):
    rows = [{"text": "a"}, *bad, {"text": "b", "lang": value}]
    fill("in/lang=en/r.jsonl", rows=rows)
    for more in ({}, {"labels": ("lang",)}):
        reason = rf"in/lang=en/r.jsonl: row {len(rows)}: 'lang' is {shown}, and the path .* 'en':"
        reason += r" correct the row, or put the file .* that is not called lang=\.\.\.$"
        refuses(InputError, reason, read, "in", on_error="skip", **more)


def test_columns_of_tables_that_agree_or_differ(here):
    pa = pytest.importorskip("pyarrow")
    day, other = date.fromisoformat("2024-05-01"), date.fromisoformat("2024-05-02")
    for kind in (pa.date32(), pa.string(), pa.dictionary(pa.int8(), pa.string())):
        for values, reason in (([day, day], None), ([day, other], "2024"), ([day, None], "None")):
            column = pa.array(values, pa.date32())
            column = column if kind == pa.date32() else column.cast(pa.string()).cast(kind)
            table = pa.table({"text": ["a", "b"], "k": column})
            put_table("in/k=2024-05-01/r.parquet", table)
            if reason is None:
                assert len(read("in", labels=("k",))) == 2
                continue
            refuses(InputError, f"row 2: 'k' is .*{reason}", read, "in")
