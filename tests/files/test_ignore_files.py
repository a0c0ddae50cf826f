"""`--ignore`: memory, disk and stages ignore the same texts, and so do the commands of an index."""

import json
import random
from collections import Counter

import pytest

import fastlsh
from fastlsh import (
    InputError,
    Shingler,
    deduplicate_files,
    deduplicate_line_files,
    near_duplicate_files,
    overlap_files,
)
from fastlsh.cli import main
from files import get, put
from in_stages import ENGINES, both_engines, in_parts
from shards import small_budget

pytest.importorskip("pyarrow")  # which compresses the texts of a run on disk


@pytest.fixture
def essays(here):
    """Write 100 essays that begin with a sheet of 150 words; return the pairs that were planted."""
    draw = random.Random(0)
    letters = "abcdefghijklmnoprstu"
    vocabulary = ["".join(draw.choices(letters, k=draw.randint(2, 9))) for _ in range(2000)]
    sheet, *own = (" ".join(draw.choices(vocabulary, k=n)) for n in [150] + [120] * 88)
    planted = []
    for copy, source in enumerate(draw.sample(range(88), 12), 88):
        copied = own[source].split()
        for place in draw.sample(range(len(copied)), 6):
            copied[place] = draw.choice(vocabulary)
        own.append(" ".join(copied))
        planted.append((f"e{source}", f"e{copy}"))
    texts = [f"{sheet}\n{text}" for text in own]
    rows = [{"id": f"e{number}", "text": text} for number, text in enumerate(texts)]
    for name, part in (("one.jsonl", rows[:60]), ("two.jsonl", rows[60:])):
        put(name, "".join(json.dumps(row) + "\n" for row in part).encode())
    put("sheet.txt", sheet.encode())
    return sorted(planted)


COPIES = {f"e{number}" for number in range(88, 100)}
JOBS = {
    "dedup": (deduplicate_files, "kept.jsonl", ("removed.tsv", "clusters.jsonl"), {}),
    "contained": (deduplicate_files, "kept.jsonl", ("removed.tsv",), {
        "rule": "contained", "containment": 0.7, "search": "containment", "threshold": 0.8}),
    "lines": (deduplicate_line_files, "kept.jsonl", ("removed.tsv",), {}),
    "pairs": (near_duplicate_files, "pairs.tsv", (), {}),
    "overlap": (overlap_files, "counts.tsv", (), {}),
}  # fmt: skip


def some_exhaustive(*jobs):
    """Return jobs, of which the default run leaves out the slowest."""
    slow = pytest.mark.exhaustive
    return [pytest.param(job, marks=slow) if job == "contained" else job for job in jobs]


@pytest.mark.parametrize("job", some_exhaustive(*JOBS))
def test_memory_disk_and_stages_ignore_the_same(essays, here, monkeypatch, job):
    small_budget(monkeypatch)
    function, output, tables, more = JOBS[job]
    asked = {"threshold": 0.5, **more, "ignore": [get("sheet.txt").decode()]}
    inputs = ["one.jsonl", "two.jsonl"]
    _, written = both_engines(function, here, inputs, output, *tables, engines=ENGINES, **asked)
    if job in ("dedup", "contained"):
        kept = [json.loads(line)["id"] for line in written[output].splitlines()]
        assert {f"e{number}" for number in range(100)} - {*kept} == COPIES
    elif job == "pairs":
        rows = [line.split("\t")[:2] for line in written[output].decode().splitlines()[1:]]
        assert sorted(map(tuple, rows)) == essays


def test_one_command_finds_the_planted_pairs(essays, here, capfd):
    twice = ["one.jsonl", "sheet.txt", "--ignore", "sheet.txt"]
    assert main(["pairs", *twice]) == 2
    assert "it is one of the inputs and also" in capfd.readouterr().err
    words = ["one.jsonl", "two.jsonl", "--threshold", "0.5", "--ignore", "sheet.txt"]
    report = ["--report", "pairs.html", "--summary", "summary.json"]
    assert main(["pairs", *words, *report]) == 0
    lines = capfd.readouterr().out.splitlines()[1:]
    assert sorted(tuple(line.split("\t")[:2]) for line in lines) == essays
    sheet = get("sheet.txt").decode()
    ignored = Shingler().ignoring([sheet]).ignored
    assert json.loads(get("summary.json"))["parameters"]["shingler"]["ignored"] == ignored.digest
    page = get("pairs.html").decode()
    assert f"<b>{len(ignored):,}</b> ignored shingles" in page
    assert main(["explain", *words[:2], *essays[0], *words[2:]]) == 0
    assert "[= ignored =]" in capfd.readouterr().out
    assert main(["evaluate", *words, "-q"]) == 0
    assert "of 12 pairs" in capfd.readouterr().out


def test_the_commands_of_an_index(essays, here, capfd):
    ignore = ["--ignore", "sheet.txt"]
    for name in ("seen.index", "again.index"):
        assert main(["index", "build", name, "one.jsonl", "--threshold", "0.5", *ignore]) == 0
    assert main(["index", "info", "seen.index"]) == 0
    assert "IgnoredShingles" in capfd.readouterr().out
    ways = ([], ignore)
    for index, given in zip(("seen.index", "again.index"), ways, strict=True):
        assert main(["dedup", "two.jsonl", "-o", "new.jsonl", "--index", index, *given]) == 0
        kept = [json.loads(line)["id"] for line in get("new.jsonl").splitlines()]
        assert {f"e{number}" for number in range(60, 100)} - {*kept} == COPIES
    capfd.readouterr()
    put("other.txt", b"another sheet of questions")
    for command in ("add", "query"):
        assert main(["index", command, "seen.index", "two.jsonl", "--ignore", "other.txt"]) == 2
        assert "saved with other texts to ignore" in capfd.readouterr().err


def test_another_set_is_another_run(essays, here):
    asked = {"inputs": ["one.jsonl"], "output": "kept.jsonl", "engine": "disk", "work": "work"}
    asked["memory"] = "1G"
    sheet = get("sheet.txt").decode()
    in_parts(deduplicate_files, {**asked, "ignore": [sheet]}, 1, stages=["sign"])
    digests = [Shingler().ignoring([text]).ignored.digest for text in (sheet, "another sheet")]
    with pytest.raises(InputError, match=f"was {digests[0]}, and is {digests[1]}"):
        deduplicate_files(**asked, ignore=["another sheet"])
    with pytest.raises(InputError, match=f"was {digests[0]}, and is None"):
        deduplicate_files(**asked)


def test_a_saved_index_ignores_the_same(essays, here):
    sheet = get("sheet.txt").decode()
    fastlsh.deduplicate_files(
        ["one.jsonl"], "kept.jsonl", 0.5, save_index="new.index", ignore=[sheet]
    )
    with fastlsh.Index.open("new.index") as index:
        assert index.search_params.shingler == Shingler().ignoring([sheet])


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_a_saved_index_ignores_what_was_common(here, engine):
    templates("filled.jsonl")
    asked = {"ignore_common": 0.2, "engine": engine, "save_index": "new.index"}
    fastlsh.deduplicate_files("filled.jsonl", "kept.jsonl", 0.5, **asked)
    lines = [json.loads(line)["text"] for line in get("filled.jsonl").splitlines()]
    with fastlsh.Index.open("new.index") as index:
        assert len(index) == 80
        assert len(index.query(lines[0])) == 1
        assert index.query(lines[0][:380]) == []


def test_token_ids(here):
    draw = random.Random(1)
    sheet = [draw.randrange(50_000) for _ in range(200)]
    own = [[draw.randrange(50_000) for _ in range(80)] for _ in range(9)]
    rows = [{"id": number, "text": sheet + ids} for number, ids in enumerate([*own, own[3]])]
    put("ids.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode())
    put("sheet.jsonl", json.dumps({"text": sheet}).encode() + b"\n")
    words = ["ids.jsonl", "--unit", "token", "--size", "3", "--ignore", "sheet.jsonl", "-q"]
    assert main(["pairs", *words, "-o", "pairs.tsv"]) == 0
    assert get("pairs.tsv").decode().splitlines()[1:] == ["3\t9\t1.000000"]
    assert main(["index", "build", "seen.index", *words]) == 0
    near_duplicate_files("ids.jsonl", "same.tsv", shingler=Shingler("token", 3), ignore=[sheet])
    assert get("same.tsv") == get("pairs.tsv")


def test_says_which_files_have_nothing_to_ignore(here, capfd):
    for name, content in (("a.jsonl", b'{"text": ""}'), ("b.jsonl", b"{}"), ("c.txt", b"")):
        put(name, content)
    assert main(["pairs", "a.jsonl", "--on-error", "skip", "--ignore", "b.jsonl", "c.txt"]) == 0
    said = capfd.readouterr().err
    assert "skipped: b.jsonl: row 1: no key 'text'" in said
    assert "c.txt: there is no text in it that --ignore could use" in said


def templates(name, count=40):
    """Write documents of two templates; of each, the last filling is nearly the first one."""
    draw = random.Random(3)
    letters = "abcdefghijklmnoprstu"

    def text(words):
        return " ".join("".join(draw.choices(letters, k=7)) for _ in range(words))

    rows = []
    for template in (text(50), text(50)):
        fillings = [text(9) for _ in range(count)]
        rows += [{"text": f"{template} {filling}"} for filling in fillings]
        rows.append({"text": f"{template} {fillings[0]} too"})
    put(name, "".join(json.dumps(row) + "\n" for row in rows).encode())


@pytest.mark.parametrize("job", some_exhaustive("dedup", "contained", "pairs"))
def test_memory_and_disk_ignore_the_same_common_shingles(here, monkeypatch, job):
    small_budget(monkeypatch)
    templates("filled.jsonl")
    function, output, tables, more = JOBS[job]
    asked = {"threshold": 0.5, **more, "ignore_common": 0.2}
    said = []
    result, _ = both_engines(
        function, here, ["filled.jsonl"], output, *tables, **asked, on_message=said.append
    )
    if job == "pairs":
        assert result.n_pairs == 2
    else:
        assert (result.n_kept, result.n_removed) == (80, 2)
    messages = [message for message in said if "ignored" in message]
    assert len({*messages}) == len(messages) // 2 <= 11
    assert messages[0].endswith(" shingles ignored, in more than 0.2 of the documents")
    lines = [json.loads(line)["text"] for line in get("filled.jsonl").splitlines()]
    counts = Counter(number for text in lines for number in Shingler().hashes(text).tolist())
    common = sum(count > 0.2 * len(lines) for count in counts.values())
    assert messages[0].startswith(f"{common:,} shingles")
    assert messages[1].startswith("ignored: ")


def test_the_command_ignores_common_shingles(here, capfd):
    templates("filled.jsonl")
    words = ["filled.jsonl", "--threshold", "50%", "--ignore-common", "20%"]
    assert main(["dedup", *words, "-o", "kept.jsonl"]) == 0
    said = capfd.readouterr().err
    assert "shingles ignored, in more than 0.2 of the documents" in said
    assert "80 kept, 2 removed" in said
    assert main(["pairs", *words, "--exact", "-q"]) == 0
    first, second = (line.split("\t")[:2] for line in capfd.readouterr().out.splitlines()[1:])
    names = [f"filled.jsonl:{number}" for number in (1, 41, 42, 82)]
    assert [*first, *second] == names
