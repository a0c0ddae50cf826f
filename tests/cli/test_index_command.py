"""`fastlsh index`, and `fastlsh dedup --index`: output and index change both, or neither."""

import csv
import json
import os
import random
import re
import uuid
from contextlib import nullcontext
from pathlib import Path

import pytest

import warm
from fastlsh import Index, deduplicate
from fastlsh.files.estimate import Choice, Estimate
from fastlsh.files.requests import Engine
from fastlsh.index import publishing
from fastlsh.index.store import Batch
from fastlsh.io import Decision, replacing_together, write_text
from files import ONE, put, put_rows

DAYS = 8
CHOICE = Choice(Engine.MEMORY, "as the test says", Estimate(1, 1, 1, 1, 1))


def rows_of(day, n=40):
    draw = random.Random(day)
    rows = []
    for number in range(n):
        base = random.Random(draw.randrange(300))
        text = " ".join(str(base.randrange(1000)) for _ in range(30))
        rows.append({"id": f"{day}-{number}", "text": text + draw.choice(["", "", " 1"])})
    return rows


@pytest.fixture(params=["file", pytest.param("redis", marks=pytest.mark.exhaustive)])
def place(request):
    """Where an index can be."""
    if request.param == "file":
        return "seen.ix"
    return f"{request.getfixturevalue('redis_address')}#{uuid.uuid4().hex}"


def shown(place):
    return place.replace("/0#", "#")


def test_all_days_are_one_collection(run, place):
    days = [rows_of(day) for day in range(DAYS)]
    everything = [row for day in days for row in day]
    expected = deduplicate([row["text"] for row in everything], 0.7)
    put_rows("none.jsonl")
    assert run("index", "build", place, "none.jsonl", "--threshold", 0.7, "-q")[0] == 0
    kept, proofs = [], []
    for number, rows in enumerate(days):
        name = put_rows(f"day {number}.jsonl", *rows)
        output = "kept/" if number % 2 else "kept.jsonl"
        _, err = run.done(
            "dedup", name, "--index", place, "-o", output, "--removed", "removed.tsv",
        )  # fmt: skip
        with open(f"kept/{name}" if number % 2 else output) as file:
            kept += [json.loads(line)["id"] for line in file]
        with open("removed.tsv") as file:
            proofs += [line.split("\t")[:2] for line in list(file)[1:]]
    assert kept == [everything[d]["id"] for d in expected.selected]
    assert proofs == [
        [everything[d]["id"], everything[expected.kept_index[d]]["id"]] for d in expected.removed
    ]
    assert expected.removed.size
    assert f"; {shown(place)} has {len(kept)} documents; " in err[-1]
    with Index.open(place) as index:
        assert list(index) == kept
    assert not [name for name in os.listdir() if name.startswith(".")]


def test_kept_rows_are_converted(run):
    seen, new = put_rows("a.jsonl", *rows_of(1)), put_rows("b.jsonl", *rows_of(2))
    assert run("index", "build", "i.ix", seen, "-q")[0] == 0
    run.done("dedup", new, "--index", "i.ix", "-o", "k.csv", "--convert-to", "csv")
    with open("k.csv", newline="", encoding="utf-8") as file:
        kept = [row["id"] for row in csv.DictReader(file)]
    told = json.loads(run("index", "info", "i.ix", "--json")[1])
    assert len(kept) == told["documents"] - 40 > 0


def test_a_daily_job(run):
    """A file for each input, a page, clusters and a log; the index and all of these, or none."""
    assert run("index", "build", "i.ix", put_rows("a.jsonl", *rows_of(1)), "-q")[0] == 0
    near = {"id": "again", "text": rows_of(1)[0]["text"], "more": [1]}
    names = [put_rows("b.jsonl", *rows_of(2), near), put_rows("c.jsonl", *rows_of(3))]
    given = ["dedup", *names, "--index", "i.ix", "-o", "out/", "--memory", "1G"]
    tables = ["--removed", "r.tsv", "--clusters", "c.tsv", "--report", "page.html"]
    run.done(*given, *tables, "--log", "log.jsonl")
    everything = [*rows_of(2), near, *rows_of(3)]
    result = deduplicate(
        [row["text"] for row in everything], against=[row["text"] for row in rows_of(1)]
    )
    kept = [everything[n] for n in result.selected]
    written = [
        json.loads(line) for name in names for line in Path("out", name).read_text().splitlines()
    ]
    assert written == kept
    page = Path("page.html").read_text(encoding="utf-8")
    assert f"{len(everything)} documents" in page
    assert "from the reference collection" in page
    assert near["text"] in page
    clusters = [line.split("\t") for line in Path("c.tsv").read_text().splitlines()[1:]]
    assert len(clusters) == sum(map(len, result.clusters()))
    assert json.loads(Path("log.jsonl").read_text().splitlines()[-1])["kept"] == len(kept)
    with Index.open("i.ix") as index:
        assert list(index) == [row["id"] for row in [*rows_of(1), *kept]]


def test_an_index_without_texts_has_a_page(run):
    build = ["index", "build", "i.ix", put_rows("a.jsonl", *rows_of(1)), "-q"]
    assert run(*build, "--verify", "signature")[0] == 0
    given = ["dedup", put_rows("b.jsonl", *rows_of(2)), "--index", "i.ix", "-o", "k.jsonl"]
    assert run(*given, "--report", "page.html")[0] == 0
    assert "from the reference collection" in Path("page.html").read_text(encoding="utf-8")


@pytest.fixture
def large(run):
    """What compares a file of 60 MB with an index; the memory for it comes next."""
    assert run("index", "build", "i.ix", put_rows("a.jsonl", *rows_of(1)), "-q")[0] == 0
    row = json.dumps({"text": "a" * 200_000})
    Path("b.jsonl").write_text(f"{row}\n" * 300)
    return ["dedup", "b.jsonl", "--index", "i.ix", "-o", "out/", "--report", "p.html", "--memory"]


def test_files_that_are_too_large_for_the_memory(run, large):
    before = Path("i.ix").read_bytes()
    assert re.search(
        r"b.jsonl: with an index, .* about .* and 200M are allowed: .* --memory",
        run.refused(*large, "200M"),
    )
    assert Path("i.ix").read_bytes() == before
    assert sorted(os.listdir()) == ["a.jsonl", "b.jsonl", "i.ix"]


@pytest.mark.exhaustive
def test_files_that_are_larger_than_estimated(run, large, monkeypatch):
    before = Path("i.ix").read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("fastlsh.files.indexed.choose_for_index", lambda *_: CHOICE)
        status, _, err = run(*large, "200M")
    assert status == 2
    assert "b.jsonl: the files have more text than estimated" in err[-1]
    assert "--memory" in err[-1]
    assert Path("i.ix").read_bytes() == before
    assert sorted(os.listdir()) == ["a.jsonl", "b.jsonl", "i.ix"]
    assert run(*large, "1G")[0] == 0


def test_ids_behind_two_dashes(run):
    names = ["a", -5, "--5", "---x", "9" * 5000, 10**18]
    rows = [{"id": name, "text": f"text {number}"} for number, name in enumerate(names)]
    name = put_rows("a.jsonl", *rows)
    assert run("index", "build", "i.ix", name, "--id", "id", "-q")[0] == 0
    for left in ("--7", "1" * 5000, "-"):
        said = [f"fastlsh: i.ix: no document has the id {left}"]
        assert run("index", "remove", "i.ix", "-q", "--", left) == (2, "", said)
    assert run("index", "remove", "i.ix", "--", *map(str, names))[2] == [
        "fastlsh: 6 documents removed; i.ix has 0"
    ]


def test_ids_that_cannot_be_saved(run):
    name = put_rows("a.jsonl", {"id": "a", "text": "one"}, {"id": 1.5, "text": "two"})
    line = "fastlsh: a.jsonl: row 2: ids must be str, bytes or int of 64 bits to be saved, and 1.5"
    put_rows("b.jsonl", *rows_of(1))
    assert run("index", "build", "i.ix", "b.jsonl", "-q")[0] == 0
    for command in (["index", "build", "new.ix", name], ["index", "add", "i.ix", name],
                    ["dedup", name, "--index", "i.ix", "-o", "o.jsonl"]):  # fmt: skip
        assert run(*command)[::2] == (2, [f"{line} is of type float"])
    put_rows("b.jsonl", *({"id": name, "text": "one text"} for name in "aba"))
    _, _, err = run("index", "build", "new.ix", "b.jsonl")
    line = "b.jsonl: row 3: the id 'a' is that of b.jsonl: row 1, too: an index needs different ids"
    assert err[-1] == f"fastlsh: {line}"
    assert sorted(os.listdir()) == ["a.jsonl", "b.jsonl", "i.ix"]


def test_an_index_on_a_server(run, redis_address):
    name = put_rows("a.jsonl", *rows_of(1))
    place = f"{redis_address}#{uuid.uuid4().hex}"
    with_password = place.replace("//", "//:secret@")
    for arguments, said in (
        (["index", "info", place], "there is no index; `fastlsh index build` creates one"),
        (["dedup", name, "--index", place, "-o", "k.jsonl"], "there is no index"),
        (["index", "build", place, name, "--id", "text", "--text", "none"], "none"),
        (["index", "info", with_password], "there is no index"),
        (["index", "info", "redis://127.0.0.1:1"], "does not answer"),
    ):
        status, _, err = run(*arguments)
        assert status in (1, 2)
        assert said in err[-1], err
        assert "secret" not in "".join(err)
    put_rows("twice.jsonl", *[{"id": "a", "text": "one text"}] * 2)
    assert run("index", "build", place, "twice.jsonl")[0] == 2
    assert run("index", "build", place, name, "-q")[0] == 0
    assert f"{shown(place)}: it exists already" in run.refused("index", "build", place, name)


def test_a_server_that_does_not_answer_the_change(run, redis_address, monkeypatch):
    """It may have made it: the next command finds out, and completes the output."""
    from redis import Redis, exceptions
    from redis.client import Pipeline

    place = f"{redis_address}#{uuid.uuid4().hex}"
    assert run("index", "build", place, put_rows("a.jsonl", *rows_of(1)), "-q")[0] == 0
    name = put_rows("b.jsonl", *rows_of(2))
    execute = Pipeline.execute

    def gone(*_):
        raise exceptions.ConnectionError("gone")

    def lost(self, *given):
        execute(self, *given)
        patch.setattr(Redis, "eval", gone)
        gone()

    with monkeypatch.context() as patch:
        patch.setattr(Pipeline, "execute", lost)
        status, _, err = run("dedup", name, "--index", place, "-o", "k.jsonl")
        assert status == 1
        assert "it is unknown whether the change was made" in err[-1]
    assert not os.path.exists("k.jsonl")
    status, out, err = run("index", "info", place)
    assert "completed the outputs of a run that was killed" in err[0]
    with open("k.jsonl") as file:
        assert len(list(file)) == json.loads(out)["documents"] - 40
    assert not [each for each in os.listdir() if each.startswith(".")]


def test_two_commands_at_once(run, place):
    """The note of one that is at work is left to it; that of one that has ended is obeyed."""
    assert run("index", "build", place, put_rows("a.jsonl", *rows_of(1)), "-q")[0] == 0
    with Index.open(place) as index, Index.open(place) as other:
        store = index._backend.store
        location = publishing.shown(store.location)

        def decide(folder, number):
            with store.batch():
                store.write(Batch(noted=[(folder, number)]))
            publishing.finish_outputs(other)
            assert (len(store.outputs()), os.path.exists("k0")) == (1, False)
            if fails:
                raise ZeroDivisionError

        for fails in (False, True):
            expected = pytest.raises(ZeroDivisionError) if fails else nullcontext()
            with expected, replacing_together(Decision(location, decide)) as together:
                write_text("k0", "kept", together)
            assert os.path.exists("k0") != fails
            with pytest.warns(UserWarning, match="completed") if fails else nullcontext():
                publishing.finish_outputs(other)
            with store.reading():
                assert store.outputs() == []
            assert Path("k0").read_text() == "kept"
            os.unlink("k0")
    assert not [each for each in os.listdir() if each.startswith(".fastlsh")]


KILLED = """
import os, sys
from fastlsh import cli
from fastlsh.io import journal
def die(*_, **__):
    os._exit(9)
{where}
outputs = ["-o", sys.argv[2], "--removed", "r.tsv"]
sys.exit(cli.main(["dedup", "b.jsonl", "--index", sys.argv[1], *outputs]))
"""


@pytest.mark.parametrize(
    ("killed", "output"),
    [
        (("journal.Journal.decide = die", True), "k.jsonl"),
        (("replace = os.replace; os.replace = lambda a, b: (replace(a, b), die())", True), "k/"),
        (("journal.Journal.end = die", True), "k/"),
        (("journal.Journal.prepare = die", False), "k.jsonl"),
        (("from fastlsh.index import publishing; publishing.Batch = die", False), "k/"),
    ],
)
def test_a_kill_between_output_and_index(run, place, killed, output):
    where, done = killed
    name = put_rows("a.jsonl", *rows_of(1))
    run("index", "build", place, name, "-q")
    put_rows("b.jsonl", *rows_of(2))
    target = "k/b.jsonl" if output == "k/" else output
    put(target, "as it was")
    code = KILLED.format(where=where)
    assert warm.run("-c", code, place, output).returncode == 9
    if "redis" in place:  # the lock of a process that was killed lasts for a minute
        import redis

        with redis.Redis.from_url(place) as client:
            client.delete(f"fastlsh:{{{place.partition('#')[2]}}}:lock")
    out, err = run.done("index", "info", place)
    documents = json.loads(out)["documents"]
    kept = Path(target).read_text()
    assert (documents > 40) == done
    assert (kept != "as it was") == done
    assert os.path.exists("r.tsv") == done
    if done:
        assert len(kept.splitlines()) == documents - 40
        assert "Journal.end" in where or "completed the outputs of a run that" in err[0]
        assert not [each for each in os.listdir() if each.startswith(".")]
    assert run("dedup", "b.jsonl", "--index", place, "-o", output)[0] == 0
    folders = [".", *([output] if output == "k/" else [])]
    assert not [each for path in folders for each in os.listdir(path) if each.startswith(".")]
    with Index.open(place) as index, index._backend.store.reading():
        assert index._backend.store.outputs() == []


@pytest.fixture
def six(run):
    """An index of six documents, and their file."""
    rows = [{"id": f"{i}", "text": f"{ONE} {i % 3}"} for i in range(6)]
    name = put_rows("a.jsonl", *rows)
    assert run("index", "build", "-q", "seen.ix", name)[0] == 0


def test_an_index_behind_a_link_to_nothing(run, six):
    os.symlink("nothing.ix", "dangling.ix")
    assert run("index", "build", "-q", "dangling.ix", "a.jsonl")[0] == 0
    assert os.path.islink("dangling.ix")
    for name in ("dangling.ix", "nothing.ix"):
        assert json.loads(run("index", "info", name)[1])["documents"] == 6


def test_the_recall_of_an_index_that_exists(run, six):
    assert run("index", "query", "seen.ix", "a.jsonl", "--recall", "0.98")[0] == 0
    for recall in (0.98, 0.5):  # in Python, it is for an index that does not exist yet
        with Index.open("seen.ix", recall=recall) as index:
            assert len(index) == 6
    build = ["--rule", "contained", "--search", "containment", "--num-perm", "64", "-q"]
    assert run("index", "build", "contained.ix", "a.jsonl", *build)[0] == 0
    assert run("index", "query", "contained.ix", "a.jsonl", "--recall", "0.98")[0] == 0
    assert run.refused("index", "query", "contained.ix", "a.jsonl", "--recall", "0.5").endswith(
        "which --recall=0.5 chooses"
    )
    with Index.open("seen.ix", bands=17, rows=7) as index:
        assert len(index) == 6


def test_an_id_given_twice_is_removed_once(run, six):
    status, _, err = run("index", "remove", "seen.ix", "0", "1", "0")
    assert (status, err) == (0, ["fastlsh: 2 documents removed; seen.ix has 4"])
