"""Signatures as Arrow columns, and collections as columns of pandas."""

import random

import numpy as np
import pytest

import fastlsh
from fastlsh import MinHasher
from fastlsh.integrations.arrow import signatures_from_arrow, signatures_to_arrow
from files import load_table, put_table
from made_texts import odd_texts
from refusals import refuses
from required import library

pa = library("pyarrow")
pd = library("pandas")
TEXTS = ["one text", "another text, which is longer", "", None]
SIGNATURES = MinHasher(16).signatures(TEXTS)


def address(array):
    return array.__array_interface__["data"][0]


def test_there_and_back_without_a_copy():
    column = signatures_to_arrow(SIGNATURES)
    column.validate(full=True)
    assert column.type == pa.list_(pa.uint32(), 16)
    assert column.to_pylist() == SIGNATURES.tolist()
    assert column.values.buffers()[1].address == address(SIGNATURES)
    found = signatures_from_arrow(column)
    assert address(found) == address(SIGNATURES)
    assert found.dtype == np.uint32
    assert np.array_equal(found, SIGNATURES)
    assert not found.flags.writeable


def test_slices_and_chunks():
    column = signatures_to_arrow(SIGNATURES)
    assert np.array_equal(signatures_from_arrow(column.slice(1, 2)), SIGNATURES[1:3])
    chunks = pa.chunked_array([column.slice(2), column.slice(0, 0), column.slice(0, 1)])
    assert np.array_equal(signatures_from_arrow(chunks), SIGNATURES[[2, 3, 0]])
    assert signatures_from_arrow(column.slice(0, 0)).shape == (0, 16)
    assert signatures_from_arrow(pa.chunked_array([], column.type)).shape == (0, 16)
    assert signatures_to_arrow(np.empty((0, 16), np.uint32)).type == column.type


def test_from_parquet_and_polars(tmp_path):
    path = put_table(tmp_path / "s.parquet", pa.table({"s": signatures_to_arrow(SIGNATURES)}))
    assert np.array_equal(signatures_from_arrow(load_table(path)["s"]), SIGNATURES)
    pl = pytest.importorskip("polars")
    series = pl.Series("s", SIGNATURES, dtype=pl.Array(pl.UInt32, 16))
    assert np.array_equal(signatures_from_arrow(series), SIGNATURES)


def test_columns_with_nulls_and_of_other_types():
    column = pa.array([[1, 2], [3, 4], [5, None], None, [7, 8]], pa.list_(pa.uint32(), 2))
    assert signatures_from_arrow(column[:2]).tolist() == [[1, 2], [3, 4]]
    assert signatures_from_arrow(pa.chunked_array([column[4:], column[:1]])).tolist() == [
        [7, 8], [1, 2]
    ]  # fmt: skip
    for part in (column[1:3], column[3:]):
        refuses(ValueError, "holds null", signatures_from_arrow, part)
    plain = pa.array([[1, 2]], pa.list_(pa.uint32()))
    refuses(TypeError, "got list<", signatures_from_arrow, plain)
    signed = pa.array([[1, 2]], pa.list_(pa.int32(), 2))
    refuses(TypeError, "got fixed_size_list<", signatures_from_arrow, signed)
    refuses(TypeError, "uint32", signatures_to_arrow, SIGNATURES.astype(np.int64))


def pandas_forms(texts, generator):
    index = [generator.randrange(3) for _ in texts]
    arrow = [pd.ArrowDtype(getattr(pa, name)()) for name in ("string", "large_string")]
    for kind in ("object", "string[python]", "string[pyarrow]", "category", *arrow):
        column = pd.Series(texts, dtype=kind, index=index)
        yield f"{kind}", column
        yield f"{kind}, reversed twice", column.iloc[::-1].iloc[::-1]
        yield f"{kind}, index", pd.Index(column)
    unused = pd.Series(texts, dtype="category").cat.add_categories(["unused"])
    yield "unused categories", unused
    pairs = [np.arange(len(texts)) % 2, np.arange(len(texts))]
    yield "MultiIndex", pd.Series(texts, dtype=object, index=pd.MultiIndex.from_arrays(pairs))


def answers(form, texts):
    result = fastlsh.deduplicate(form, 0.6)
    index = fastlsh.Index(0.6)
    return (
        result.kept.tolist(),
        result.kept_index.tolist(),
        np.nan_to_num(result.similarity, nan=-1).tolist(),
        list(fastlsh.near_duplicates(form, 0.6)),
        fastlsh.deduplicate(texts[:5], 0.6, against=form).kept.tolist(),
        np.asarray(index.insert_unique(range(len(texts)), form)).tolist(),
        fastlsh.MinHasher(8).signatures(form).tolist(),
    )


@pytest.mark.parametrize("seed", range(6))
def test_every_form_gives_the_answer_of_the_list(seed):
    texts = odd_texts(seed)
    expected = answers(texts, texts)
    for name, form in pandas_forms(texts, random.Random(seed)):
        assert answers(form, texts) == expected, name
