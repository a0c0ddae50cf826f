"""Records and chats: the same answer in memory, on disk and in stages, from every format."""

import pytest

from fastlsh import InputError, deduplicate_files, deduplicate_line_files
from fastlsh.io import contents
from files import put_table, table_rows
from shards import rows_of

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


def records(n):
    """Return rows whose joined title and body, and whose chat of two roles, are one text."""
    found = []
    for row in rows_of(3, n):
        words = None if row["text"] is None else row["text"].split(" ")
        title, body = (None, None) if words is None else (" ".join(words[:4]), " ".join(words[4:]))
        chat = [
            {"role": "system", "content": "the same prompt for all " * 4},
            {"role": "user", "content": title}, {"role": "assistant", "content": body},
        ]  # fmt: skip
        found.append({"id": row["id"], "title": title, "body": body, "chat": chat})
    return found


def written(folder, rows, suffix):
    options = {"row_group_size": 5} if suffix == "parquet" else {}
    paths = [folder / f"in{shard}.{suffix}" for shard in range(2)]
    return [str(put_table(path, rows[n::2], **options)) for n, path in enumerate(paths)]


def test_nothing_is_written_of_messages_of_another_shape(tmp_path, run):
    rows = records(4)
    rows[3]["chat"][1] = {"speaker": "a", "text": "b"}
    path = put_table(tmp_path / "in.jsonl", rows)
    output, table = tmp_path / "kept.jsonl", tmp_path / "removed.tsv"
    words = ["dedup", str(path), "-o", str(output), "--removed", str(table), "--text", "chat"]
    error = run.refused(*words, "--roles", "user, assistant")
    assert f"{path}: row 4: message 2 of 'chat' has no 'role' or 'from'" in error
    assert sorted(tmp_path.iterdir()) == [path]
    run.done(*words, "--on-error", "skip", "-q")
    kept = [row["id"] for row in table_rows(output)]
    assert "d0" in kept
    assert "d3" not in kept + table.read_text().split()


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_misspelt_roles(tmp_path, run, suffix):
    inputs = written(tmp_path, records(10), suffix)
    words = ["dedup", *inputs, "-o", f"kept.{suffix}", "--text", "chat", "-q", "--roles"]
    occur = "the roles that occur are 'assistant', 'system' and 'user'"
    for engine in ("memory", "disk"):
        line = run.refused(*words, "User,Assistant", "--engine", engine)
        assert line == (
            f"fastlsh: --roles must name roles of messages: none has 'Assistant' or 'User'; {occur}"
        )
        assert sorted(map(str, tmp_path.iterdir())) == inputs
    assert run.done(*words, "user,Assistant")[1] == [
        "fastlsh: warning: no message at the beginning of the files has the role 'Assistant': "
        f"{occur}"
    ]
    evaluate = ["evaluate", *inputs, "--text", "chat", "-q", "--roles", "User"]
    assert "none has 'User'" in run.refused(*evaluate)


def test_a_role_that_is_rare(tmp_path, monkeypatch):
    monkeypatch.setattr(contents, "LOOK", 100)
    chats = [[{"from": "human", "value": f"question {n}"}] for n in range(300)]
    chats += [None, [{"from": "tool", "value": "an answer"}]]
    path = put_table(tmp_path / "in.jsonl", [{"a": {"b": chat}} for chat in chats])
    how = {"text": "a.b", "engine": "memory"}
    result = deduplicate_files(path, tmp_path / "kept.jsonl", roles=["tool"], **how)
    assert (result.documents, result.empty) == (302, 301)
    with pytest.raises(ValueError, match="the roles that occur are 'human' and 'tool'"):
        deduplicate_files(path, tmp_path / "other.jsonl", roles=["tools"], **how)
    path.write_text("")
    assert deduplicate_files(path, tmp_path / "none.jsonl", roles=["tools"], **how).documents == 0


def test_the_command_joins_columns(run):
    rows = [("some words and more", "of the same"), ("some words", "and more of the same")]
    path = put_table("in.csv", [{"title": title, "body": body} for title, body in rows])
    one, both = ["--text", "title"], ["--text", "title", "--text", "body"]
    for between, lines in (("", 1), (" ", 2)):
        out, _ = run.done("pairs", path, *both, "-q", "--join-with", between)
        assert out.count("\n") == lines
    for words, said in (
        (["pairs", path, *both, "--roles", "user"],
         "roles is for files of JSON, Parquet and Arrow"),
        (["pairs", path, *one, "--join-with", " "],
         "--join-with without several columns is for files of JSON"),
        (["dedup", path, *one, "--join-with", " ", "-o", "kept", "--by", "span"],
         "--join-with is for texts of several columns"),
    ):  # fmt: skip
        assert said in run.refused(*words)


def test_texts_are_cut_out_of_one_column_of_strings(tmp_path):
    (path, _) = written(tmp_path, records(4), "jsonl")
    (table, _) = written(tmp_path, records(4), "parquet")
    output = tmp_path / "kept.jsonl"
    with pytest.raises(ValueError, match="are cut out of one column of strings"):
        deduplicate_line_files(path, output, text=["title", "body"])
    with pytest.raises(InputError, match="row 1: 'chat' is an array, not a string that parts can"):
        deduplicate_line_files(path, output, text="chat")
    with pytest.raises(InputError, match=r"column 'chat' is list<.*>, not text"):
        deduplicate_line_files(table, tmp_path / "kept.parquet", text="chat")
    assert not output.exists()
