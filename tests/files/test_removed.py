"""The table of `--removed` says which document stays, also if two collections have the same ids."""

import shutil

import pytest

from combinations import covering
from fastlsh import deduplicate_files, deduplicate_line_files, deduplicate_span_files
from files import put_rows, table_rows

HERE = ["a line that only the inputs have, twice", "a line of the reference collection alone"]


def table(path):
    """Return (id, kept_id, against) of each row, with Python's values."""
    rows = table_rows(path)
    if path.endswith("sv"):
        words = {"true": True, "false": False}
        for row in rows:
            row.update(
                id=int(row["id"]), kept_id=int(row["kept_id"]), against=words[row["against"]]
            )
    assert all(list(row)[-1] == "against" for row in rows)
    return [(row["id"], row["kept_id"], row["against"]) for row in rows]


@pytest.fixture
def collections(here):
    """Two collections with the ids 0, 1 and 2."""
    texts = [HERE[0], HERE[1], HERE[0]]
    put_rows("in.jsonl", *({"id": n, "text": text} for n, text in enumerate(texts)))
    put_rows("old.jsonl", {"id": 0, "text": HERE[1]})
    return here


@pytest.mark.parametrize(
    ("engine", "suffix", "by"),
    covering(["memory", "disk"], ["tsv", "csv", "jsonl", "parquet"], [None, "line"]),
)
def test_which_collection_the_kept_document_is_in(collections, engine, suffix, by):
    name = f"removed.{suffix}"
    shared = {"against": "old.jsonl", "removed": name, "engine": engine}
    if by is None:
        deduplicate_files("in.jsonl", "kept.jsonl", **shared)
    else:
        deduplicate_line_files("in.jsonl", "kept.jsonl", by, **shared)
    assert table(name) == [(1, 0, True), (2, 0, False)]


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_one_warning_if_the_reference_collection_leaves_nothing(collections, engine):
    shutil.copy("in.jsonl", "copy.jsonl")
    for function, name, more in (
        (deduplicate_files, "document", {}),
        (deduplicate_files, "document", {"copies_per": ("text", 1)}),
        (deduplicate_line_files, "line", {}),
        (deduplicate_span_files, "document", {"min_length": 30, "keep_least": 1}),
    ):
        with pytest.warns(UserWarning, match="because of against=") as said:
            function("in.jsonl", "k.jsonl", against="copy.jsonl", engine=engine, **more)
        (message,) = [str(each.message) for each in said]
        assert message.startswith(f"every {name} of the inputs is removed because of against=")
        assert table_rows("k.jsonl") == [] or name == "line"
    put_rows("more.jsonl", *table_rows("in.jsonl"), {"id": 9, "text": "quite another text"})
    deduplicate_files("more.jsonl", "k.jsonl", against="copy.jsonl", engine=engine)
    assert [row["id"] for row in table_rows("k.jsonl")] == [9]


def test_nothing_is_removed(collections):
    put_rows("other.jsonl", {"id": 0, "text": "quite another text"})
    for engine in ("memory", "disk"):
        deduplicate_files(
            "old.jsonl", "kept.jsonl", against="other.jsonl", removed="r.tsv", engine=engine
        )
        with open("r.tsv", encoding="utf-8") as file:
            assert file.read() == "id\tkept_id\tjaccard\tagainst\n"
