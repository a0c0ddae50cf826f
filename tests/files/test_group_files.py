"""Rows of one group as one document: the answer for the joined texts, for all its rows."""

import os
import random
import shutil
import sys
from functools import partial

import pytest

import killed_runs
from combinations import covering, every
from fastlsh import InputError, Shingler, deduplicate_files, near_duplicate_files
from fastlsh.files import estimate
from files import put_table, table_rows
from in_stages import ENGINES, both_engines, each_stage_at_once, killed_until_done, run_with
from killed_runs import ended_again_and_again
from shards import contents, rows_of, small_budget

REPOSITORIES = 16


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


def joined(rows, join_with):
    """Return a row for each repository, in the order of their first rows."""
    found = {}
    for row in rows:
        found.setdefault(row["repo"], []).append(row["text"])
    return [
        {"id": name, "text": join_with.join(text for text in texts if text)}
        for name, texts in found.items()
    ]


@pytest.mark.parametrize(
    ("engine", "suffix", "join_with"),
    covering(ENGINES, ["jsonl", "parquet"], ["\n", "", " -- "]),
)
def test_the_answer_for_the_joined_texts(tmp_path, monkeypatch, suffix, join_with, engine):
    small_budget(monkeypatch)
    rows = files_of_repositories(1)
    others = files_of_repositories(2)[:20] + rows[:6]
    inputs = [put_table(tmp_path / f"in{n}.{suffix}", rows[n::2]) for n in range(2)]
    against = put_table(tmp_path / f"against.{suffix}", others)
    in_order = rows[0::2] + rows[1::2]
    plain = put_table(tmp_path / "plain.jsonl", joined(in_order, join_with))
    plain_against = put_table(tmp_path / "plain-against.jsonl", joined(others, join_with))
    tables = {name: tmp_path / f"{name}.tsv" for name in ("removed", "clusters")}
    expected = {name: tmp_path / f"plain-{name}.tsv" for name in ("removed", "clusters")}
    how = {"threshold": 0.7, "keep": "longest"}
    alone = deduplicate_files(plain, tmp_path / "k.jsonl", against=plain_against, **expected, **how)
    result = run_with(
        engine, deduplicate_files, inputs, f"{tmp_path}/kept/", work=tmp_path / "work",
        against=against, group="repo", join_with=join_with, report=tmp_path / "page.html",
        **tables, **how,
    )  # fmt: skip
    assert (result.documents, result.n_kept) == (alone.documents, alone.n_kept)
    assert result.n_removed > 3
    for name, table in tables.items():
        assert table.read_text() == expected[name].read_text()
    kept = {row["id"] for row in table_rows(tmp_path / "k.jsonl")}
    for n, path in enumerate(inputs):
        stays = [row for row in rows[n::2] if row["repo"] in kept]
        assert table_rows(tmp_path / "kept" / path.name) == stays


@pytest.mark.parametrize("engine", every(3, ENGINES))
def test_pairs_of_repositories(tmp_path, monkeypatch, engine):
    small_budget(monkeypatch)
    search = partial(run_with, engine, near_duplicate_files, work=tmp_path / "work")
    rows = files_of_repositories(3)
    path, plain = put_table(tmp_path / "in.jsonl", rows), tmp_path / "plain.jsonl"
    put_table(plain, joined(rows, "\n"))
    near_duplicate_files(plain, tmp_path / "plain.tsv", 0.7)
    found = search(path, tmp_path / "pairs.tsv", 0.7, group="repo")
    assert found.n_pairs > 3
    assert (tmp_path / "pairs.tsv").read_text() == (tmp_path / "plain.tsv").read_text()
    some = {"threshold": 0.7, "best": True}
    known, old = (shutil.copy(each, f"{each}.old.jsonl") for each in (plain, path))
    near_duplicate_files(plain, tmp_path / "plain.tsv", against=known, **some)
    shutil.rmtree(tmp_path / "work", ignore_errors=True)
    search(path, tmp_path / "pairs.tsv", against=old, group="repo", **some)
    assert (tmp_path / "pairs.tsv").read_text() == (tmp_path / "plain.tsv").read_text()


def test_rows_of_csv_are_joined_too(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("repo,text\na,some words\nb,some wordsmore words\na,more words\n")
    for join_with, kept in (("", 1), (" ", 2)):
        result = deduplicate_files(
            path, tmp_path / "kept.csv", rule="equal", group="repo", join_with=join_with
        )
        assert (result.documents, result.n_kept) == (2, kept)


def test_what_cannot_be_grouped(tmp_path, monkeypatch, run):
    path = put_table(tmp_path / "in.jsonl", [{"repo": 1, "text": "a"}, {"repo": [], "text": "b"}])
    output = tmp_path / "kept.jsonl"
    words = ["dedup", str(path), "-o", str(output), "--group"]
    bad = f"{path}: row 2: 'repo' is an array, not a text or a number"
    for more, reason in (
        (["repo"], bad), (["repo", "--engine", "disk"], bad),
        (["other"], f"{path}: row 1: no key 'other' (there is: 'repo', 'text'); a row without a"),
        (["repo", "--id", "text"], "--group names the documents: leave out --id"),
        (["repo", "--within", "x"], "--group and --within cannot be given together: rows would"),
        (["repo", "--priority", "x"], "--group and --priority cannot be given together: rows"),
        (["repo", "--unit", "token"], "--group joins texts, and not token ids"),
        (["repo", "--source", "x", "--annotate"], "--group makes documents of several rows"),
        (["repo", "--save-index", "new.fastlsh"], "--group makes documents of several rows"),
        (["repo", "--by", "line"], "--by and --group cannot be given together"),
        (["repo", "--index", "i"], "--index and --group cannot be given together"),
    ):  # fmt: skip
        status, _, messages = run(*words, *more)
        assert (status, reason in messages[-1]) == (2, True), messages
    with pytest.raises(InputError, match="plain text has no column 'repo'"):
        deduplicate_files(put_table(tmp_path / "a.txt", []), tmp_path / "b.jsonl", group="repo")
    with pytest.raises(InputError, match="plain text has no column 'repo'"):
        near_duplicate_files(tmp_path / "a.txt", tmp_path / "b.tsv", group="repo", exact=True)
    for more in ({}, {"group": "repo"}):
        stage = {"work": tmp_path / "w", "memory": "300M", "stage": "sign" if more else "rows"}
        with pytest.raises((InputError, ValueError), match=r"give group=|first stage is .*'rows'"):
            deduplicate_files(path, output, **more, **stage)
    assert not output.exists()
    monkeypatch.setattr(estimate, "PER_DOCUMENT", 1 << 30)
    put_table(path, [{"repo": 1, "text": "a"}])
    assert deduplicate_files(path, output, group="repo", memory="300M").engine == "disk"


def awkward_rows(seed, n=36):
    """Return rows with ids of several types, rows that are no rows, and texts of all kinds."""
    draw = random.Random(seed)
    ids = [1, 1.0, True, "1", 0, False, -0.0, "", "\ud83d", "é☃", 2**63, 2**70, 1.5, -7, 10**19]
    texts = ["", None, "a", 'quo"te\\ \n\r\t\0\x1f', "\ud83d", "\ude00", "x\ud83d", "\ude00 y"]
    texts += ["𝔘𝔫𝔦", *(row["text"] for row in rows_of(seed, 30))]
    rows = [{"repo": draw.choice(ids), "text": draw.choice(texts), "n": n} for n in range(n)]
    for at in range(n - 1, 0, -8):
        rows.insert(at, draw.choice([[1], {"repo": None, "text": "b"}, {"text": "b"}]))
    return rows


AWKWARD = [{}, {"against": True}, {"limit": 25}, {"annotate": True}]


@pytest.mark.parametrize("seed", every(4, range(4)))
def test_awkward_rows_give_the_same_bytes(tmp_path, monkeypatch, seed):
    more = AWKWARD[seed]
    small_budget(monkeypatch)
    rows = awkward_rows(seed)
    inputs = [put_table(tmp_path / f"in{n}.jsonl", rows[n::3]) for n in range(3)]
    if "against" in more:
        others = [*awkward_rows(seed + 9, 20), *rows[::3]]
        more = {"against": [put_table(tmp_path / "other.jsonl", others)]}
    result, _ = both_engines(
        deduplicate_files, tmp_path, inputs, "kept.jsonl", "removed.jsonl", "clusters.tsv",
        engines=ENGINES[: 2 if "limit" in more else 3], group="repo", on_error="skip",
        threshold=0.6, shingler=Shingler(size=15), **more,
    )  # fmt: skip
    assert result.skipped > 2


@pytest.mark.parametrize("lines", every(2, [["[1]"], []]))
def test_no_row_at_all(tmp_path, lines):
    path, known = tmp_path / "in.jsonl", tmp_path / "known.jsonl"
    for each in (path, known):
        each.write_text("".join(line + "\n" for line in lines))
    result, written = both_engines(
        deduplicate_files, tmp_path, path, "k.jsonl", "removed.tsv", engines=ENGINES, against=known,
        group="repo", on_error="skip",
    )  # fmt: skip
    assert (result.documents, result.skipped) == (0, 2 * len(lines))
    assert written["k.jsonl"] == b""


def test_a_document_longer_than_memory_allows(tmp_path, monkeypatch):
    small_budget(monkeypatch, row=900)
    path = tmp_path / "in.jsonl"
    rows = [{"repo": "small", "text": "a"}, *({"repo": 'big"', "text": "word " * 60},) * 4]
    put_table(path, rows)
    how = {"group": "repo", "engine": "disk"}
    reason = r"in\.jsonl: row 2: the rows with this 'repo' have 1.2 KB of text together, and with"
    with pytest.raises(InputError, match=reason):
        deduplicate_files(path, tmp_path / "kept.jsonl", **how)
    put_table(path, [{**row, "text": "\0" * 60} for row in rows])  # each is six bytes in JSON
    with pytest.raises(InputError, match=r"in\.jsonl: row 2: .* have 1.47 KB of text"):
        deduplicate_files(path, tmp_path / "kept.jsonl", **how, restart=True)
    assert not (tmp_path / "kept.jsonl").exists()


def prepared(folder):
    """Write a collection; return the keywords of a run on disk, and what it must write."""
    rows = files_of_repositories(5)
    inputs = [str(put_table(folder / f"in{n}.jsonl", rows[n::3])) for n in range(3)]
    how = {"inputs": inputs, "threshold": 0.7, "threads": 1, "group": "repo", "memory": "300M"}
    keywords, expected = killed_runs.prepared(deduplicate_files, folder, **how)
    del keywords["engine"]
    return keywords, expected


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.parametrize("times", [3, pytest.param(40, marks=pytest.mark.slow)])
def test_kills_change_nothing(tmp_path, times):
    keywords, expected = prepared(tmp_path)
    keywords["engine"] = "disk"
    ended_again_and_again(deduplicate_files, tmp_path, keywords, expected, fewest=100, times=times)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_killed_parts_change_nothing(tmp_path, monkeypatch):
    small_budget(monkeypatch)
    keywords, expected = prepared(tmp_path)
    killed_until_done(deduplicate_files, keywords, 20, tmp_path / "out", expected)


@pytest.mark.exhaustive
def test_each_stage_by_several_processes_at_once(tmp_path, monkeypatch):
    small_budget(monkeypatch)
    keywords, expected = prepared(tmp_path)
    each_stage_at_once(deduplicate_files, keywords)
    assert contents(tmp_path / "out") == expected
    assert os.listdir(tmp_path / "work") == ["finished.json"]


def test_another_output_from_the_same_work(tmp_path, monkeypatch):
    small_budget(monkeypatch)
    keywords, expected = prepared(tmp_path)
    messages = []
    for name in ("one", "out"):
        keywords["output"] = f"{tmp_path}/{name}/"
        deduplicate_files(
            **keywords, engine="disk", keep_work=True, on_message=messages.append
        )  # fmt: skip
    assert contents(tmp_path / "out") == expected
    assert messages[-2].endswith("its documents have been made of their rows")
    assert messages[-1].endswith("linking, gathering, decisions; writing follows")
    (tmp_path / "in0.jsonl").write_text("")
    with pytest.raises(InputError, match=r"in0\.jsonl has changed since"):
        deduplicate_files(**keywords, engine="disk")
