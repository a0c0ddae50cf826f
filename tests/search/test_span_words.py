"""Passages counted in words or tokens, against the definition in plain Python."""

import random
import re

import pytest

import oracle_passages
from combinations import every, rounds
from fastlsh import Shingler, deduplicate_spans
from fastlsh.texts import word_units
from hostile_texts import hostile_text

pytestmark = pytest.mark.filterwarnings("ignore:.*equal by accident")  # short ones

MANY = [pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(1, 30)]
GAPS = [" ", " ", "  ", "\n", "\u3000"]


def pieces(text):
    """Return the letters of a text one by one, and what is between them."""
    return re.findall(r"\S+|\s+", text)


def places(text):
    """Return where the letters of a text are, two of them as halves of each, and one empty."""
    found = [(m.start(), m.end()) for m in re.finditer(r"\S+|\s+", text)]
    return [pair for begin, end in found for pair in ((begin, end), (begin, begin), (begin, end))]


SHINGLERS = [
    Shingler("word"),
    Shingler("word", lowercase=True, words="alphanumeric"),
    Shingler("word", tokenizer=pieces),
    Shingler("word", tokenizer=places),
]


def words_of(text, shingler):
    """Return where the words of a text are, and what is compared."""
    pattern = r"\S+|\s+" if shingler.tokenizer else r"\S+"
    if shingler.lowercase:
        pattern = r"\w+"
    return [(m.start(), m.end(), m[0].lower() if shingler.lowercase else m[0])
            for m in re.finditer(pattern, text)]  # fmt: skip


def check(documents, length, shingler, n_against):
    """Compare a result with the definition, and what goes with what stays."""
    own = documents[n_against:]
    result = deduplicate_spans(
        own, length, shingler=shingler, against=documents[:n_against], threads=1
    )
    found = [words_of(text, shingler) for text in documents]
    compared = [tuple(word for *_, word in words) for words in found]
    gone = oracle_passages.removed(compared, length, n_against)
    cut = set()
    rows = [result.document, result.start, result.end, result.against_document]
    kept = [result.kept_document, result.kept_start, result.kept_end]
    for d, begin, end, known, there, start, stop in zip(*rows, *kept, strict=True):
        source = known if known >= 0 else there + n_against
        number = d + n_against
        inside = [n for n, (b, e, _) in enumerate(found[number]) if begin <= b and e <= end]
        other = [n for n, (b, e, _) in enumerate(found[source]) if start <= b and e <= stop]
        assert [compared[number][n] for n in inside] == [compared[source][n] for n in other]
        assert not {(source, n) for n in other} & gone
        cut |= {(number, n) for n in inside}
    assert cut == gone
    for d, text in enumerate(own, n_against):
        places = {p for n, b, e, *_ in zip(
            result.document, result.start, result.end, strict=True) if n + n_against == d
            for p in range(b, e)}  # fmt: skip
        left = "".join(c for p, c in enumerate(text) if p not in places)
        assert result.texts[d - n_against] == left


@pytest.mark.parametrize("seed", [0, *MANY])
@pytest.mark.parametrize(
    "shingler", every(2, SHINGLERS), ids=["words", "lowercase", "tokens", "bounds"]
)
def test_hostile_collections(seed, shingler):
    draw = random.Random(seed)
    for _ in range(rounds(60)):
        base = "".join(draw.choices("abcdefgh-é😀"[: draw.choice([3, 8, 11])], k=200))
        documents = [
            "".join(letter + draw.choice(GAPS) for letter in hostile_text(draw, base))
            for _ in range(draw.randrange(1, 9))
        ]
        if shingler.lowercase:
            documents = ["".join(draw.choice([c, c.upper()]) for c in text) for text in documents]
        length = draw.choice([1, 2, 3, 5, 8, 13, 21, 55])
        check(documents, length, shingler, draw.choice([0, 0, draw.randrange(len(documents))]))


def test_words_of_equal_hashes_are_not_equal(monkeypatch):
    monkeypatch.setattr(word_units, "HASH_BITS", 0)
    draw = random.Random(1)
    for _ in range(rounds(30)):
        documents = [" ".join(hostile_text(draw, "abcdefgh" * 30)) for _ in range(4)]
        check(documents, draw.choice([1, 3, 8]), SHINGLERS[0], 0)


@pytest.mark.parametrize(
    ("tokenizer", "error", "message"),
    [
        (lambda text: [text[:2].lower()], ValueError, "made 'ab' of 'AB c'.*must be pieces of it"),
        (lambda text: [b"AB"], TypeError, "tokens of passages must be str, .* got bytes"),
        (lambda text: [(0, 9)], ValueError, "bounds outside a text of 4 code points"),
        (lambda text: [(2, 3), (0, 1)], ValueError, "not in the order of the text"),
        (lambda text: [(0, 1), (1,)], TypeError, "must be pairs of int"),
        (
            lambda text, seen=[]: seen.append(0) or text.split()[: len(seen) % 2 + 1],
            ValueError, "other tokens when it was called again.* deterministic",
        ),
    ],
)  # fmt: skip
def test_tokenizers_that_cannot_be_used(tokenizer, error, message):
    with pytest.raises(error, match=message):
        deduplicate_spans(["AB c", "AB c"], 1, shingler=Shingler("word", tokenizer=tokenizer))


def test_a_tokenizer_that_changes_later():
    calls = []

    def tokenizer(text):
        calls.append(text)
        return text.split() if len(calls) < 5 else [text]

    shingler = Shingler("word", tokenizer=tokenizer)
    with pytest.raises(ValueError, match="a tokenizer that is deterministic"):
        deduplicate_spans(["a b c d", "a b c d"], 2, shingler=shingler)


def test_units_that_are_refused():
    with pytest.raises(ValueError, match=r"'char', 'byte' or 'word', got 'token'"):
        deduplicate_spans([[1, 2], [1, 2]], 1, shingler=Shingler("token"))
    shingler = Shingler("word", words="alphanumeric", empty_words=True)
    with pytest.raises(ValueError, match="no empty words"):
        deduplicate_spans(["a", "a"], 1, shingler=shingler)


@pytest.mark.filterwarnings("default")
def test_short_passages_of_words():
    texts = [f"{number} a" for number in range(10_000)]
    with pytest.warns(UserWarning, match=r"equal by accident.*min_length=6 or more"):
        deduplicate_spans(texts, 3, shingler=Shingler("word"))
