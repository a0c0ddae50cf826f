"""The commands of the task pages find what was planted in data that are not those of the page."""

import ast
import csv
import importlib
import inspect
import io
import itertools
import json
import random
import re
import shlex
import textwrap
from collections import defaultdict
from pathlib import Path

import pytest

import fastlsh
import oracle
from combinations import larger
from fastlsh.cli import main
from files import put_table, table_rows
from pages import BLOCK, ROOT, run_here, run_page

TASKS = ROOT / "docs" / "tasks"
FOUND = 0.95
"""The least share of the pairs that the page's own definition of similarity has."""

pytestmark = pytest.mark.skipif(not TASKS.is_dir(), reason="no docs here")


def commands(page):
    """Return the words of each command of a page."""
    text = (TASKS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("fastlsh ")]


EXACT = {
    "alpaca-and-sharegpt", "audit-removals", "compare-data-sets", "count-duplicates",
    "decontaminate", "gate-in-ci", "match-one-to-one", "partitioned-parquet", "records-and-chats",
    "remove-repeated-passages",
}  # fmt: skip
"""Pages without a rule for similarity of their own; test_docs.py runs them."""


def test_every_task_page_is_tested_here():
    tested = {name.removeprefix("test_").replace("_", "-") for name in globals()}
    assert {path.stem for path in TASKS.glob("*.md")} <= tested | EXACT


def option(words, name):
    return words[words.index(name) + 1]


def shares(units, size):
    """Return the Jaccard similarity of two documents, by Python's sets of windows of units."""

    def jaccard(left, right):
        windows = (oracle.windows(units(document), size) for document in (left, right))
        return oracle.jaccard(*({tuple(window) for window in each} for each in windows))

    return jaccard


def rows_of(name):
    """Return the rows of a TSV file, with slashes in its paths."""
    text = Path(name).read_text(encoding="utf-8").replace("\\", "/")
    return list(csv.DictReader(io.StringIO(text), delimiter="\t"))


def table_of(name, columns, entries):
    """Write a CSV file."""
    with open(name, "w", newline="", encoding="utf-8") as out:
        csv.writer(out).writerows([columns, *entries])


def paragraphs_of(name, paragraphs):
    """Write paragraphs as a file of text."""
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")


def sample(draw, vocabulary, size):
    """Return a text of so many words."""
    return " ".join(draw.choices(vocabulary, k=size))


def similarity(words):
    """Return the similarity that a command defines, and its threshold."""

    def units(text):
        text = " ".join(re.sub(r"[^\w\s]", " ", text.lower()).split())
        return text.split() if "--unit" in words else text

    return shares(units, int(option(words, "--size"))), float(option(words, "--threshold"))


@pytest.fixture
def vocabulary(examples):
    """Plain words, so that normalisation is that of the oracle."""
    lines = (examples / "notices.jsonl").read_text(encoding="utf-8").splitlines()
    text = " ".join(json.loads(line)["text"] for line in lines)
    return sorted(set(re.findall(r"\b[a-zA-Z]{3,12}\b", text)))


def test_merge_catalogues(here, vocabulary):
    draw = random.Random(1)
    ours = {f"A{n}": " ".join(draw.sample(vocabulary, draw.randint(4, 9))) for n in range(300)}
    theirs = {f"B{n}": " ".join(draw.sample(vocabulary, draw.randint(4, 9))) for n in range(100)}
    for name, title in ours.items():
        words = title.upper().split()
        at = draw.randrange(len(words) - 1)
        words[at : at + 2] = draw.choice([words[at : at + 1], words[at : at + 2][::-1]])
        words.insert(draw.randrange(len(words)), draw.choice(["NEW", "(2026)", "set,", "-"]))
        theirs[f"copy of {name}"] = " ".join(words)
    for file, entries in (("ours.csv", ours), ("theirs.csv", theirs)):
        table_of(file, ("id", "title"), entries.items())
    pairs, dedup = commands("merge-catalogues")
    jaccard, threshold = similarity(pairs)
    assert similarity(dedup)[1] == threshold
    findable = {
        f"copy of {name}"
        for name, title in ours.items()
        if jaccard(title, theirs[f"copy of {name}"]) >= threshold
    }
    assert len(findable) >= FOUND * len(ours)
    for words in (pairs, dedup):
        assert main([*words, "-q"]) == 0
    matches = {row["id_a"]: row["id_b"] for row in rows_of("matches.tsv")}
    right = {name for name in findable if matches.get(name) == name.removeprefix("copy of ")}
    assert len(right) >= FOUND * len(findable)
    assert not [name for name in matches if name not in findable]
    removed = {row["id"] for row in rows_of("known.tsv")}
    assert len(removed & findable) >= FOUND * len(findable)


def test_find_plagiarism(here, vocabulary):
    draw = random.Random(2)
    essays = [[sample(draw, vocabulary, 60) for _ in range(6)] for _ in range(40)]
    planted = []
    for copier in range(20, 40):
        source, paragraph = draw.randrange(20), draw.randrange(6)
        copied = edited(draw, essays[source][paragraph].split(), 8, vocabulary)  # of 60 words
        essays[copier][3] = " ".join(copied).capitalize() + "."
        planted.append(((source, paragraph), (copier, 3)))
    for number, paragraphs in enumerate(essays):
        paragraphs_of(f"essays/{number:02}.txt", paragraphs)
    words, answers, *_ = commands("find-plagiarism")
    jaccard, threshold = similarity(words)
    findable = [
        tuple(f"essays/{essay:02}.txt:{2 * paragraph + 1}" for essay, paragraph in pair)
        for pair in planted
        if jaccard(*(essays[essay][paragraph] for essay, paragraph in pair)) >= threshold
    ]
    assert len(findable) >= FOUND * len(planted)
    assert main([*words, "-q"]) == 0
    found = {(row["id_a"], row["id_b"]) for row in rows_of("pairs.tsv")}
    assert len(found & set(findable)) >= FOUND * len(findable)
    sheet = [sample(draw, vocabulary, 20) for _ in range(6)]
    paragraphs_of("sheet.txt", sheet)
    for number, paragraphs in enumerate(essays):
        answered = [text for both in zip(sheet, paragraphs, strict=True) for text in both]
        paragraphs_of(f"exam/{number:02}.txt", answered)
    assert main(answers) == 0
    copied_answers = {
        tuple(f"exam/{essay:02}.txt:{4 * answer + 3}" for essay, answer in pair) for pair in planted
    }
    found = {(row["id_a"], row["id_b"]) for row in rows_of("exam.tsv")}
    assert found <= copied_answers  # and no question of the sheet
    assert len(found) >= FOUND * len(findable)


def test_clean_a_training_set(here, vocabulary):
    draw = random.Random(3)
    texts = [sample(draw, vocabulary, 80) for _ in range(200)]
    tests, train = texts[:50], texts[50:]

    def copy(text):
        return " ".join(edited(draw, text.split(), 1, vocabulary))

    rows = [{"id": f"train {n}", "text": text} for n, text in enumerate(train)]
    rows += [{"id": f"leak {n}", "text": copy(text)} for n, text in enumerate(tests)]
    rows += [{"id": f"again {n}", "text": copy(text)} for n, text in enumerate(train[:50])]
    draw.shuffle(rows)
    held_out = [{"id": f"test {n}", "text": text} for n, text in enumerate(tests)]
    put_table("train.jsonl", rows)
    put_table("test.jsonl", held_out)
    words = commands("clean-a-training-set")[0]
    assert main([*words, "-q"]) == 0
    kept = {row["id"] for row in table_rows("clean.jsonl")}
    assert len([name for name in kept if name.startswith("leak")]) <= (1 - FOUND) * 50
    for number in range(50):
        assert kept & {f"train {number}", f"again {number}"}
    assert len([n for n in range(50) if {f"train {n}", f"again {n}"} <= kept]) <= (1 - FOUND) * 50
    assert {f"train {number}" for number in range(50, 150)} <= kept
    proofs = rows_of("removed.tsv")
    assert len(proofs) == len(rows) - len(kept)
    assert {row["against"] for row in proofs if row["id"].startswith("leak")} == {"true"}


def test_compare_code(here):
    names = run_here("docs/tasks/compare-code.md", here).names
    modules = map(importlib.import_module, ("textwrap", "difflib", "json.decoder", "statistics"))
    functions = [
        code
        for module in modules
        for _, code in inspect.getmembers(module, inspect.isfunction)
        if code.__module__ == module.__name__
    ]
    sources = [textwrap.dedent(inspect.getsource(code)) for code in functions]
    sources = [source for source in sources if 400 < len(source) < 6000]
    assert len(sources) >= 20
    copies = [ast.unparse(names["Rename"]().visit(ast.parse(source))) for source in sources]
    documents = {f"{n}": names["token_ids"](source) for n, source in enumerate(sources)}
    documents |= {f"copy of {n}": names["token_ids"](copy) for n, copy in enumerate(copies)}
    put_table("tokens.jsonl", [{"id": name, "tokens": ids} for name, ids in documents.items()])
    (words,) = commands("compare-code")
    jaccard = shares(list, int(option(words, "--size")))
    threshold = float(option(words, "--threshold"))
    findable = {
        (f"{n}", f"copy of {n}")
        for n in range(len(sources))
        if jaccard(documents[f"{n}"], documents[f"copy of {n}"]) >= threshold
    }
    assert len(findable) >= FOUND * len(sources)
    assert main([*words, "-q"]) == 0
    found = {(row["id_a"], row["id_b"]) for row in rows_of("pairs.tsv")}
    assert len(found & findable) >= FOUND * len(findable)
    assert all(jaccard(documents[a], documents[b]) >= threshold for a, b in found)


@pytest.fixture
def arrivals(vocabulary):
    """Return rows, and for each near-copy of an earlier row the number of its original."""
    draw, texts, original = random.Random(6), [], {}
    for number in range(400):
        words = draw.choices(vocabulary, k=80)
        if number % 4 == 3:
            original[number] = draw.choice([n for n in range(number) if n not in original])
            words = texts[original[number]].split()
            words[draw.randrange(80)] = "changed"
        texts.append(" ".join(words))
    return [{"id": f"{n}", "text": text} for n, text in enumerate(texts)], original


def check_kept(kept, original):
    """All originals are kept, and hardly a copy."""
    assert len(kept & set(original)) <= (1 - FOUND) * len(original)
    assert set(range(400)) - set(original) <= kept


def test_watch_a_stream(here, arrivals):
    rows, original = arrivals
    put_table("examples/notices.jsonl", rows)
    index = run_page(TASKS / "watch-a-stream.md").names["index"]  # read from its file again
    assert "another" in index
    assert "n001 again" not in index
    check_kept({number for number in range(400) if f"{number}" in index}, original)


@pytest.mark.parametrize("days", larger(4, 12))
def test_daily_snapshots(here, vocabulary, days):
    """The snapshots give the rows and the counts of one run over all of them."""
    draw = random.Random(11)
    originals = [sample(draw, vocabulary, 60) for _ in range(150 * days // 12)]
    rows = [
        {"id": f"{day:02}-{n}", "text": f"{draw.choice(originals)}, {draw.randrange(3)}"}
        | {"site": draw.choice(["a.example", "b.example", "c.example"])}
        for day in range(1, days + 1)
        for n in range(40)
    ]
    for day in range(1, days + 1):
        put_table(
            f"day-{day:02}.jsonl", [row for row in rows if row["id"].startswith(f"{day:02}-")]
        )
    begin, daily, export = commands("daily-snapshots")
    assert main(begin) == 0
    for day in range(2, days + 1):
        assert main([word.replace("02", f"{day:02}") for word in daily]) == 0
    assert main(export) == 0
    counts = run_page(TASKS / "daily-snapshots.md", only="python").names["counts"]
    expected = fastlsh.deduplicate([row["text"] for row in rows], 0.7)
    kept = [row for n in range(1, days + 1) for row in table_rows(f"clean/day-{n:02}.jsonl")]
    assert kept == [rows[n] for n in expected.selected]
    came = defaultdict(list)
    for row, head in zip(rows, expected.kept_index, strict=True):
        came[rows[head]["id"]].append(row["site"])
    found = {
        name: (documents, sites)
        for name, documents, sites in zip(*map(list, counts.values()), strict=True)
    }
    assert found == {name: (len(sites), len({*sites})) for name, sites in came.items()}
    assert table_rows("counts.jsonl") == [
        {"id": name, "documents": documents, "sources": sites}
        for name, (documents, sites) in found.items()
    ]
    assert len(found) < len(rows) - 100


def test_serve_an_index(here, arrivals):
    rows, original = arrivals
    names = run_here("docs/tasks/serve-an-index.md", here).names

    def ask(path, **question):
        body, statuses = json.dumps(question).encode(), []
        environ = {"PATH_INFO": path, "REQUEST_METHOD": "POST", "CONTENT_LENGTH": f"{len(body)}"}
        environ["wsgi.input"] = io.BytesIO(body)
        (answer,) = names["application"](environ, lambda status, _: statuses.append(status))
        return statuses[0], json.loads(answer)

    with fastlsh.Index.open(here / "another.db", 0.8) as names["index"]:
        ids, texts = ([row[name] for row in rows] for name in ("id", "text"))
        status, new = ask("/insert", ids=ids, texts=texts)
        assert status == "200 OK"
        check_kept({number for number, is_new in enumerate(new) if is_new}, original)
        _, answers = ask("/query", texts=texts)
        found = [n for n in original if f"{original[n]}" in dict(answers[n])]
        assert len(found) >= FOUND * len(original)
        assert ask("/remove", id="0") == ("200 OK", None)
        assert ask("/remove", id="0")[0].startswith("400")
        assert "0" not in dict(ask("/query", texts=texts[:1])[1][0])
    assert ask("/elsewhere")[0].startswith("404")


def test_move_from_datasketch(arrivals, capsys):
    rows, original = arrivals
    text = (TASKS / "move-from-datasketch.md").read_text(encoding="utf-8")
    first, _, last = (block["code"] for block in BLOCK.finditer(text))
    texts = f"texts = {[row['text'] for row in rows]!r}"
    names = {}
    exec(re.sub(r"^texts = \[.*?^\]", texts, first, flags=re.M | re.S), names)
    assert len(names["sketches"]) == len(rows)
    found = [n for n in original if original[n] in names["lsh"].query(names["sketches"][n])]
    assert len(found) >= FOUND * len(original)
    capsys.readouterr()
    exec(last, names)
    pairs, _, kept = capsys.readouterr().out.partition("[")
    found = {tuple(map(int, line.split()[:2])) for line in pairs.splitlines()}
    planted = {(source, copy) for copy, source in original.items()}
    assert len(found & planted) >= FOUND * len(planted)
    check_kept(set(map(int, kept.strip(" ]\n").split())), original)


def edited(draw, units, count, alphabet):
    """Return units of a text of which some have been replaced."""
    units = list(units)
    for place in draw.sample(range(len(units)), count):
        units[place] = draw.choice(alphabet)
    return units


def test_languages_without_spaces(here):
    draw, rows = random.Random(11), []
    for name, first_letter, last_letter in (("zh", 0x4E00, 0x9000), ("th", 0x0E01, 0x0E2E)):
        letters = [chr(code) for code in range(first_letter, last_letter + 1)]
        for number in range(20):
            text = draw.choices(letters, k=120)
            copy = edited(draw, text, 3, letters)
            rows.append({"id": f"{name}{number}", "text": "".join(text)})
            rows.append({"id": f"{name}{number} again", "text": "".join(copy)})
    put_table("news.jsonl", rows)
    (words,) = commands("languages-without-spaces")
    assert main(words) == 0
    removed = {row["id"]: row["kept_id"] for row in rows_of("removed.tsv")}
    assert len(removed) >= FOUND * 40
    assert all(name == f"{kept} again" for name, kept in removed.items())
    at = words.index("--words")
    assert main(words[:at] + words[at + 2 :]) == 0
    assert rows_of("removed.tsv") == []


def test_leak_free_splits(here, vocabulary):
    draw, rows = random.Random(12), []
    for number in range(30):
        words = draw.choices(vocabulary, k=80)
        for step in range(5):  # the ends of such a chain are not similar
            rows.append({"id": f"{number}.{step}", "text": " ".join(words)})
            words = edited(draw, words, 6, vocabulary)
    put_table("examples/notices.jsonl", rows)
    (words,) = commands("leak-free-splits")
    assert main(words) == 0
    similar, threshold = shares(str, 9), float(option(words, "--threshold"))
    group = {row["id"]: row["id"] for row in rows}
    for one, other in itertools.combinations(rows, 2):
        near = one["id"].split(".")[0] == other["id"].split(".")[0]  # of one chain
        if near and similar(one["text"], other["text"]) >= threshold:
            old, new = group[other["id"]], group[one["id"]]
            group = {name: new if has == old else has for name, has in group.items()}
    found = {row["id"]: row["component"] for row in rows_of("groups.tsv")}
    assert found.keys() == group.keys()
    assert len(set(group.values())) < 60
    right = [name for name in found if found[name] == group[name]]
    assert len(right) >= FOUND * len(rows)
    pairs = rows_of("pairs.tsv")
    assert all(found[row["id_a"]] == found[row["id_b"]] for row in pairs)
    starts = {row["id"] for row in rows if row["id"].endswith(".0")}
    ends = {f"{name[:-1]}4" for name in starts}
    assert not [row for row in pairs if row["id_a"] in starts and row["id_b"] in ends]


def test_choose_a_threshold(here, vocabulary):
    draw, texts = random.Random(16), {}
    for number in range(80):
        words = draw.choices(vocabulary, k=80)
        texts[f"{number}"] = " ".join(words)
        texts[f"{number} again"] = " ".join(edited(draw, words, 1 + number // 8, vocabulary))
    similar = shares(str, 9)
    by_pair = {n: similar(texts[f"{n}"], texts[f"{n} again"]) for n in range(80)}
    put_table("examples/notices.jsonl", [{"id": n, "text": text} for n, text in texts.items()])
    page = run_page(TASKS / "choose-a-threshold.md")
    histogram = list(page.names["counts"])
    edges = page.names["edges"]
    for low, high, count in zip(edges[:-1], edges[1:], histogram, strict=True):
        expected = sum(low <= each < high for each in by_pair.values())
        assert abs(count - expected) <= 1, (low, histogram)
    assert sum(by_pair[n] >= 0.5 for n in by_pair) >= sum(histogram) >= FOUND * 60
    (words,) = commands("choose-a-threshold")
    assert main(words) == 0
    threshold = float(option(words, "--threshold"))
    removed = {row["id"] for row in rows_of("removed.tsv")}
    findable = {f"{n} again" for n, each in by_pair.items() if each >= threshold}
    assert removed <= findable
    assert 30 < FOUND * len(findable) <= len(removed)


def test_datasketch_with_redis(here, redis_address, vocabulary):
    _, _, place = redis_address.partition("//")
    host, port = place.partition("/")[0].split(":")
    text = (TASKS / "datasketch-with-redis.md").read_text(encoding="utf-8")
    text = text.replace('"host": "localhost", "port": 6379', f'"host": "{host}", "port": {port}')
    text = text.replace("localhost:6379", f"{host}:{port}")
    draw = random.Random(18)
    texts = [draw.choices(vocabulary, k=60) for _ in range(40)]
    put_table("examples/notices.jsonl", [
        {"id": f"n{n}", "text": " ".join(words)} for n, words in enumerate(texts[:30])
    ])  # fmt: skip
    put_table("new.jsonl", [
        {"id": f"x{n}", "text": " ".join(edited(draw, words, 1, vocabulary))}
        for n, words in enumerate(texts[10:], 10)
    ])  # fmt: skip
    Path("page.md").write_text(text, encoding="utf-8")
    page = run_page(Path("page.md"))
    assert not page.differences
    found = {row["id"]: row["match"] for row in rows_of("matches.tsv")}
    assert len(found) >= FOUND * 20
    assert all(name[1:] == match[1:] for name, match in found.items())
