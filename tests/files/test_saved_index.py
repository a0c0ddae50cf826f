"""The index of a finished run: that of its kept documents, built in the usual way, to the bit."""

import os
import random
import re
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from combinations import covering, every
from fastlsh import Index, Shingler, deduplicate_files, deduplicate_with_index
from fastlsh.errors import InputError
from fastlsh.index.documents import IndexDocuments, packed
from fastlsh.index.settings import Settings
from fastlsh.index.sqlite import store
from fastlsh.index.sqlite.records import CompressedRecords
from fastlsh.index.sqlite.rows import checksum_of
from fastlsh.texts import as_texts
from files import put_rows, refused_if_damaged, table_rows
from strategies import LETTERS

WORDS = [f"word{number}" for number in range(400)]


def rows_of(seed, n=45, *, ids=True, bases=None):
    draw = random.Random(seed)
    rows = []
    for number in range(n):
        base = random.Random(draw.randrange(bases or 2 * n // 3))
        text = " ".join(base.choices(WORDS, k=40)) + draw.choice(["", " and more", " é", " 漢字"])
        rows.append({"id": f"{seed}-{number}", "text": text} if ids else {"text": text})
    return rows


def contents(path):
    """Return all that an index answers from: ids, signatures, texts, and the buckets of each."""
    with Index.open(path, read_only=True) as index:
        names = list(index)
        signatures = np.array([index.signature(name) for name in names])
        texts = dict(index.items()) if index.search_params.verify == "exact" else None
        asked = {"signatures": signatures} if texts is None else {"texts": list(texts.values())}
        answers = index.query_many(**asked)
        return names, signatures.tolist(), texts, answers, index.search_params


ODD_IDS = [1.5, True, 2**63, -(2**63) - 1, "\ud800"]


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_ids_that_no_index_can_have(engine):
    put_rows("before.jsonl", *rows_of(0, 3))
    deduplicate_files("before.jsonl", "o.jsonl", 0.7, save_index="seen.ix")
    good = [{"id": 2**63 - 1, "text": "one"}, {"id": -(2**63), "text": "two"}, {"text": "three"}]
    for odd in ODD_IDS if engine == "memory" else ODD_IDS[:1]:
        # Documents of `against` may have any ids; a duplicate before the bad row moves its number.
        put_rows("other.jsonl", {"id": odd, "text": "none of these"})
        put_rows("in.jsonl", *good, {"id": "twice", "text": "one"}, {"id": odd, "text": "four"})
        message = re.escape("in.jsonl: row 5: ids must be") + ".*" + re.escape(repr(odd))
        with pytest.raises(InputError, match=message):
            deduplicate_files("in.jsonl", "o.jsonl", 0.7, against="other.jsonl", engine=engine,
                              memory="300M", save_index="new.ix")  # fmt: skip
        with Index.open("seen.ix") as index, pytest.raises(InputError, match=message):
            deduplicate_with_index(index, "in.jsonl", "o.jsonl")
    put_rows("in.jsonl", *good, {"id": None, "text": "four"})
    deduplicate_files("in.jsonl", "o.jsonl", 0.7, against="other.jsonl", engine=engine,
                      memory="300M", save_index="new.ix", restart=engine == "disk")  # fmt: skip
    assert len(contents("new.ix")[0]) == 4


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


FEW_WORDS = Shingler("word", 2, strip_accents=True, stop_words=["and", "é"])
RUNS = [
    (True, "kept.jsonl", {}),
    (False, "kept/", {"shingler": Shingler("word", 2, lowercase=True)}),
    (True, "kept.jsonl", {"verify": "signature", "num_perm": 64}),
    (True, "kept.jsonl", {"max_copies": 2, "keep": "longest"}),
    (True, "kept.jsonl", {"annotate": True, "limit": 65}),
    (True, "kept.jsonl", {"index_texts": "compressed"}),
    (True, "kept.jsonl", {"index_texts": "compressed", "shingler": FEW_WORDS}),
    (False, "kept.jsonl", {"index_texts": "compressed", "shingler": Shingler("byte", 5)}),
]
"""Whether the rows have ids, the output, and the arguments of a run."""


@pytest.mark.parametrize("engine", every(2, ["memory", "disk"], 1))
@pytest.mark.parametrize("of_run", every(4, RUNS))
def test_it_is_that_of_the_kept_documents(engine, of_run):
    ids, output, how = of_run
    for name, seed in (("a.jsonl", 1), ("b.jsonl", 2)):
        put_rows(name, *rows_of(seed, ids=ids))
    put_rows("old.jsonl", *rows_of(3, 20))
    given = {**how, "engine": engine, "work": "w" if engine == "disk" else None}
    inputs = ["a.jsonl", "b.jsonl"]
    done = deduplicate_files(
        inputs, output, 0.7, against="old.jsonl", save_index="new.ix", clusters="c.tsv", **given
    )
    plain = {
        name: how[name] for name in how if name not in ("max_copies", "annotate", "index_texts")
    }
    again = deduplicate_files(inputs, "plain/", 0.7, against="old.jsonl", removed="r.tsv", **plain)
    assert again.n_removed > 30
    gone = {line.split("\t")[0] for line in Path("r.tsv").read_text().splitlines()[1:]} - {""}
    everything = [(name, row) for name in inputs for row in table_rows(name)]
    seen = {}
    named = []
    for name, row in everything[: how.get("limit")]:
        seen[name] = seen.get(name, 0) + 1
        named.append((row.get("id", f"{name}:{seen[name]}"), row["text"]))
    kept = [(name, text) for name, text in named if name not in gone]
    given = {
        name: value for name, value in plain.items() if name in ("shingler", "verify", "num_perm")
    }
    with Index.open("usual.ix", 0.7, **given) as index:
        index.insert_many(*zip(*kept, strict=True))
    assert not [name for name in os.listdir() if name.startswith((".", "new.ix-"))]
    assert contents("new.ix") == contents("usual.ix")
    assert done.documents == len(named)


CONTAINED = {"rule": "contained", "search": "containment"}
RULES = [{}, CONTAINED, {**CONTAINED, "index_texts": "compressed"}]


@pytest.mark.parametrize("engine", every(2, ["memory", "disk"]))
@pytest.mark.parametrize("rule", every(3, RULES))
def test_the_next_run_goes_on_with_it(engine, rule):
    put_rows("a.jsonl", *rows_of(1))
    put_rows("b.jsonl", *rows_of(2))
    given = {"save_index": "seen.ix", "engine": engine, "work": "w", **rule}
    deduplicate_files("a.jsonl", "k1.jsonl", **given)
    with Index.open("seen.ix") as index:
        deduplicate_with_index(index, "b.jsonl", "k2.jsonl")
    alone = {name: value for name, value in rule.items() if name != "index_texts"}
    deduplicate_files(["a.jsonl", "b.jsonl"], "both.jsonl", **alone)
    assert [*table_rows("k1.jsonl"), *table_rows("k2.jsonl")] == table_rows("both.jsonl")
    with Index.open("seen.ix") as index:
        assert list(index) == [row["id"] for row in table_rows("both.jsonl")]


@pytest.mark.parametrize("engine", every(2, ["memory", "disk"], 1))
def test_nothing_is_written_if_there_is_no_index(engine, monkeypatch):
    put_rows("a.jsonl", *rows_of(1), {"id": "1-0", "text": "the same id, another text"})
    given = {"engine": engine, "work": "w", "removed": "r.tsv"}
    said = r"a\.jsonl: row 46: the id '1-0' is that of a\.jsonl: row 1, too"
    with pytest.raises(InputError, match=said + ": save_index needs different ids"):
        deduplicate_files("a.jsonl", "k.jsonl", save_index="seen.ix", **given)
    assert set(os.listdir()) <= {"a.jsonl", "w"}
    if engine == "disk":
        shutil.rmtree("w")
        stage = {**given, "save_index": "seen.ix", "memory": "500M"}
        for name in ("sign", "link"):
            deduplicate_files("a.jsonl", "k.jsonl", stage=name, **stage)
        with pytest.raises(InputError, match=said):
            deduplicate_files("a.jsonl", "k.jsonl", stage="unite", **stage)
        shutil.rmtree("w")
    Path("seen.ix").touch()
    with pytest.raises(ValueError, match=r"seen\.ix: it exists already"):
        deduplicate_files("a.jsonl", "k.jsonl", save_index="seen.ix", **given)
    assert set(os.listdir()) <= {"a.jsonl", "w", "seen.ix"}


REPEATED = [
    (["a", None, "b", 7, 75, None, "c"], None),
    ([None, 1, None, None, 2, 1], 6),
    (["x"] * 30, 2),
    ([*range(3000), *range(2999, 5000)], 3001),
]
"""Ids, and the first row with one that was there before."""


@pytest.mark.parametrize(("engine", "found"), covering(["memory", "disk"], REPEATED))
def test_repeated_ids_are_refused_before_the_search(engine, found, monkeypatch):
    """Even of a document that is removed: whether one is removed is known too late."""
    ids, row = found
    from fastlsh.files import execution
    from fastlsh.files.tasks import dedup as memory

    def search(*_, **__):
        raise RuntimeError("searching")

    monkeypatch.setattr(execution, "link_inputs", search)
    monkeypatch.setattr(memory, "deduplicate_texts", search)
    put_rows("old.jsonl", *[{"id": "a", "text": "some text"}] * 3)
    put_rows("a.jsonl", *[{"id": name, "text": "some text"} for name in ids])
    given = {"engine": engine, "work": "w", "against": "old.jsonl"}
    with pytest.raises(RuntimeError if row is None else InputError) as caught:
        deduplicate_files("a.jsonl", "k.jsonl", save_index="seen.ix", **given)
    assert getattr(caught.value, "row", None) == row


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"rule": "equal"}, "save_index is for rule='jaccard' or 'contained', not for 'equal'"),
        ({"shingler": Shingler("token", 3)}, "not for token ids"),
        ({"index_texts": "compressed", "verify": "signature"}, "for an index that keeps texts"),
        (
            {"index_texts": "compressed", "shingler": Shingler("word", tokenizer=str.split)},
            "keeps texts",
        ),
        ({"within": "language"}, "within= and save_index= cannot be given together"),
        ({"index_texts": "zip"}, "index_texts must be one of full, compressed, got"),
        ({"save_index": "redis://localhost/0#a"}, "a new index of a run is a file"),
        ({"save_index": "a.jsonl"}, "one of the inputs"),
        ({"save_index": "k.jsonl"}, "names the same file"),
        ({"save_index": "nowhere/new.ix"}, "nowhere"),
    ],
)
def test_what_is_refused(how, said):
    put_rows("a.jsonl", {"id": 1, "text": "some text"})
    with pytest.raises((ValueError, InputError, OSError), match=said):
        deduplicate_files("a.jsonl", "k.jsonl", **{"save_index": "new.ix", **how})
    assert os.listdir() == ["a.jsonl"]


@pytest.mark.parametrize(
    ("texts", "n"),
    [
        ("compressed", 260),
        pytest.param("full", 260, marks=pytest.mark.exhaustive),
        pytest.param("compressed", 2600, marks=pytest.mark.exhaustive),
    ],
)
def test_an_index_that_is_built(run, monkeypatch, texts, n):
    """It has runs, and documents that are in none."""
    monkeypatch.setattr(store, "RECENT", n * 23 // 26)
    put_rows("a.jsonl", *rows_of(1, n, bases=200))
    build = ["index", "build", "built.ix", "a.jsonl", "--threshold", 0.7, "--texts", texts]
    assert run(*build)[0] == 0
    with Index.open("usual.ix", 0.7) as index:
        rows = table_rows("a.jsonl")
        index.insert_many([row["id"] for row in rows], [row["text"] for row in rows])
    assert contents("built.ix") == contents("usual.ix")
    if n > 2000:  # so many that the dictionary does not count
        assert os.path.getsize("built.ix") < os.path.getsize("usual.ix") / 2
    with sqlite3.connect("built.ix") as file:
        assert file.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    file.close()


def test_changes_of_a_compressed_index(run):
    """Like those of any other: the texts that come later are compressed, too."""
    put_rows("a.jsonl", *rows_of(1))
    put_rows("b.jsonl", *rows_of(2))
    for name, texts in (("full.ix", "full"), ("small.ix", "compressed")):
        assert run("index", "build", name, "a.jsonl", "-q", "--texts", texts)[0] == 0
        with Index.open(name) as index:
            assert deduplicate_with_index(index, "b.jsonl", f"{name}.jsonl").n_removed > 20
            index.remove("1-3")
            index.insert("1-4", "a new version", on_known="replace")
            index.insert("empty", "")
            index.compact()
            index.copy_to(f"copy of {name}")
    assert table_rows("full.ix.jsonl") == table_rows("small.ix.jsonl")
    expected = contents("full.ix")
    for name in ("small.ix", "copy of full.ix", "copy of small.ix"):
        assert contents(name) == expected
    assert "--texts is for an index in a file" in run.refused(
        "index", "build", "redis://localhost/0#a", "a.jsonl", "--texts", "full"
    )


DAMAGES = [
    "UPDATE documents SET content = x'1234567890abcdef'",
    "UPDATE documents SET content = NULL",
    "UPDATE documents SET content = zeroblob(16)",
    "UPDATE documents SET content = 'text'",
    "UPDATE texts SET dictionary = x'00'",
    "UPDATE texts SET dictionary = 'text'",
    "UPDATE texts SET kind = 'other'",
    "UPDATE texts SET kind = 'full'",
    "DELETE FROM texts",
    "INSERT INTO texts VALUES ('full', x'', 0)",
    "DROP TABLE texts",
]


def test_a_damaged_compressed_index(run):
    put_rows("a.jsonl", *rows_of(1, 20))
    build = ["index", "build", "sound.ix", "a.jsonl", "-q", "--texts", "compressed"]
    run.done(*build)
    refused_if_damaged("sound.ix", DAMAGES, contents)


def test_an_index_without_texts_of_an_earlier_commit(run):
    put_rows("a.jsonl", {"id": 1, "text": "some text"})
    assert run("index", "build", "i.ix", "a.jsonl", "-q")[0] == 0
    file = sqlite3.connect("i.ix")
    with file:
        row = ["none", b""]
        file.execute(
            "UPDATE texts SET kind = ?, dictionary = ?, checksum = ?", [*row, checksum_of(row)]
        )
    file.close()
    status, _, err = run("index", "query", "i.ix", "a.jsonl")
    assert status == 2
    said = r"fastlsh: i\.ix: the index keeps no texts.* build the index anew with .*compressed"
    assert re.fullmatch(said + r".*", err[-1])
    assert run("index", "build", "j.ix", "a.jsonl", "--texts", "none")[0] == 2


@given(st.lists(st.text(LETTERS, max_size=30), max_size=20), st.binary(max_size=64))
def test_compressed_records_keep_every_text(texts, dictionary):
    settings = Settings.of(0.8, threads=1)
    hasher = settings.hasher
    words, offsets = packed(as_texts(texts), hasher.shingler, 1)
    documents = IndexDocuments(hasher.signatures(texts), words, offsets)
    records = CompressedRecords(settings, dictionary)
    rows = [*zip(*records.encoded(documents), strict=True)]
    found = records.decoded(rows)
    assert found.signatures.tolist() == documents.signatures.tolist()
    assert found.contents.tolist() == words.tolist()
    assert found.offsets.tolist() == offsets.tolist()
