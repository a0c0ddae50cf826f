"""Blocks of tables are bounded by what they take in memory, not by what they take in the file."""

import numpy as np
import pytest

from combinations import every
from fastlsh.io import Options, Source, has_long_rows, largest_batch, read_blocks
from fastlsh.io.arrays import row_sizes

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

SIZE = 1 << 14
LONG = 5_000


def dictionary_table(rows):
    """Return texts that take 20 KB once, and far more if each row has its own."""
    values = pa.array([letter * LONG for letter in "abcd"])
    return pa.table({"text": pa.DictionaryArray.from_arrays(
        pa.array(np.arange(rows) % 4, pa.int32()), values
    )})  # fmt: skip


def decoded(block):
    texts = block.documents().texts
    return int(row_sizes(pa.table({"text": texts})).sum())


@pytest.mark.parametrize("form", every(2, ["strings", "dictionary", "nested", "arrow"], 1))
def test_dictionaries_do_not_make_large_blocks(tmp_path, form):
    table = dictionary_table(400)
    column, kind, path = "text", "parquet", tmp_path / "t"
    if form == "arrow":
        kind = "arrow"
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    else:
        if form == "nested":
            strings = table.column("text").combine_chunks().cast(pa.string())
            table = pa.table({"a": pa.StructArray.from_arrays([strings], ["text"])})
            column = "a.text"
        pq.write_table(table, path, store_schema=form == "dictionary")
    assert path.stat().st_size < 25_000
    source = Source(str(path), kind, None, Options(column))
    blocks = list(read_blocks(source, SIZE))
    assert max(map(decoded, blocks)) <= 4 * SIZE
    assert sum(len(block.documents()) for block in blocks) == 400
    extents = [block.extent for block in blocks]
    for extent in extents:
        (*_, block) = read_blocks(source, SIZE, after=extent) if extent != extents[-1] else blocks
        assert block.extent == extents[-1]


def test_row_groups_with_long_and_short_dictionaries(tmp_path):
    short = pa.table({"text": [f"text {n}" for n in range(400)]})
    long = dictionary_table(400).cast(short.schema)
    with pq.ParquetWriter(tmp_path / "t", short.schema) as writer:
        for table in (short, short, long, short, long):
            writer.write_table(table)
    source = Source(str(tmp_path / "t"), "parquet", None, Options())
    blocks = list(read_blocks(source, SIZE))
    assert max(map(decoded, blocks)) <= 4 * SIZE
    texts = [text for block in blocks for text in block.documents().texts.to_pylist()]
    expected = [*short["text"], *short["text"], *long["text"], *short["text"], *long["text"]]
    assert texts == [text.as_py() for text in expected]


def test_files_with_long_rows(tmp_path):
    short, long = ["text"] * 100, [*["text"] * 99, "long" * 10_000]
    for name, texts in (("short", short), ("long", long)):
        table = pa.table({"text": texts})
        pq.write_table(table, tmp_path / f"{name}.parquet", use_dictionary=False)
        with pa.ipc.new_file(tmp_path / f"{name}.arrow", table.schema) as writer:
            writer.write_table(table)
        for suffix in ("parquet", "arrow"):
            source = Source(str(tmp_path / f"{name}.{suffix}"), suffix, None, Options())
            assert has_long_rows(source, 15_000) == (name == "long")
            assert not has_long_rows(source, 50_000)
    lists = pa.table({"text": ["a", "b"], "v": [[*range(5_000)]] * 2})  # 40,000 bytes each
    pq.write_table(lists, tmp_path / "lists.parquet", use_dictionary=False, compression="none")
    source = Source(str(tmp_path / "lists.parquet"), "parquet", None, Options())
    assert has_long_rows(source, 30_000)
    assert not has_long_rows(source, 60_000)


def written(path, form, compression, table, rows):
    new = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}[form]
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with new(path, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)
    return Source(str(path), "arrow", None, Options())


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
@pytest.mark.parametrize("form", ["file", "stream"])
def test_sizes_of_batches_are_those_of_their_buffers(tmp_path, form, compression):
    table = pa.table({
        "text": [f"{n % 7 * 'abc'} {n}" for n in range(500)],
        "coded": pa.array([f"word {n % 50}" for n in range(500)]).dictionary_encode(),
        "list": [[n] * (n % 5) if n % 3 else None for n in range(500)],
    })  # fmt: skip
    source = written(tmp_path / "a.arrow", form, compression, table, 60)
    sizes = []
    for start in range(0, 500, 60):
        columns = [pa.concat_arrays(column.slice(start, 60).chunks)
                   for column in (table["text"], table["list"])]  # fmt: skip
        sizes.append(sum(column.nbytes for column in columns) + 4 * len(columns[0]))
    dictionary = table["coded"].chunk(0).dictionary.nbytes
    size, number = largest_batch(source)
    assert 0 <= size - max(sizes) - dictionary < 64  # a buffer may be filled up
    assert sizes[number - 1] >= max(sizes) - 64
