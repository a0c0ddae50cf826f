"""Second texts in files: the same answer in memory, on disk and in stages, as of lists of texts."""

import json
import random

import pytest

import fastlsh
from combinations import covering
from fastlsh import InputError, deduplicate_files, near_duplicate_files
from fastlsh.errors import RoomError
from fastlsh.io import ReadOptions, Room, read_files
from fastlsh.options import options_of
from files import put_table, table_rows
from in_stages import ENGINES, both_engines
from refusals import refuses
from shards import rows_of, small_budget

pa = pytest.importorskip("pyarrow")

HOW = [
    {}, {"also_threshold": 0.3, "keep": "last"}, {"priority": "score", "verify": "signature"},
    {
        "rule": "contained", "search": "containment", "containment": 0.9, "keep": "longest",
        "num_perm": 8, "recall": 0.6,
    },
]  # fmt: skip


def answered(seed, n):
    """Return rows with a second text, which is often that of another row, a little changed."""
    rows, draw = rows_of(seed, n), random.Random(seed)
    answers = [row["text"] for row in rows_of(9, 5)] + ["", None]
    for row in rows:
        answer = draw.choice(answers)
        if answer and draw.random() < 0.4:
            answer = answer[draw.randrange(9) :] + draw.choice(["", "é☃", '"\\n"'])
        row["answer"] = answer
    return rows


def columns_of(rows):
    return {"texts": [row["text"] for row in rows], "also": [row["answer"] for row in rows]}


@pytest.mark.parametrize(("suffix", "how"), covering(["jsonl", "parquet", "arrow", "csv"], HOW))
def test_documents_are_removed_as_of_lists(tmp_path, monkeypatch, suffix, how):
    small_budget(monkeypatch)
    rows, others = answered(3, 60), answered(4, 12) + answered(3, 9)
    inputs = [put_table(tmp_path / f"in{n}.{suffix}", rows[n::2]) for n in range(2)]
    against = put_table(tmp_path / f"against.{suffix}", others)
    both_engines(
        deduplicate_files, tmp_path, inputs, f"kept.{suffix}", "removed.jsonl", engines=ENGINES,
        against=against, also="answer", **how,
    )  # fmt: skip
    ordered = [row for n in range(2) for row in rows[n::2]]
    of_lists = {**how, "priority": [row["score"] for row in ordered]} if "priority" in how else how
    expected = fastlsh.deduplicate(
        **columns_of(ordered), against=columns_of(others)["texts"],
        against_also=columns_of(others)["also"], ids=[row["id"] for row in ordered],
        against_ids=[row["id"] for row in others], **of_lists,
    ).proofs()  # fmt: skip
    table = table_rows(tmp_path / "memory" / "removed.jsonl")
    measure = "containment" if "rule" in how else "jaccard"
    found = [(row["id"], row["kept_id"], row[measure], row[f"also_{measure}"]) for row in table]
    assert len(found) > 5
    assert found == [*zip(expected.id, expected.kept_id, expected.similarity.tolist(),
        expected.also_similarity.tolist(), strict=True)]  # fmt: skip


@pytest.mark.parametrize("crossing", ["", "best", "one_to_one", "all"])
def test_pairs_are_those_of_lists(tmp_path, monkeypatch, crossing):
    small_budget(monkeypatch)
    rows, others = answered(3, 70), answered(4, 15) + answered(3, 20)
    path = put_table(tmp_path / "in.jsonl", rows)
    more = {crossing: True} if crossing in ("best", "one_to_one") else {}
    how = {"also": "answer", "also_threshold": 0.5, "estimates": True, **more}
    if crossing:
        how["against"] = put_table(tmp_path / "against.jsonl", others)
        against = {"against_also": columns_of(others)["also"]}
        of_lists = fastlsh.matches(
            against=columns_of(others)["texts"], **against, **columns_of(rows), also_threshold=0.5,
            **more,
        )  # fmt: skip
    else:
        of_lists = fastlsh.near_duplicates(**columns_of(rows), also_threshold=0.5)
    both_engines(near_duplicate_files, tmp_path, path, "pairs.jsonl", engines=ENGINES, **how)
    table = table_rows(tmp_path / "memory" / "pairs.jsonl")
    assert [*table[0]] == ["id_a", "id_b", "jaccard", "estimate", "also_jaccard"]
    assert len(table) > 2
    assert [row["also_jaccard"] for row in table] == of_lists.also_similarity.tolist()
    assert [row["jaccard"] for row in table] == of_lists.similarity.tolist()


def test_a_part_in_mapped_files_and_its_report(tmp_path, monkeypatch):
    """A family that does not fit into the memory; the page reads texts back from the parts."""
    small_budget(monkeypatch, part=3)
    path = put_table(tmp_path / "in.jsonl", answered(3, 60))
    both_engines(
        deduplicate_files, tmp_path, path, "kept.jsonl", "removed.tsv", also="answer",
        also_threshold=0.3, within="score",
    )  # fmt: skip
    for engine in ENGINES[:2]:
        report = tmp_path / f"{engine}.html"
        deduplicate_files(path, report=report, also="answer", engine=engine)
        assert "; of the second texts " in report.read_text()


def test_report_of_pairs(tmp_path):
    path, report = put_table(tmp_path / "in.jsonl", answered(3, 60)), tmp_path / "report.html"
    near_duplicate_files(path, tmp_path / "pairs.tsv", also="answer", report=report)
    assert "; of the second texts 1.0000" in report.read_text()


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_bad_rows_of_the_second_text(tmp_path, suffix):
    path, values = tmp_path / f"in.{suffix}", ["an answer", None, "an answer", "an answer"]
    rows = [{"id": n, "text": "a few words", "answer": value} for n, value in enumerate(values)]
    if suffix == "jsonl":
        rows[2]["answer"] = 7
        said = "row 3: 'answer' is a number, not text"
    else:
        bad = pa.array([b"an answer", None, b"an \xff", b"an answer"]).cast("binary").view("string")
        rows = pa.table({"id": range(4), "text": ["a few words"] * 4, "answer": bad})
        said = "row 3: 'answer' is not utf-8"
    put_table(path, rows)
    for engine in ("memory", "disk"):
        refuses(InputError, said, deduplicate_files, path, also="answer", engine=engine)
        result = deduplicate_files(path, also="answer", engine=engine, on_error="skip")
        assert (result.skipped, result.n_removed) == (1, 1)


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "arrow"])
def test_they_count_as_text_that_needs_room(tmp_path, suffix):
    path = put_table(tmp_path / f"in.{suffix}", [{"text": "a", "answer": "b" * 2000}] * 9)
    how = ReadOptions(also="answer", labels=("answer",))
    refuses(RoomError, "more text than estimated", read_files, [path], how, room=Room(9000, 0))


def test_summary_says_whose_recall_it_is(tmp_path, run):
    path = put_table(tmp_path / "in.jsonl", answered(3, 30))
    for words, threshold in (["--also", "answer"], 0.8), (["--also", "answer:0.4"], 0.4):
        _, _, said = run("dedup", path, "--summary", "summary.json", *words)
        assert "a pair whose first texts are at 0.8 is found with probability 0.9817" in said[-1]
        parameters = json.loads((tmp_path / "summary.json").read_text())["parameters"]
        assert (parameters["also"], parameters["also_threshold"]) == ("answer", threshold)


def test_a_colon_in_the_name_of_the_column(tmp_path, run):
    titles = "the title of a page here", "the title of a page there"
    rows = [{"text": "a few words here", "dc:title": title} for title in titles]
    path = put_table(tmp_path / "in.jsonl", rows)
    for words, kept in (
        ("dc:title", 2), ("dc:title:30%", 1), ("dc:title --also-threshold 0.3", 1),
    ):  # fmt: skip
        _, _, said = run("dedup", path, "--also", *words.split())
        assert f"{kept} kept" in said[-1]


def test_refused(tmp_path, run):
    path = put_table(tmp_path / "in.jsonl", [{"text": "a", "x": "b", "n": [1]}])
    dedup, pairs = ["dedup", path, "-o", "kept.jsonl", "--also"], ["pairs", path, "--also"]
    for words, said in (
        ([*dedup, "y"], "no key 'y'"),
        ([*dedup, "n"], "row 1: 'n' is an array, not text"),
        ([*dedup, "x:2"], "--also-threshold must be above 0 and at most 1, got 2.0"),
        ([*dedup, "x", "--by", "line"], "--by and --also cannot be given together"),
        ([*dedup, "x", "--by", "span"], "--also has no effect with --by span"),
        ([*dedup, "x", "--index", "i.sqlite"], "--index and --also cannot be given together"),
        ([*dedup, "x", "--save-index", "i.sqlite"],
         "an index has one text for a document: leave out --also or --save-index"),
        ([*dedup, "x", "--rule", "equal"], "--also has no effect with --rule equal"),
        ([*dedup, "x", "--group", "x"], "--group and --also cannot be given together"),
        ([*dedup, "x", "--unit", "token", "--text", "n"],
         "--also names a column of strings, and there are token ids"),
        ([*pairs, "x", "--exact"], "--exact compares one text of each document: leave out --also"),
        (["evaluate", path, "--also", "x"], "unrecognized arguments: --also x"),
    ):  # fmt: skip
        assert said in run.refused(*words)
    folder = tmp_path / "data" / "shelf=a"
    folder.mkdir(parents=True)
    put_table(folder / "in.jsonl", [{"text": "a"}])
    said = run.refused("dedup", f"{tmp_path}/data", "--also", "shelf")
    assert "--also=shelf is in the path: it names a column of rows" in said


def test_only_two_commands_have_the_option():
    commands = [*options_of("pairs"), *options_of("dedup")]
    assert sum(option.name == "also" for option in commands) == 2
    for command in ("overlap", "evaluate", "explain", "index build", "decontaminate"):
        assert not any(option.name.startswith("also") for option in options_of(command))
