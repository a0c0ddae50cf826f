"""Rows that get further columns, in each format and in conversions."""

import json

import numpy as np
import pytest

from fastlsh.io import AddedColumns, InputError, expand, read, write_rows
from fastlsh.io.blocks.reading import read_blocks

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TYPES = {"duplicate_of": "string", "similarity": "double", "cluster_size": "int64"}
TEXTS = ["first", 'sécond, "quoted"', "third"]
NEW = [(None, None, 2), ('é, "a"', 0.75, 2), (None, None, 1)]
KEPT = np.array([True, True, False])


def added(start, stop):
    values = zip(*NEW[start:stop], strict=True) if stop > start else [()] * 3
    return AddedColumns(TYPES, dict(zip(TYPES, map(list, values), strict=True)))


def written(tmp_path, name, output, *, kept=KEPT, convert=None, **options):
    collection = read([tmp_path / name], **options)
    write_rows(collection, kept, str(tmp_path / output), convert=convert, added=added)
    return tmp_path / output


def expected(rows):
    return [
        {**row, **dict(zip(TYPES, new, strict=True))}
        for row, new, kept in zip(rows, NEW, KEPT, strict=True)
        if kept
    ]


ROWS = [{"id": str(n), "text": text} for n, text in enumerate(TEXTS)]


@pytest.mark.parametrize("end", ["\n", "\r\n", " \n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_json_lines(tmp_path, end, encoding):
    lines = [json.dumps(row) + end for row in ROWS]
    (tmp_path / "a.jsonl").write_bytes("".join(lines).encode(encoding))
    out = written(tmp_path, "a.jsonl", "b.jsonl", encoding=encoding).read_bytes().decode(encoding)
    assert [json.loads(line) for line in out.splitlines()] == expected(ROWS)
    tail = ', "duplicate_of": null, "similarity": null, "cluster_size": 2'
    assert out.startswith(lines[0].replace("}", tail + "}"))


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv"])
def test_beside_other_texts(tmp_path, name):
    if name == "a.csv":
        (tmp_path / name).write_text("text,n\r\na,1\r\nb,2\r\nc,3", encoding="utf-8", newline="")
        right = (
            'text,n,duplicate_of,similarity,cluster_size\r\na,1,,,2\r\né,2,"é, ""a""",0.75,2\r\n'
        )
    else:
        lines = '{"text": "a"}\r\n{"text": "b"} \n{"text": "c"}'
        (tmp_path / name).write_text(lines, encoding="utf-8", newline="")
        right = (
            '{"text": "a", "duplicate_of": null, "similarity": null, "cluster_size": 2}\r\n{"text":'
            ' "\\u00e9", "duplicate_of": "é, \\"a\\"", "similarity": 0.75, "cluster_size": 2} \n'
        )
    collection = read([tmp_path / name])
    output = tmp_path / f"b.{name[2:]}"
    write_rows(collection, KEPT, str(output), texts={1: "é"}, added=added)
    assert output.read_bytes().decode() == right


def test_more_new_columns_than_the_kernel_looks_for(tmp_path):
    lines = '{"text": "a"}\n{"text": "b", "%s": 1}\n'
    types = {f"sum_{n}": "int64" for n in range(20)}
    columns = AddedColumns(types, {name: [1, 2] for name in types})
    for name in ("x", "sum_0", "sum_19"):
        (tmp_path / "a.jsonl").write_text(lines % name, encoding="utf-8")
        (block,) = read_blocks(expand(tmp_path / "a.jsonl")[0])
        if name == "x":
            assert bytes(block.rows(np.ones(2, bool), added=columns)).count(b"sum_") == 40
        else:
            with pytest.raises(InputError, match=f"row 2: there is a column '{name}' already"):
                block.rows(np.ones(2, bool), added=columns)


@pytest.mark.parametrize(("suffix", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_delimited(tmp_path, suffix, delimiter):
    rows = [["id", "text"], ["0", "first"], ["1", f'"x""{delimiter}\ny"'], ["2", "z"]]
    table = "\r\n".join(map(delimiter.join, rows))
    (tmp_path / f"a.{suffix}").write_bytes(table.encode())
    out = written(tmp_path, f"a.{suffix}", f"b.{suffix}").read_bytes().decode()
    quoted = '"é, ""a"""'
    assert out == (
        f"id{delimiter}text{delimiter}{delimiter.join(TYPES)}\r\n"
        f"0{delimiter}first{delimiter}{delimiter}{delimiter}2\r\n"
        f'1{delimiter}"x""{delimiter}\ny"{delimiter}{quoted}{delimiter}0.75{delimiter}2\r\n'
    )


def test_plain_text_becomes_json_lines(tmp_path):
    (tmp_path / "a.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    out = written(tmp_path, "a.txt", "b.jsonl", split="lines").read_text(encoding="utf-8")
    found = [json.loads(line) for line in out.splitlines()]
    assert [(row["text"], row["cluster_size"]) for row in found] == [(t, 2) for t in TEXTS[:2]]
    for n, text in enumerate(TEXTS):
        (tmp_path / f"c{n}.txt").write_text(text, encoding="utf-8")
    collection = read([tmp_path / f"c{n}.txt" for n in range(3)])
    write_rows(collection, KEPT, str(tmp_path / "d.jsonl"), added=added)
    lines = (tmp_path / "d.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["duplicate_of"] for line in lines] == [None, NEW[1][0]]


def test_a_name_that_is_taken(tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"text": "\\"similarity\\""}\n{"text": "b", "similarity": 1}\n{"text": "c"}\n', "utf-8"
    )
    (tmp_path / "a.csv").write_text("text,similarity\na,1\nb,2\nc,3\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.jsonl.* row 2: there is a column 'similarity'"):
        written(tmp_path, "a.jsonl", "b.jsonl")
    with pytest.raises(InputError, match=r"a\.csv: there is a column 'similarity' already"):
        written(tmp_path, "a.csv", "b.csv")
    assert not list(tmp_path.glob("b.*"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_name_that_is_taken_and_escaped(tmp_path, encoding):
    lines = [f'{{"text": "a", "{key}": 1}}\n' for key in ("x", "similarit\\u0079", "y")]
    (tmp_path / "a.jsonl").write_text("".join(lines), encoding)
    with pytest.raises(InputError, match=r"row 2: there is a column 'similarity'"):
        written(tmp_path, "a.jsonl", "b.jsonl", encoding=encoding)
    lines[1] = '{"text": "similarit\\u0079", "cluster\\u005fid": "similarit\\u0079"}\n'
    (tmp_path / "a.jsonl").write_text("".join(lines), encoding)
    out = written(tmp_path, "a.jsonl", "b.jsonl", encoding=encoding)
    found = [json.loads(line) for line in out.read_text(encoding).splitlines()]
    assert [row["cluster_size"] for row in found] == [2, 2]
