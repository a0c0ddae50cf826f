"""More text in one row group or one column than 32-bit offsets reach: 2 GiB."""

import os
import random

import pytest

from fastlsh import Shingler, near_duplicate_files, near_duplicates
from fastlsh.files.budget import free_memory

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

TEXTS, PARTS = 2300, 10
"""Of a million characters each."""


@pytest.mark.slow
def test_more_than_two_gibibytes_of_text(tmp_path):
    """One row group, ten of them, and one pandas column: the same pair."""
    pandas = pytest.importorskip("pandas")
    if free_memory() < 10 << 30:
        pytest.skip("10 GiB of free memory are needed")
    draw, each = random.Random(1), TEXTS // PARTS
    texts = [[draw.randbytes(500_000).hex() for _ in range(each)] for _ in range(PARTS)]
    texts[-1][0] = texts[0][0]
    pair = (0, TEXTS - each, 1.0)
    column = pa.chunked_array([pa.array(part, pa.string()) for part in texts])
    del texts
    one = pa.chunked_array([column.cast(pa.large_string()).combine_chunks()])
    assert one.nbytes > 1 << 31
    plain = {"compression": "none", "use_dictionary": False, "store_schema": False}
    shingler = Shingler("word", 1)
    for name, array, rows in (("ten", column, each), ("one", one, TEXTS)):
        path = tmp_path / f"{name}.parquet"
        table = pa.table({"id": range(TEXTS), "text": array})
        parquet.write_table(table, path, row_group_size=rows, **plain)
        about = parquet.ParquetFile(path)
        assert about.num_row_groups == TEXTS // rows
        assert str(about.schema_arrow.field("text").type) == "string"
        found = near_duplicate_files(path, tmp_path / f"{name}.tsv", shingler=shingler)
        assert found.n_pairs == 1
        lines = (tmp_path / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
        assert lines[1:] == ["{}\t{}\t{:.6f}".format(*pair)]
        os.remove(path)
    del one, array, table
    series = pandas.Series(pandas.arrays.ArrowExtensionArray(column))
    assert [tuple(each) for each in near_duplicates(series, shingler=shingler)] == [pair]
