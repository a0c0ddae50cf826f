"""Lines and paragraphs, and the texts of pieces as a column: the kernels against plain Python."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_lines
from fastlsh._kernels.text._texts import (
    cut_pieces,
    remainders,
    spans_of_ids,
    spans_of_list,
    windows_of,
)
from fastlsh.texts import (
    Pieces,
    Shingler,
    UnitTexts,
    WordPieces,
    pieces,
    pieces_of,
    plain_strings,
    texts_without,
    word_units,
)
from refusals import refuses
from running import peak_memory

BY = ["line", "paragraph", "sentence"]
LETTERS = 'ab.!。」") \t\r\n\n\n\v\f\x1c\x85\u00a0\u0100я\u2028\ud800😀'
texts = st.lists(st.none() | st.text(LETTERS, max_size=24), max_size=6)


@pytest.mark.parametrize("by", BY)
@given(texts)
def test_pieces_are_those_of_python(by, documents):
    found = pieces_of(documents, by)
    expected = [
        (number, *place)
        for number, text in enumerate(documents)
        for place in oracle_lines.pieces(text, by)
    ]
    assert list(map(tuple, found.bounds.tolist())) == expected
    assert found.spans(0, len(found)).strings() == [documents[d][a:b] for d, a, b in expected]


@pytest.mark.parametrize("by", BY)
@given(texts, st.randoms())
def test_remainders_are_those_of_python(by, documents, draw):
    found = pieces_of(documents, by)
    removed = found.bounds[[draw.random() < 0.6 for _ in range(len(found))]]
    expected = {}
    for number in np.unique(removed[:, 0]).tolist():
        gone = [(begin, end) for d, begin, end in removed.tolist() if d == number]
        expected[number] = oracle_lines.without(documents[number], gone, by)
    assert texts_without(found.texts, removed, by) == expected


@given(st.lists(st.text("ab\n", max_size=20), max_size=6))
def test_lines_without_blanks_are_joined_again(documents):
    found = pieces_of(documents, "line")
    lines = [[line for line in text.split("\n") if line != "a"] for text in documents]
    gone = found.bounds[[text == "a" for text in found.spans(0, len(found)).strings()]]
    rest = texts_without(found.texts, gone, "line")
    for number, kept in enumerate(lines):
        joined = "\n".join(kept) if any(kept) or "a" not in documents[number].split("\n") else ""
        assert rest.get(number, documents[number]) == joined


CASES = [
    ("line", "a\nb\nc", [1], "a\nc"),
    ("line", "a\nb\nc", [2], "a\nb"),
    ("line", "a\nb\nc", [1, 2], "a"),
    ("line", "a\nb\nc\n", [1, 2], "a\n"),
    ("line", "a\r\nb\r\nc", [2], "a\r\nb"),
    ("line", "menu\n\nstory", [0], "\nstory"),
    ("line", "a\n\n \n", [0], ""),
    ("paragraph", "a\n\nb\nc\n\n\nd\n", [1], "a\n\nd\n"),
    ("paragraph", "a\n\nb\nc\n\n\nd\n", [2], "a\n\nb\nc\n"),
    ("paragraph", "a\n\nb\nc\n\n\nd", [1, 2], "a"),
    ("paragraph", "\n \na\r\n\r\nb", [1], "\n \na"),
    ("paragraph", "\n \na", [0], ""),
    ("sentence", "One. Two. Three.", [1], "One. Three."),
    ("sentence", "One. Two. Three.\n", [0, 2], "Two.\n"),
    ("sentence", "One. Two.\nThree.", [1], "One.\nThree."),
    ("sentence", "One.\n  Two. Three.", [1], "One.\n  Three."),
    ("sentence", "One.\n\nTwo.\n\n\nThree.\nFour.", [1, 2], "One.\n\n\nFour."),
    ("sentence", "One.\r\nTwo. Three.", [1], "One.\r\nThree."),
    ("sentence", " One.  Two. ", [1], " One. "),
    ("sentence", " One. Two. ", [0], " Two. "),
    ("sentence", " One. ", [0], ""),
    ("sentence", "一。二！？三", [1], "一。三"),
    ("sentence", "“One?” Two… Three", [0], "Two… Three"),
    ("sentence", "Dr. No is 3.14 m.", [0], "No is 3.14 m."),
]


@pytest.mark.parametrize(("by", "text", "numbers", "left"), CASES)
def test_what_goes_with_a_piece(by, text, numbers, left):
    found = pieces_of([text], by)
    assert texts_without(found.texts, found.bounds[numbers], by) == {0: left}
    gone = [oracle_lines.pieces(text, by)[number] for number in numbers]
    assert oracle_lines.without(text, gone, by) == left


@pytest.mark.parametrize("by", BY)
@pytest.mark.parametrize("threads", [1, 3])
def test_many_calls_cut_as_one(monkeypatch, by, threads):
    documents = [f"{n}\n\n" * (n % 7) + "end\r\n" for n in range(300)] + [None, ""]
    whole = pieces_of(documents, by)
    for name, value in (("CHARACTERS", 40), ("MOST", 3), ("LINE", 10**9)):
        monkeypatch.setattr(pieces, name, value)
    found = pieces_of(documents, by, threads)
    assert np.array_equal(found.bounds, whole.bounds)
    gone = found.bounds[::2]
    rest = texts_without(found.texts, gone, by)
    assert rest == texts_without(whole.texts, gone, by)
    assert len(rest) > 100


def test_pieces_are_texts():
    found = pieces_of(["ab\ncd", "é☃\nab"], "line")
    assert isinstance(found, Pieces)
    assert found.take(np.array([3, 0])).strings() == ["ab", "ab"]
    assert found.chosen(np.array([True, False, True, False])).spans(1, 2).strings() == ["é☃"]
    assert found.lengths.tolist() == [2, 2, 2, 2]
    # The same text in units of one and of two bytes.
    same = np.zeros(1, np.uint8)
    found.spans(0, 1).equal(found.spans(3, 4), same)
    assert same.all()
    found.spans(1, 2).equal(found.spans(3, 4), same)
    assert not same.any()
    # Bytes of UTF-8, not code points.
    assert found.take(np.array([2]), True).strings() == ["é☃".encode().decode("latin-1")]


def test_every_form_of_texts_becomes_strings(pa):
    assert plain_strings(["a", None]) == ["a", None]
    assert plain_strings(("a", "é".encode(), None)) == ["a", "é", ""]
    assert plain_strings(pa.array(["a", None, "☃"])) == ["a", "", "☃"]
    refuses(TypeError, "document 1 is of type int", plain_strings, ["a", 1])
    refuses(TypeError, "token ids have no lines", plain_strings, [[1, 2]])


def test_kernels_refuse_what_is_not_there():
    spans = spans_of_list(["ab\ncd"])
    ids = spans_of_ids(np.arange(3, dtype=np.uint8), 1, False, np.array([0, 3]), np.array([0]))
    for places in ([[0, 0, 9]], [[1, 0, 1]], [[-1, 0, 1]], [[0, 2, 1]]):
        refuses(IndexError, "place 0", windows_of, spans, np.array(places))
        refuses(IndexError, "outside", remainders, spans, np.array(places), False)
    refuses(IndexError, "ascend", remainders, spans, np.array([[0, 3, 5], [0, 0, 2]]), False)
    refuses(ValueError, "2 columns", cut_pieces, spans, False, np.zeros((3, 2), np.int64))
    refuses(TypeError, "no lines", cut_pieces, ids, False, np.zeros((3, 3), np.int64))
    out = np.full((1, 3), -1)
    assert cut_pieces(spans, False, out) == 2
    assert out.tolist() == [[0, 0, 2]]
    assert remainders(spans, np.empty((0, 3), np.int64), False) == []


# ---- as a column

column_texts = st.lists(
    st.text(st.sampled_from("ab %\xe9\u2603\U0001d518\ud800"), max_size=30), max_size=5
)


@given(column_texts, st.booleans(), st.data())
def test_the_column_has_the_texts_of_the_pieces(texts, words, data):
    spans = spans_of_list(texts)
    lengths = list(map(len, texts))
    if words:
        shingler = Shingler(
            "word", tokenizer=lambda text: [text[n : n + 3] for n in range(0, len(text), 3)]
        )
        cut = UnitTexts.of(shingler, spans)
        lengths = np.diff(cut.starts).tolist()
    places = [(number, begin) for number, n in enumerate(lengths) for begin in range(n)]
    ends = [data.draw(st.integers(begin + 1, lengths[number])) for number, begin in places]
    bounds = [(*place, end) for place, end in zip(places, ends, strict=True)]
    bounds = np.array(bounds, np.int64).reshape(-1, 3)
    found = WordPieces(cut, bounds, escaping=True) if words else Pieces(spans, bounds)
    expected = []
    for number, begin, end in bounds.tolist():
        if words:
            tokens = [texts[number][3 * n : 3 * n + 3] for n in range(begin, end)]
            expected.append(
                " ".join(each.replace("%", "%25").replace(" ", "%20") for each in tokens)
            )
        else:
            expected.append(texts[number][begin:end])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_units, "OBJECTS", 3)
        assert list(found.column()) == expected


def test_many_pieces_of_a_long_text_take_no_object_each():
    n = 200_000
    begin = np.arange(n) * 5
    bounds = np.column_stack([np.zeros(n, np.int64), begin, begin + 5])
    found = Pieces(spans_of_list(["\u2603abcd" * n]), bounds)
    assert peak_memory(found.column) < 60 * n
