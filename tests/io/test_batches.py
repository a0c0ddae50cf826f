"""Row groups and record batches: their edges and their bytes depend on the rows alone."""

import random
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastlsh.io import arrays
from fastlsh.io.arrays import row_sizes
from fastlsh.io.arrow_files import arrow_writer
from fastlsh.io.outputs import PER_VALUE_OF_LISTS, parquet_writer
from strategies import share

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

WORDS = st.none() | st.text("abé𝔘", max_size=6)
NUMBERS = st.none() | st.integers(-3, 3)
KINDS = {
    "null": (pa.null(), st.none()),
    "bool": (pa.bool_(), st.none() | st.booleans()),
    "int": (pa.int64(), NUMBERS),
    "float": (pa.float32(), st.none() | st.sampled_from([0.0, -0.0, 1.5])),
    "decimal": (pa.decimal128(9, 2), NUMBERS),
    "string": (pa.string(), WORDS),
    "large": (pa.large_string(), WORDS),
    "view": (pa.string_view(), st.none() | st.text("ab", max_size=20)),
    "fixed": (pa.binary(3), st.none() | st.binary(min_size=3, max_size=3)),
    "list": (pa.list_(pa.string()), st.none() | st.lists(WORDS, max_size=3)),
    "lists": (pa.large_list(pa.list_(pa.int8())), st.lists(st.none() | st.lists(NUMBERS))),
    "pair": (pa.list_(pa.int16(), 2), st.none() | st.lists(NUMBERS, min_size=2, max_size=2)),
    "map": (pa.map_(pa.string(), pa.int8()), st.lists(st.tuples(st.text("ab"), NUMBERS))),
    "struct": (
        pa.struct([("a", pa.string()), ("b", pa.list_(pa.int8()))]),
        st.none() | st.fixed_dictionaries({"a": WORDS, "b": st.none() | st.lists(NUMBERS)}),
    ),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), WORDS),
    "ordered": (pa.dictionary(pa.int16(), pa.string(), ordered=True), st.sampled_from("xyz")),
}  # fmt: skip
IN_ARROW_ONLY = {
    "run ends": (pa.run_end_encoded(pa.int32(), pa.int64()), NUMBERS),
    "views": (pa.dictionary(pa.int32(), pa.string_view()), WORDS),
}


def size_of(value, kind):
    """Return the bytes of a value, as `row_sizes` promises."""
    types = pa.types
    if types.is_null(kind):
        return 0
    if types.is_dictionary(kind):
        return 0 if value is None else size_of(value, kind.value_type)
    if types.is_struct(kind):
        return 0 if value is None else sum(size_of(value[f.name], f.type) for f in kind)
    if types.is_fixed_size_list(kind):
        return 0 if value is None else sum(size_of(v, kind.value_type) for v in value)
    if types.is_map(kind):
        return 4 + sum(
            size_of(k, kind.key_type) + size_of(v, kind.item_type) for k, v in value or ()
        )
    if types.is_list(kind) or types.is_large_list(kind):
        return 4 + sum(size_of(v, kind.value_type) for v in value or ())
    if "view" in str(kind):
        return 16 + len((value or "").encode())
    if types.is_large_string(kind):
        return 8 + len((value or "").encode())
    if types.is_string(kind):
        return 4 + len((value or "").encode())
    return -(-kind.bit_width // 8)


def row_size(table, row):
    values = table.slice(row, 1).to_pylist()[0]
    return 1 + sum(size_of(values[f.name], f.type) for f in table.schema)


def edges_of(table, sizes=None):
    """Return the rows behind which a batch ends."""
    edges, rows, size = [], 0, 0
    for row in range(len(table)):
        rows, size = rows + 1, size + (row_size(table, row) if sizes is None else sizes[row])
        if rows == arrays.MOST_ROWS or size >= arrays.MOST_BYTES or row == len(table) - 1:
            edges.append(row + 1)
            rows = size = 0
    return edges


@st.composite
def tables(draw, kinds=KINDS):
    names = draw(st.lists(st.sampled_from(sorted(kinds)), min_size=1, max_size=4, unique=True))
    length = draw(st.integers(0, 40))
    columns = {}
    for name in names:
        kind, values = kinds[name]
        rows = draw(st.lists(values, min_size=length, max_size=length))
        if pa.types.is_dictionary(kind):  # of an order of its own
            found = sorted({row for row in rows if row is not None}, reverse=True)
            codes = [None if row is None else found.index(row) for row in rows]
            found = pa.array(found, pa.string()).cast(kind.value_type)
            columns[name] = pa.DictionaryArray.from_arrays(
                pa.array(codes, kind.index_type), found, ordered=kind.ordered
            )
        elif pa.types.is_run_end_encoded(kind):
            columns[name] = pa.compute.run_end_encode(pa.array(rows, kind.value_type), pa.int32())
        else:
            columns[name] = pa.array(rows, kind)
    return pa.table(columns)


def in_pieces(table, seed):
    """Return the rows as some tables, in one of the ways in which Arrow may hold them."""
    rng = random.Random(seed)
    pieces, start = [], 0
    while start < len(table):
        stop = rng.randint(start, len(table))
        piece = table.slice(start, stop - start)
        how = rng.randrange(3)
        if how == 0 and len(piece):
            copies = [table.slice(row, 1) for row in range(start, stop)]
            piece = pa.concat_tables([copy.combine_chunks() for copy in copies])
        elif how == 1:
            piece = piece.combine_chunks()
        pieces.append(piece)
        start = stop
    return pieces


def written(path, writer, pieces, schema):
    with writer(str(path), schema) as out:
        for piece in pieces:
            out.write(piece)
    return path.read_bytes()


@pytest.fixture(scope="module")
def small():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "MOST_BYTES", 150)
        patch.setattr(arrays, "MOST_ROWS", 7)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("batches")


@pytest.mark.exhaustive
@pytest.mark.usefixtures("small")
@share(3)
@given(tables(), st.integers(0, 1000))
def test_row_groups_depend_on_the_rows_alone(folder, table, seed):
    first = written(folder / "a.parquet", parquet_writer, [table], table.schema)
    second = written(folder / "b.parquet", parquet_writer, in_pieces(table, seed), table.schema)
    assert first == second
    by_threads = partial(parquet_writer, threads=1 + seed % 3)
    assert written(folder / "c.parquet", by_threads, [table], table.schema) == first
    with pq.ParquetFile(folder / "a.parquet") as file:
        groups = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        assert file.read().to_pylist() == table.to_pylist()
        columns = [file.metadata.schema.column(i) for i in range(file.metadata.num_columns)]
    in_lists = any(column.max_repetition_level for column in columns)
    sizes = row_sizes(table, PER_VALUE_OF_LISTS) if in_lists else None
    assert np.cumsum(groups).tolist() == edges_of(table, sizes)


def test_numbers_in_lists_have_no_dictionary(folder):
    """Texts in lists have one, and so have numbers of their own."""
    table = pa.table({
        "number": [1, 1, 2], "numbers": [[1, 1], [], None], "texts": [["a", "a"], ["b"], []],
    })  # fmt: skip
    written(folder / "d.parquet", parquet_writer, [table], table.schema)
    group = pq.read_metadata(folder / "d.parquet").row_group(0)
    columns = [group.column(i) for i in range(3)]
    assert [column.has_dictionary_page for column in columns] == [True, False, True]


@pytest.mark.usefixtures("small")
@given(tables({**KINDS, **IN_ARROW_ONLY}), st.integers(0, 1000))
def test_record_batches_depend_on_the_rows_alone(folder, table, seed):
    first = written(folder / "a.arrow", arrow_writer, [table], table.schema)
    second = written(folder / "b.arrow", arrow_writer, in_pieces(table, seed), table.schema)
    assert first == second
    with pa.ipc.open_file(folder / "a.arrow") as file:
        found = file.read_all()
        sizes = [len(file.get_batch(i)) for i in range(file.num_record_batches)]
    found.validate(full=True)
    assert found.to_pylist() == table.to_pylist()
    if "run ends" not in table.column_names:  # whose size is another one
        assert np.cumsum(sizes).tolist() == edges_of(table)


@given(tables())
def test_sizes_of_rows(table):
    assert row_sizes(table).tolist() == [row_size(table, row) for row in range(len(table))]


def test_what_lies_under_nulls_does_not_show(folder):
    seen = set()
    for garbage in (0, 1):
        values = np.arange(20) * (1 + garbage * (np.arange(20) % 3 == 0))
        numbers = pa.array(values, mask=np.arange(20) % 3 == 0)
        words = [f"{garbage * 'x'}{i}" if i % 3 == 0 else str(i) for i in range(20)]
        strings = pa.array(words)
        strings = pa.Array.from_buffers(
            pa.string(), 20, [numbers.buffers()[0], *strings.buffers()[1:]]
        )
        nested = pa.StructArray.from_arrays(
            [numbers, strings], ["a", "b"], mask=pa.array(np.arange(20) % 2 == 0)
        )
        table = pa.table({"a": numbers, "b": strings, "c": nested})
        seen.add(written(folder / "n.arrow", arrow_writer, [table], table.schema))
        seen.add(written(folder / "n.parquet", parquet_writer, [table], table.schema))
    assert len(seen) == 2


def test_dictionaries_that_differ_become_one(folder):
    kind = pa.dictionary(pa.int8(), pa.string())
    pieces = [pa.table({"d": pa.array(words, pa.string()).dictionary_encode().cast(kind)})
              for words in (["b", "a"], [], ["c", None, "a"], ["c", "d"])]  # fmt: skip
    written(folder / "d.arrow", arrow_writer, pieces, pieces[0].schema)
    with pa.ipc.open_file(folder / "d.arrow") as file:
        column = file.read_all().column("d")
    assert column.to_pylist() == ["b", "a", "c", None, "a", "c", "d"]
    assert column.chunk(0).dictionary.to_pylist() == ["b", "a", "c", "d"]
