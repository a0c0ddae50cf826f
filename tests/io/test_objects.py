"""Rows as dictionaries, of each format."""

import json

import pytest

from fastlsh import InputError
from fastlsh.io import expand, read_objects
from fastlsh.io.sources import Options
from refusals import refuses


def rows_of(path, **options):
    (source,) = expand(path, None, Options(**options))
    return list(read_objects(source))


def test_json_lines(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('\ufeff{"a": [1, "☃"]}\r\n\n  \n{"b": "\u2028"}', encoding="utf-8")
    assert rows_of(path) == [(1, {"a": [1, "☃"]}), (4, {"b": "\u2028"})]
    path.write_bytes(json.dumps({"a": "é"}, ensure_ascii=False).encode("latin-1"))
    assert rows_of(path, encoding="latin-1") == [(1, {"a": "é"})]


def test_delimited(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('q,n\n"a\nb",1\n\nc,2\n')
    assert [row for _, row in rows_of(path)] == [{"q": "a\nb", "n": "1"}, {"q": "c", "n": "2"}]
    assert rows_of(path, header=False)[0][1] == {"1": "q", "2": "n"}
    path.write_text("q,n\n1\n")
    refuses(InputError, "row 2: 1 fields, but the columns are 2: q, n", rows_of, path)
    path.write_text('q,n\n"1\n')
    refuses(InputError, r"a\.csv: unexpected end of data", rows_of, path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "row 1: not JSON"), ("[7]", "row 1: a number, not an object; the row"),
        ("[", "row 1: the file ends behind byte 1, before the end of the array"),
        ("[" * 100_000, "row 1: "), ('{}\n[{}]', "row 2: an array, not an object"),
    ],
)  # fmt: skip
def test_what_is_no_row(tmp_path, line, message):
    path = tmp_path / "a.jsonl"
    path.write_text(line)
    refuses(InputError, message, rows_of, path)
