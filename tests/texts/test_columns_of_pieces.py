"""The texts of pieces as a column: equal to their strings, and not as large."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh._kernels.text._texts import spans_of_list
from fastlsh.texts import Pieces, Shingler, WordPieces, WordTexts, word_units
from running import peak_memory

TEXTS = st.lists(
    st.text(st.sampled_from("ab %\xe9\u2603\U0001d518\ud800"), max_size=30), max_size=5
)


@given(TEXTS, st.booleans(), st.data())
def test_the_column_has_the_texts_of_the_pieces(texts, words, data):
    spans = spans_of_list(texts)
    lengths = list(map(len, texts))
    if words:
        shingler = Shingler(
            "word", tokenizer=lambda text: [text[n : n + 3] for n in range(0, len(text), 3)]
        )
        cut = WordTexts.of(shingler, spans)
        lengths = np.diff(cut.starts).tolist()
    places = [(number, begin) for number, n in enumerate(lengths) for begin in range(n)]
    ends = [data.draw(st.integers(begin + 1, lengths[number])) for number, begin in places]
    bounds = [(*place, end) for place, end in zip(places, ends, strict=True)]
    bounds = np.array(bounds, np.int64).reshape(-1, 3)
    pieces = WordPieces(cut, bounds, escaping=True) if words else Pieces(spans, bounds)
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
        assert list(pieces.column()) == expected


def test_many_pieces_of_a_long_text_take_no_object_each():
    n = 200_000
    begin = np.arange(n) * 5
    bounds = np.column_stack([np.zeros(n, np.int64), begin, begin + 5])
    pieces = Pieces(spans_of_list(["\u2603abcd" * n]), bounds)
    assert peak_memory(pieces.column) < 60 * n
