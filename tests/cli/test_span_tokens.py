"""`fastlsh dedup --by span --unit token`: passages counted in the tokens of a tokenizer.json."""

import json
import sys

import pytest

import oracle_passages
from fastlsh.cli import main
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


def refused(folder, capsys, *arguments):
    out = folder / "out.jsonl"
    command = ["dedup", str(folder / "in.jsonl"), "-o", str(out), "--by", "span", *arguments]
    assert main(command) in (1, 2)
    return capsys.readouterr().err


def written(folder, *arguments):
    out = folder / "out.jsonl"
    assert not main(["dedup", str(folder / "in.jsonl"), "-o", str(out), "--by", "span", *arguments])
    rest = [json.loads(line)["text"] for line in out.read_text("utf-8").splitlines()]
    out.unlink()
    return rest


@pytest.mark.filterwarnings("ignore:.*equal by accident")
@pytest.mark.parametrize("length", [4, 20, 80])
def test_tokens_of_single_characters(tmp_path, bytes_of_text, length):
    rows = [json.dumps({"id": n, "text": text}) for n, text in enumerate(TEXTS)]
    (tmp_path / "in.jsonl").write_text("\n".join(rows) + "\n")
    given = ["--unit", "token", "--tokenizer", str(bytes_of_text), "--min-length", str(length)]
    gone = oracle_passages.removed(TEXTS, length, 0)
    expected = [
        "".join(letter for n, letter in enumerate(text) if (number, n) not in gone)
        for number, text in enumerate(TEXTS)
    ]
    for engine in ("memory", "disk"):
        assert written(tmp_path, *given, "--engine", engine) == expected


def test_what_is_refused(tmp_path, bytes_of_text, monkeypatch, capsys):
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": "a"}) + "\n")
    given = ["--unit", "token", "--tokenizer", str(bytes_of_text)]

    read = json.loads(bytes_of_text.read_text())
    assert "--unit token needs --tokenizer FILE" in refused(tmp_path, capsys, *given[:2])
    assert "--tokenizer is for --unit token" in refused(tmp_path, capsys, *given[2:])
    bytes_of_text.write_text(json.dumps({**read, "model": {**read["model"], "dropout": 0.1}}))
    assert "has a dropout of 0.1" in refused(tmp_path, capsys, *given)
    bytes_of_text.write_text("{}")
    assert "tokenizer.json: is no tokenizer.json: " in refused(tmp_path, capsys, *given)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    assert 'pip install "fastlsh[tokenizers]"' in refused(tmp_path, capsys, *given)
