"""`fastlsh dedup --by`: repeated lines and paragraphs."""

import gzip
import json
from pathlib import Path

import pytest

import warm

ROWS = [
    {"id": "a", "text": "Menu\nThe first story.\n\nShare this page", "n": 1},
    {"id": "b", "text": "Menu\nThe second story.\n\nShare this page", "n": 2},
    {"id": "c", "text": "Menu", "n": 3},
]


@pytest.fixture
def notices(tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def texts(path):
    return [json.loads(line)["text"] for line in path.read_text().splitlines()]


def test_what_repeats_goes_and_rows_stay(run, notices, tmp_path):
    kept, removed = tmp_path / "kept.jsonl", tmp_path / "removed.tsv"
    status, _, lines = run("dedup", notices, "--by", "line", "-o", kept, "--removed", removed)
    err = "\n".join(lines)
    assert status == 0
    assert texts(kept) == [ROWS[0]["text"], "The second story.\n", ""]
    assert removed.read_text().splitlines() == [
        "id\tstart\tend\tkept_id\tjaccard",
        "b\t0\t4\ta\t1.000000",
        "b\t24\t39\ta\t1.000000",
        "c\t0\t4\ta\t1.000000",
    ]
    assert "3 documents, 7 lines" in err
    assert "3 lines removed from 2 documents (duplicate ratio 0.4286)\n" in err
    assert "23 characters less; 3 rows written; 1 texts emptied" in err


def test_a_pipe_of_paragraphs_alike(notices):
    near = notices.read_bytes().replace(b"Share this page", b"Share this  page", 1)
    result = warm.run(
        "-m", "fastlsh", "dedup", "-", "-o", "-", "--by", "paragraph", "--threshold", "0.7",
        "--size", "3", "--drop-empty", "--min-length", "8", "-q", data=near,
    )  # fmt: skip
    assert result.returncode == 0
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["n"] for row in rows] == [1, 2, 3]
    assert rows[1]["text"] == "Menu\nThe second story."
    assert result.stderr == b""


REFUSED = [
    (["--min-length", "3"], "--min-length is for --by line or --by paragraph"),
    (["--drop-empty"], "--drop-empty is for --by"),
    (["--by", "line", "--keep", "last"], "--by and --keep cannot be given together"),
    (["--by", "line", "--split", "lines"], "--by and --split cannot be given together"),
    (["--by", "line", "--search", "containment"], "--by and --search cannot be given together"),
    (["--by", "line", "--report", "r.html"], "--by and --report cannot be given together"),
    (["--by", "line", "--num-perm", "64"], "--num-perm is for a --threshold below 1: without"),
    (["--by", "paragraph", "--size", "3"], "a paragraph goes if it equals another one"),
    (["--by", "line", "--unit", "token"], "--by line needs texts, not token ids"),
    (["--by", "line", "--min-length", "-1"], "--min-length must be at least 0"),
    (["--by", "line", "--delimiter", ";"], "delimiter is for files of CSV and TSV"),
    (["--by", "word"], "invalid choice: 'word'"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=str)
def test_options_that_would_be_ignored_are_refused(run, notices, tmp_path, options, message):
    status, _, err = run("dedup", notices, "-o", tmp_path / "kept.jsonl", *options)
    assert status == 2
    assert message in err[0]
    assert not (tmp_path / "kept.jsonl").exists()


def test_one_text_file_becomes_one(run, write):
    text = "".join(f"line {n % 20_000}\r\n" for n in range(30_000))
    name = write("book.txt", text)
    status, _, err = run("dedup", name, "--by", "line", "-o", "clean.txt.gz")
    assert status == 0
    assert "30000 lines" in err[-4]
    assert not any("one document" in line for line in err)
    kept = gzip.decompress(Path("clean.txt.gz").read_bytes())
    assert kept == text.encode()[: len(kept)]
    assert kept.count(b"\n") == 20_000
