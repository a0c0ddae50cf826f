"""`fastlsh dedup --by span --unit token`: passages counted in the tokens of a tokenizer.json."""

import json
import sys
from pathlib import Path

import pytest

import oracle_passages
from fastlsh.files.run.stages import STAGES
from files import put_rows, table_rows
from required import library

tokenizers = library("tokenizers")

COMMON = "the licence of words is granted here to all of us 😀 without warranty of any kind, ever"
TEXTS = [f"First. {COMMON} One.", "Nothing of it.", f"Second: {COMMON}", "lone \ud800 surrogate"]


@pytest.fixture
def bytes_of_text(tmp_path):
    """A tokenizer of the bytes of words: an emoji has four tokens, which share a character."""
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    model = tokenizers.models.BPE({letter: n for n, letter in enumerate(letters)}, [])
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.enable_truncation(3)
    made.save(str(tmp_path / "tokenizer.json"))
    return tmp_path / "tokenizer.json"


@pytest.fixture(scope="module")
def pages():
    """Real texts: pages of the documentation, with parts of them again."""
    folder = Path(__file__).parents[2] / "docs"
    paths = sorted(folder.glob("*.md"))
    texts = [page.read_text("utf-8")[:6000] for page in paths][:8]
    return [*texts, texts[0][500:2500] + texts[3][100:900], texts[1][::2], texts[2][:3000].upper()]


@pytest.fixture(scope="module")
def trained(tmp_path_factory, pages):
    """A tokenizer of a few hundred tokens, trained on the texts."""
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=600, initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(pages, trainer)
    path = tmp_path_factory.mktemp("trained") / "tokenizer.json"
    made.save(str(path))
    return path


BY_SPAN = ["dedup", "in.jsonl", "-o", "out.jsonl", "--by", "span"]


def written(run, *arguments):
    run.done(*BY_SPAN, *arguments)
    return [row["text"] for row in table_rows("out.jsonl")]


@pytest.mark.filterwarnings("ignore:.*equal by accident")
@pytest.mark.parametrize("length", [4, 20, 80])
def test_tokens_of_single_characters(run, bytes_of_text, length):
    put_rows("in.jsonl", *({"id": n, "text": text} for n, text in enumerate(TEXTS)))
    given = ["--unit", "token", "--tokenizer", bytes_of_text, "--min-length", length]
    gone = oracle_passages.removed(TEXTS, length, 0)
    expected = [
        "".join(letter for n, letter in enumerate(text) if (number, n) not in gone)
        for number, text in enumerate(TEXTS)
    ]
    for engine in ("memory", "disk"):
        assert written(run, *given, "--engine", engine) == expected


@pytest.mark.filterwarnings("ignore:.*equal by accident")
@pytest.mark.parametrize("length", [6, 15, 40, 120])
def test_tokens_of_a_trained_tokenizer(run, pages, trained, length):
    put_rows("in.jsonl", *({"id": n, "text": text} for n, text in enumerate(pages)))
    read = tokenizers.Tokenizer.from_file(str(trained))
    bounds = [units_of(read.encode(text, add_special_tokens=False).offsets) for text in pages]
    tokens = [
        [text[begin:end] for begin, end in of_text]
        for text, of_text in zip(pages, bounds, strict=True)
    ]
    assert sum(map(len, tokens)) < sum(map(len, pages)) / 1.8  # most have several characters
    gone = oracle_passages.removed([tuple(each) for each in tokens], length)
    assert gone
    expected = []
    for number, (text, of_text) in enumerate(zip(pages, bounds, strict=True)):
        lost = [place for n, place in gone if n == number]
        without = {c for place in lost for c in range(*of_text[place])}
        expected.append("".join(c for at, c in enumerate(text) if at not in without))
    given = ["--unit", "token", "--tokenizer", trained, "--min-length", length]
    work = ["--work", "work", "--memory", "256M"]
    assert written(run, *given, "--engine", "memory") == expected
    assert written(run, *given, "--engine", "disk", *work) == expected
    for stage in STAGES[:-1]:
        run.done(*BY_SPAN, *given, *work, "--stage", stage)
    assert written(run, *given, *work, "--stage", STAGES[-1]) == expected


def units_of(offsets):
    """Return the bounds of units: tokens that share a character are one, empty ones none."""
    found = []
    for begin, end in offsets:
        if found and begin < found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif begin < end:
            found.append((begin, end))
    return found


def test_what_is_refused(run, bytes_of_text, monkeypatch):
    put_rows("in.jsonl", {"text": "a"})
    given = [*BY_SPAN, "--unit", "token", "--tokenizer", bytes_of_text]
    read = json.loads(bytes_of_text.read_text())
    assert "--tokenizer is for --unit token" in run.refused(*BY_SPAN, *given[-2:])
    bytes_of_text.write_text(json.dumps({**read, "model": {**read["model"], "dropout": 0.1}}))
    assert "has a dropout of 0.1" in run.refused(*given)
    bytes_of_text.write_text("{}")
    assert "tokenizer.json: is no tokenizer.json: " in run.refused(*given)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    assert "pip install tokenizers" in run.refused(*given)
