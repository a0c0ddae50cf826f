"""Keys where something is kept: indexes, work directories, and what the command line makes."""

import os
import pickle
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

import fastlsh
from fastlsh import Index, InputError, Key, LockedKeyError, Shingler
from fastlsh.files.run.workdir import MANIFEST
from files import put_rows as put
from files import table_rows
from refusals import refuses
from shards import content_of

SECRET = bytes(range(1, 33))
KEY = Key(SECRET)
OTHER = Key(b"another key, of 26 letters")
TEXTS = [sha256(bytes([d])).digest().hex(" ", 2) + " and more" for d in range(60)]
TEXTS += [f"{text}!" for text in TEXTS[:20]]


def filled(key, **more):
    index = Index(0.7, key=key, **more)
    index.insert_many(range(len(TEXTS)), TEXTS)
    return index


def saved(index, path):
    index.save(path)
    return lambda **given: Index.load(path, **given)


def mapped(index, path):
    index.save(path)
    return lambda **given: Index.load(path, mmap=True, **given)


def opened(index, path):
    index.copy_to(path)
    return lambda **given: Index.open(path, **given)


@pytest.fixture(params=["saved", "mapped", "sqlite", "redis"])
def store(request, tmp_path):
    """A function that keeps an index and returns how it is opened."""
    kind = request.param

    def keep(index, name="index"):
        path = str(tmp_path / name)
        if kind == "redis":
            return opened(
                index, f"{request.getfixturevalue('redis_address')}#{tmp_path.name}-{name}"
            )
        return {"saved": saved, "mapped": mapped, "sqlite": opened}[kind](index, path)

    return keep


@pytest.mark.parametrize(
    "shingler",
    [Shingler(), Shingler("word", 2, lowercase=True), Shingler("word", tokenizer=str.split)],
)
def test_an_index_is_opened_with_its_key(store, shingler):
    index = filled(KEY, shingler=shingler)
    answers = index.query_many(TEXTS)
    function = {"shingler": shingler} if shingler.tokenizer else {}
    reopen = store(index)
    for given in ({"key": KEY, **function}, {"shingler": replace(shingler, key=KEY)}):
        with reopen(**given) as again:
            assert again.query_many(TEXTS) == answers
            assert again.key == KEY
    assert any(len(each) > 1 for each in answers)


def test_another_key_is_refused(store):
    open_it, open_plain = store(filled(KEY)), store(filled(None), "plain")
    needed = f"saved with a key, whose fingerprint is {KEY.fingerprint}: give key="
    refuses(ValueError, needed, open_it)
    for shingler in (None, Shingler(key=OTHER)):
        given = {"key": OTHER} if shingler is None else {"shingler": shingler}
        with pytest.raises(
            ValueError, match=f"another key: .* {KEY.fingerprint}, not {OTHER.fingerprint}"
        ):
            open_it(**given)
        refuses(ValueError, "saved without a key, and cannot be used with one", open_plain, **given)
    refuses(TypeError, "key must be a Key, got bytes", open_it, key=SECRET)


def test_no_secret_is_in_a_file(tmp_path):
    for name, key in (("with", KEY), ("without", None)):
        index = filled(key)
        index.save(tmp_path / name)
        index.copy_to(tmp_path / f"{name} copy")
    for path in tmp_path.iterdir():
        content = path.read_bytes()
        without = path.name.startswith("without")
        assert (KEY.fingerprint.encode() in content) != without
        assert (b'"key"' in content) != without
        for secret in (SECRET, KEY._root):
            assert secret not in content
            assert secret.hex().encode() not in content


def test_indexes_of_different_keys_are_not_merged():
    refuses(ValueError, "has key=<Key", filled(KEY).merge, Index(0.7, key=OTHER))


def test_against_an_index():
    kept = fastlsh.deduplicate(TEXTS, 0.7, key=KEY).kept
    index = Index(0.7, key=KEY)
    index.insert_many(range(60), TEXTS[:60])
    found = fastlsh.deduplicate(TEXTS[60:], 0.7, against=index, key=KEY)
    plain = fastlsh.deduplicate(TEXTS[60:], 0.7, against=TEXTS[:60], key=KEY)
    assert found.kept.tolist() == plain.kept.tolist()
    assert not kept[60:].any()
    refuses(ValueError, "has key=<Key", fastlsh.deduplicate, TEXTS[60:], 0.7, against=index)


@pytest.mark.parametrize("kind", ["memory", "mapped", "sqlite"])
def test_an_index_in_a_pickle_is_locked_until_it_is_unlocked(kind, tmp_path):
    index = filled(KEY)
    answers = index.query_many(TEXTS)
    if kind != "memory":
        index = {"mapped": mapped, "sqlite": opened}[kind](index, tmp_path / "index")(key=KEY)
    data = pickle.dumps(index)
    assert SECRET not in data
    assert KEY._root not in data
    again = pickle.loads(data)
    for call in (lambda: again.query(TEXTS[0]), lambda: again.insert("new", TEXTS[0])):
        with pytest.raises(LockedKeyError):
            call()
    assert len(again) == len(TEXTS)
    again.key.unlock(SECRET)
    assert again.query_many(TEXTS) == answers


def test_a_deduplication_in_a_pickle_says_which_key_it_had():
    again = pickle.loads(pickle.dumps(fastlsh.deduplicate(TEXTS, 0.7, key=KEY)))
    key = again.options["shingler"].key
    assert key == KEY
    with pytest.raises(LockedKeyError):
        key.functions(1, 1)


# ---- files and work directories


def rows(texts):
    return [{"id": number, "text": text} for number, text in enumerate(texts)]


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_engines_agree(here, engine):
    if engine == "disk":
        pytest.importorskip("pyarrow")
    put("in.jsonl", *rows(TEXTS))
    result = fastlsh.deduplicate(TEXTS, 0.7, key=KEY)
    found = fastlsh.deduplicate_files(
        ["in.jsonl"], "out.jsonl", 0.7, key=KEY, engine=engine, removed="gone.jsonl"
    )
    assert [row["id"] for row in table_rows("out.jsonl")] == result.selected.tolist()
    assert found.n_removed
    fastlsh.near_duplicate_files(["in.jsonl"], "pairs.jsonl", 0.7, key=KEY, engine=engine)
    pairs = [(pair["id_a"], pair["id_b"]) for pair in table_rows("pairs.jsonl")]
    assert pairs == [(a, b) for a, b, _ in fastlsh.near_duplicates(TEXTS, 0.7, key=KEY)]


def test_a_work_directory_belongs_to_one_key(here):
    pytest.importorskip("pyarrow")
    put("in.jsonl", *rows(TEXTS))

    class StopError(Exception):
        pass

    def stopping(stage, done, total):
        if stage != "signatures" and done:
            raise StopError

    how = {"engine": "disk", "work": "work"}
    with pytest.raises(StopError):
        fastlsh.deduplicate_files(["in.jsonl"], "out.jsonl", 0.7, key=KEY, progress=stopping, **how)
    assert content_of(Path("work") / MANIFEST)["key"] == KEY.fingerprint
    for path in Path("work").rglob("*"):
        assert not path.is_file() or SECRET not in path.read_bytes()
    with pytest.raises(InputError, match=f"key was {KEY.fingerprint}, and is {OTHER.fingerprint}"):
        fastlsh.deduplicate_files(["in.jsonl"], "out.jsonl", 0.7, key=OTHER, **how)
    with pytest.raises(InputError, match=f"key was {KEY.fingerprint}, and is None"):
        fastlsh.deduplicate_files(["in.jsonl"], "out.jsonl", 0.7, **how)
    fastlsh.deduplicate_files(["in.jsonl"], "out.jsonl", 0.7, key=KEY, **how)
    kept = len(fastlsh.deduplicate(TEXTS, 0.7, key=KEY).selected)
    assert len(Path("out.jsonl").read_text().splitlines()) == kept


# ---- commands


@pytest.fixture
def key_file(here):
    path = Path("key")
    path.write_bytes(SECRET)
    path.chmod(0o600)
    return "key"


def test_commands(run, key_file):
    put("in.jsonl", *rows(TEXTS))
    out, err = run.done("pairs", "in.jsonl", "--threshold", "0.7", "--key-file", key_file, "-q")
    assert err == []
    expected = fastlsh.near_duplicates(TEXTS, 0.7, key=KEY)
    assert len(out.splitlines()) == len(expected) + 1
    for command in (
        ("dedup", "in.jsonl", "-o", "kept.jsonl", "--removed", "gone.tsv", "--report", "r.html"),
        ("evaluate", "in.jsonl", "--json", "figures.json"),
        ("explain", "in.jsonl", "0", "60", "--json", "why.json"),
    ):
        out, _ = run.done(*command, "--threshold", "0.7", "--key-file", key_file)
        assert SECRET.hex() not in out
    for path in Path().iterdir():
        assert path.name == "key" or SECRET not in path.read_bytes()


def test_commands_of_an_index(run, key_file):
    put("in.jsonl", *rows(TEXTS))
    Path("other").write_bytes(b"another key, of 26 letters")
    Path("other").chmod(0o600)
    run.done("index", "build", "i.index", "in.jsonl", "--key-file", key_file)
    for command in (("query", "in.jsonl", "-q"), ("remove", "3"), ("info",)):
        name, *rest = command
        said = run.refused("index", name, "i.index", *rest)
        assert said.endswith(f"{KEY.fingerprint}: give --key-file")
        said = run.refused("index", name, "i.index", *rest, "--key-file", "other")
        assert "another key: " in said
        run.done("index", name, "i.index", *rest, "--key-file", key_file)
    dedup = ["dedup", "in.jsonl", "-o", "o.jsonl", "--index", "i.index"]
    assert "another key: " in run.refused(*dedup, "--key-file", "other")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "cannot read the key: No such file or directory"),
        (b"", "the file of the key is empty"),
        (b"0123456789abcde", "a key needs at least 16 bytes, got 15"),
    ],
)
def test_a_bad_key_file(run, content, reason):
    put("in.jsonl", *rows(TEXTS))
    if content is not None:
        Path("bad").write_bytes(content)
    before = sorted(os.listdir())
    said = run.refused("dedup", "in.jsonl", "-o", "out.jsonl", "--key-file", "bad")
    assert said == f"fastlsh: bad: {reason}"
    assert sorted(os.listdir()) == before


@pytest.mark.skipif(os.name != "posix", reason="no such permissions")
def test_a_key_file_that_others_can_read(run, key_file):
    put("in.jsonl", *rows(TEXTS))
    Path(key_file).chmod(0o644)
    _, err = run.done("pairs", "in.jsonl", "--key-file", key_file, "-q")
    assert err == ["fastlsh: warning: key: others can read the key: chmod 600 key"]
