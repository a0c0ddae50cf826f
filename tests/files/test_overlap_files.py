"""The overlap of files: memory and disk write the same bytes, those of `overlap`."""

import json
import os

import pytest

from combinations import every
from fastlsh import InputError, Shingler, overlap, overlap_files
from fastlsh.files.tasks import overlap as disk_overlap
from files import put_table
from in_stages import both_engines, in_parts
from killed_runs import stopped_in
from refusals import refuses
from shards import SIZES, rows_of, small_budget, write_shards

parquet = pytest.importorskip("pyarrow.parquet")


def numbers_of(found):
    """Return all that an overlap has counted."""
    counts = (
        found.documents, found.characters, found.shared_documents, found.shared_characters,
    )  # fmt: skip
    return [each.tolist() for each in counts]


def both(folder, inputs, name="shared.jsonl", **keywords):
    """Run both engines; return the overlap, and what both have written."""
    result, written = both_engines(overlap_files, folder, inputs, name, **keywords)
    return result, written[name]


SEARCHES = [
    {},
    {"shingler": Shingler("word", 2, lowercase=True)},
    {"shingler": Shingler("byte", 5)},
]


@pytest.mark.parametrize("sizes", every(2, SIZES[:2]))
@pytest.mark.parametrize("search", every(3, SEARCHES, 1))
def test_same_bytes(tmp_path, monkeypatch, search, sizes):
    small_budget(monkeypatch, **sizes)
    rows = rows_of(41, 70)
    (tmp_path / "b").mkdir()
    inputs = [
        *write_shards(tmp_path, rows[:25], 1, "a"), str(tmp_path / "b"),
        *write_shards(tmp_path, [], 1, "empty"), str(tmp_path / "c*.jsonl"),
    ]  # fmt: skip
    write_shards(tmp_path / "b", rows[25:45], 3)
    write_shards(tmp_path, rows[45:], 2, "c")
    result, written = both(tmp_path, inputs, threshold=0.6, **search)
    texts = [[row["text"] for row in part] for part in (rows[:25], rows[25:45], [], rows[45:])]
    found = overlap(dict(zip(inputs, texts, strict=True)), 0.6, **search)
    assert numbers_of(result.overlap) == numbers_of(found)
    assert (result.documents, result.empty) == (70, found.empty)
    columns = found.columns()
    lines = [json.loads(line) for line in written.splitlines()]
    assert [list(line.values()) for line in lines] == [
        list(row) for row in zip(*map(list, columns.values()), strict=True)
    ]
    assert (found.shared_documents[[0, 1, 3]][:, [0, 1, 3]] > 0).all()
    size = (lambda text: len(text.encode())) if found.names and "byte" in str(search) else len
    assert found.characters.tolist() == [sum(size(text or "") for text in part) for part in texts]


def test_bad_rows_do_not_count(tmp_path):
    rows = rows_of(42, 40)
    inputs = write_shards(tmp_path, rows, 2)
    with open(inputs[0], "a", encoding="utf-8") as file:
        file.write('{"id": "x"}\n')
    result, _ = both(tmp_path, inputs, on_error="skip")
    assert result.skipped == 1
    assert result.overlap.documents.tolist() == [20, 20]
    refuses(InputError, r"in0\.jsonl: row 21: no key", overlap_files, inputs)


def test_an_interrupted_run_continues(tmp_path, monkeypatch):
    small_budget(monkeypatch)
    inputs = write_shards(tmp_path, rows_of(43, 40), 3)
    how = {"engine": "disk", "work": tmp_path / "work"}
    output = tmp_path / "t.tsv"
    stopped_in(monkeypatch, disk_overlap, "_totals", 0, overlap_files, inputs, output, **how)
    messages = []
    result = overlap_files(inputs, output, on_message=messages.append, **how)
    assert any("continuing the run" in message for message in messages)
    assert numbers_of(result.overlap) == numbers_of(overlap_files(inputs).overlap)


@pytest.mark.parametrize(
    ("inputs", "more", "message"),
    [
        (["a.jsonl"], {}, "2 to 64 data sets, got 1"),
        (["a.jsonl", "a.jsonl"], {}, "the data set a.jsonl is given twice"),
        (["a.jsonl", "b.jsonl"], {"output": "a.jsonl"}, "the output is one of the inputs"),
        (["a.jsonl", "b.jsonl"], {"report": "r.pdf"}, "must be an .html file"),
        (["a.jsonl", "absent.jsonl"], {}, "absent.jsonl"),
        (["a.jsonl", "b.jsonl"], {"engine": "disk"}, r"needs a work directory \(work=\)"),
        (["a.jsonl", "b.jsonl"], {"shingler": Shingler("token", 2)}, "which token ids do not have"),
    ],
)
def test_bad_input(tmp_path, monkeypatch, inputs, more, message):
    monkeypatch.chdir(tmp_path)
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text('{"text": "some text"}\n')
    before = sorted(tmp_path.iterdir())
    with pytest.raises((ValueError, InputError), match=message):
        overlap_files(inputs, **{"output": "t.tsv", **more} if "engine" not in more else more)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("named", every(2, [lambda name: "xyz".index(name), str]))
@pytest.mark.parametrize("kind", every(3, ["parquet", "jsonl", "csv"]))
def test_sources_of_a_column(tmp_path, monkeypatch, kind, named):
    small_budget(monkeypatch)
    rows = [
        {"id": row["id"], "text": row["text"] or "", "from": named("zxy"[number * 7 % 5 % 3])}
        for number, row in enumerate(rows_of(45, 60))
    ]
    path = put_table(tmp_path / f"all.{kind}", rows)
    result, _ = both(tmp_path, [str(path)], source="from", threshold=0.6)
    data_sets = {}
    for row in rows:
        data_sets.setdefault(f"{row['from']}", []).append(row["text"])
    found = overlap(data_sets, 0.6)
    assert result.overlap.names == [f"{named(name)}" for name in "zyx"] == found.names
    assert numbers_of(result.overlap) == numbers_of(found)
    assert result.overlap.characters.tolist() == found.characters.tolist()
    assert found.shared_documents.min() > 0


def test_sources_that_cannot_be_compared(tmp_path):
    def put(name, *values):
        return put_table(tmp_path / name, [{"text": "some text", "from": v} for v in values])

    for path, message in [
        (put("one.jsonl", "a", "a"), "2 to 64 data sets, got 1"),
        (put("many.jsonl", *range(65)), "the column from has more than 64 values"),
        (put("null.jsonl", "null", None), "different values that are written null, as a text and"),
        (put("twice.jsonl", "1", 1), "different values that are written 1, as a text and a number"),
    ]:
        for engine in ("memory", "disk"):
            with pytest.raises((ValueError, InputError), match=message):
                overlap_files(path, tmp_path / "t.tsv", source="from", engine=engine)
            assert not (tmp_path / "t.tsv.work").exists()
        assert not (tmp_path / "t.tsv").exists()
    refuses(InputError, "row 1: no key 'absent'", overlap_files, path, source="absent")
    for engine in ("memory", "disk"):
        found = overlap_files(
            put("nulls.jsonl", "a", None, "b", None), tmp_path / "t.tsv", source="from",
            engine=engine,
        ).overlap  # fmt: skip
        assert (found.names, found.documents.tolist()) == (["a", "null", "b"], [1, 2, 1])


@pytest.mark.exhaustive
@pytest.mark.parametrize("of", every(2, [2, 1]))
@pytest.mark.parametrize("kind", every(2, ["jsonl", "parquet"]))
def test_sources_in_stages(tmp_path, monkeypatch, kind, of):
    small_budget(monkeypatch, **SIZES[1])
    rows = [{**row, "from": "aabcde"[n % 41 // 7]} for n, row in enumerate(rows_of(46, 41))]
    if kind == "jsonl":
        rows.insert(3, {"text": "no source", "from": None})
        inputs = write_shards(tmp_path, rows, 3)
    else:
        inputs = [put_table(tmp_path / "in.parquet", rows, row_group_size=9)]
    how = {"inputs": inputs, "threshold": 0.6, "source": "from", "on_error": "skip"}
    one = overlap_files(**how, output=tmp_path / "one.jsonl", engine="memory")
    keywords = {
        **how, "output": tmp_path / "two.jsonl", "work": tmp_path / "work", "memory": "300M",
    }  # fmt: skip
    result = in_parts(overlap_files, keywords, of)
    assert (tmp_path / "two.jsonl").read_bytes() == (tmp_path / "one.jsonl").read_bytes()
    again = overlap_files(**keywords, stage="finish")
    assert again.overlap.names == result.overlap.names == one.overlap.names
    names = ["a", *(["null"] if kind == "jsonl" else []), *"bcde"]
    assert (again.overlap.names, again.documents) == (names, len(rows))
    assert again.skipped == one.skipped
    assert os.listdir(tmp_path / "work") == ["finished.json"]


def test_stages_and_files_that_are_refused(tmp_path):
    inputs = write_shards(tmp_path, rows_of(46, 20), 2)
    how = {"work": tmp_path / "work", "output": tmp_path / "t.tsv", "memory": "300M"}
    with pytest.raises(ValueError, match="an overlap has no stage merge: its stages are sign"):
        overlap_files(inputs, stage="merge", **how)
    with pytest.raises(InputError, match="no run has begun here: the first stage"):
        overlap_files(inputs, stage="decide", **how)
    os.symlink(inputs[0], tmp_path / "link.jsonl")
    with pytest.raises(InputError, match=r"link\.jsonl: is the same file as .*in0\.jsonl, and bel"):
        overlap_files([*inputs, tmp_path / "link.jsonl"], tmp_path / "t.tsv")
    refuses(InputError, "is the same file as", overlap_files, [inputs[1], tmp_path / "in*.jsonl"])
    assert not (tmp_path / "t.tsv").exists()


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_file_without_rows_has_no_data_set(tmp_path, kind):
    rows = [{"id": n, "text": "river stone cloud", "src": "ab"[n]} for n in range(2)]
    full, empty = (put_table(tmp_path / f"{name}.{kind}", rows) for name in ("full", "empty"))
    if kind == "jsonl":
        empty.write_bytes(b"")
    else:
        put_table(empty, parquet.read_table(full)[:0])
    result, _ = both(tmp_path, [str(full), str(empty)], source="src")
    assert result.documents == 2
