"""Whatever form a collection comes in, the answer is the one of its list."""

import random

import numpy as np
import pytest

import fastlsh
from odd_texts import odd_texts
from required import library

pa = library("pyarrow")
pd = library("pandas")


def cut_up(array, generator):
    """Return an array as chunks, some of them empty."""
    ends = sorted(generator.choices(range(len(array) + 1), k=3))
    borders = zip([0, *ends], [*ends, len(array)], strict=True)
    return pa.chunked_array([array.slice(a, b - a) for a, b in borders], array.type)


def arrow_forms(texts, generator):
    raw = [None if text is None else text.encode() for text in texts]
    around = [None, "x" * 40, "around"]
    for kind in ("string", "large_string", "string_view", "binary", "large_binary", "binary_view"):
        values, pad = (raw, [b"x", None]) if "binary" in kind else (texts, around)
        whole = pa.array(pad + values + pad, pa.type_for_alias(kind))
        array = whole.slice(len(pad), len(texts))
        yield kind, array
        yield f"{kind}, chunks", cut_up(array, generator)
        yield f"{kind}, table", pa.table({"column": cut_up(array, generator)})
    coded = pa.array(around + texts, pa.string()).dictionary_encode().slice(len(around))
    yield "dictionary", coded
    yield "dictionary, chunks", cut_up(coded, generator)
    values = pa.array(texts, pa.string())
    halves = [values[: len(texts) // 2], values[len(texts) // 2 :]]
    yield "two dictionaries", pa.chunked_array([half.dictionary_encode() for half in halves])
    codes = pa.array(range(len(texts)), pa.uint16())
    yield "null in a dictionary", pa.DictionaryArray.from_arrays(codes, values)
    yield "reader", pa.table({"column": values}).to_reader(max_chunksize=3)
    if not texts:
        yield "no chunks", pa.chunked_array([], pa.string())
    if all(text is None for text in texts):
        yield "null", pa.nulls(len(texts))


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
    result = fastlsh.deduplicate(form(), 0.6)
    index = fastlsh.Index(0.6)
    return (
        result.kept.tolist(),
        result.kept_index.tolist(),
        np.nan_to_num(result.similarity, nan=-1).tolist(),
        list(fastlsh.near_duplicates(form(), 0.6)),
        fastlsh.deduplicate(texts[:5], 0.6, against=form()).kept.tolist(),
        np.asarray(index.insert_unique(range(len(texts)), form())).tolist(),
        fastlsh.MinHasher(8).signatures(form()).tolist(),
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("forms", [arrow_forms, pandas_forms])
def test_every_form_gives_the_answer_of_the_list(forms, seed):
    texts = odd_texts(seed)
    expected = answers(lambda: texts, texts)
    for name, form in forms(texts, random.Random(seed)):
        given = form if name != "reader" else None
        values = pa.table({"column": pa.array(texts, pa.string())})
        found = answers(lambda: given if given is not None else values.to_reader(3), texts)  # noqa: B023
        assert found == expected, name
