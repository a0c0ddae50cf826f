"""Rows: what becomes a document, and what is refused and how."""

import gzip
import json
import lzma
import sys

import pytest

from combinations import covering, every
from fastlsh import InputError
from fastlsh.io import expand, read, read_objects
from fastlsh.io.sources import Options
from files import put, put_table, refusal
from refusals import refuses

# --- JSON lines


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (b"nonsense", "not JSON: Expecting value at column 1"),
        (b'{"text": "a\tb"}', "not JSON: Invalid control character at column 12"),
        (b'{"id": 1}', "no key 'text' (there is: 'id')"),
        (b"{}", "no key 'text' (there is: none)"),
        (b'{"text": 42}', "'text' is a number, not a string"),
        (b'{"text": true}', "'text' is a boolean, not a string"),
        (b'{"text": ["a"]}', "'text' is an array, not a string"),
        (b'{"text": {"a": 1}}', "'text' is an object, not a string"),
        (b'{"text": "a", "id": [1]}', "'id' is an array, not an id"),
        (b'["text"]', "an array, not an object"),
        (b'[{"text": "a"},', "not JSON: Expecting value at column 16"),
        (b'"text"', "a string, not an object"),
        (b'{"text": "a\xff"}', "not utf-8: byte 0xff at character 12"),
        (b'{"text": "\xed\xa0\x80"}', "not utf-8: byte 0xed at character 11"),
        (b'{"text": ' + b"[" * 200_000, "nested too deeply"),
        (b'{"text": "a", "n": ' + b"1" * 5000 + b"}", "not JSON"),
    ],
)
def test_bad_rows_of_jsonl(here, row, reason):
    if b"1" * 5000 in row and sys.version_info < (3, 10, 7):
        pytest.skip("this Python reads numbers of any length")
    good = b'{"text": "good"}\n'
    name = put("a.jsonl", good + b"\n" + row + b"\n" + good)
    message = refusal(name)
    assert message.startswith("a.jsonl: row 3: ")
    assert reason in message
    found = read(name, on_error="skip")
    assert found.texts == ["good", "good"]
    assert found.ids == ["a.jsonl:1", "a.jsonl:4"]
    assert found.skipped == 1
    assert [str(error) for error in found.skipped_reasons] == [message]


def test_columns_are_chosen(here):
    name = put("a.jsonl", '{"body": "b", "key": 1, "id": 2}\n')
    found = read(name, text="body", id="key")
    assert (found.texts, found.ids) == (["b"], [1])
    assert "no key 'ID'" in refusal(name, text="body", id="ID")
    assert "'id' is null" in refusal(put("b.jsonl", '{"text": "", "id": null}'), id="id")


def test_first_reasons_are_kept_and_all_are_counted(here):
    found = read(put("a.jsonl", "x\n" * 25), on_error="skip")
    assert (len(found), found.skipped, len(found.skipped_reasons)) == (0, 25, 10)


# --- Several files


@pytest.mark.parametrize("threads", [1, 4])
def test_small_files_are_read_side_by_side_as_one_behind_the_other(here, threads):
    rows = [f'{{"text": "{i}"}}\n' + "x\n" * (i % 3 == 0) for i in range(40)]
    names = [put(f"{i:02}.jsonl", row * (i % 4)) for i, row in enumerate(rows)]
    found = read(names, on_error="skip", threads=threads)
    alone = [read(name, on_error="skip") for name in names]
    assert found.texts == [text for each in alone for text in each.texts]
    assert list(found.ids) == [name for each in alone for name in each.ids]
    assert [part.counts for part in found.parts] == [each.parts[0].counts for each in alone]
    assert [part.bad for part in found.parts] == [each.parts[0].bad for each in alone]
    reasons = [str(error) for each in alone for error in each.skipped_reasons]
    assert [str(error) for error in found.skipped_reasons] == reasons[:10]
    assert found.skipped == sum(each.skipped for each in alone)


@pytest.mark.parametrize(("threads", "rows"), covering([1, 4], [1, 12_000]))  # several blocks
def test_the_first_error_of_several_files_is_raised(here, threads, rows):
    bad = "text,id\n" + "a,1\n" * rows + "b\n" + '"c,'
    names = [put(f"{i}.csv", "text,id\na,1\n") for i in range(8)]
    names += [put(f"{i}.csv", bad) for i in (8, 9)]
    assert refusal(names, threads=threads).startswith(f"8.csv: row {rows + 2}: ")
    cut = refusal(names, threads=threads, on_error="skip")
    assert cut.startswith(f"8.csv: row {rows + 3}: ")


# --- CSV and TSV


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.csv", "id,text\n1,a\n2\n", "row 3: 1 fields instead of 2"),
        ("a.csv", "id,text\n1,a,b\n", "row 2: 3 fields instead of 2"),
        ("a.csv", 'id,text\n1,"a"b\n', "row 2: ',' expected after '\"'"),
        ("a.csv", b"id,text\n1,a\n2,\xe9\n", "row 3: not utf-8: byte 0xe9 at character 3"),
        ("a.csv", 'text\n"a\nb\n', "row 2: a quote is never closed; quotes=False"),
        ("a.csv", "id,text,text\n", "row 1: 2 columns are named 'text'"),
        ("a.csv", "id,id,text\n", "row 1: 2 columns are named 'id'"),
        ("a.csv", "id;text\n", "row 1: no column 'text' (there is: 'id;text')"),
        ("a.csv", b"id,text\xff\n", "row 1: not utf-8"),
        ("a.csv", "", "no header"),
    ],
)
def test_bad_csv(here, name, data, message):
    assert message in refusal(put(name, data))


def test_nul_is_text_or_an_error(here):
    name = put("a.csv", "text\na\0b\n")
    if sys.version_info >= (3, 11):
        assert read(name).texts == ["a\0b"]
    else:
        assert "row 2: line contains NUL" in refusal(name)


def test_without_header(here):
    two = put("a.tsv", "k1\tone\nk2\ttwo\n")
    found = read(two, header=False)
    assert (found.texts, found.ids) == (["one", "two"], ["k1", "k2"])
    found = read(two, header=False, text="1")
    assert (found.texts, found.ids) == (["k1", "k2"], ["a.tsv:1", "a.tsv:2"])
    assert read(two, header=False, text="1", id="2").ids == ["one", "two"]
    one = read(put("b.tsv", "one\n"), header=False)
    assert (one.texts, one.ids) == (["one"], ["b.tsv:1"])
    assert "no column '3' (there is: '1', '2')" in refusal(two, header=False, text="3")
    assert len(read(put("c.tsv", ""), header=False)) == 0


def test_quotes_as_text(here):
    name = put("a.tsv", 'id\ttext\n1\t"a" said b\n2\t"c\n')
    assert "row 2" in refusal(name)
    assert read(name, quotes=False).texts == ['"a" said b', '"c']


def test_delimiter_and_encoding(here):
    name = put("a.csv", "id;text\n1;Käse\n".encode("latin-1"))
    assert read(name, delimiter=";", encoding="latin-1").texts == ["Käse"]


ADVICE = {
    ("a.jsonl", "{}\n".encode("utf-16")): 'in UTF-16 do: give encoding="utf16"',
    ("b.csv", b"\xfe\xff" + "text\nä\n".encode("utf-16-be")): 'give encoding="utf16"',
    ("a.txt", "text".encode("utf-16")): 'give encoding="utf16"',
    (
        "b.jsonl",
        gzip.compress(b"{}", mtime=0),
    ): "begins as a .gz does: let its name end so, or, if it is the"
    " standard input, name jsonl.gz with format=",
    ("a.tsv", lzma.compress(b"text")): "name tsv.xz with format=",
    ("b.txt", b"PAR1\x15\xff"): "name parquet with format=",
    ("c.jsonl", b'{"text": "a"}\n\x1f\x8b\n'): 'such as encoding="cp1252"',
}


@pytest.mark.parametrize(("name", "data"), ADVICE)
def test_what_helps_where_bytes_are_no_text(here, name, data):
    assert ADVICE[name, data] in refusal(put(name, data))


# --- plain text


def test_directory_of_texts(here, tmp_path):
    put("b.txt", "b\r\n")
    put("a.txt", b"\xef\xbb\xbfa\x00\r")
    (tmp_path / "d.txt").mkdir()
    with pytest.warns(UserWarning, match=r"left out of .*: directories, .*: d\.txt"):
        found = read(tmp_path)
    assert found.texts == ["a\x00\r", "b\r\n"]
    assert found.ids == [str(tmp_path / "a.txt"), str(tmp_path / "b.txt")]


def test_bad_texts(here, tmp_path):
    put("a.txt", b"good")
    put("b.txt", b"ab\xffc")
    assert "b.txt: not utf-8: byte 0xff at offset 2" in refusal(tmp_path)
    found = read(tmp_path, on_error="skip")
    assert (found.texts, found.skipped) == (["good"], 1)
    (tmp_path / "empty").mkdir()
    assert refusal("empty") == "empty: the directory has no file of a known format"
    assert refusal("empty", format="jsonl") == "empty: the directory has no .jsonl file"


# --- threads


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="its threads have small stacks with musl only")
def test_a_deep_row_fits_the_stack_of_each_thread(run_python, here):
    """With musl, threads have a stack of 128 KB, which a row of brackets would end."""
    good = '{"text": "' + "x" * 2**20 + '"}\n'
    deep = '{"text": "", "x": ' + "[" * 200_000 + "\n"
    name = put("a.jsonl", (good + deep) * 4)
    done = run_python(f"""
import threading
from fastlsh.errors import InputError
from fastlsh.io import ReadOptions, read, read_files
threading.stack_size(128 << 10)
found = read({name!r}, threads=4, on_error="skip")
print(found.skipped, found.skipped_reasons[0], threading.stack_size() >> 10)
""")
    assert done.stdout == f"4 {name}: row 2: nested too deeply 128\n", done.stderr


@pytest.mark.parametrize("suffix", every(3, ["csv", "jsonl", "parquet"], 1))
def test_a_message_names_twenty_columns_at_most(here, suffix):
    row = {f"c{n}": "x" for n in range(3_000)}
    message = refusal(put_table(f"a.{suffix}", [row]))
    assert "'c18', 'c19' and 2,980 more); text= names another " in message


@pytest.mark.parametrize("suffix", ["jsonl", "json", "csv", "parquet"])
def test_a_chat_that_is_not_the_default_column_is_named(here, suffix):
    for name in ("conversations", "messages"):
        row = {"id": 1, name: [{"role": "user", "content": "a"}]}
        file = put_table(f"a.{suffix}", [row])
        assert f"(there is: 'id', '{name}'); text=\"{name}\" reads a chat" in refusal(file)
        assert "reads a chat" not in refusal(file, text="other")


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_a_header_that_is_one_column_names_the_delimiter(here, mark):
    file = put("a.csv", f"id{mark}text\n1{mark}a\n")
    advice = f"; if columns end at {mark!r}, say so with delimiter="
    assert refusal(file).endswith(advice)
    assert refusal(file, text="body").endswith(advice)
    assert len(read([file], delimiter=mark).texts) == 1
    tsv = put("a.tsv", "id,text\n1,a\n")
    assert refusal(tsv).endswith("; if columns end at ',', say so with delimiter=")


# --- rows as dictionaries


def rows_of(path, **options):
    (source,) = expand(path, None, Options(**options))
    return list(read_objects(source))


def test_rows_as_objects_of_json_lines(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('\ufeff{"a": [1, "☃"]}\r\n\n  \n{"b": "\u2028"}', encoding="utf-8")
    assert rows_of(path) == [(1, {"a": [1, "☃"]}), (4, {"b": "\u2028"})]
    path.write_bytes(json.dumps({"a": "é"}, ensure_ascii=False).encode("latin-1"))
    assert rows_of(path, encoding="latin-1") == [(1, {"a": "é"})]


def test_rows_as_objects_of_csv(tmp_path):
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
def test_what_is_no_object(tmp_path, line, message):
    path = tmp_path / "a.jsonl"
    path.write_text(line)
    refuses(InputError, message, rows_of, path)
