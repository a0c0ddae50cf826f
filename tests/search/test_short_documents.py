"""Documents that are shorter than a shingle: one warning with both numbers, in each search."""

import warnings
from functools import partial

import pytest

import fastlsh
from combinations import covering
from fastlsh import RecallWarning, Shingler
from in_stages import ENGINES, run_with
from shards import write_shards

CHINESE = ["山水之间有一条小路通向远方的村庄" + end for end in "甲乙丙丁"]
WORDS = Shingler("word", 3)
LONG = [f"document {number} of a collection has many words" for number in range(20)]


def said(call):
    """Return the warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    found = [str(each.message) for each in caught if issubclass(each.category, RecallWarning)]
    return [message for message in found if "shorter than" in message]


SEARCHES = [
    fastlsh.near_duplicates,
    partial(fastlsh.exact_pairs, threshold=0.8),
    fastlsh.deduplicate,
    partial(fastlsh.deduplicate, rule="contained", search="containment"),
    partial(fastlsh.matches, against=LONG),
    lambda texts, **more: fastlsh.overlap({"a": texts, "b": []}, **more),
    fastlsh.evaluate,
]


@pytest.mark.parametrize("search", SEARCHES)
def test_every_search_says_it_once(search):
    (message,) = said(lambda: search(CHINESE, shingler=WORDS))
    assert message.startswith(
        "4 of 4 documents are shorter than 3 words: such a document is similar"
    )
    assert 'characters (unit="char") in text without spaces' in message
    for shingler in (Shingler("char", 5), Shingler("word", 3, words="unicode")):
        assert not said(lambda of=shingler: search(CHINESE, shingler=of))


@pytest.mark.parametrize(
    ("shingler", "unit"),
    [
        (Shingler(), "9 characters"),
        (Shingler("byte", 30), "30 bytes"),
        (Shingler("word", 2, stop_words=["one"]), "2 words"),
        (Shingler("word", 3, tokenizer=str.split), "3 words"),
        (Shingler("token", 3), "3 tokens"),
    ],
)
def test_units(shingler, unit):
    texts = [[1, 2], [3], [4, 5]] if shingler.unit == "token" else ["one two", "one", "two"]
    (message,) = said(lambda: fastlsh.deduplicate(texts, shingler=shingler))
    count = 2 if shingler.stop_words else 3  # the document "one" is empty without it
    assert message.startswith(f"{count} of {count} documents are shorter than {unit}")
    assert said(lambda: fastlsh.exact_pairs(texts, 0.8, shingler=shingler)) == [message]


def test_more_than_a_tenth_of_those_that_are_not_empty():
    five = Shingler("word", 5)
    for short, expected in ((2, None), (3, "3 of 20"), (20, "20 of 20")):
        texts = [f"tiny {number}" for number in range(short)] + LONG[short:] + [""] * 90
        found = said(lambda of=texts: fastlsh.deduplicate(of, shingler=five))
        assert [message.partition(" documents")[0] for message in found] == [expected] * len(found)
        assert len(found) == (expected is not None)
    exactly = [" ".join(LONG[number].split()[:5]) for number in range(20)]
    assert not said(lambda: fastlsh.deduplicate(exactly, shingler=five))
    assert not said(lambda: fastlsh.deduplicate(CHINESE, rule="equal", shingler=WORDS))


def test_one_document():
    (message,) = said(lambda: fastlsh.deduplicate(["tiny"], shingler=WORDS))
    assert message.startswith("1 of 1 document is shorter than 3 words: such a document")
    (message,) = said(lambda: fastlsh.deduplicate(["tiny", *LONG[:5]], shingler=WORDS))
    assert message.startswith("1 of 6 documents is shorter than 3 words")
    result = fastlsh.evaluate(["one longer text"])
    assert repr(result).startswith("<Evaluation of 1 document at")
    assert str(result).startswith("1 document, 0 empty")


def test_each_collection_by_itself():
    of_against = "4 of 4 documents of against= are shorter than 3 words"
    for search in (fastlsh.deduplicate, fastlsh.matches):
        (message,) = said(lambda of=search: of(LONG, against=CHINESE, shingler=WORDS))
        assert message.startswith(of_against)
        (message,) = said(lambda of=search: of(CHINESE, against=LONG, shingler=WORDS))
        assert message.startswith("4 of 4 documents are shorter")


def test_near_lines(tmp_path):
    texts, known = ["\n".join(LONG), "a b\na b\n\nx y\nlonger line of words"], ["a b\nc d\n"]
    expected = [
        "3 of 24 lines are shorter than 3 words: such a line is similar only to an equal one",
        "2 of 2 lines of against= are shorter than 3 words",
    ]
    how = {"threshold": 0.5, "shingler": WORDS}

    calls = [partial(fastlsh.deduplicate_lines, texts, **how, against=known)]
    assert not said(lambda: fastlsh.deduplicate_lines(texts, against=known, min_length=5, **how))
    assert not said(lambda: fastlsh.deduplicate_lines(texts))
    inputs = write_shards(tmp_path, [{"text": text} for text in texts], 2)
    against = write_shards(tmp_path, [{"text": text} for text in known], 1, "known")
    how |= {"against": against, "output": tmp_path / "out.jsonl", "work": tmp_path / "work"}
    calls += [
        partial(run_with, engine, fastlsh.deduplicate_line_files, inputs, **how)
        for engine in ENGINES
    ]
    for call in calls:
        for message, start in zip(said(call), expected, strict=True):
            assert message.startswith(start)


@pytest.mark.parametrize("n", [1, 5, 31, 32, 33, 500])
def test_long_texts_are_counted_by_their_beginning(n):
    # The count of a beginning must not take a word that is cut for one of a list.
    texts = ["x" * 200, "x " * n, "listed " * n + "x", "x" * 150 + " listed" * 3]
    for shingler in (
        Shingler("word", 3),
        Shingler("word", 3, stop_words=["listed"]),
        Shingler("word", 3, vocabulary=["listed"]),
    ):
        short = [len(shingler.shingles(text)) == 1 for text in texts]
        fewer = [len(Shingler("word", 1, stop_words=shingler.stop_words,
                              vocabulary=shingler.vocabulary).shingles(text)) < 3
                 for text in texts]  # fmt: skip
        found = fastlsh.stages.sign_batch(texts, fastlsh.stages.SearchParams.of(shingler=shingler))
        empty = found.keys[0] == 0
        assert found.short.tolist() == [a and not b for a, b in zip(fewer, empty, strict=True)]
        assert all(a or not b for a, b in zip(short, found.short, strict=True))


CONTAINMENT = {"rule": "contained", "search": "containment", "num_perm": 32}
JOBS = {
    "dedup": (fastlsh.deduplicate_files, {}),
    "containment": (fastlsh.deduplicate_files, CONTAINMENT),
    "grouped": (fastlsh.deduplicate_files, {"group": "id"}),
    "pairs": (fastlsh.near_duplicate_files, {}),
    "overlap": (fastlsh.overlap_files, {"source": "site"}),
}


@pytest.mark.parametrize(("kind", "engine"), covering(JOBS, ENGINES))
def test_files(tmp_path, kind, engine):
    pytest.importorskip("pyarrow")
    rows = [{"id": number, "text": text, "site": number % 2} for number, text in enumerate(CHINESE)]
    inputs = write_shards(tmp_path, [*rows, {"id": 9, "text": "", "site": 1}], 2)
    against = write_shards(tmp_path, [{"id": 5, "text": LONG[0]}] * 9, 1, "known")
    page = tmp_path / "page.html" if kind != "pairs" or engine == "memory" else None
    (function, how) = JOBS[kind]
    how = {**how, "shingler": WORDS, "output": tmp_path / "out.jsonl"}
    how["work"] = None if engine == "memory" else tmp_path / "work"
    if kind == "containment":
        how["against"] = against
    (message,) = said(lambda: run_with(engine, function, inputs, report=page, **how))
    assert message.startswith("4 of 4 documents are shorter than 3 words")
    if page is not None:
        assert "4 of 4 documents are shorter" in page.read_text(encoding="utf-8")
