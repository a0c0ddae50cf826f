"""`fastlsh dedup --by`: repeated lines and paragraphs."""

import json
from pathlib import Path

import pytest

import warm
from files import put_table, table_rows
from report_page import Page, words

ROWS = [
    {"id": "a", "text": "Menu\nThe first story.\n\nShare this page", "n": 1},
    {"id": "b", "text": "Menu\nThe second story.\n\nShare this page", "n": 2},
    {"id": "c", "text": "Menu", "n": 3},
]


@pytest.fixture
def notices(tmp_path):
    return put_table(tmp_path / "in.jsonl", ROWS)


def texts(path):
    return [row["text"] for row in table_rows(path)]


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
    (["--min-length", "3"], "--min-length is for --by line, --by paragraph or --by span"),
    (["--drop-empty"], "--drop-empty is for --by"),
    (["--by", "line", "--keep", "last"], "--keep is for whole documents: with --by, the first"),
    (["--by", "line", "--priority", "n"], "--priority is for whole documents: with --by, the"),
    (["--by", "line", "--split", "lines"], "--by and --split cannot be given together"),
    (["--by", "line", "--search", "containment"], "--by and --search cannot be given together"),
    (["--by", "line", "--max-copies", 0], "--by and --max-copies cannot be given together"),
    (["--by", "line", "--clusters", "c.tsv"], "--by and --clusters cannot be given together"),
    (["--by", "line", "--num-perm", "64"], "--num-perm is for a --threshold below 1: without"),
    (["--by", "paragraph", "--size", "3"], "a paragraph is removed if it equals another one"),
    (["--by", "line", "--unit", "token"], "--by line needs texts, not token ids"),
    (["--by", "line", "--min-length", "-1"], "--min-length must be at least 0"),
    (["--by", "line", "--delimiter", ";"], "delimiter is for files of CSV and TSV"),
    (["--by", "word"], "invalid choice: 'word'"),
]


@pytest.mark.parametrize(("options", "message"), REFUSED, ids=str)
def test_options_that_would_be_ignored_are_refused(run, notices, tmp_path, options, message):
    assert message in run.refused("dedup", notices, "-o", tmp_path / "kept.jsonl", *options)
    assert not (tmp_path / "kept.jsonl").exists()


def test_lines_of_a_reference_collection_go_too(run, notices, tmp_path):
    old, kept = tmp_path / "old.jsonl", tmp_path / "kept.jsonl"
    old.write_text(json.dumps({"id": "x", "text": "The second story.\nMenu\nMenu"}) + "\n")
    _, lines = run.done(
        "dedup", notices, "--by", "line", "--against", old, "-o", kept, "--report", "page.html",
        "--removed", "removed.tsv",
    )  # fmt: skip
    assert texts(kept) == ["The first story.\n\nShare this page", "", ""]
    assert "3 documents, 7 lines" in "\n".join(lines)
    rows = [row.split("\t") for row in Path("removed.tsv").read_text().splitlines()[1:]]
    assert [(row[0], row[3]) for row in rows] == [
        ("a", "x"), ("b", "x"), ("b", "x"), ("b", "a"), ("c", "x")
    ]  # fmt: skip
    page = Page(Path("page.html").read_text())
    most = words(page.sections["Lines removed most often"])
    kept_in = "kept in x from the reference collection"
    assert f"Menu {kept_in}; removed 3 times from a, b, c " in most
    notes = words(page.sections["Repeated lines of 3 documents"])
    assert "lines removed because they occur in the reference collection 4" in notes
    assert f"reference collection {old}" in notes
