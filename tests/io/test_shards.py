"""One output for each input: names, clashes, contents, all or nothing."""

import gzip
import os
import sys

import numpy as np
import pytest

from combinations import larger
from fastlsh.io import InputError, Source, expand, plan_outputs, read, write_rows
from files import check_rows_output, get, put, put_rows
from refusals import refuses


def fill(**files):
    for name, data in files.items():
        path = name.replace("__", "/").replace("_", ".")
        put(path, data)


def source(path, kind, folder=""):
    return Source(path, kind, None, None, folder or os.path.dirname(path))


def planned(sources, output, convert=None):
    plan = plan_outputs(sources, output, convert)
    return [(e.sources, e.path.replace(os.sep, "/"), e.format, e.compression) for e in plan]


def write(inputs, kept, output, **keywords):
    found = read(inputs, mixed=True, **keywords)
    write_rows(found, np.array(kept, bool), output)


def tree(folder="."):
    return sorted(
        os.path.relpath(os.path.join(at, name), folder).replace(os.sep, "/")
        for at, _, names in os.walk(folder)
        for name in names
    )


# --- names


def test_names_are_relative_to_the_common_folder(here):
    files = [source("x/a/1.jsonl", "jsonl"), source("x/b/1.jsonl", "jsonl")]
    assert planned(files, "out/") == [
        ((0,), "out/a/1.jsonl", "jsonl", None),
        ((1,), "out/b/1.jsonl", "jsonl", None),
    ]
    assert planned(files[:1], "out/")[0][1] == "out/1.jsonl"


def test_a_directory_counts_as_itself(here):
    fill(x__part__a_jsonl="", x__part__deep__b_jsonl="")
    assert [p[1] for p in planned(expand("x", recursive=True), "o/")] == [
        "o/part/a.jsonl", "o/part/deep/b.jsonl",
    ]  # fmt: skip
    assert [p[1] for p in planned(expand("x/**/*.jsonl"), "o/")] == ["o/a.jsonl", "o/deep/b.jsonl"]
    both = expand(["x/part/a.jsonl", str(here / "x/part/deep")])
    assert [p[1] for p in planned(both, "o/")] == ["o/a.jsonl", "o/deep/b.jsonl"]


def test_folders_whose_names_begin_alike(here):
    files = [source(f"{f}/1.csv", "csv") for f in ("a", "a-b", "a/b")]
    assert [p[1] for p in planned(files, "o/")] == ["o/a/1.csv", "o/a-b/1.csv", "o/a/b/1.csv"]


def test_one_file_for_all(here):
    files = [source("a.csv", "csv"), source("b.csv", "csv")]
    assert planned(files, "o.csv.gz") == [((0, 1), "o.csv.gz", "csv", "gz")]
    texts = [source("a.txt", "txt")]
    assert planned(texts, "o.jsonl") == [((0,), "o.jsonl", "jsonl", None)]
    assert planned(texts, "o/") == [((0,), "o/a.txt", "txt", None)]


def test_an_existing_directory_needs_no_slash(here):
    os.mkdir("o")
    assert planned([source("a.csv", "csv")], "o")[0][1] == "o/a.csv"


def test_names_in_another_format(here):
    files = [
        Source("d/a.b.jsonl.zst", "jsonl", "zst", None, "d"),
        Source("d/e.parquet", "parquet", None, None, "d"),
        Source("d/f.txt", "txt", None, None, "d"),
        Source("d/part-0", "csv", None, None, "d"),
    ]
    assert [p[1:] for p in planned(files, "o/", "parquet")] == [
        ("o/a.b.parquet", "parquet", None), ("o/e.parquet", "parquet", None),
        ("o/f.parquet", "parquet", None), ("o/part-0.parquet", "parquet", None),
    ]  # fmt: skip
    assert planned(files[1:2], "o/", "jsonl.zst")[0][1:] == ("o/e.jsonl.zst", "jsonl", "zst")
    assert planned(files[:1], "o/", "jsonl")[0][1:] == ("o/a.b.jsonl.zst", "jsonl", "zst")
    assert planned(files[:1], "o/", "jsonl.gz")[0][1:] == ("o/a.b.jsonl.gz", "jsonl", "gz")
    for target, name in (("o/", "o/a.b.json"), ("o", "o"), ("-", "-")):
        (output,) = plan_outputs(files[:1], target, "json")
        assert output[1:] == (name, "jsonl", None, True)
    assert planned(files[:1], "o/", "json.gz")[0][1] == "o/a.b.json.gz"
    for kind in ("xml", "parquet.gz", "gz", ""):
        with pytest.raises(
            ValueError, match=f"cannot be converted to '{kind}', only to parquet, jsonl"
        ):
            planned(files, "o/", kind)


# --- clashes


def refused(inputs, output, **keywords):
    with pytest.raises(InputError) as caught:
        check_rows_output(inputs, output, **keywords)
    text = str(caught.value)
    assert "\n" not in text
    return text


def test_two_inputs_with_one_output(here):
    fill(d__a_jsonl="")
    text = refused(["d/a.jsonl", "d/../d/a.jsonl"], "o/")
    assert text == (
        f"d/../d/a.jsonl: its output would be {os.path.join('o/', 'a.jsonl')},"
        " and so would that of d/a.jsonl"
    )
    fill(e__a_jsonl="", e__a_csv="")
    with pytest.raises(InputError, match=r"e.a\.jsonl: its output .*e.a\.csv"):
        plan_outputs(expand("e", mixed=True), "o/", "parquet")


def test_a_directory_that_is_not_entered_may_take_outputs(here):
    fill(d__a_jsonl="", d__out__x_md="")
    with pytest.warns(UserWarning, match="out"):
        check_rows_output("d", "d/out/")


def test_an_output_that_is_a_folder_of_another(here):
    files = [source("d/x.csv", "csv", "d"), source("d/x.csv/y.csv", "csv", "d")]
    refuses(InputError, r"x\.csv is a file, too", plan_outputs, files, "o/")


def test_a_folder_that_cannot_be_written_to(here, monkeypatch):
    fill(d__a_jsonl="")
    os.mkdir("o")
    os.chmod("o", 0o555)
    if os.access("o", os.W_OK):  # root writes everywhere
        monkeypatch.setattr(os, "access", lambda path, _: os.path.basename(path) != "o")
    assert "cannot be written to" in refused("d", "o/")
    assert "cannot be written to" in refused("d", "o/new/")


# --- contents


def test_nothing_kept_is_an_empty_file(here):
    fill(d__a_jsonl='{"text": "a"}\n', d__b_csv="text\nb\n", d__c_txt="c", d__e_txt="e")
    put("d/f.jsonl.gz", gzip.compress(b'{"text": "z"}\n'))
    put("o/c.txt", "of an earlier run")
    write("d", [0, 0, 0, 1, 0], "o/")
    assert tree("o") == ["a.jsonl", "b.csv", "e.txt", "f.jsonl.gz"]  # a removed text is absent
    assert (get("o/a.jsonl"), get("o/b.csv"), get("o/e.txt")) == (b"", b"text\n", b"e")
    assert len(read("o", mixed=True)) == 1


def test_texts_are_copied(here):
    fill(d__a_txt=b"\xef\xbb\xbf\xc3\xa9\r\n\x00", d__b_txt="b")
    put("d/c.txt.gz", gzip.compress(b"c"))
    found = read("d")
    write_rows(found, np.array([1, 0, 1], bool), "o/")
    assert get("o/a.txt") == get("d/a.txt")
    assert gzip.decompress(get("o/c.txt.gz")) == b"c"
    put("d/a.txt", "changed")
    refuses(InputError, r"a\.txt: changed", write_rows, found, np.array([1, 0, 1], bool), "p/")


def test_awkward_names_stay(here):
    if sys.platform != "linux":
        pytest.skip("names are text there")
    names = ["a b.jsonl", "a\nb.jsonl", "*.jsonl", "\u2028.jsonl", os.fsdecode(b"\xff\xfe.jsonl")]
    for name in names:
        put(f"d/{name}", '{"text": "a"}\n')
    check_rows_output("d", "o/")
    write("d", [1] * 5, "o/")
    assert sorted(os.listdir(b"o")) == sorted(map(os.fsencode, names))
    assert {get(f"o/{name}") for name in names} == {b'{"text": "a"}\n'}


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_links_give_the_names(here):
    fill(blobs__x='{"text": "a"}\n', d__b_jsonl='{"text": "b"}\n')
    os.symlink("../blobs/x", "d/a.jsonl")
    check_rows_output("d", "o/")
    write("d", [1, 1], "o/")
    assert tree("o") == ["a.jsonl", "b.jsonl"]
    assert not os.path.islink("o/a.jsonl")
    os.unlink("o/a.jsonl")
    os.symlink("../blobs/x", "o/a.jsonl")  # an output that is a link to an input
    assert "d/a.jsonl" in refused("d", "o/")


def test_an_error_leaves_nothing(here):
    fill(d__a__x_jsonl='{"text": "a"}\n', d__b_jsonl='{"text": "b"}\n')
    found = read("d", recursive=True)
    put("d/b.jsonl", '{"text": "c"}\n')
    before = tree()
    refuses(InputError, r"b\.jsonl: changed", write_rows, found, np.ones(2, bool), "o/")
    assert tree() == before
    assert not os.path.exists("o")
    fill(o__a__x_jsonl="earlier")
    refuses(InputError, r"b\.jsonl: changed", write_rows, found, np.ones(2, bool), "o/")
    assert (tree("o"), get("o/a/x.jsonl")) == (["a/x.jsonl"], b"earlier")


@pytest.mark.parametrize(
    "count", [*larger(200, 1000), pytest.param(100_000, marks=pytest.mark.slow)]
)
def test_many_files_of_one_row(here, count):
    for i in range(count):
        put_rows(f"d/{i % 100:02}/{i}.jsonl", {"id": i, "text": str(i)})
    check_rows_output("d", "o/", recursive=True)
    found = read("d", recursive=True)
    kept = np.array([i % 3 == 0 for i in found.ids])
    write_rows(found, kept, "o/")
    assert tree("o") == tree("d")
    for i in range(0, count, max(1, count // 50)):
        expected = get(f"d/{i % 100:02}/{i}.jsonl") if i % 3 == 0 else b""
        assert get(f"o/{i % 100:02}/{i}.jsonl") == expected
