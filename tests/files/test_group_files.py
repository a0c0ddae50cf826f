"""Rows of one group as one document: the answer for the joined texts, for all its rows."""

import json
import random

import pytest

from fastlsh import InputError, deduplicate_files, near_duplicate_files
from fastlsh.cli import main
from fastlsh.files import estimate
from shards import rows_of

REPOSITORIES = 40


def files_of_repositories(seed):
    """Return rows of repositories, between each other, some of which are forks of others."""
    texts = [row["text"] for row in rows_of(seed, 120)]
    draw = random.Random(seed)
    contents = [draw.choices(texts, k=draw.randrange(1, 6)) for _ in range(REPOSITORIES)]
    for fork in range(0, REPOSITORIES, 4):
        contents[fork] = contents[fork + 1] + draw.choices([None, "", "one line more"], k=1)
    rows = [
        {"repo": name, "path": f"{name}/{n}", "text": text}
        for name, files in enumerate(contents)
        for n, text in enumerate(files)
    ]
    draw.shuffle(rows)
    return rows


def write(path, rows):
    if path.suffix == ".parquet":
        pa = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def joined(rows, join_with):
    """Return a row for each repository, in the order of their first rows."""
    found = {}
    for row in rows:
        found.setdefault(row["repo"], []).append(row["text"])
    return [
        {"id": name, "text": join_with.join(text for text in texts if text)}
        for name, texts in found.items()
    ]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("join_with", ["\n", "", " -- "])
def test_the_answer_for_the_joined_texts(tmp_path, suffix, join_with):
    rows, others = files_of_repositories(1), files_of_repositories(2)[:40]
    inputs = [write(tmp_path / f"in{n}.{suffix}", rows[n::2]) for n in range(2)]
    against = write(tmp_path / f"against.{suffix}", others)
    in_order = rows[0::2] + rows[1::2]
    plain = write(tmp_path / "plain.jsonl", joined(in_order, join_with))
    plain_against = write(tmp_path / "plain-against.jsonl", joined(others, join_with))
    tables = {name: tmp_path / f"{name}.tsv" for name in ("removed", "clusters")}
    expected = {name: tmp_path / f"plain-{name}.tsv" for name in ("removed", "clusters")}
    how = {"threshold": 0.7, "keep": "longest"}
    alone = deduplicate_files(plain, tmp_path / "k.jsonl", against=plain_against, **expected, **how)
    result = deduplicate_files(
        inputs, f"{tmp_path}/kept/", against=against, group="repo", join_with=join_with,
        report=tmp_path / "page.html", **tables, **how,
    )  # fmt: skip
    assert (result.documents, result.n_kept) == (alone.documents, alone.n_kept)
    assert result.n_removed > 3
    for name, table in tables.items():
        assert table.read_text() == expected[name].read_text()
    kept = {json.loads(line)["id"] for line in (tmp_path / "k.jsonl").read_text().splitlines()}
    for n, path in enumerate(inputs):
        stays = [row for row in rows[n::2] if row["repo"] in kept]
        written = tmp_path / "kept" / path.name
        if suffix == "jsonl":
            assert [json.loads(line) for line in written.read_text().splitlines()] == stays
        else:
            found = pytest.importorskip("pyarrow.parquet").read_table(written).to_pylist()
            assert found == stays


def test_pairs_of_repositories(tmp_path):
    rows = files_of_repositories(3)
    path, plain = write(tmp_path / "in.jsonl", rows), tmp_path / "plain.jsonl"
    write(plain, joined(rows, "\n"))
    near_duplicate_files(plain, tmp_path / "plain.tsv", 0.7)
    found = near_duplicate_files(path, tmp_path / "pairs.tsv", 0.7, group="repo")
    assert found.n_pairs > 3
    assert (tmp_path / "pairs.tsv").read_text() == (tmp_path / "plain.tsv").read_text()
    some = {"threshold": 0.7, "best": True}
    near_duplicate_files(plain, tmp_path / "plain.tsv", against=plain, **some)
    near_duplicate_files(path, tmp_path / "pairs.tsv", against=path, group="repo", **some)
    assert (tmp_path / "pairs.tsv").read_text() == (tmp_path / "plain.tsv").read_text()


def test_rows_of_csv_are_joined_too(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("repo,text\na,some words\nb,some wordsmore words\na,more words\n")
    for join_with, kept in (("", 1), (" ", 2)):
        result = deduplicate_files(
            path, tmp_path / "kept.csv", rule="equal", group="repo", join_with=join_with
        )
        assert (result.documents, result.n_kept) == (2, kept)


def test_texts_of_a_group_may_have_surrogates(tmp_path):
    rows = [{"repo": n % 2, "text": text} for n, text in enumerate("a\ud800\udfff中😀é")]
    path = write(tmp_path / "in.jsonl", rows)
    result = deduplicate_files(path, tmp_path / "kept.jsonl", group="repo", join_with="\ud83d")
    assert result.documents == 2


def test_what_cannot_be_grouped(tmp_path, monkeypatch, capsys):
    path = write(tmp_path / "in.jsonl", [{"repo": 1, "text": "a"}, {"repo": None, "text": "b"}])
    output = tmp_path / "kept.jsonl"
    words = ["dedup", str(path), "-o", str(output), "--group"]
    for more, reason in (
        (["repo"], f"{path}: row 2: 'repo' is null, not an id"),
        (["other"], f"{path}: row 1: no key 'other' (there is: 'repo', 'text')"),
        (["repo", "--id", "text"], "--group names the documents: leave out --id"),
        (["repo", "--within", "x"], "--group and --within cannot be given together: rows would"),
        (["repo", "--priority", "x"], "--group and --priority cannot be given together: rows"),
        (["repo", "--unit", "token"], "--group joins texts, and not token ids"),
        (["repo", "--engine", "disk"], "--group works in memory only"),
        (["repo", "--work", "w", "--stage", "sign"], "--group works in memory only"),
        (["repo", "--work", "w"], "--work has no effect with --group, which works in memory"),
        (["repo", "--annotate"], "--group makes documents of several rows"),
        (["repo", "--save-index", "new.fastlsh"], "--group makes documents of several rows"),
        (["repo", "--by", "line"], "--by and --group cannot be given together"),
        (["repo", "--index", "i"], "--index and --group cannot be given together"),
    ):
        assert main([*words, *more]) == 2
        assert reason in capsys.readouterr().err
    with pytest.raises(InputError, match="plain text has no column 'repo'"):
        deduplicate_files(write(tmp_path / "a.txt", []), tmp_path / "b.jsonl", group="repo")
    with pytest.raises(InputError, match="plain text has no column 'repo'"):
        near_duplicate_files(tmp_path / "a.txt", tmp_path / "b.tsv", group="repo", exact=True)
    monkeypatch.setattr(estimate, "PER_DOCUMENT", 1 << 30)
    with pytest.raises(ValueError, match=r"works in memory, where about .* would be needed, and"):
        deduplicate_files(path, output, group="repo", memory="300M")
    assert not output.exists()
