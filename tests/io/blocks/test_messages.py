"""The size of batches of Arrow files, found without reading them."""

import random

import pytest

from fastlsh.io import Options, Source, largest_batch

pa = pytest.importorskip("pyarrow")


def written(path, form, compression, table, rows):
    new = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}[form]
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with new(path, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows)
    return Source(str(path), "arrow", None, Options())


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
@pytest.mark.parametrize("form", ["file", "stream"])
def test_sizes_are_those_of_the_buffers(tmp_path, form, compression):
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


@pytest.mark.parametrize("compression", [None, "zstd"])
def test_damage_is_left_to_the_reader(tmp_path, compression):
    table = pa.table({"text": [f"{n}" * 9 for n in range(50)]})
    path = tmp_path / "a.arrow"
    source = written(path, "file", compression, table, 20)
    whole = path.read_bytes()
    rng = random.Random(4)
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data[: rng.choice([len(data), rng.randrange(len(data))])])
        try:
            size, number = largest_batch(source)
        except ValueError as error:
            assert str(error).startswith(str(path))  # noqa: PT017
        else:
            assert number >= 1
            assert isinstance(size, int)
