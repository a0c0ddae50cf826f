"""An audit: the sample, and the file of answers."""

import json
import re

import numpy as np
import pytest

from fastlsh import Audit, InputError, audit_files, deduplicate_files
from fastlsh.files import answers_of
from refusals import refuses
from report_page import NASTY, family
from shards import rows_of, write_shards


def removed_of(folder, name="removed.jsonl", seed=51, **keywords):
    """Deduplicate some rows; return the inputs, the table of removals, and the rows."""
    rows = rows_of(seed, 200)
    for row in rows[::20]:
        row["text"] = f"{NASTY.encode('utf-8', 'replace').decode()} {row['text']}"
    inputs = write_shards(folder, rows, 2)
    removed = str(folder / name)
    deduplicate_files(inputs, folder / "kept.jsonl", 0.6, removed=removed, **keywords)
    return inputs, removed, rows


def audit_of(inputs, removed, against=(), sample=20, seed=1):
    return audit_files(inputs, removed, against=against, sample=sample, seed=seed)


@pytest.mark.parametrize("name", ["r.tsv", "r.csv.gz", "r.jsonl", "r.parquet"])
def test_the_sample_has_the_texts_of_the_run(tmp_path, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    inputs, removed, rows = removed_of(tmp_path, name)
    text = {row["id"]: row["text"] or "" for row in rows}
    audit = audit_of(inputs, removed)
    assert len(audit.pairs) == 20
    for pair in audit.pairs:
        assert pair.text == text[pair.id]
        assert pair.kept_text == text[pair.kept_id]
        assert pair.similarity == pytest.approx(audit.removals.similarity[pair.row], abs=1e-6)
        first_half = int(pair.id[1:]) < 100
        assert audit.removals.source[pair.row] == (0 if first_half else 1)
    everything = audit_of(inputs, removed, sample=1000)
    kept = [pair.kept_id for pair in everything.pairs]
    for pair in everything.pairs:
        assert audit.removals.size[pair.row] == 1 + kept.count(pair.kept_id)
    assert audit.pairs == audit_of(inputs, removed).pairs
    assert audit.pairs != audit_of(inputs, removed, seed=2).pairs


def test_integer_ids_and_a_reference_collection(tmp_path):
    rows = [{"id": number, "text": row["text"]} for number, row in enumerate(rows_of(52, 120))]
    known = write_shards(tmp_path, rows[:60], 1, "known")
    inputs = write_shards(tmp_path, [{**row, "id": row["id"] - 60} for row in rows[60:]], 1)
    removed = str(tmp_path / "r.jsonl")
    deduplicate_files(inputs, tmp_path / "k.jsonl", 0.6, against=known, removed=removed)
    audit = audit_of(inputs, removed, known)
    text = {f"{number}": row["text"] for number, row in enumerate(rows)}
    lines = (tmp_path / "r.jsonl").read_text().splitlines()
    outside = [json.loads(line)["against"] for line in lines]
    assert {True, False} <= set(outside)
    for pair in audit.pairs:
        assert pair.text == text[f"{int(pair.id) + 60}"]
        shift = 0 if outside[pair.row] else 60
        assert pair.kept_text == text[f"{int(pair.kept_id) + shift}"]
    refuses(InputError, "names documents of a reference collection", audit_of, inputs, removed)


def test_bad_tables(tmp_path):
    inputs, _, _ = removed_of(tmp_path)
    for name, text, message in [
        ("a.tsv", "id\tkept\n1\t2\n", "no column kept_id"),
        ("b.tsv", "id\tkept_id\tjaccard\n", "has no removals"),
        ("c.tsv", "id\tkept_id\tjaccard\nd1\td0\n", "row 1: has 2 columns, and the header 3"),
        ("d.tsv", "id\tkept_id\tjaccard\nd1\td0\t7\n", "row 1: .* no number from 0 to 1: '7'"),
        ("e.jsonl", "7\n", "row 1: a number, not an object"),
        ("e2.jsonl", "[]\n", "has no removals"),
        ("f.tsv", "id\tkept_id\tjaccard\nd1\tabsent\t1\n", "names the document absent, which"),
        ("g.txt", "x", "unknown format"),
        ("i.tsv", "id\tstart\tkept_id\tjaccard\nd1\t0\td0\t1\n", "has parts of documents"),
        ("h.tsv", "", "no column id"),
        ("j.jsonl", '{"id": 1}\n', "row 1: no column kept_id .there is: id"),
        ("k.jsonl", "[" * 100_000, "row 1: the file ends behind byte 100000"),
        ("k.jsonl", '{"a":' + "[" * 100_000, "row 1: nested too deeply"),
        (
            "l.csv",
            'id,kept_id,jaccard\nd1,d0,1\n"d2,d0,1\n',
            "l.csv: row 2: is no CSV: unexpected end",
        ),
        *(
            (
                f"{n}.jsonl",
                f'{{"id": 1, "kept_id": 0, "jaccard": {value}}}\n',
                rf"{n}\.jsonl: row 1: has a similarity that is no number from 0 to 1: .{{1,80}}$",
            )
            for n, value in enumerate(['"x"', "1" + "0" * 400, "[]", "true", f'"{"9" * 5000}"'])
        ),
    ]:
        (tmp_path / name).write_text(text)
        refuses(InputError, message, audit_of, inputs, str(tmp_path / name))
    with pytest.raises(InputError):
        audit_of(inputs, str(tmp_path / "absent.tsv"))
    with pytest.raises(InputError, match=r"\*\.tsv: stands for 7 files: give one file"):
        audit_of(inputs, str(tmp_path / "*.tsv"))


def test_odd_ids(tmp_path):
    """None, a repeated one, and longer ones than the 131,072 characters of a field of csv."""
    rows = [{"text": row["text"]} for row in rows_of(54, 100)]
    inputs = write_shards(tmp_path, rows, 2)
    removed = str(tmp_path / "r.csv")
    deduplicate_files(inputs, tmp_path / "k.jsonl", 0.6, removed=removed, verify="none")
    audit = audit_of(inputs, removed)
    assert len(audit.pairs) == 20
    assert any(np.isnan(pair.similarity) for pair in audit.pairs)
    for pair in audit.pairs:
        path, _, row = pair.id.rpartition(":")
        number = int(row) - 1 + 50 * inputs.index(path)
        assert pair.text == rows[number]["text"]
        assert audit.removals.source[pair.row] == inputs.index(path)
    texts = family("alpha", 2)
    long = [{"id": f"{'k' * 200_000}{n}", "text": text} for n, text in enumerate(texts)]
    inputs = write_shards(tmp_path, [*long, {**long[0], "text": texts[1]}], 3)
    deduplicate_files(inputs, tmp_path / "k.jsonl", 0.5, removed=removed)
    audit = audit_of(inputs, removed)
    assert {(pair.kept_id, pair.text) for pair in audit.pairs} == {
        (long[0]["id"], texts[1]), (long[0]["id"], texts[0])
    }  # fmt: skip
    assert audit.removals.source.tolist() == [1, 0]


@pytest.fixture
def audit(tmp_path):
    inputs, removed, _ = removed_of(tmp_path)
    return audit_of(inputs, removed)


def line_of(pair, is_duplicate):
    return json.dumps({"id": pair.id, "kept_id": pair.kept_id, "duplicate": is_duplicate})


def test_answers_are_read_and_left_as_they_are(tmp_path, audit):
    path = tmp_path / "answers.jsonl"
    lines = [line_of(audit.pairs[n], each) for n, each in ((0, True), (2, True), (2, False))]
    expected = [True, None, False] + [None] * 17
    for content in (
        "\n".join([*lines, ""]),
        "\n".join(lines),  # the last line has no line feed
        "\r\n".join(["", *lines, " ", ""]),
    ):
        path.write_bytes(content.encode())
        assert audit.read_answers(path) == expected
        assert path.read_bytes() == content.encode()
    assert audit.precisions(expected)[0][3:5] == (2, 1)
    path.write_text(lines[0])  # of a removal that is in the table twice
    twice = Audit([audit.pairs[0], *audit.pairs[:2]], audit.removals)
    assert twice.read_answers(path) == [True, True, None]
    path.write_text('{"id": 2, "kept_id": 0, "duplicate": false}')
    pairs = [audit.pairs[0]._replace(id="2", kept_id="0")]
    assert answers_of(pairs, path) == ([False], 0)


def test_judgements_of_a_program(audit):
    judgements = [pair.similarity > 0.9 for pair in audit.pairs]
    whole, *_ = found = audit.precisions(judgements)
    assert (whole.judged, whole.duplicates) == (20, sum(judgements))
    assert audit.precisions(np.array(judgements)) == found
    some = [*judgements[:5], *[None] * 15]
    assert audit.precisions(some)[0].judged == 5
    refuses(ValueError, r"^19 judgements for 20 pairs$", audit.precisions, judgements[1:])
    with pytest.raises(TypeError, match=r"^judgement 1 must be True, False or None, got 1$"):
        audit.precisions([None, 1, *judgements[2:]])


def test_arguments_of_a_sample(tmp_path):
    for arguments, message in [
        ({"sample": 0}, "sample must be at least 1, got 0"),
        ({"seed": -1}, "seed must be between 0 and"),
        ({"on_error": "stop"}, "on_error is 'fail' or 'skip'"),
    ]:
        refuses(ValueError, message, audit_files, [], tmp_path / "r.tsv", **arguments)
    with pytest.raises(TypeError, match=r"audit_files\(\) got an unexpected keyword .* 'limits'"):
        audit_files([], tmp_path / "r.tsv", limits=3)


def test_what_is_no_file_of_answers_is_refused_and_left(tmp_path, audit):
    path = tmp_path / "notes.txt"
    other = '{"id": "x", "kept_id": "y", "duplicate": true}'
    for line, reason in [
        ("{}", "is no answer with id, kept_id and duplicate"),
        ('{"id": "x", "kept_id": "y", "duplicate": 1}', "is no answer with"),
        ('{"id": [], "kept_id": "y", "duplicate": true}', "is no answer with"),
        ("[1]", "an array, not an object"),
        ("years of work", "not JSON: "),
        (other[:20], "not JSON: "),
        ("\xff", "not utf-8: "),
        ("[" * 100_000, "nested too deeply"),
    ]:
        content = f"{line_of(audit.pairs[0], True)}\n{line}\n".encode("latin-1")
        path.write_bytes(content)
        refuses(InputError, rf"notes\.txt: row 2: {re.escape(reason)}", audit.read_answers, path)
        assert path.read_bytes() == content
    for content, reason in [("", "has no answers"), ("\n", "has no answers"),
                            (other, "has no answer for a pair of this sample: ")]:  # fmt: skip
        path.write_text(content)
        refuses(InputError, rf"notes\.txt: {reason}", audit.read_answers, path)
    path.write_text(f"{other}\n{line_of(audit.pairs[0], True)}")
    assert answers_of(audit.pairs, path) == ([True] + [None] * 19, 1)
    for name, reason in (("absent.jsonl", "No such file"), ("*.*", "stands for")):
        refuses(InputError, reason, audit.read_answers, tmp_path / name)


def test_sources_of_a_column(tmp_path):
    rows = [
        {**row, "from": "xyz"[number % 5 % 3]} for number, row in enumerate(rows_of(53, 150))
    ]  # fmt: skip
    inputs = write_shards(tmp_path, rows, 2)
    removed = str(tmp_path / "r.tsv")
    deduplicate_files(inputs, tmp_path / "k.jsonl", 0.6, removed=removed)
    audit = audit_files(inputs, removed, source="from", sample=30)
    assert audit.removals.sources == ["x", "y", "z"]
    for pair in audit.pairs:
        source = audit.removals.sources[audit.removals.source[pair.row]]
        assert source == rows[int(pair.id[1:])]["from"]
