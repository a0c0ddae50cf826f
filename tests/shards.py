"""Small collections in files, and budgets that make every stage cut its work."""

import json
import random

from fastlsh.files.budget import Budget
from fastlsh.files.run import manifest, workdir

WORDS = [
    "river", "stone", "cloud", "ember", "meadow", "harbor", "signal", "copper", "winter", "lantern",
    "orchard", "valley", "thunder", "pepper", "island", "mirror", "canyon", "velvet", "anchor",
    "ember",
]  # fmt: skip


def rows_of(seed, n, extra=()):
    """Return rows with near-duplicates, copies, empty texts, nulls and awkward characters."""
    rng = random.Random(seed)
    rows = []
    for number in range(n):
        draw = rng.random()
        if rows and draw < 0.35:
            words = (rng.choice(rows)["text"] or "").split(" ")
            for _ in range(rng.randrange(3)):
                words[rng.randrange(len(words))] = rng.choice(WORDS)
            text = " ".join(words)
        elif rows and draw < 0.45:
            text = rng.choice(rows)["text"]
        elif draw < 0.5:
            text = rng.choice(["", None, " ", "short", "naïve café ☃ 𝔘𝔫𝔦 \u0000 \t"])
        else:
            text = " ".join(rng.choices(WORDS, k=rng.randrange(12, 60)))
        rows.append({"id": f"d{number}", "text": text, "score": rng.randrange(5)})
    return rows


def write_shards(folder, rows, shards, name="in"):
    """Write the rows as JSON lines in several files; return their paths."""
    paths = []
    for shard in range(shards):
        path = folder / f"{name}{shard}.jsonl"
        part = rows[len(rows) * shard // shards : len(rows) * (shard + 1) // shards]
        path.write_text("".join(json.dumps(row) + "\n" for row in part), encoding="utf-8")
        paths.append(str(path))
    return paths


SIZES = [
    {},
    {"block": 1, "segment": 8, "rows": 50, "part": 1, "texts": 0},
    {"block": 1 << 20, "segment": 1 << 16, "rows": 1 << 16, "part": 1 << 16, "texts": 1 << 20},
]
"""Budgets that cut into pieces of usual, of the least and of the largest sizes."""

OF_PASSAGES = {"part": 100, "segment": 200}
"""Sizes for passages, as a document has many contexts."""


def small_budget(monkeypatch, **sizes):
    """Let stages cut their work: blocks of 700 bytes, segments of 40 documents, parts of 10.

    Units of signing have 16 KB.
    """
    wanted = {"block": 700, "segment": 40, "rows": 16, "part": 10, "texts": 2000, **sizes}
    texts = wanted.pop("texts")
    wanted |= {"waiting": texts, "prepared": texts, "of_families": texts}
    wanted |= {"in_part": texts // 2, "grouped": max(texts // 2, 1)}  # it is never 0

    def of(cls, memory, params, threads, piece=0):
        return cls(memory, **wanted)

    monkeypatch.setattr(Budget, "of", classmethod(of))
    monkeypatch.setattr(manifest, "UNIT", 16_000)
    # Nothing is killed here; the disk would take most of the time.
    monkeypatch.setattr(workdir, "synchronise", lambda path: None)


def content_of(path):
    """Return the JSON value of a file of a work directory, without its seal."""
    return json.loads(path.read_bytes().rpartition(b"\nfastlsh ")[0])


def contents(folder):
    """Return the bytes of each file below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
