"""Documents of token ids, against a tokenizer that returns the same ids as text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastlsh
import oracle
from fastlsh import Index, MinHasher, Shingler, TokenIds, deduplicate, near_duplicates
from fastlsh._kernels.text import _plans, _texts
from fastlsh._kernels.text._plans import TOKEN_IDS
from fastlsh.texts import as_texts
from refusals import refuses
from strategies import few_letters

AS_TEXT = {"tokenizer": str.split}
ids = st.one_of(
    st.integers(0, 3), st.integers(0, 300), st.sampled_from([9, 10, 99, 100, 2**17 - 1, 2**17]),
    st.integers(0, 2**64 - 1),
)  # fmt: skip
collections = st.lists(st.lists(ids, max_size=12), min_size=1, max_size=12)


def texts_of(documents):
    return [" ".join(map(str, document)) for document in documents]


@given(collections, st.integers(1, 5), st.sampled_from(["affine32", "fss"]))
def test_the_same_as_ids_in_words(documents, size, scheme):
    hasher = MinHasher(16, shingler=Shingler("token", size), scheme=scheme)
    words = MinHasher(16, shingler=Shingler("word", size, **AS_TEXT), scheme=scheme)
    expected = words.signatures(texts_of(documents))
    assert (hasher.signatures(documents) == expected).all()
    for document, text in zip(documents, texts_of(documents), strict=True):
        assert hasher.shingler.hashes(document).tolist() == words.shingler.hashes(text).tolist()
        assert hasher.shingler.shingles(document) == words.shingler.shingles(text)


@given(collections, st.integers(1, 3))
def test_every_instruction_set(isa, documents, size):
    documents = [document * 60 for document in documents]
    spans = as_texts(documents).spans(0, len(documents))
    functions = MinHasher(8)._functions
    out = np.zeros((len(documents), 8), np.uint32)
    isa.signatures(spans, TOKEN_IDS, size, *functions, out)
    for document, row in zip(documents, out.tolist(), strict=True):
        windows = oracle.windows(tuple(map(str, document)), size)
        assert row == oracle.signature(map(oracle.words_hash, set(windows)), 8)


def test_every_id_whose_hash_is_known_in_advance(isa):
    ids = np.arange(2**17 + 20)
    offsets = np.array([0, len(ids)])
    spans = _texts.spans_of_ids(ids.view(np.uint8), 8, True, offsets, np.arange(1))
    words = isa.token_hashes([list(map(str, ids.tolist()))], offsets.copy())
    found = np.zeros((2, len(ids)), np.uint64)
    for out, units, where, unit in (
        (found[0], spans, None, TOKEN_IDS), (found[1], words, offsets, _plans.WORDS)
    ):  # fmt: skip
        isa.shingle_sets(units, where, unit, 1, out, offsets, np.zeros(1, np.int64), False)
    assert (found[0] == found[1]).all()


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", ">i4", "<u2"])
def test_every_width_and_form(pa, dtype):
    rows = np.array([[1, 2, 3, 4], [1, 2, 3, 5], [99, 0, 7, 100]])
    hasher = MinHasher(32, shingler=Shingler("token", 2))
    expected = hasher.signatures(rows)
    values, offsets = rows.astype(dtype).ravel(), np.array([0, 4, 8, 12])
    assert (hasher.signatures(rows.tolist()) == expected).all()
    assert (hasher.signatures(rows.astype(dtype)) == expected).all()
    assert (hasher.signatures(TokenIds(values, offsets)) == expected).all()
    assert (hasher.signatures(list(rows.astype(dtype))) == expected).all()
    for type_ in (pa.list_(pa.int32()), pa.large_list(pa.int64()), pa.list_(pa.uint8(), 4)):
        column = pa.array(rows.tolist(), type_)
        assert (hasher.signatures(column) == expected).all()
        assert (hasher.signatures(column.slice(1)) == expected[1:]).all()
        chunked = pa.chunked_array([column, column.slice(1)])
        assert (hasher.signatures(chunked) == np.concatenate([expected, expected[1:]])).all()
        assert (hasher.signatures(pa.table({"ids": column})) == expected).all()


def test_arrays_are_read_in_place(pa):
    values = np.arange(10, dtype=np.int32)
    held = TokenIds(values, [0, 4, 10])
    assert np.shares_memory(held._ids, values)
    column = pa.array([[1, 2], None, [3]], pa.list_(pa.int32()))
    held = as_texts(column)
    assert np.shares_memory(held._ids, column.values.to_numpy())
    assert held.spans(0, 3).strings() == ["1 2", "", "3"]


@few_letters
@given(collections)
def test_searches_are_those_of_words(documents):
    options = {"threshold": 0.5, "num_perm": 32, "bands": 16, "rows": 2}
    texts = texts_of(documents)
    words, tokens = Shingler("word", 2, **AS_TEXT), Shingler("token", 2)
    ours = near_duplicates(documents, shingler=tokens, **options)
    theirs = near_duplicates(texts, shingler=words, **options)
    assert (list(ours), ours.similarity.tolist()) == (list(theirs), theirs.similarity.tolist())
    kept = deduplicate(documents, shingler=tokens, **options).kept
    assert (kept == deduplicate(texts, shingler=words, **options).kept).all()


def test_identical_documents_however_wide():
    rows = np.array([[1, 2, 3], [4, 5, 6]])
    known = rows.astype(np.uint16)
    shingler = Shingler("token", 2)
    assert not deduplicate(rows, against=known, shingler=shingler).kept.any()
    assert fastlsh.explain([1, 2, 3, 4], [1, 2, 3, 5], shingler=shingler).similarity == 0.5


def test_index(tmp_path):
    index = Index(0.5, bands=32, rows=2, verify="exact", shingler=Shingler("token", 2))
    index.insert("a", [1, 2, 3, 4])
    index.insert_many(["b", "c"], [[7, 8, 9], np.array([10, 11])])
    assert index.query([1, 2, 3]) == [("a", 2 / 3)]
    index.save(tmp_path / "index")
    assert Index.load(tmp_path / "index").query(np.array([7, 8, 9, 1])) == [("b", 2 / 3)]


@pytest.mark.parametrize("missing", [[None], [None, None], np.array([None], object)], ids=str)
def test_documents_that_are_all_missing(missing):
    pairs = Shingler("token", 2)
    n = len(missing)
    assert fastlsh.deduplicate(missing, shingler=pairs).kept.all()
    found = fastlsh.deduplicate([[1, 2, 3], [1, 2, 3]], against=missing, against_ids=range(n),
                                shingler=pairs)  # fmt: skip
    assert found.kept.tolist() == [True, False]
    found = fastlsh.deduplicate(missing, against=[[1, 2, 3]], shingler=pairs)
    assert (found.kept.all(), found.empty) == (True, n)
    assert len(fastlsh.near_duplicates(missing, shingler=pairs)) == 0
    assert np.array_equal(
        MinHasher(8, shingler=pairs).signatures(missing),
        MinHasher(8, shingler=pairs).signatures([[]] * n),
    )
    index = Index(0.5, shingler=pairs)
    index.insert_many(range(n), missing)
    assert index.query([1, 2, 3]) == []


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([[1], [2, -3]], "document 1 has the token id -3: ids are not negative"),
        ([[1], [2**64]], "document 1 has the token id 18446744073709551616, expected"),
        ([[1], [2.5]], "document 1 has a token that is 2.5, expected token ids"),
        ([[1], [[2]]], "document 1 is nested or not a list"),
        ([[1], 2], "document 1 is nested or not a list"),
        ([[1], [None]], "document 1 has a token that is None"),
        ([[1], [True, False]], "document 1 has a token that is"),
        ([[1], ["a"]], "document 1 has a token that is 'a'"),
        ([np.array([1.5])], "document 0 has a token that is"),
        (TokenIds(np.array([1, -2], np.int32), [0, 1, 2]), "document 1 has the token id -2"),
        (["text"], 'unit="token" needs documents of token ids, got texts'),
    ],
)
def test_what_is_no_token_id(documents, message):
    with pytest.raises((TypeError, ValueError), match=message):
        MinHasher(shingler=Shingler("token", 1)).signatures(documents)


def test_nulls_in_a_column(pa):
    column = pa.array([[1], None, [2, None]], pa.list_(pa.int32()))
    with pytest.raises(ValueError, match="document 2 has a null among its tokens"):
        MinHasher(shingler=Shingler("token", 1)).signatures(column)
    refuses(TypeError, "hold double, expected token ids", as_texts, pa.array([[1.5]]))


def test_ids_are_no_texts():
    message = 'the documents are token ids: unit must be "token"'
    refuses(TypeError, message, near_duplicates, [[1, 2], [3]])
    for step in ({"lowercase": True}, {"unicode_form": "NFC"}, {"tokenizer": str.split}):
        refuses(ValueError, f"{next(iter(step))} changes texts", Shingler, "token", 5, **step)


@pytest.mark.parametrize(
    ("values", "offsets"),
    [
        ([[1]], [0, 1]), ([1.5], [0, 1]), ([1], [0.0, 1.0]), ([1], []), ([1], [0, 2]),
        ([1], [1, 0]), ([1], [-1, 1]),
    ],
)  # fmt: skip
def test_wrong_arrays(values, offsets):
    with pytest.raises((TypeError, ValueError)):
        TokenIds(values, offsets)
