"""Evaluation items in training files: the answer of the function in memory, for any file."""

import datetime
import json
import random
from pathlib import Path

import pytest

import fastlsh
from combinations import covering, every
from contaminated_files import WORDS, collection, sentence
from fastlsh import InputError, decontaminate, decontaminate_files
from fastlsh.files.tasks import contamination, decontamination
from fastlsh.io.filesystems import local
from files import put_table, table_rows
from shards import small_budget


@pytest.fixture
def files(tmp_path):
    rows, items = collection(1)
    inputs = [
        put_table(tmp_path / "train" / "a.jsonl", rows[:50]),
        put_table(tmp_path / "train" / "b.jsonl", rows[50:]),
    ]
    return inputs, put_table(tmp_path / "evals" / "items.jsonl", items), rows, items


def in_memory(rows, items, **keywords):
    fields = [{key: item[key] for key in ("question", "answer")} for item in items]
    ids = {"ids": [row["id"] for row in rows], "item_ids": [item["id"] for item in items]}
    return decontaminate([row["text"] for row in rows], fields, **ids, **keywords)


def hits_of(path):
    names = ("id", "item_id", "share", "longest_run", "field", "start", "end")
    return [tuple(row[name] for name in names) for row in table_rows(path)]


RULES = [{}, {"rule": "span", "around": 3, "join": "|"}, {"limit": 30}]


@pytest.mark.parametrize(("threads", "size", "rule"), covering([1, 3], [200, 1 << 22], RULES))
def test_the_answer_of_the_function_in_memory(files, tmp_path, monkeypatch, threads, size, rule):
    inputs, evals, rows, items = files
    small_budget(monkeypatch, block=size)
    rows = rows[: rule.get("limit")]
    expected = in_memory(rows, items, **{n: v for n, v in rule.items() if n != "limit"})
    clean, hits = tmp_path / "clean.jsonl", tmp_path / "hits.jsonl"
    done = decontaminate_files(inputs, evals, clean, hits=hits, threads=threads, **rule)
    assert hits_of(hits) == list(expected)
    assert len(expected) >= (1 if "limit" in rule else 6)
    texts = [row["text"] for row in rows] if expected.texts is None else expected.texts
    left = zip(rows, texts, expected.kept.tolist(), strict=True)
    assert table_rows(clean) == [{**row, "text": text} for row, text, kept in left if kept]
    assert (done.documents, done.contaminated) == (len(rows), int(expected.contaminated.sum()))
    assert done.written == int(expected.kept.sum())
    assert done.not_searched == expected.not_searched
    assert done.items_found == len(expected.items_found)
    assert done.outputs == [str(clean)]


def test_annotated_rows(files, tmp_path):
    pytest.importorskip("pyarrow")
    inputs, evals, rows, items = files
    expected = in_memory(rows, items)
    most = {}
    for name, item, share, run, *_ in expected:
        if name not in most or share > most[name][1]:
            most[name] = (item, share, run)
    for kind in ("jsonl", "parquet"):
        path = tmp_path / f"all.{kind}"
        decontaminate_files(inputs, evals, path, rule="annotate", convert_to=kind)
        found = table_rows(path)
        assert [row["n"] for row in found] == [row["n"] for row in rows]
        for row in found:
            named = row["contaminated_by"], row["contamination_share"], row["contamination_run"]
            assert named == most.get(row["id"], (None, 0.0, 0))


def test_plain_text_and_compression(tmp_path):
    rows, items = collection(2, 60)
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, row in enumerate(rows):
        (folder / f"{number:03}.txt").write_text(row["text"] or "")
    evals = put_table(tmp_path / "evals.jsonl.gz", items)
    contaminated = in_memory(rows, items).contaminated
    decontaminate_files(folder, evals, f"{tmp_path}/clean/")
    left = sorted(path.name for path in (tmp_path / "clean").iterdir())
    assert left == [f"{n:03}.txt" for n, found in enumerate(contaminated) if not found]
    cut = tmp_path / "cut.jsonl"
    decontaminate_files(folder, evals, cut, rule="span", on_error="skip")
    expected = in_memory(rows, items, rule="span")
    texts = [text for text, kept in zip(expected.texts, expected.kept, strict=True) if kept]
    assert [row["text"] for row in table_rows(cut)] == [text or "" for text in texts]


def test_bad_rows(files, tmp_path):
    inputs, evals, rows, _ = files
    with inputs[0].open("a") as file:
        file.write("{}\n")
    clean = tmp_path / "clean.jsonl"
    with pytest.raises(InputError, match=r"a\.jsonl: row 51: no key 'text'"):
        decontaminate_files(inputs, evals, clean)
    assert not clean.exists()
    done = decontaminate_files(inputs, evals, clean, on_error="skip")
    assert (done.skipped, done.documents) == (1, len(rows))
    assert "row 51" in done.skipped_reasons[0]


def test_a_file_that_changes(files, tmp_path, monkeypatch):
    inputs, evals, _, _ = files
    check = contamination.check_unchanged

    def changed(*arguments):
        with inputs[1].open("a") as file:
            file.write('{"text": "more"}\n')
        check(*arguments)

    monkeypatch.setattr(contamination, "check_unchanged", changed)
    with pytest.raises(InputError, match="changed during the run: run the same command again"):
        decontaminate_files(inputs, evals, tmp_path / "clean.jsonl", hits=tmp_path / "hits.tsv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evals", "train"]


def test_boilerplate_of_files(tmp_path):
    notice = " ".join(WORDS[:20])
    rows = [{"text": f"{number} {notice if number % 2 else ''}"} for number in range(400)]
    inputs = [put_table(tmp_path / f"{k}.jsonl", rows[k::3]) for k in range(3)]
    items = [{"question": f"{' '.join(WORDS[20:50])} {notice}"}, {"question": " ".join(WORDS[:13])}]
    evals = put_table(tmp_path / "evals.jsonl", items)
    done = decontaminate_files(inputs, evals, f"{tmp_path}/clean/")
    assert (done.contaminated, len(done.boilerplate)) == (0, 8)
    assert done.boilerplate[0].documents == 200
    assert done.not_searched == [(f"{evals}:2", "boilerplate")]
    small = decontaminate_files(inputs, evals, f"{tmp_path}/clean/", sample=99)
    assert small.boilerplate == []


HARNESS = {
    "doc_id": 3,
    "doc": {
        "id": 7,
        "question": " ".join(WORDS[:15]),
        "choices": {"text": [" ".join(WORDS[20:34])]},
    },
    "resps": [[" ".join(WORDS[40:60])]],
}


def test_logs_of_harnesses_are_read_as_they_are(tmp_path):
    train = put_table(
        tmp_path / "train.jsonl",
        [{"text": HARNESS["doc"]["question"]}, {"text": HARNESS["doc"]["choices"]["text"][0]},
         {"text": HARNESS["resps"][0][0]}],
    )  # fmt: skip
    evals = put_table(tmp_path / "samples.jsonl", [HARNESS])
    hits = tmp_path / "hits.jsonl"
    decontaminate_files(train, evals, None, hits=hits)
    found = [(row["id"], row["item_id"], row["field"]) for row in table_rows(hits)]
    assert found == [(f"{train}:1", 7, "question"), (f"{train}:2", 7, "choices.text")]
    decontaminate_files(train, evals, None, hits=hits, fields=["doc.question"], item_id="doc_id")
    assert [(row["item_id"], row["field"]) for row in table_rows(hits)] == [(3, "doc.question")]
    decontaminate_files(train, evals, None, hits=hits, fields=["choices"])
    assert [row["field"] for row in table_rows(hits)] == ["choices"]


def test_no_file_is_compared_with_each_other_one(tmp_path, monkeypatch):
    seen = []
    opened = local.open_file
    monkeypatch.setattr(local, "open_file", lambda *of: seen.append(of) or opened(*of))
    inputs = [put_table(tmp_path / "train" / f"{n}.jsonl", [{"text": "x"}]) for n in range(40)]
    evals = put_table(tmp_path / "evals.jsonl", [{"question": sentence(random.Random(1), 20)}])
    decontaminate_files(inputs, evals, tmp_path / "clean.jsonl")
    assert len(inputs) < len(seen) < 10 * len(inputs)


@pytest.mark.parametrize(("sample", "expected"), [(10**12, 30), (20, 20)])
def test_a_self_test_reads_so_many_documents(files, monkeypatch, sample, expected):
    inputs, evals, _, _ = files
    monkeypatch.setattr(decontamination, "SELF_TEST", 30)
    measured = decontamination.evaluate_decontamination_files(
        inputs, evals, sample=sample, trials=100
    )
    assert measured.documents == expected


def test_every_format_of_items(tmp_path):
    question = " ".join(WORDS[:15])
    train = put_table(tmp_path / "train.jsonl", [{"text": question}])
    folder = tmp_path / "evals"
    for name in ("p.parquet", "a.arrow"):
        put_table(folder / name, [{"id": "p", "question": question, "choices": ["a", "b"]}])
    for name in ("c.csv", "t.tsv"):
        put_table(folder / name, [{"n": 1, "question": question}])
    (folder / "x.txt").write_text(question)
    hits = tmp_path / "hits.jsonl"
    done = decontaminate_files(train, folder, None, hits=hits)
    assert [Path(row["item_file"]).name for row in table_rows(hits)] == [
        "a.arrow", "c.csv", "p.parquet", "t.tsv", "x.txt",
    ]  # fmt: skip
    assert (done.items, done.items_found) == (5, 5)


@pytest.mark.parametrize(
    ("content", "keywords", "message"),
    [
        ('{"a": 3}\n', {"fields": ["q"]}, "evals.jsonl: row 1: no field 'q' .there is: 'a'"),
        ('{"q": 3}\n', {"fields": ["q"]}, "row 1: 'q' is of type int, not text"),
        ('{"q": "x"}\n', {"item_id": "n"}, "row 1: no field 'n'"),
        ('{"q": "x", "id": [3]}\n', {}, "row 1: 'id' is of type list, not an id"),
        ("\n\n", {}, "no evaluation items: the file has no rows"),
        ("[1]\n", {}, "row 1: a number, not an object"),
        ('{"version": "1.1", "data": [{"q": "x y"}]}', {}, "one item; the rows may be in 'data'"),
        ('{"data": [{"q": "x y"}]}', {"fields": ["data"]}, "no evaluation item can be searched"),
        ('{"q": "x y", "data": [{"q": "x"}]}', {}, "no evaluation item can be searched"),
        ('{"q": \n', {}, "row 1: not JSON"),
        ('\n{"q": "\xff"}\n'.encode("latin-1"), {}, "row 2: not utf-8"),
        ('{"q": "too short"}\n', {}, "no evaluation item can be searched"),
    ],
)
def test_bad_items(files, tmp_path, content, keywords, message):
    inputs = files[0]
    evals = tmp_path / "evals.jsonl"
    evals.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message):
        decontaminate_files(inputs, evals, tmp_path / "clean.jsonl", **keywords)
    assert not (tmp_path / "clean.jsonl").exists()


def test_bad_arguments(files, tmp_path):
    inputs, evals, _, _ = files
    with pytest.raises(ValueError, match="fields must be a list of one or more names"):
        decontaminate_files(inputs, evals, tmp_path / "c.jsonl", fields="question")
    with pytest.raises(InputError, match=r"items\.jsonl"):
        decontaminate_files(inputs, evals, evals)
    with pytest.raises(InputError, match="no columns for annotations"):
        decontaminate_files(
            put_table(tmp_path / "x.txt", []), evals, f"{tmp_path}/o/", rule="annotate"
        )
    assert fastlsh.FileDecontamination.__doc__


IDS = {
    "dates": [datetime.date(2020, 1, 2)] * 2, "integers": [1, 2], "numbers": [0.5, 1e30],
}  # fmt: skip


@pytest.mark.parametrize("kind", every(3, IDS))
def test_ids_of_any_kind_are_kept(tmp_path, kind):
    question = " ".join(f"word{n}" for n in range(15))
    evals = put_table(tmp_path / "evals.jsonl", [{"question": question}])
    rows = [{"id": name, "text": question} for name in IDS[kind]]
    train = put_table(tmp_path / f"{kind}.parquet", rows)
    found = []
    for work in (None, tmp_path / "work"):
        hits = tmp_path / f"{kind}.{work is None}.jsonl"
        decontaminate_files(train, evals, None, hits=hits, work=work)
        table = hits.with_suffix(".parquet")
        decontaminate_files(train, evals, None, hits=table, work=work)
        found.append((hits.read_bytes(), pytest.importorskip("pyarrow.parquet").read_table(table)))
    assert found[0] == found[1]
    assert json.loads(found[0][0].splitlines()[0])["id"] in (1, "2020-01-02", 0.5)
