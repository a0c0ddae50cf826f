"""Repeated lines of files: the same answer in memory and on disk, and after kills."""

import json
import random

import pytest

import fastlsh
import oracle_lines
from combinations import covering, every
from fastlsh import Shingler, deduplicate_line_files
from fastlsh.files import cutting, estimate
from files import load_table, put_table
from in_stages import both_engines
from shards import SIZES, WORDS, small_budget, write_shards

pytest.importorskip("pyarrow")  # which compresses the texts of a run on disk

OF_LINES = {"part": 50, "segment": 200, "rows": 64}
"""Sizes for lines, of which a document has several."""


BY = ["line", "paragraph", "sentence"]


def rows_of(seed, n):
    """Return rows of several lines and paragraphs, many of which repeat."""
    draw = random.Random(seed)
    common = [" ".join(draw.choices(WORDS, k=4)) for _ in range(8)]
    rows = []
    for number in range(n):
        lines = []
        for _ in range(draw.randrange(7)):
            kind = draw.random()
            if kind < 0.4:
                lines.append(draw.choice(common))
            elif kind < 0.6:
                lines.append(draw.choice(["", " \t", "---", "naïve ☃ 𝔘"]))
            else:
                words = draw.choices(WORDS, k=draw.randrange(1, 12))
                lines.append(draw.choice([" ", " ", ". ", "? "]).join(words))
        text = draw.choice(["\n", "\n", "\r\n"]).join(lines)
        rows.append({"id": f"d{number}", "n": number, "text": text if number % 11 else None})
    return rows


def both(folder, inputs, output="kept.jsonl", by="line", **keywords):
    """Run both engines; return the result, and all that both have written."""
    given = (folder, inputs, output, "removed.tsv")
    return both_engines(deduplicate_line_files, *given, by=by, **keywords)


@pytest.mark.parametrize(("sizes", "cut", "by"), covering(SIZES, [(7, 2), (3, 2), (1, 1)], BY))
def test_same_answer_for_every_cut(tmp_path, monkeypatch, by, sizes, cut):
    shards, threads = cut
    small_budget(monkeypatch, **sizes)
    monkeypatch.setattr(cutting, "AT_ONCE", 7)
    rows = rows_of(1, 50)
    inputs = write_shards(tmp_path, rows, shards)
    result, files = both(tmp_path, inputs, by=by, threads=threads)
    texts = [row["text"] for row in rows]
    left, removed = oracle_lines.deduplicated(texts, by)
    assert [json.loads(line) for line in files["kept.jsonl"].splitlines()] == [
        {**row, "text": text} for row, text in zip(rows, left, strict=True)
    ]
    table = [line.split("\t") for line in files["removed.tsv"].decode().splitlines()]
    assert table == [
        ["id", "start", "end", "kept_id", "jaccard"],
        *([f"d{d}", str(a), str(b), f"d{k}", "1.000000"] for d, a, b, k, *_ in removed),
    ]
    changed = [a != b for a, b in zip(texts, left, strict=True)]
    assert (result.documents, result.written, result.n_removed) == (50, 50, len(removed))
    assert removed
    assert result.changed == len({number for number, *_ in removed}) >= sum(changed)
    assert result.emptied == sum(bool(a) and not b for a, b in zip(texts, left, strict=True) if a)
    assert result.characters == sum(end - begin for _, begin, end, *_ in removed)


@pytest.mark.parametrize("by", every(2, BY))
@pytest.mark.parametrize("sizes", every(3, SIZES))
def test_lines_of_a_reference_collection_go_too(tmp_path, monkeypatch, by, sizes):
    small_budget(monkeypatch, **sizes)
    known, rows = rows_of(7, 20), rows_of(1, 50)
    (tmp_path / "old").mkdir()
    against = write_shards(tmp_path / "old", [{**row, "id": f"old{row['n']}"} for row in known], 2)
    inputs = write_shards(tmp_path, rows, 3)
    texts = [row["text"] for row in [*known, *rows]]
    texts[40] = rows[20]["text"] = "\n".join(filter(None, texts[:9]))  # all of it is known
    inputs = write_shards(tmp_path, rows, 3)
    result, files = both(tmp_path, inputs, by=by, against=against, output="kept.jsonl")
    left, removed = oracle_lines.deduplicated(texts, by)
    removed = [each for each in removed if each[0] >= 20]
    assert [json.loads(line)["text"] for line in files["kept.jsonl"].splitlines()] == left[20:]
    names = [f"old{n}" for n in range(20)] + [f"d{n}" for n in range(50)]
    table = [line.split("\t") for line in files["removed.tsv"].decode().splitlines()[1:]]
    assert table == [
        [names[d], str(a), str(b), names[k], "1.000000", "true" if k < 20 else "false"]
        for d, a, b, k, *_ in removed
    ]
    assert {"old", "d"} == {row[3].rstrip("0123456789") for row in table}
    assert (result.documents, result.written, result.n_removed) == (50, 50, len(removed))
    assert result.spans == sum(len(oracle_lines.pieces(text, by)) for text in texts[20:])
    assert result.emptied == sum(
        bool(a and a.strip()) and not b for a, b in zip(texts[20:], left[20:], strict=True)
    )


SEARCHES = [
    {"min_length": 6},
    {"drop_empty": True},
    {"drop_empty": True, "against": True},
    {"threshold": 0.5, "shingler": Shingler("word", 1, words="alphanumeric")},
    {"shingler": Shingler(lowercase=True, numbers="0", remove_whitespace=True)},
    {"threshold": 0.6, "against": True},
    {"threshold": 0.6, "num_perm": 64, "min_length": 10, "max_candidates": 2, "scheme": "fss"},
    {"threshold": 0.6, "verify": "none", "bands": 20, "rows": 3},
]


@pytest.mark.parametrize("search", every(3, SEARCHES), ids=str)
@pytest.mark.filterwarnings("ignore::fastlsh.RecallWarning")
def test_same_answer_for_every_search(tmp_path, monkeypatch, search):
    small_budget(monkeypatch, **OF_LINES)
    rows, more = rows_of(2, 48), {n: v for n, v in search.items() if n != "drop_empty"}
    if "against" in search:
        (tmp_path / "old").mkdir()
        known = rows_of(3, 20)  # with ids that the inputs have, too, which repeats none
        search = {**search, "against": write_shards(tmp_path / "old", known, 2)}
        more["against"] = [row["text"] for row in known]
    result, _ = both(tmp_path, write_shards(tmp_path, rows, 2), output="kept/", **search)
    assert result.n_removed
    if "drop_empty" in search:
        assert result.written == 48 - result.emptied < 48
    same = fastlsh.deduplicate_lines([row["text"] for row in rows], **more)
    assert (len(same), same.spans, same.limited) == (result.n_removed, result.spans, result.limited)


@pytest.mark.parametrize(("by", "window", "sizes"), covering(BY, [2, 3], [OF_LINES, SIZES[0]]))
def test_windows(tmp_path, monkeypatch, by, window, sizes):
    small_budget(monkeypatch, **sizes)
    known, rows = rows_of(7, 20), rows_of(1, 50)
    repeated = [row["text"] for row in [*known, *rows] if row["text"]]
    for number in range(0, 50, 3):
        texts = repeated[number % 12], repeated[number % 12 + 5], "Its own end."
        rows[number]["text"] = "\n\n".join(texts[: 3 if number % 2 else 2])
    (tmp_path / "old").mkdir()
    against = write_shards(tmp_path / "old", known, 2)
    inputs = write_shards(tmp_path, rows, 3)
    left, removed = oracle_lines.deduplicated(
        [row["text"] for row in [*known, *rows]], by, window=window
    )
    removed = [each for each in removed if each[0] >= 20]
    for drop_empty in (False, True):
        more = {"window": window, "drop_empty": drop_empty, "against": against}
        result, files = both(tmp_path / f"{drop_empty}", inputs, by=by, **more)
        texts = [json.loads(line)["text"] for line in files["kept.jsonl"].splitlines()]
        assert (result.n_removed, result.written) == (len(removed), len(texts))
        if not drop_empty:
            assert texts == left[20:]
        assert result.emptied == sum(
            bool(row["text"] and row["text"].strip()) and not text
            for row, text in zip(rows, left[20:], strict=True)
        )
        assert removed


def test_nothing_to_compare(tmp_path, monkeypatch):
    small_budget(monkeypatch, **OF_LINES)
    rows = [{"text": text} for text in ("", None, " \n\n")]
    result, _ = both(tmp_path, write_shards(tmp_path, rows, 3), output="kept/")
    assert (result.documents, result.spans, result.n_removed, result.emptied) == (3, 0, 0, 0)


def test_lone_surrogates_and_bad_rows(tmp_path, monkeypatch):
    small_budget(monkeypatch, **OF_LINES)
    rows = [{"text": f"\udc80 same\nrow {n}"} for n in range(9)]
    (path,) = write_shards(tmp_path, rows, 1)
    with open(path, "a") as file:
        file.write('[1]\n{"text": 5}\n')
    result, files = both(tmp_path, [path], on_error="skip")
    assert (result.n_removed, result.skipped) == (8, 2)
    assert json.loads(files["kept.jsonl"].splitlines()[4])["text"] == "row 4"


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["a.parquet", "nested.parquet", "coded.arrow"])
def test_a_table_keeps_its_other_columns_and_its_schema(tmp_path, monkeypatch, name):
    pa = pytest.importorskip("pyarrow")
    small_budget(monkeypatch, **OF_LINES)
    texts = ['menu, "all"\none', 'menu, "all"\ntwo ☃', None, 'menu, "all"']
    left = ['menu, "all"\none', "two ☃", None, ""]
    kind = pa.dictionary(pa.int8(), pa.large_string()) if name == "coded.arrow" else pa.string()
    nested = name.startswith("nested")

    def table_of(texts):
        column = [{"id": 1, "text": text} for text in texts] if nested else pa.array(texts, kind)
        columns = {"note": ["é", 'a "quote"', "c", "d"], "text": column, "id": list("abcd")}
        return pa.table(columns).replace_schema_metadata({"made": "here"})

    path = put_table(tmp_path / name, table_of(texts))
    text = "text.text" if nested else None
    both(tmp_path, [str(path)], output="kept/", text=text)
    found = load_table(tmp_path / "disk" / "kept" / name)
    assert found.schema.equals(load_table(path).schema, check_metadata=True)
    assert found.to_pylist() == table_of(left).to_pylist()


def test_text_files_are_copied_without_what_repeats(tmp_path, monkeypatch):
    small_budget(monkeypatch, **OF_LINES)
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_bytes("\ufeffmenü\r\none\r\n".encode("utf-16-le"))
    (folder / "b.txt").write_bytes("menü\ntwo\n".encode("utf-16-le"))
    (folder / "c.txt").write_bytes("menü".encode("utf-16-le"))
    (folder / "d.txt").write_bytes(b"")
    (folder / "e.txt").write_bytes(b"\x00\xd8")
    how = {"encoding": "utf-16-le", "output": "kept/", "on_error": "skip"}
    for drop, names in ((False, ["a", "b", "c", "d"]), (True, ["a", "b", "d"])):
        _, files = both(tmp_path / str(drop), [str(folder)], drop_empty=drop, **how)
        kept = {name[5]: data for name, data in files.items() if name.startswith("kept/")}
        assert sorted(kept) == names
        assert kept["a"] == (folder / "a.txt").read_bytes()
        assert kept["b"].decode("utf-16-le") == "two\n"
        assert kept.get("c", b"") == kept["d"] == b""
    _, files = both(tmp_path / "one", [str(folder)], encoding="utf-16-le", on_error="skip")
    rows = [json.loads(line)["text"] for line in files["kept.jsonl"].splitlines()]
    assert rows == ["menü\r\none\r\n", "two\n", "", ""]


def test_an_estimate_counts_lines(tmp_path, monkeypatch):
    rows = [{"text": "a\n" * 2000} for _ in range(10)]
    inputs = write_shards(tmp_path, rows, 1)
    monkeypatch.setattr(estimate, "BASE", (256 - 8) << 20)  # there is room for 8 MB
    how = {"work": tmp_path / "work", "memory": "256M"}
    result = deduplicate_line_files(inputs, tmp_path / "a.jsonl", **how)
    assert result.engine == "memory"
    result = deduplicate_line_files(inputs, tmp_path / "b.jsonl", threshold=0.99, **how)
    assert result.engine == "disk"
