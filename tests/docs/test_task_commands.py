"""The commands of the task pages find what was planted in data that are not those of the page."""

import csv
import json
import random
import re
import shlex

import pytest

from fastlsh.cli import main
from pages import ROOT

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


def option(words, name):
    return words[words.index(name) + 1]


def similarity(words):
    """Return the similarity that a command defines, by Python's sets, and its threshold."""
    size, unit = int(option(words, "--size")), "word" if "--unit" in words else "char"

    def shingles(text):
        text = " ".join(re.sub(r"[^\w\s]", " ", text.lower()).split())
        units = text.split() if unit == "word" else text
        return {tuple(units[i : i + size]) for i in range(max(1, len(units) - size + 1))}

    def jaccard(left, right):
        a, b = shingles(left), shingles(right)
        return len(a & b) / len(a | b)

    return jaccard, float(option(words, "--threshold"))


@pytest.fixture
def vocabulary(examples):
    """Plain words, so that normalisation is that of the oracle."""
    lines = (examples / "notices.jsonl").read_text(encoding="utf-8").splitlines()
    text = " ".join(json.loads(line)["text"] for line in lines)
    return sorted(set(re.findall(r"\b[a-zA-Z]{3,12}\b", text)))


def test_merge_catalogues(tmp_path, monkeypatch, vocabulary):
    monkeypatch.chdir(tmp_path)
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
        with open(file, "w", newline="", encoding="utf-8") as out:
            csv.writer(out).writerows([("id", "title"), *entries.items()])
    build, query, dedup = commands("merge-catalogues")
    jaccard, threshold = similarity(build)
    assert similarity(dedup)[1] == threshold
    findable = {
        f"copy of {name}"
        for name, title in ours.items()
        if jaccard(title, theirs[f"copy of {name}"]) >= threshold
    }
    assert len(findable) >= FOUND * len(ours)
    for words in (build, query, dedup):
        assert main([*words, "-q"]) == 0
    with open("matches.tsv", encoding="utf-8") as file:
        matches = {row["id"]: row["match"] for row in csv.DictReader(file, delimiter="\t")}
    right = {name for name in findable if matches.get(name) == name.removeprefix("copy of ")}
    assert len(right) >= FOUND * len(findable)
    assert not [name for name in matches if name not in findable]
    with open("known.tsv", encoding="utf-8") as file:
        removed = {row["id"] for row in csv.DictReader(file, delimiter="\t")}
    assert len(removed & findable) >= FOUND * len(findable)


def test_find_plagiarism(tmp_path, monkeypatch, vocabulary):
    monkeypatch.chdir(tmp_path)
    draw = random.Random(2)
    essays = [[" ".join(draw.choices(vocabulary, k=60)) for _ in range(6)] for _ in range(40)]
    planted = []
    for copier in range(20, 40):
        source, paragraph = draw.randrange(20), draw.randrange(6)
        copied = essays[source][paragraph].split()
        for place in draw.sample(range(len(copied)), 8):  # of 60 words
            copied[place] = draw.choice(vocabulary)
        essays[copier][3] = " ".join(copied).capitalize() + "."
        planted.append(((source, paragraph), (copier, 3)))
    (tmp_path / "essays").mkdir()
    for number, paragraphs in enumerate(essays):
        path = tmp_path / "essays" / f"{number:02}.txt"
        path.write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8")
    (words,) = commands("find-plagiarism")
    jaccard, threshold = similarity(words)
    findable = [
        tuple(f"essays/{essay:02}.txt:{2 * paragraph + 1}" for essay, paragraph in pair)
        for pair in planted
        if jaccard(*(essays[essay][paragraph] for essay, paragraph in pair)) >= threshold
    ]
    assert len(findable) >= FOUND * len(planted)
    assert main([*words, "-q"]) == 0
    with open("pairs.tsv", encoding="utf-8") as file:
        rows = csv.DictReader(file, delimiter="\t")
        found = {(row["id_a"].replace("\\", "/"), row["id_b"].replace("\\", "/")) for row in rows}
    assert len(found & set(findable)) >= FOUND * len(findable)


def test_clean_a_training_set(tmp_path, monkeypatch, vocabulary):
    monkeypatch.chdir(tmp_path)
    draw = random.Random(3)
    texts = [" ".join(draw.choices(vocabulary, k=80)) for _ in range(200)]
    tests, train = texts[:50], texts[50:]

    def copy(text):
        words = text.split()
        words[draw.randrange(80)] = draw.choice(vocabulary)
        return " ".join(words)

    rows = [{"id": f"train {n}", "text": text} for n, text in enumerate(train)]
    rows += [{"id": f"leak {n}", "text": copy(text)} for n, text in enumerate(tests)]
    rows += [{"id": f"again {n}", "text": copy(text)} for n, text in enumerate(train[:50])]
    draw.shuffle(rows)
    held_out = [{"id": f"test {n}", "text": text} for n, text in enumerate(tests)]
    for name, some in (("train", rows), ("test", held_out)):
        text = "".join(json.dumps(row) + "\n" for row in some)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    words = commands("clean-a-training-set")[0]
    assert main([*words, "-q"]) == 0
    lines = (tmp_path / "clean.jsonl").read_text(encoding="utf-8").splitlines()
    kept = {json.loads(line)["id"] for line in lines}
    assert len([name for name in kept if name.startswith("leak")]) <= (1 - FOUND) * 50
    for number in range(50):
        assert kept & {f"train {number}", f"again {number}"}
    assert len([n for n in range(50) if {f"train {n}", f"again {n}"} <= kept]) <= (1 - FOUND) * 50
    assert {f"train {number}" for number in range(50, 150)} <= kept
    with open("removed.tsv", encoding="utf-8") as file:
        proofs = list(csv.DictReader(file, delimiter="\t"))
    assert len(proofs) == len(rows) - len(kept)
    assert {row["against"] for row in proofs if row["id"].startswith("leak")} == {"true"}
