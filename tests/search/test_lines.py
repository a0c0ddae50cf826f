"""Texts without repeated lines, paragraphs or sentences, against plain Python."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_lines
from fastlsh import LineDeduplication, Shingler, deduplicate, deduplicate_lines
from fastlsh.stages import signing
from strategies import all_hashes_are_7, few_letters

BY = ["line", "paragraph", "sentence"]
texts = st.lists(st.text("ab. \r\n\n\nÄ☃。", max_size=20), max_size=8)


def proofs(result, known=0):
    """Return the removed spans and the kept ones, documents of `against` being counted first."""
    outside = result.against_document
    kept = np.where(outside >= 0, outside, result.kept_document + known)
    assert ((outside >= 0) == (result.kept_document < 0)).all()
    columns = [result.document + known, result.start, result.end, kept]
    columns += [result.kept_start, result.kept_end]
    return list(zip(*(column.tolist() for column in columns), strict=True))


STEPS = [None, Shingler(lowercase=True, remove_whitespace=True)]


@pytest.mark.parametrize("by", BY)
@given(
    texts, st.none() | texts, st.integers(0, 3), st.sampled_from([1, 3]), st.sampled_from(STEPS),
    st.booleans(),
)  # fmt: skip
def test_equal_ones_go_as_in_python(by, documents, known, least, threads, shingler, collide):
    """Whether the hashes of lines collide or not."""
    with pytest.MonkeyPatch.context() as patch:
        if collide:
            patch.setattr(signing, "hashing_steps", all_hashes_are_7)
        result = deduplicate_lines(
            documents, by, against=known and iter(known), min_length=least, threads=threads,
            shingler=shingler,
        )  # fmt: skip
    known = known or []
    same = (lambda line: "".join(line.lower().split())) if shingler else str
    left, removed = oracle_lines.deduplicated([*known, *documents], by, same=same, least=least)
    left = left[len(known) :]
    assert result.texts == left
    assert proofs(result, len(known)) == [each for each in removed if each[0] >= len(known)]
    assert (result.similarity == 1).all()
    assert result.spans == sum(len(oracle_lines.pieces(text, by)) for text in documents)
    emptied = [n for n, (a, b) in enumerate(zip(documents, left, strict=True)) if a and not b]
    assert result.emptied.tolist() == emptied
    assert result.documents == len(documents)
    again = deduplicate_lines(documents, against=known, **result.options)
    assert (again.texts, list(again)) == (result.texts, list(result))


@pytest.mark.parametrize("by", BY)
@given(
    st.lists(st.text("ab.. \n\n。", max_size=40), max_size=8), st.none() | texts,
    st.integers(1, 4), st.integers(0, 5),
)  # fmt: skip
def test_windows_go_as_in_python(by, documents, known, window, least):
    result = deduplicate_lines(documents, by, against=known, window=window, min_length=least)
    known = known or []
    everything = [*known, *documents]
    left, removed = oracle_lines.deduplicated(everything, by, least=least, window=window)
    assert result.texts == left[len(known) :]
    assert proofs(result, len(known)) == [each for each in removed if each[0] >= len(known)]
    assert result.spans == sum(len(oracle_lines.windows(text, by, window)) for text in documents)
    covered = {(d, p) for d, begin, end, *_ in proofs(result) for p in range(begin, end)}
    assert result.characters == len(covered)
    emptied = [
        n for n, (a, b) in enumerate(zip(documents, result.texts, strict=True)) if a and not b
    ]
    assert result.emptied.tolist() == emptied
    again = deduplicate_lines(documents, against=known, **result.options)
    assert (again.texts, list(again)) == (result.texts, list(result))
    before, after = (
        {text[begin:end] for text in several for begin, end in oracle_lines.pieces(text, by)}
        for several in (everything, [*known, *result.texts])
    )
    assert before == after  # each different line, paragraph or sentence stays somewhere


def test_windows_of_three_sentences():
    documents = [
        "One. Two. Three. Four.", "Zero. One. Two.\nThree. Five.", "Zero. One. Two. Three. Six.",
        "Two. Three.", "Ha. Ha. Ha. Ha.",
    ]  # fmt: skip
    result = deduplicate_lines(documents, "sentence", window=3)
    assert result.texts == [*documents[:2], "Six.", documents[3], "Ha."]
    # "One. Two. Three." repeats the first text, though not the second, which has a line feed.
    assert list(result) == [(2, 0, 15, 1, 1.0), (2, 6, 22, 0, 1.0), (4, 4, 15, 4, 1.0)]
    assert result.characters == 22 + 11
    assert "3 of 10 3-sentence windows removed from 2 of 5 documents" in repr(result)
    collapsed = Shingler(collapse_whitespace=True)
    result = deduplicate_lines(documents, "sentence", window=3, shingler=collapsed)
    assert result.texts[1] == "Zero.\nFive."
    with pytest.raises(ValueError, match="windows that overlap are similar to each other"):
        deduplicate_lines(documents, "sentence", window=3, threshold=0.9)


@few_letters
@pytest.mark.parametrize("verify", ["exact", "signature", "none"])
@given(st.lists(st.text("abc \n\n", max_size=60), max_size=8), st.integers(0, 4))
def test_alike_ones_go_as_documents_do(verify, documents, known):
    search = {"bands": 16, "rows": 1, "num_perm": 16, "verify": verify}
    search["shingler"] = Shingler(size=2)
    known = min(known, len(documents))
    others, own = documents[:known], documents[known:]
    result = deduplicate_lines(own, against=others, threshold=0.6, **search)
    everything = [
        (number, *place)
        for number, text in enumerate(documents)
        for place in oracle_lines.pieces(text, "line")
    ]
    lines = [documents[d][a:b] for d, a, b in everything]
    first = sum(d < known for d, *_ in everything)
    same = deduplicate(lines[first:], 0.6, against=lines[:first], **search)
    kept = np.where(same.against_index >= 0, same.against_index, same.kept_index + first)
    expected = [(*everything[n + first], *everything[kept[n]]) for n in same.removed]
    assert proofs(result, known) == expected
    assert np.array_equal(result.similarity, same.similarity[same.removed], equal_nan=True)
    assert result.limited == same.limited


def test_lines_without_a_unit_stay():
    documents = ["The first page.\n---\nIts end.", "Another page.\n---\n***\nthe first page", "---"]
    for verify in ("exact", "signature", "none"):
        for shingler in (
            Shingler("word", 2, punctuation="space", lowercase=True),
            Shingler("word", 2, words="alphanumeric", lowercase=True),
            Shingler("word", 2, tokenizer=lambda line: re.findall(r"\w+", line.lower())),
        ):
            search = {"threshold": 0.8, "shingler": shingler, "verify": verify}
            result = deduplicate_lines(documents, **search)
            assert result.texts == [documents[0], "Another page.\n---\n***", "---"], search
            behind = deduplicate_lines(documents[1:], against=documents[:1], **search)
            assert behind.texts == result.texts[1:], search
    equal = deduplicate_lines(documents, shingler=Shingler("word", words="alphanumeric"))
    assert equal.texts == documents
    assert deduplicate_lines(documents).texts[2] == ""  # three characters


def test_the_result_is_a_table_of_removed_spans():
    documents = ["menu\nstory one", "menu\nstory two", "menu"]
    result = deduplicate_lines(iter(documents), ids=["x", "y", "z"])
    assert isinstance(result, LineDeduplication)
    assert list(result) == [("y", 0, 4, "x", 1.0), ("z", 0, 4, "x", 1.0)]
    assert (result.id, result.kept_id) == (["y", "z"], ["x", "x"])
    assert result.texts == ["menu\nstory one", "story two", ""]
    assert (result.changed.tolist(), result.emptied.tolist()) == ([1, 2], [2])
    assert (result.documents, result.spans, len(result), result.characters) == (3, 5, 2, 8)
    assert result.duplicate_ratio == 0.4
    assert "2 of 5 lines removed from 2 of 3 documents" in repr(result)
    assert "<td>y</td>" in result._repr_html_()
    pa = pytest.importorskip("pyarrow")
    assert pa.table(result)["kept_id"].to_pylist() == ["x", "x"]
    against = deduplicate_lines(documents, against=["menu", "story two"], ids=["x", "y", "z"])
    assert list(against)[:2] == [("x", 0, 4, "against:0", 1.0), ("y", 0, 4, "against:0", 1.0)]
    assert against.against_document.tolist() == [0, 0, 1, 0]
    named = deduplicate_lines(documents, against=["menu"], against_ids=["old"])
    assert named.kept_id == ["old"] * 3
    assert "<td>old</td>" in named._repr_html_()
    empty = deduplicate_lines([])
    assert (empty.texts, len(empty), empty.duplicate_ratio) == ([], 0, 0.0)
    assert next(iter(deduplicate_lines(documents))) == (1, 0, 4, 0, 1.0)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("x\n\nmirror\n", "x\n\n"),
        ("x\n\nmirror\r\n", "x\n\n"),
        ("x\r\n\r\nmirror\n", "x\r\n\r\n"),
        ("x\r\nmirror\r\nz", "x\r\nz"),
        ("x\r\nmirror", "x"),
        ("x\n\nmirror", "x\n"),
        ("x\r\nmirror\r", "x\r\nmirror\r"),
        ("mirror\r\n\n", ""),
    ],
)
def test_a_removed_line_takes_its_own_line_end(text, left):
    for letter in "xé☃😀":
        result = deduplicate_lines(["mirror", text.replace("x", letter)])
        assert result.texts[1] == left.replace("x", letter)
