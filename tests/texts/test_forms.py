"""The forms in which texts come: all give the same answer."""

from collections import deque
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh import MinHasher, Shingler, deduplicate, near_duplicates

TEXTS = [
    "plain ascii text, long enough", "", "ein Text mit Umlauten: äöü", None,
    "текст на кириллице, тоже текст", "short", "文字を比べる文章です。これは",
    "emoji 😀 and more 😀 emoji", "plain ascii text, long enough", "twelve chars",
    "exactly 13 ch", None, "embedded \0 nul", "plain ascii text, long enough!",
]  # fmt: skip
STRINGS = [text or "" for text in TEXTS]
HASHER = MinHasher(32)
EXPECTED = HASHER.signatures(TEXTS)

arrow_texts = st.lists(
    st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=12
)


def check(form, texts=None):
    """Compare a form of the texts with the list: signatures, pairs and deduplication."""
    texts = TEXTS if texts is None else texts
    assert np.array_equal(HASHER.signatures(form), HASHER.signatures(texts))
    options = {"threshold": 0.7, "shingler": Shingler(size=3)}
    assert list(near_duplicates(form, **options)) == list(near_duplicates(texts, **options))
    found = deduplicate(form, **options, against=form, keep="longest")
    expected = deduplicate(texts, **options, against=texts, keep="longest")
    assert np.array_equal(found.kept_index, expected.kept_index)
    assert np.array_equal(found.against_index, expected.against_index)
    for options in ({"unit": "byte"}, {"unit": "word", "size": 2}, {"lowercase": True}):
        hasher = MinHasher(8, shingler=Shingler(**options))
        assert np.array_equal(hasher.signatures(form), hasher.signatures(texts))


class Reader(Sequence):
    """A sequence that is no list."""

    def __len__(self):
        return len(TEXTS)

    def __getitem__(self, i):
        return TEXTS[i]


class Words(str):
    """A subclass of str."""

    __slots__ = ()


PYTHON_FORMS = {
    "tuple": lambda: tuple(TEXTS),
    "dict values": lambda: dict(enumerate(TEXTS)).values(),
    "bytes": lambda: [text if text is None else text.encode() for text in TEXTS],
    "mixed": lambda: [text.encode() if text and i % 2 else text for i, text in enumerate(TEXTS)],
    "subclass": lambda: [text if text is None else Words(text) for text in TEXTS],
    "numpy U": lambda: np.array(STRINGS),
    "numpy S": lambda: np.array([text.encode() for text in STRINGS]),
    "numpy object": lambda: np.array(TEXTS, object),
    "numpy reversed": lambda: np.array(TEXTS[::-1], object)[::-1],
    "numpy big-endian": lambda: np.array(STRINGS).astype(">U40"),
}


@pytest.mark.parametrize("form", PYTHON_FORMS.values(), ids=PYTHON_FORMS.keys())
def test_python_and_numpy(form):
    check(form())


def test_anything_that_can_be_iterated_over():
    for form in (iter(TEXTS), (text for text in TEXTS), deque(TEXTS), Reader()):
        assert np.array_equal(HASHER.signatures(form), EXPECTED)
    generator = (text for text in TEXTS)
    assert list(near_duplicates(generator)) == list(near_duplicates(TEXTS))


# ---- Arrow


def arrow_forms(pa, texts):
    """Yield (name, form) of the same texts."""
    plain = pa.array(texts, pa.string())
    padded = pa.array(["é before", None, *texts, "after"], pa.string())
    for type_ in (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.binary_view()):
        yield str(type_), pa.array(texts, pa.string()).cast(type_)
        yield f"{type_} sliced", padded.cast(type_).slice(2, len(texts))
    yield "large_binary", plain.cast(pa.large_binary())
    for index in map(
        pa.type_for_alias, ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64")
    ):
        encoded = padded.dictionary_encode()
        codes = encoded.indices.cast(index)
        both = pa.DictionaryArray.from_arrays(codes, encoded.dictionary)
        yield f"dictionary {index}", both.slice(2, len(texts))
    yield "chunked", pa.chunked_array([plain[:1], plain[1:1], plain[1:7], plain[7:]], pa.string())
    yield "table", pa.table({"text": plain})
    yield "sliced table", pa.table({"text": padded}).slice(2, len(texts))
    yield "record batch", pa.record_batch({"text": plain})
    yield "sliced record batch", pa.record_batch({"text": padded}).slice(2, len(texts))
    batches = pa.table({"text": plain}).to_batches(max_chunksize=3)
    schema = pa.schema({"text": pa.string()})
    yield "reader", pa.RecordBatchReader.from_batches(schema, batches)


@given(arrow_texts)
def test_arrow_with_any_text(pa, texts):
    expected = HASHER.signatures(texts)
    for name, form in arrow_forms(pa, texts):
        assert np.array_equal(HASHER.signatures(form), expected), name


def test_nulls_of_arrow(pa):
    codes = pa.array([0, None, 2, 1, 2], pa.int8())
    form = pa.DictionaryArray.from_arrays(codes, pa.array(["a text", None, "b text"]))
    check(form, ["a text", None, "b text", None, "b text"])
    column = pa.array(["x", "a text", "b text", None, "c text"]).slice(1)
    struct = pa.StructArray.from_arrays([column], ["t"], mask=pa.array([False, True, False, False]))
    check(struct.slice(1), [None, None, "c text"])
    check(struct, ["a text", None, None, "c text"])
    check(pa.nulls(3), [None] * 3)
    check(pa.nulls(3, pa.string()), [None] * 3)
    check(pa.chunked_array([], pa.string()), [])
    check(pa.table({"text": pa.array([], pa.string())}), [])


def test_strings_longer_than_a_view_and_in_several_buffers(pa):
    texts = [c * n for n in (11, 12, 13, 5000, 40_000) for c in "xyz"]
    views = pa.chunked_array([pa.array(texts[:7], pa.string_view()), texts[7:]], pa.string_view())
    check(views, texts)
    check(pa.concat_arrays([views.chunk(0), views.chunk(1)]), texts)
    found = near_duplicates(pa.array(TEXTS), ids=pa.array([f"id{i}" for i in range(len(TEXTS))]))
    assert (found.left_id[0], found.right_id[0]) == ("id0", "id8")


# ---- data frames


def test_polars():
    pl = pytest.importorskip("polars")
    series = pl.Series("text", TEXTS)
    check(series)
    check(pl.concat([series[:3], series[3:]], rechunk=False))
    check(pl.concat([series, series])[3 : 3 + len(TEXTS)], TEXTS[3:] + TEXTS[:3])
    check(series.cast(pl.Categorical))
    check(pl.DataFrame({"text": series}))
    check(pl.DataFrame({"id": range(len(TEXTS)), "text": series}).select("text"))
    assert near_duplicates(series, ids=series).left_id[0] == TEXTS[0]
    frame = pl.DataFrame({"text": series})
    kept = frame.filter(deduplicate(frame["text"], 0.9).kept)
    assert len(kept) == len(TEXTS) - 2


def test_pandas():
    pd = pytest.importorskip("pandas")
    check(pd.Series(TEXTS))
    check(pd.Series(TEXTS, dtype=object))
    check(pd.Series([float("nan") if text is None else text for text in TEXTS], dtype=object))
    check(pd.Series(TEXTS, dtype="string"))
    check(pd.Series([*TEXTS, "x"])[:-1])
    check(pd.Series(TEXTS, dtype="category"))
    check(pd.DataFrame({"text": TEXTS}))
    frame = pd.DataFrame({"text": TEXTS}, index=range(50, 50 + len(TEXTS)))
    check(frame["text"])
    assert near_duplicates(frame["text"], ids=frame.index).left_id[0] == 50
    assert len(frame[deduplicate(frame["text"], 0.9).kept]) == len(TEXTS) - 2


def test_duckdb():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as database:
        database.execute("create table t (i integer, text varchar)")
        database.executemany("insert into t values (?, ?)", list(enumerate(TEXTS)))
        relation = database.sql("select text from t order by i")
        assert np.array_equal(HASHER.signatures(relation), EXPECTED)
        check(relation)
        with pytest.raises(TypeError, match="2 columns"):
            HASHER.signatures(database.sql("select * from t"))


@pytest.mark.parametrize("missing", [None, float("nan"), "", "__NA__"])
def test_numpy_strings_of_any_length(missing):
    dtypes = pytest.importorskip("numpy.dtypes")
    if not hasattr(dtypes, "StringDType"):
        pytest.skip("numpy 1 has no StringDType")
    check(np.array(STRINGS, dtypes.StringDType()))
    if missing != "":
        check(np.array([missing if t is None else t for t in TEXTS],
                       dtypes.StringDType(na_object=missing)))  # fmt: skip
