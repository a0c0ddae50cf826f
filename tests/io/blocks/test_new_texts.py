"""Rows with another text: all else is as it came, to the character."""

import csv
import io
import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import fastlsh
from fastlsh import InputError
from fastlsh.io import Options, expand, read_blocks
from fastlsh.io.blocks.contract import AddedColumns
from fastlsh.io.blocks.writing import fields_as_row, table_with_texts
from rows_oracle import json_with_text

keys = st.text(max_size=3)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(st.text(max_size=3), values, max_size=4),
    st.dictionaries(st.text(max_size=3), values, max_size=4),
    st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", " : ")]),
    st.booleans(),
    st.text(max_size=8),
    st.sampled_from(["", "\n", " \r\n"]),
)
def test_of_json_only_the_value_changes(before, after, separators, plain, text, end):
    old = {**before, "text": "old ☃", **after}
    raw = json.dumps(old, separators=separators, ensure_ascii=plain) + end
    new = json_with_text(raw, "text", text, plain=False)
    assert json.loads(new) == {**old, "text": text}
    if "text" not in after:
        head = raw.index(json.dumps("text") + separators[1]) + len('"text"' + separators[1])
        rest = raw[head + len(json.dumps("old ☃", ensure_ascii=plain)) :]
        assert new == raw[:head] + json.dumps(text, ensure_ascii=new.isascii()) + rest


@given(
    st.lists(st.text('a,;"\r\n☃', max_size=6), min_size=2, max_size=4),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["", "\n", "\r\n"]),
)
def test_of_csv_the_fields_stay(fields, delimiter, end):
    row = fields_as_row(fields, f"x{end}", delimiter, True)
    assert row.endswith(end)
    assert list(csv.reader(io.StringIO(row, newline=""), delimiter=delimiter)) == [fields]
    plain = ["a", 'b "', ""]
    assert fields_as_row(plain, f"x{end}", delimiter, False) == delimiter.join(plain) + end


@pytest.mark.parametrize("cell", ["a,b", "a\nb", "a\rb"])
def test_without_quotes_no_cell_becomes_several(tmp_path, cell):
    with pytest.raises(ValueError, match=r"has a delimiter or a line end"):
        fields_as_row(["x", cell], "x\n", ",", quotes=False)
    (tmp_path / "a.csv").write_text('id,text\n1,"one" two\n2,three\n', "utf-8")
    for number, order in enumerate(["id,text\n3,x\n", "text,id\nx,3\n"]):
        (tmp_path / "b.csv").write_text(order, "utf-8")
        out = tmp_path / f"out{number}.csv"
        (tmp_path / "c.jsonl").write_text(json.dumps({"id": cell, "text": '"one" two'}), "utf-8")
        with pytest.raises(InputError, match=r"has a delimiter.*write another format"):
            fastlsh.deduplicate_files(
                [tmp_path / "a.csv", tmp_path / "b.csv"], out, against=tmp_path / "c.jsonl",
                quotes=False, annotate=True,
            )  # fmt: skip
        assert not out.exists()
    repeated = "a passage that occurs in both of the rows"
    (tmp_path / "a.csv").write_text(f"id,text\n1,{repeated}\n2,before {repeated} behind\n", "utf-8")
    with pytest.raises(InputError, match=r"a\.csv: row 3: .* has a delimiter or a line end"):
        fastlsh.deduplicate_span_files(
            tmp_path / "a.csv", tmp_path / "out.csv", min_length=30, join=cell, quotes=False
        )


@pytest.mark.parametrize("codec", ["utf-8", "latin-1", "utf-16-le"])
def test_blocks_write_rows_with_other_texts(tmp_path, codec):
    path = tmp_path / "a.jsonl"
    rows = ['{"text": "a", "n": "é"}', "", '{"text": 1}', '{"text": "b"}', '{"text": "c"}']
    path.write_bytes("\n".join(rows).encode(codec))
    (source,) = expand([str(path)], None, Options(encoding=codec))
    (block,) = read_blocks(source)
    assert len(block.documents()) == 3
    kept = np.array([True, False, True])
    found = bytes(block.rows(kept, {0: "é", 1: "gone", 2: "☃"})).decode()
    first = '{"text": "é", "n": "é"}' if codec == "utf-8" else '{"text": "\\u00e9", "n": "é"}'
    assert found == f'{first}\n{{"text": "\\u2603"}}'
    assert bytes(block.rows(kept)).decode() == f"{rows[0]}\n{rows[4]}"


wild = st.text(st.characters(), max_size=5)
HOSTILE = [
    '{"text": "a", "id": 1}', ' {"id": "☃" ,"text" :"\\u00e9"} ', '{"text": "a", "text": "b"}',
    '{"te\\u0078t": "a"}', '{"text": "a", "te\\u0078t": "b", "n": [{"text": 1}]}', '{"text": null}',
    '{"n": ' + "[" * 70 + "]" * 70 + ', "text": "a"}', '{"n": "\\ud800", "text": "\\ud800\\n"}',
]  # fmt: skip


@pytest.mark.parametrize("codec", ["utf-8", "utf-16-le"])
@given(
    lines=st.lists(st.tuples(st.sampled_from(HOSTILE), st.none() | wild, st.booleans())),
    end=st.sampled_from(["\n", " \r\n"]), ended=st.booleans(), more=st.booleans(),
)  # fmt: skip
@example(lines=[(HOSTILE[0], "\udc80", True)], end="\n", ended=True, more=False)
def test_blocks_as_row_by_row(tmp_path_factory, codec, lines, end, ended, more):
    path = tmp_path_factory.mktemp("rows") / "a.jsonl"
    raws = [raw + end for raw, _, _ in lines]
    if raws and not ended:
        raws[-1] = raws[-1].removesuffix(end)
    path.write_bytes("".join(raws).encode(codec))
    (source,) = expand([str(path)], None, Options(encoding=codec))
    expected = ""
    for raw, (_, text, kept) in zip(raws, lines, strict=True):
        if text is not None:
            raw = json_with_text(raw, "text", text, plain=codec != "utf-8")
        brace = raw.rindex("}")
        expected += (raw[:brace] + ', "x": 5' * more + raw[brace:]) * kept
    found = b""
    for block in read_blocks(source):
        assert len(block.documents()) == len(lines)
        kept = np.array([kept for _, _, kept in lines], np.bool_)
        texts = {n: text for n, (_, text, _) in enumerate(lines) if text is not None}
        added = AddedColumns({"x": "int64"}, {"x": [5] * len(lines)}) if more else None
        found += bytes(block.rows(kept, texts, added))
    assert found == expected.encode()


def test_tables_in_several_pieces():
    pa = pytest.importorskip("pyarrow")
    inner = pa.struct([("a", pa.int8()), ("b", pa.struct([("c", pa.string())]))])
    values = [{"a": n, "b": None if n == 1 else {"c": str(n)}} for n in range(5)] + [None]
    column = pa.chunked_array([pa.array(values[:2], inner), pa.array(values[2:], inner)[0:]])
    table = pa.table({"x": range(6), "in": column}).slice(1)
    found = table_with_texts(table, ["in", "b", "c"], {1: "new", 3: ""})
    expected = table.to_pylist()
    expected[1]["in"]["b"]["c"], expected[3]["in"]["b"]["c"] = "new", ""
    assert found.to_pylist() == expected
    assert found.schema == table.schema
    empty = table.slice(0, 0)
    assert table_with_texts(empty, ["in", "b", "c"], {}).to_pylist() == []
