"""Evaluation items in documents: what is found equals the definition, however it is run."""

import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import oracle_decontamination as oracle
from combinations import first
from fastlsh import Shingler, decontaminate
from fastlsh.parallel import RunOptions
from fastlsh.search import ContaminationParams
from fastlsh.search import decontamination as module
from fastlsh.search.decontamination import Items, found_in_texts
from fastlsh.stages import contamination, gram_table, item_grams, matches_in
from fastlsh.texts import as_texts
from running import peak_memory

WORDS = ["a", "b", "c", "d", "e", "é", "☃x", "𝄞1", "İs", "ß_", "七", "Ab"]
BETWEEN = [" ", "\n", ", ", " -- ", "(", "\t"]


def texts_of(most):
    words = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(BETWEEN)), max_size=most)
    return words.map(lambda pairs: "".join(word + between for word, between in pairs))


def repeated_texts():
    part = st.tuples(st.sampled_from(["a ", "a a b ", "a b ", "b ", "a b a c "]), st.integers(1, 9))
    return st.lists(part, max_size=3).map(lambda parts: "".join(text * n for text, n in parts))


@st.composite
def cases(draw):
    """Return documents that are made of pieces of items, the items, and rules."""
    fields = texts_of(12) | repeated_texts()
    items = draw(st.lists(st.lists(fields, min_size=1, max_size=3), min_size=1, max_size=5))
    pieces = [field for item in items for field in item]
    documents = draw(
        st.lists(
            st.lists(texts_of(6) | repeated_texts() | st.sampled_from(pieces), max_size=5).map(
                "; ".join
            ),
            max_size=7,
        )
    )
    rules = oracle.Rules(
        size=draw(st.sampled_from([1, 3, 5, 6, 9])),
        step=draw(st.sampled_from([1, 1, 2, 3])),
        min_share=draw(st.sampled_from([0.0, 0.0, 0.3, 0.8, 1.0])),
        min_run=draw(st.sampled_from([0, 0, 4, 8])),
        max_items=draw(st.sampled_from([1, 2, 100])),
        boilerplate_share=draw(st.sampled_from([0.0, 0.4])),
        boilerplate_documents=draw(st.sampled_from([1, 2, 100])),
        sample=draw(st.sampled_from([2, 4, 100])),
    )
    return documents, items, rules


def arguments_of(rules):
    given = rules._asdict()
    shingler = Shingler("word", given.pop("size"), words="alphanumeric", lowercase=True)
    return {"shingler": shingler, **given}


def named(items):
    return [{str(number): text for number, text in enumerate(item)} for item in items]


def rows_of(result):
    """Return what a result says, as the oracle says it."""
    found = {}
    columns = result.document, result.item, result.share, result.longest_run
    fields = [int(name) for name in result.field]
    places = zip(fields, result.start.tolist(), result.end.tolist(), strict=True)
    for (document, item, share, run), place in zip(
        zip(*(column.tolist() for column in columns), strict=True), places, strict=True
    ):
        found.setdefault((document, item), (share, run, []))[2].append(place)
    return {key: oracle.Found(s, run, tuple(places)) for key, (s, run, places) in found.items()}


@settings(max_examples=2 * settings().max_examples)
@given(
    cases(), st.sampled_from([gram_table.MAX_FIELDS, 1]), st.sampled_from([1, 3]),
    st.integers(1, 3), st.sampled_from([contamination.ROWS, 1, 9]),
)  # fmt: skip
def test_what_is_found_is_the_definition(case, max_fields, threads, size, rows):
    """Whatever number of threads, documents of a batch and rows of matches at a time there are."""
    documents, items, rules = case
    with pytest.MonkeyPatch.context() as patch:
        for each in (gram_table, oracle):
            patch.setattr(each, "MAX_FIELDS", max_fields)
        patch.setattr(module, "batch_size", lambda texts: size)
        patch.setattr(contamination, "ROWS", rows)
        found, reasons = oracle.decontaminated(documents, items, rules)
        result = decontaminate(documents, named(items), **arguments_of(rules), threads=threads)
        _, _, common = oracle.counted_grams(documents, items, rules)
    assert rows_of(result) == found
    assert dict(result.not_searched) == reasons
    assert sorted(each.text for each in result.boilerplate) == sorted(map(" ".join, common))
    assert result.kept.tolist() == [
        all(document != number for document, _ in found) for number in range(len(documents))
    ]


A_LONGER_GRAM_OF_THE_SAME_HASH = (
    ["a a a a a"], [["a a a a a"], ["a a a a a a"]],
    oracle.Rules(size=6, max_items=1, boilerplate_share=0.0, boilerplate_documents=1, sample=2),
)  # fmt: skip


@example(case=A_LONGER_GRAM_OF_THE_SAME_HASH, bits=1)
@given(cases(), st.integers(1, 5))
def test_no_hash_decides(case, bits):
    documents, items, rules = case
    rules = rules._replace(max_items=100)
    given_items = Items.of(named(items))
    params = ContaminationParams.of(**{**arguments_of(rules), "boilerplate_share": None})
    answers = []
    for mask in ((1 << bits) - 1, (1 << 64) - 1):
        grams = item_grams(
            given_items.fields, given_items.owner, given_items.n_items, params.shingler,
            step=params.step, mask=mask,
        )  # fmt: skip
        contents = found_in_texts(as_texts(documents), grams, params, RunOptions.of(1))
        answers.append(contents.containments)
    for one, other in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, other)


QUESTION = "Which of the planets that were known to the ancients has the shortest year of all?"
NOTICE = "this page may be copied by anybody who names the author and the year in which it was made"


def pages(n):
    return [f"Page {number} is about {number**2} things. {number} more." for number in range(n)]


def test_items_of_fields():
    items = [{"question": QUESTION, "choices": ["Mercury", "Venus"], "answer": None}, QUESTION]
    found = decontaminate([*pages(3), f"quiz:\n{QUESTION.upper()}"], items, item_ids=["a", "b"])
    assert [row[:5] for row in found] == [
        (3, "a", 1.0, 16, "question"), (3, "b", 1.0, 16, "text"),
    ]  # fmt: skip
    assert found.contaminated.tolist() == [False, False, False, True]
    assert found.items_found.tolist() == [0, 1]
    assert "1 of 4 documents contain 2 items" in repr(found)


def test_short_fields_are_found_as_a_whole():
    words = QUESTION.split()
    halves = {"one": " ".join(words[:8]), "other": " ".join(words[8:])}
    items = [halves, "who has won it", "who has ever won it"]
    result = decontaminate([QUESTION, "we ask who has ever won it"], items)
    # No n-gram crosses fields: the longest of them is found, as none has 13 words.
    assert [row[:2] for row in result] == [(0, 0), (1, 2)]
    assert result.field == ["one", "text"]
    assert result.not_searched == [(1, "short")]


def test_boilerplate_is_listed_and_does_not_count():
    documents = [
        f"{page} {NOTICE if number % 3 == 0 else ''}" for number, page in enumerate(pages(600))
    ]
    items = [f"{QUESTION} {NOTICE}", " ".join(NOTICE.split()[:13])]
    documents[1] = f"{QUESTION} and more"
    result = decontaminate(documents, items)
    assert np.flatnonzero(result.contaminated).tolist() == [1]
    assert result.not_searched == [(1, "boilerplate")]
    assert len(result.boilerplate) == len(NOTICE.split()) - 12
    assert result.boilerplate[0].documents == 200
    everything = decontaminate(documents, items, boilerplate_share=None)
    assert everything.contaminated.sum() == 201


def test_an_n_gram_in_exactly_the_share_is_boilerplate():
    rest = " ".join(f"rest{number}" for number in range(40))
    for share, count in ((0.07, 7), (0.07, 6), (0.29, 29), (0.58, 58), (0.0, 1)):
        documents = [f"{QUESTION if n < count else ''} page {n} here" for n in range(100)]
        how = {"boilerplate_share": share, "boilerplate_documents": 1}
        result = decontaminate(documents, [f"{QUESTION} {rest}"], **how)
        found = 0 if count / 100 >= share else count
        assert result.contaminated.sum() == found, (share, count)


def test_an_item_is_found_by_exactly_the_share():
    words = [f"word{number}" for number in range(112)]
    for share, n_grams in ((0.29, 29), (0.07, 7), (0.57, 57), (0.58, 57)):
        how = {"min_share": share, "boilerplate_share": None}
        result = decontaminate([" ".join(words[: n_grams + 12])], [" ".join(words)], **how)
        assert result.contaminated.tolist() == [n_grams / 100 >= share], (share, n_grams)


def test_spans_are_cut_out_of_texts():
    documents = ["before it. " + QUESTION + " behind it.", "nothing", QUESTION]
    result = decontaminate(documents, [QUESTION], rule="span", join="[...]")
    assert result.texts == ["before it. [...]? behind it.", "nothing", "?"]
    around = decontaminate(documents, [QUESTION], rule="span", around=4)
    assert around.texts[0] == "before hind it."
    assert around.kept.tolist() == [True, True, False]
    least = decontaminate(documents, [QUESTION], rule="span", around=4, min_piece=8)
    assert least.texts[0] == "hind it."
    most = decontaminate(documents, [QUESTION], rule="span", max_pieces=1)
    assert most.kept.tolist() == [False, True, True]


def test_characters_are_units_too():
    item = "敏捷的棕色狐狸跳过了那只懒狗"
    shingler = Shingler("char", 8)
    result = decontaminate([f"他说{item[2:]}。", "没有"], [item], shingler=shingler)
    assert list(result) == [(0, 0, 5 / 7, 12, "text", 2, 14)]
    short = decontaminate(["那只懒狗跑了 吗"], ["懒狗跑了 "], shingler=shingler)
    assert list(short) == [(0, 0, 1.0, 5, "text", 2, 7)]


def test_arrow_and_frames():
    pa = pytest.importorskip("pyarrow")
    result = decontaminate(pa.array([None, QUESTION]), [QUESTION], ids=["x", "y"])
    assert result.id == ["y"]
    table = result.to_arrow()
    assert table["item"].to_pylist() == [0]
    assert table["id"].to_pylist() == ["y"]


def test_nothing_to_find():
    assert len(decontaminate([], [QUESTION])) == 0
    result = decontaminate(["some text"], [])
    assert (len(result), result.not_searched, result.kept.tolist()) == (0, [], [True])
    assert decontaminate([None, ""], [None, "", {}]).not_searched == [
        (0, "short"), (1, "short"), (2, "short"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "items", [[{"text": "x " * 20}] * 20, [{str(n): "x " * 20 for n in range(20)}]]
)
def test_repeated_text_takes_the_memory_of_its_grams(items, monkeypatch):
    """Neither each place nor each field with the same n-gram is held beside all others."""
    monkeypatch.setattr(contamination, "ROWS", 1 << 12)
    given_items = Items.of(items)
    params = ContaminationParams.of()
    grams = item_grams(given_items.fields, given_items.owner, len(items), params.shingler)
    documents = as_texts(["x " * 5_000])
    found = []
    assert peak_memory(lambda: found.extend(matches_in(grams, documents, 0, 1))) < 10 << 20
    (matches,) = found
    assert len(matches.gram) < 1000
    assert matches.run.max() == 20


@pytest.mark.exhaustive
def test_fields_with_the_same_n_grams_take_bounded_memory(monkeypatch):
    """Of a long document, there are many batches, each with each field; of short ones, too."""
    monkeypatch.setattr(contamination, "ROWS", 1 << 10)
    item = Items.of([{str(n): "x " * 20 for n in range(100)}])
    grams = item_grams(item.fields, item.owner, 1, ContaminationParams.of().shingler)
    for texts in (["x " * 4_000], ["x " * 13] * 3_000):
        documents = as_texts(texts)
        rows = []

        def count(documents=documents, texts=texts, rows=rows):
            for matches in matches_in(grams, documents, 0, len(texts)):
                rows.append(len(matches.gram))

        assert peak_memory(count) < 6 << 20
        assert sum(rows) >= 100 * len(texts)
        assert max(rows) <= 2 << 10


@pytest.mark.parametrize("piece", first("a ", "a b c d e f g "))
def test_repeated_text_takes_linear_time(piece):
    """Each n-gram is compared with its first occurrence in an item, however often it occurs."""
    text = piece * (150_000 // len(piece))
    start = time.process_time()
    done = decontaminate([text + "end " + text, text], [text + "other " + text])
    assert time.process_time() - start < 10  # comparing along each diagonal takes minutes
    assert done.start.tolist() == [0, len(text) + 4, 0]
    assert done.end.tolist() == [len(text) - 1, 2 * len(text) + 3, len(text) - 1]
    assert done.longest_run.tolist() == [text.count(" ")] * 3


def test_threads_find_a_finished_table():
    """Since Python 3.12, each thread would compute what is not there yet."""
    given_items = Items.of([QUESTION, NOTICE])
    grams = item_grams(given_items.fields, given_items.owner, 2, ContaminationParams.of().shingler)
    for each in (grams, grams.without(np.array([0]), 3)):
        assert {"table", "by_number", "first", "sizes"} <= vars(each).keys()
