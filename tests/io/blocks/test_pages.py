"""Large row groups are read in parts: the same rows, whatever their pages are."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from combinations import every, larger
from fastlsh import InputError
from fastlsh.io import read_blocks, reread_blocks
from fastlsh.io.blocks import thrift
from fastlsh.io.files import expand

pa, pq = (pytest.importorskip(f"pyarrow{module}") for module in ("", ".parquet"))

SIZE = 3 << 13
RNG = np.random.default_rng(7)


def table(kind, n=1500):
    """Return rows with texts of a type, some of them null, and columns that are small or nested."""
    letters = RNG.integers(97, 123, 400 * n).astype(np.uint8).tobytes().decode()
    ends = RNG.integers(0, 300, n)
    texts = [letters[400 * i : 400 * i + end] if end > 20 else None for i, end in enumerate(ends)]
    if str(kind).startswith("dictionary"):
        texts = [texts[i % 750] for i in range(n)]
    columns = {
        "number": pa.array(np.arange(n)),
        "text": pa.array(texts).cast(kind),
        "id": pa.array([f"d{i}" for i in range(n)]),
        "lists": pa.array([[i, None] for i in range(n)]),
        "other": pa.array(texts[::-1]).cast(pa.large_string()),
    }
    return pa.table(columns, metadata={"a": "b"})


def write(path, rows, **more):
    with pq.ParquetWriter(
        path, rows.schema, data_page_size=1 << 11, write_batch_size=16,
        dictionary_pagesize_limit=1 << 12, **more,
    ) as writer:  # fmt: skip
        writer.write_table(rows.slice(0, 900), row_group_size=900)
        writer.write_table(rows.slice(900, 1), row_group_size=1)
        writer.write_table(rows.slice(901), row_group_size=len(rows))
    (source,) = expand(str(path))
    return source


def texts_of(blocks):
    return [text for block in blocks for text in block.documents().texts.to_pylist()]


FORMS = [
    {},
    {"compression": "none", "use_dictionary": False},
    {"compression": "zstd", "data_page_version": "2.0", "write_page_checksum": True},
    {"compression": "gzip", "use_dictionary": ["id"], "store_schema": False},
    {"compression": "brotli", "column_encoding": {"text": "DELTA_BYTE_ARRAY"},
     "use_dictionary": False},
]  # fmt: skip
KINDS = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]


@pytest.mark.parametrize(
    "how", every(3, [*zip(FORMS, KINDS + KINDS[:2], strict=True), (FORMS[1], KINDS[2])], 2)
)
def test_same_rows(tmp_path, how):
    form, kind = how
    path = tmp_path / "a.parquet"
    source = write(path, table(kind), **form)
    rows = pq.read_table(path)
    blocks = list(read_blocks(source, SIZE))
    assert [0, *(b.extent.stop for b in blocks)] == [*(b.extent.start for b in blocks), len(rows)]
    assert texts_of(blocks) == rows["text"].to_pylist()
    for some in (blocks, blocks[5:6], blocks[1::3], blocks[-1:]):
        extents = [block.extent for block in some]
        kept = [np.arange(e.stop - e.start) % 3 > 0 for e in extents]
        again = reread_blocks(source, extents)
        for extent, block, flags in zip(extents, again, kept, strict=True):
            expected = rows.slice(extent.start, len(flags)).filter(pa.array(flags))
            found = block.rows(flags)
            found.validate(full=True)
            assert found.schema.equals(expected.schema, check_metadata=True)
            assert found.to_pydict() == expected.to_pydict()
        fewer = reread_blocks(source, extents, all_columns=False)
        expected = [rows["text"].slice(e.start, e.stop - e.start) for e in extents]
        assert texts_of(fewer) == [text for part in expected for text in part.to_pylist()]


def test_goes_on_within_a_row_group(tmp_path):
    source = write(tmp_path / "a.parquet", table(pa.string()))
    blocks = list(read_blocks(source, SIZE))
    rest = list(read_blocks(source, SIZE, after=blocks[3].extent))
    assert [block.extent for block in rest] == [block.extent for block in blocks[4:]]
    finer = list(read_blocks(source, SIZE // 2, after=blocks[3].extent))
    assert finer[0].extent.start == blocks[3].extent.stop
    assert texts_of(finer) == texts_of(rest)


@pytest.mark.parametrize("places", larger(5, 30))
def test_damaged_pages(tmp_path, places):
    """A page whose checksum is wrong is an error, wherever in a row group it is."""
    path = tmp_path / "a.parquet"
    source = write(path, table(pa.string()), write_page_checksum=True)
    good, expected = path.read_bytes(), texts_of(read_blocks(source, SIZE))
    errors = 0
    for place in RNG.integers(8, len(good) - 8, places).tolist():
        path.write_bytes(good[:place] + bytes([good[place] ^ 64]) + good[place + 1 :])
        try:
            assert texts_of(read_blocks(source, SIZE)) == expected  # where no text is
        except InputError:
            errors += 1
    assert errors


integers = st.integers(-(1 << 63), (1 << 63) - 1)
plain = st.one_of(
    st.tuples(st.sampled_from([thrift.I16, thrift.I32, thrift.I64]), integers),
    st.tuples(st.just(thrift.BINARY), st.binary(max_size=300)),
    st.tuples(st.just(thrift.BYTE), st.binary(min_size=1, max_size=1)),
    st.tuples(st.just(thrift.DOUBLE), st.binary(min_size=8, max_size=8)),
    st.tuples(st.sampled_from([thrift.TRUE, thrift.FALSE]), st.none()),
    st.tuples(
        st.just(thrift.LIST),
        st.one_of(
            st.tuples(st.just(thrift.I64), st.lists(integers, max_size=40)),
            st.tuples(st.just(thrift.TRUE), st.lists(st.sampled_from([1, 2]), max_size=20)),
        ),
    ),
)
structures = st.recursive(
    st.dictionaries(st.integers(1, 200), plain, max_size=5),
    lambda inner: st.dictionaries(
        st.integers(1, 40),
        st.one_of(
            st.tuples(st.just(thrift.STRUCT), inner),
            st.tuples(
                st.just(thrift.LIST),
                st.tuples(st.just(thrift.STRUCT), st.lists(inner, max_size=20)),
            ),
        ),
        max_size=3,
    ),
    max_leaves=8,
)


@given(structures)
def test_structures_are_read_as_they_were_written(fields):
    data = thrift.write_struct(fields)
    reader = thrift.Reader(data + b"more")
    assert reader.struct() == fields
    assert reader.position == len(data)


@given(st.binary(max_size=200))
def test_any_bytes(data):
    with suppress(IndexError, ValueError):
        thrift.Reader(data).struct()
