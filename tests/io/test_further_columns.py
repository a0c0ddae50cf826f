"""Columns of numbers and labels: the same from every format, block by block and as a whole."""

import datetime as dt
import enum
import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh import InputError
from fastlsh.io import label_hashes, read
from files import put_table
from refusals import refuses

ROWS = [
    {"id": n, "text": f"text {n}", "site": site, "tokens": tokens, "share": share}
    for n, (site, tokens, share) in enumerate(
        [("b.org", 3, 0.5), ("a.org", 2**59 + 1, 2.0), ("b.org", -1, 0.1), ('é, "x"', 0, 1e300)]
        * 3
    )
]  # fmt: skip
COLUMNS = {"counts": ("tokens", "share"), "labels": ("site", "tokens")}


def write(name, rows):
    pieces = {"parquet": {"row_group_size": 5}, "arrow": {"max_chunksize": 5}}
    return put_table(name, rows, **pieces.get(name.rpartition(".")[2], {}))


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet", "a.arrow"])
@pytest.mark.parametrize("threads", [1, 2])
def test_every_format_has_the_same_columns(here, name, threads):
    found = read(write(name, ROWS), threads=threads, priority="share", **COLUMNS)
    assert list(found.numbers) == ["tokens", "share"]
    assert found.numbers["tokens"].dtype == np.int64
    assert found.numbers["tokens"].tolist() == [row["tokens"] for row in ROWS]
    assert found.numbers["share"].tolist() == [row["share"] for row in ROWS]
    assert found.labels["site"].tolist() == label_hashes([row["site"] for row in ROWS]).tolist()
    tokens = [str(row["tokens"]) if name == "a.csv" else row["tokens"] for row in ROWS]
    assert found.labels["tokens"].tolist() == label_hashes(tokens).tolist()


def test_the_json_module_reads_what_the_kernel_does_not(here):
    plain = read(write("a.jsonl", ROWS), **COLUMNS)
    unusual = [{**row, "meta": {"site": row.pop("site")}} for row in map(dict, ROWS)]
    nested = read(write("b.jsonl", unusual), counts=("tokens",), labels=("meta.site",))
    assert nested.labels["meta.site"].tolist() == plain.labels["site"].tolist()
    assert nested.numbers["tokens"].tolist() == plain.numbers["tokens"].tolist()
    rows = [json.dumps(row) for row in ROWS]
    rows[5] = rows[5].replace('"site"', '"s\\u0069te"')  # one row only
    Path("c.jsonl").write_text("\n".join(rows), encoding="utf-8")
    mixed = read("c.jsonl", **COLUMNS)
    assert mixed.labels["site"].tolist() == plain.labels["site"].tolist()
    assert mixed.numbers["tokens"].tolist() == plain.numbers["tokens"].tolist()
    many = {f"c{n}": n for n in range(20)}
    found = read(write("d.jsonl", [{**ROWS[0], **many}]), counts=tuple(many), labels=("site",))
    assert [values.tolist() for values in found.numbers.values()] == [[n] for n in range(20)]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet", "a.arrow"])
def test_a_column_that_one_shard_lacks(here, name):
    lacking = [{key: value for key, value in row.items() if key != "site"} for row in ROWS]
    files = [write(name, ROWS), write(f"lacks-{name}", lacking)]
    refuses(InputError, rf"lacks-{name}: .*no (column|key) 'site'", read, files, labels=("site",))


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet", "a.arrow"])
def test_a_value_that_is_null(here, name):
    rows = [{**row, "tokens": None if row["id"] == 7 else row["tokens"]} for row in ROWS]
    write(name, rows)
    with pytest.raises(InputError, match=rf"{name}: row 8: 'tokens' is null, not a number"):
        read(name, counts=("tokens",))
    found = read(name, on_error="skip", counts=("tokens",))
    assert found.numbers["tokens"].tolist() == [row["tokens"] for row in rows if row["id"] != 7]
    assert found.skipped == 1
    labels = read(name, labels=("tokens",)).labels["tokens"]
    assert labels.tolist() == label_hashes([row["tokens"] for row in rows]).tolist()
    assert labels[7] not in label_hashes([0, "", "null", "None", float("nan"), False])
    if name == "a.jsonl":  # by the kernel
        assert read(name, labels=("tokens",)).slow_rows == 0


def test_values_that_are_no_labels(here):
    write("a.jsonl", [{"text": "a", "site": ["b"]}])
    with pytest.raises(InputError, match="row 1: 'site' is an array, not a text or a number"):
        read("a.jsonl", labels=("site",))
    write("a.parquet", [{"text": "a", "site": ["b"]}])
    with pytest.raises(InputError, match=r"column 'site' is list<.*, not a text or a number"):
        read("a.parquet", labels=("site",))
    with pytest.raises(ValueError, match="each option for columns must name a column, not ''"):
        read("a.jsonl", labels=("",))


@pytest.mark.parametrize("split", [None, "lines", "paragraphs"])
@pytest.mark.parametrize("column", [{"priority": "q"}, {"counts": ("q",)}, {"labels": ("q",)}])
def test_plain_text_has_no_columns(here, split, column):
    Path("a.txt").write_text("a\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.txt: plain text has no column 'q'"):
        read("a.txt", split=split, **column)


DAY = dt.date(2020, 1, 2)


class Day(dt.date):
    pass


class Site(str, enum.Enum):
    ONE = "a"


class Size(enum.IntEnum):
    ONE = 1


class Share(float, enum.Enum):
    HALF = 0.5


LABELS = (
    st.text(max_size=2)
    | st.integers(-(2**70), 2**70)
    | st.sampled_from([0.5, 1.0, True, False, -0.0, 1e300, float("inf"), "1", b"a", dt.date.max])
    | st.sampled_from([np.int64(1), np.uint64(2**63), np.str_("1"), np.bytes_(b"a"), np.True_])
    | st.sampled_from([np.float32(0.5), np.float16(1), np.longdouble(2), np.int8(-1)])
    | st.sampled_from(
        [Site.ONE, Size.ONE, Share.HALF, Fraction(1, 2), Decimal("0.50"), Fraction(1)]
    )
    | st.sampled_from([("a", 1), ("a", np.int64(1)), (Site.ONE, 1.0), Day(2020, 1, 2), DAY])
)


def value_of(label):
    """Return what a label is equal to, as Python's own type; members of Enum have another hash."""
    if isinstance(label, tuple):
        return tuple(map(value_of, label))
    if isinstance(label, np.longdouble):
        return float(label)
    return label.value if isinstance(label, enum.Enum) else getattr(label, "item", lambda: label)()


@given(st.lists(LABELS))
def test_labels_are_equal_where_values_are(values):
    hashes = label_hashes(values).tolist()
    names = {}
    for value, found in zip(values, hashes, strict=True):
        assert names.setdefault(value_of(value), found) == found
    assert len(set(hashes)) == len(names)


@pytest.mark.parametrize("values", [["a", "b"], [1, -5], [True, False], [0.5, 2.0], [dt.date.max]])
@pytest.mark.parametrize("dictionary", [False, True])
def test_labels_of_arrow(here, values, dictionary):
    pa = pytest.importorskip("pyarrow")
    column = pa.array(values)
    if dictionary and not isinstance(values[0], bool):
        column = column.dictionary_encode()
    put_table("a.parquet", pa.table({"text": ["a"] * len(values), "x": column}))
    assert read("a.parquet", labels=("x",)).labels["x"].tolist() == label_hashes(values).tolist()


@pytest.mark.parametrize("kind", ["jsonl", "csv", "parquet"])
def test_large_integers_are_exact_or_refused(here, kind):
    """A priority is compared as it is; what is added has 64 bits."""
    name, numbers = f"a.{kind}", [2**63 + 2, 2**63 + 1, 2**64 - 1]
    if kind == "parquet":
        pa = pytest.importorskip("pyarrow")
        put_table(name, pa.table({"text": ["a"] * 3, "n": pa.array(numbers, pa.uint64())}))
    else:
        write(name, [{"text": "a", "n": number} for number in numbers])
    assert np.argsort(read(name, priority="n").numbers["n"]).tolist() == [1, 0, 2]
    refuses(InputError, r"row [12]: 'n' is too large a number", read, name, counts=("n",))
    assert read(name, counts=("n",), on_error="skip").skipped == 3


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_integers_beside_fractions_are_exact(here, kind):
    """Of 2**53 and above, float64 does not have every integer."""
    numbers = [2**53 + 1, 2**53, 0.5, -(2**53) - 1, -(2**53)]
    name = write(f"a.{kind}", [{"text": "a", "n": number} for number in numbers])
    values = read(name, priority="n").numbers["n"].tolist()
    assert values[0] > values[1] > values[2] > values[4] > values[3]
