"""Columns of texts: what they say is what a list of the same texts says."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fastlsh._kernels.text._texts import TextColumn, TextColumns, spans_of_ids, spans_of_list
from fastlsh._kernels.text._texts import column_of as encoded_column
from refusals import refuses

TEXT = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
ANY = st.none() | st.text(max_size=30)


def column_of(texts, strict=True):
    """Write the texts in another order than they have, with something between them."""
    order = np.random.default_rng(len(texts)).permutation(len(texts))
    data, start = b"\xff", np.zeros(len(texts), np.int64)
    size = np.full(len(texts), -1)
    for i in order.tolist():
        if texts[i] is not None:
            code = texts[i].encode("utf-8", "surrogatepass")
            start[i], size[i] = len(data), len(code)
            data += code + b"\xff"
    return TextColumn(np.frombuffer(data, np.uint8), start, size, strict)


def filled(texts):
    return [text or "" for text in texts]


def check(column, texts, data):
    assert len(column) == column.n == len(texts)
    assert [column[i] for i in range(len(texts))] == list(column) == texts
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(texts))] * 2)))
    assert list(column[start:stop]) == texts[start:stop]
    assert column.spans(start, stop).strings() == filled(texts[start:stop])
    rows = st.integers(0, len(texts) - 1)
    some = data.draw(st.lists(rows, max_size=6)) if texts else []
    chosen = [texts[i] for i in some]
    rows = np.array(some, np.int64)
    assert column.take(rows).strings() == filled(chosen)
    lengths, right = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    column.take(rows, True).lengths(lengths)
    spans_of_list(chosen, as_bytes=True).lengths(right)
    assert lengths.tolist() == right.tolist()
    return rows, chosen


@given(st.data(), st.booleans())
def test_a_column(data, strict):
    texts = data.draw(st.lists(TEXT if strict else ANY, max_size=8))
    column = column_of(texts, strict)
    rows, chosen = check(column, texts, data)
    assert column.strict is strict
    assert column.to_pylist() == texts
    assert column.null_count == texts.count(None)
    assert column.chosen(rows).to_pylist() == chosen
    joined, sizes = column.chosen(rows).packed()
    codes = [(text or "").encode("utf-8", "surrogatepass") for text in chosen]
    assert (joined, sizes.tolist()) == (b"".join(codes), [len(code) for code in codes])
    assert column.nbytes == len("".join(filled(texts)).encode("utf-8", "surrogatepass"))


@given(st.data())
def test_several_columns(data):
    parts = data.draw(st.lists(st.lists(ANY, max_size=4), max_size=4))
    texts = [text for part in parts for text in part]
    columns = TextColumns([column_of(part, strict=False) for part in parts])
    rows, chosen = check(columns, texts, data)
    assert columns.chosen(rows) == chosen
    assert columns[::-1] == texts[::-1]


def test_what_lies_outside_is_refused():
    data = np.zeros(10, np.uint8)
    for start, size in [(-1, 1), (10, 1), (0, 11), (2**62, 2**62), (5, 2**63 - 1)]:
        given = data, np.array([0, start]), np.array([10, size])
        refuses(ValueError, "text 1 lies outside of 10 bytes", TextColumn, *given)
    column = TextColumn(data, np.array([0]), np.array([10]))
    for texts in (column, TextColumns([column])):
        for call in (lambda t: t.spans(0, 2), lambda t: t.take(np.array([1])), lambda t: t[1]):
            refuses(IndexError, None, call, texts)


def test_arrays_that_change_later_change_nothing():
    data = np.frombuffer(b"onetwo", np.uint8)
    start, size = np.array([0, 3]), np.array([3, 3])
    column = TextColumn(data, start, size)
    start[:], size[:] = 10**12, 10**8
    assert column.to_pylist() == ["one", "two"]
    assert column.packed()[0] == b"onetwo"
    assert column.spans(0, 2).strings() == ["one", "two"]


def test_what_is_not_utf8_is_refused():
    column = TextColumn(np.array([97, 255], np.uint8), np.array([0, 1]), np.array([1, 1]))
    refuses(ValueError, "document 1 is not valid UTF-8: invalid start byte", column.spans, 0, 2)
    columns = TextColumns([column, column, column])
    refuses(ValueError, "document 5 is not valid UTF-8", columns.take, np.array([0, 5]))


@given(
    st.lists(
        ANY | st.text(st.sampled_from("ab\x7f\x80\xff\u07ff\ud800\uffff\U00010000")), max_size=8
    )
)
def test_a_column_of_texts_of_any_width(texts):
    column = encoded_column(spans_of_list(texts))
    assert column.to_pylist() == filled(texts)
    codes = [text.encode("utf-8", "surrogatepass") for text in filled(texts)]
    joined, sizes = column.packed()
    assert (joined, sizes.tolist()) == (b"".join(codes), list(map(len, codes)))
    assert column.strict is not any("\ud800" <= c <= "\udfff" for c in "".join(filled(texts)))


def test_ids_of_tokens_are_no_column():
    tokens = spans_of_ids(np.zeros(8, np.uint8), 4, False, np.array([0, 2]), np.array([0]))
    refuses(TypeError, "ids of tokens are no texts", encoded_column, tokens)
