"""Words of scripts without spaces: each search says what it says of the same words with spaces."""

import random

import pytest

import fastlsh
from fastlsh import Index, Key, Shingler

KEY = Key(bytes(range(32)))
LETTERS = "山水天地人ひらカーกขཀ"
DRAW, TEXTS = random.Random(3), []
for number in range(24):  # two of three texts are changed copies of the one before
    letters = DRAW.choices(LETTERS, k=DRAW.choice([40, 63, 64, 65, 130, 700]))
    if number % 3:
        letters = list(TEXTS[-1])
        letters[len(letters) // 2] = DRAW.choice(LETTERS)
    TEXTS.append("".join(letters))
SPACED = [" ".join(text) for text in TEXTS]


@pytest.mark.parametrize("key", [None, KEY], ids=["", "keyed"])
def test_searches(key):
    found = []
    for texts, words in ((TEXTS, "unicode"), (SPACED, "whitespace")):
        shingler = Shingler("word", 3, words=words, key=key)
        how = {"threshold": 0.6, "shingler": shingler}
        pairs = list(fastlsh.near_duplicates(texts, **how))
        index = Index(**how)
        index.insert_many(range(24), texts)
        known = fastlsh.deduplicate(texts[12:], rule="contained", against=texts[:12], **how)
        near = fastlsh.deduplicate_lines(["\n".join(texts)], **how).texts[0].replace(" ", "")
        assert len(near.split("\n")) == 8
        assert len(pairs) >= 16
        found.append((
            pairs, fastlsh.deduplicate(texts, **how).kept_index.tolist(),
            [fastlsh.jaccard(texts[0], text, shingler) for text in texts],
            index.query_many(texts), known.kept_index.tolist(), near,
            fastlsh.evaluate(texts, **how).recall, fastlsh.explain(*texts[:2], **how).similarity,
        ))  # fmt: skip
    assert found[0] == found[1]


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
