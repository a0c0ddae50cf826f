"""How often a function of Python is called for each text."""

from collections import Counter

import pytest

from fastlsh import (
    Index,
    MinHasher,
    Shingler,
    deduplicate,
    deduplicate_files,
    deduplicate_lines,
    evaluate,
    exact_jaccard,
    exact_pairs,
    near_duplicate_files,
    near_duplicates,
)  # fmt: skip
from files import put_rows

ALONE = [
    f"document {i} has the words {i * 7} and {i * 13}, and {i * 31} besides" for i in range(60)
]
FAMILY = [f"a family of texts that are nearly equal to each other, {i}" for i in range(20)]
TEXTS = [*ALONE, *FAMILY]


@pytest.fixture
def calls():
    return Counter()


@pytest.fixture
def shingler(calls):
    def normalize(text):
        calls[text] += 1
        return text.swapcase()

    return Shingler(size=9, normalize=normalize)


IN_MEMORY = {
    "signatures": lambda s: MinHasher(shingler=s).signatures(TEXTS),
    "pairs": lambda s: near_duplicates(TEXTS, 0.7, shingler=s, estimates=True),
    "exact pairs": lambda s: exact_pairs(TEXTS, 0.7, shingler=s),
    "first": lambda s: deduplicate(TEXTS, 0.7, shingler=s),
    "longest": lambda s: deduplicate(TEXTS, 0.7, shingler=s, keep="longest"),
    "signature": lambda s: deduplicate(TEXTS, 0.7, shingler=s, verify="signature"),
    "contained": lambda s: deduplicate(TEXTS, 0.7, shingler=s, rule="contained"),
    "containment": lambda s: deduplicate(
        TEXTS, 0.7, shingler=s, rule="contained", search="containment"
    ),
    "against": lambda s: deduplicate(TEXTS[:30], 0.7, shingler=s, against=TEXTS[30:]),
    "lines": lambda s: deduplicate_lines(TEXTS, shingler=s),
    "evaluate": lambda s: evaluate(TEXTS, 0.7, shingler=s),
    "exact_jaccard": lambda s: exact_jaccard(TEXTS, TEXTS[::-1], shingler=s),
    "insert_many": lambda s: Index(0.7, shingler=s).insert_many(range(len(TEXTS)), TEXTS),
    "insert_unique": lambda s: Index(0.7, shingler=s).insert_unique(range(len(TEXTS)), TEXTS),
}


@pytest.mark.parametrize("name", IN_MEMORY)
def test_normalize_is_called_once_for_each_text(name, shingler, calls):
    IN_MEMORY[name](shingler)
    times = 2 if name == "exact_jaccard" else 1  # each text is given twice
    assert calls == dict.fromkeys(TEXTS, times)


def test_normalize_is_called_twice_for_similar_lines(shingler, calls):
    """Once to find equal lines, and once for those that remain."""
    deduplicate_lines(TEXTS, threshold=0.7, shingler=shingler)
    assert calls == dict.fromkeys(TEXTS, 2)


@pytest.mark.parametrize("database", [False, True])
def test_an_index_calls_normalize_once_for_each_text_given(database, tmp_path, shingler, calls):
    where = tmp_path / "index.sqlite"
    made = Index.open(where, 0.7, shingler=shingler) if database else Index(0.7, shingler=shingler)
    with made as index:
        index.insert_many(range(len(TEXTS)), TEXTS)
        assert calls == dict.fromkeys(TEXTS, 1)
        index.query_many(TEXTS)
        assert calls == dict.fromkeys(TEXTS, 2)


@pytest.mark.parametrize("engine", ["memory", "disk"])
@pytest.mark.parametrize("function", [deduplicate_files, near_duplicate_files])
def test_files(engine, function, here, shingler, calls):
    """On disk, the texts are not kept: those that share a bucket are read, and normalised, again.

    And a few at first, to see whether the shingles suit them.
    """
    put_rows("a.jsonl", *({"id": i, "text": text} for i, text in enumerate(TEXTS)))
    put_rows("b.jsonl", *({"id": i, "text": "x" + text} for i, text in enumerate(TEXTS)))
    function(["a.jsonl", "b.jsonl"], "o.jsonl" if function is deduplicate_files else "o.tsv", 0.7,
             shingler=shingler, engine=engine)  # fmt: skip
    assert set(calls) == {*TEXTS, *("x" + text for text in TEXTS)}
    if engine == "memory":
        assert set(calls.values()) == {1}
    else:
        assert all(calls["x" + text] == 2 for text in TEXTS)
        assert all(calls[text] == 3 for text in TEXTS)


def test_a_tokenizer_is_called_again_only_to_compare(calls):
    def tokenizer(text):
        calls[text] += 1
        return text.split()

    deduplicate(TEXTS, 0.7, shingler=Shingler("word", size=2, tokenizer=tokenizer))
    assert all(calls[text] == 1 for text in ALONE)
    assert all(calls[text] == 2 for text in FAMILY)
