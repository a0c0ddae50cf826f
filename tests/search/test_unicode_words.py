"""Words of scripts without spaces: each search says what it says of the same words with spaces."""

import random

import pytest

import fastlsh
from fastlsh import Index, Key, Shingler

KEY = Key(bytes(range(32)))
LETTERS = "山水天地人ひらカーกขཀ"
DRAW = random.Random(3)


def texts_of(n, longest=700):
    """Return texts of letters, some of them changed copies of the one before."""
    texts = []
    for number in range(n):
        letters = DRAW.choices(LETTERS, k=DRAW.choice([40, 63, 64, 65, 130, longest]))
        if number % 3:
            letters = list(texts[-1])
            letters[len(letters) // 2] = DRAW.choice(LETTERS)
        texts.append("".join(letters))
    return texts


TEXTS = texts_of(24)
SPACED = [" ".join(text) for text in TEXTS]


def both(key=None, size=3):
    """Yield the texts and a shingler for them, and both with spaces between the words."""
    yield TEXTS, Shingler("word", size, words="unicode", key=key)
    yield SPACED, Shingler("word", size, key=key)


@pytest.mark.parametrize("key", [None, KEY], ids=["", "keyed"])
def test_near_duplicates_and_deduplicate(key):
    (apart, spaced) = (
        (list(fastlsh.near_duplicates(texts, 0.6, shingler=shingler)),
         fastlsh.deduplicate(texts, 0.6, shingler=shingler).kept_index.tolist(),
         [fastlsh.jaccard(texts[0], text, shingler) for text in texts])
        for texts, shingler in both(key)
    )  # fmt: skip
    assert apart == spaced
    assert len(apart[0]) >= 16


def test_other_searches():
    found = []
    for texts, shingler in both():
        index = Index(0.6, shingler=shingler)
        index.insert_many(range(24), texts)
        kept = fastlsh.deduplicate(
            texts[12:], 0.6, rule="contained", against=texts[:12], shingler=shingler
        )
        truth = fastlsh.evaluate(texts, 0.6, shingler=shingler)
        reason = fastlsh.explain(*texts[:2], threshold=0.6, shingler=shingler)
        near = fastlsh.deduplicate_lines(["\n".join(texts)], threshold=0.6, shingler=shingler)
        found.append((
            index.query_many(texts), kept.kept_index.tolist(), truth.recall, reason.similarity,
            near.texts[0].replace(" ", ""),
        ))  # fmt: skip
    assert found[0] == found[1]
    assert len(found[0][4].split("\n")) == 8


@pytest.mark.parametrize("stop_words", [None, ["水", "ー"]], ids=["", "stop words"])
def test_passages(stop_words):
    apart, spaced = (
        fastlsh.deduplicate_spans(
            texts, 9, shingler=Shingler("word", words=words, stop_words=stop_words)
        )
        for texts, words in ((TEXTS, "unicode"), (SPACED, "whitespace"))
    )
    same = ["" if text is None else text.replace(" ", "") for text in spaced.texts]
    assert [text or "" for text in apart.texts] == same
    assert same != TEXTS


def test_evaluation_items():
    documents = [text for text in TEXTS if len(text) > 100]
    items = [document[20:40] for document in documents[:4]] + ["ひら" * 9]
    apart = fastlsh.decontaminate(documents, items)
    spaced = fastlsh.decontaminate(
        [" ".join(text) for text in documents], [" ".join(item) for item in items]
    )
    assert apart.kept.tolist() == spaced.kept.tolist()
    assert not apart.kept[:4].any()
    assert not apart.not_searched
    cut = fastlsh.decontaminate(documents[:1], items[:1], rule="span").texts[0]
    assert cut == documents[0][:20] + documents[0][40:]
