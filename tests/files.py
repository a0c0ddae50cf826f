"""What the tests of files share."""

import csv
import gzip
import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fastlsh.io import InputError, ReadOptions, RunPaths, check_outputs, expand, plan_outputs, read

ONE = "the quick brown fox jumps over the lazy dog and runs away"
NEAR = ONE.replace("away", "off")
OTHER = "something else altogether, long enough to have shingles"


def put(name, data):
    """Write a file, and make the folder that it is in; return its name."""
    folder = os.path.dirname(name)
    if folder and not os.path.isdir(folder):
        os.makedirs(folder)
    with open(name, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return name


def get(name):
    with open(name, "rb") as file:
        return file.read()


def save_table(table, name, rows=None):
    """Write a table as the suffix of its name says, so many rows at a time."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    new = pa.ipc.new_stream if "stream" in Path(name).name else pa.ipc.new_file
    with open(name, "wb") as file:  # pyarrow itself opens no name that is not text
        if str(name).endswith(".parquet"):
            write_table(table, file, row_group_size=rows)
            return
        with new(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=rows)


def load_table(name):
    """Read a Parquet or Arrow file."""
    import pyarrow as pa
    from pyarrow.parquet import read_table

    if str(name).endswith(".parquet"):
        return read_table(name)
    with open(name, "rb") as file, pa.ipc.open_file(file) as reader:
        return reader.read_all()


def put_rows(name, *rows):
    return put(name, lines_of(rows))


def kind_of(path):
    """Return the format that a name tells, and whether the file is compressed."""
    return path.name.removesuffix(".gz").rpartition(".")[2], path.suffix == ".gz"


def put_table(path, rows, **options):
    """Write rows, or a table of pyarrow, in the format that a name tells; return the path."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    kind, compressed = kind_of(path)
    if kind in ("parquet", "arrow"):
        pa = pytest.importorskip("pyarrow")
        table = pa.Table.from_pylist(rows) if isinstance(rows, list) else rows
        if kind == "parquet":
            pytest.importorskip("pyarrow.parquet").write_table(table, path, **options)
        else:
            with pa.ipc.new_file(path, table.schema) as file:
                file.write_table(table, **options)
    elif kind in ("csv", "tsv"):
        with path.open("w", newline="", encoding="utf-8") as file:
            out = csv.DictWriter(file, rows[0], delimiter=SEPARATORS[kind], lineterminator="\n")
            out.writeheader()
            out.writerows(rows)
    else:
        lines = json.dumps(rows, **options) if kind == "json" else lines_of(rows)
        path.write_bytes(gzip.compress(lines.encode()) if compressed else lines.encode())
    return path


SEPARATORS = {"csv": ",", "tsv": "\t"}


def lines_of(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def table_rows(path):
    """Return the rows of a file in the format that its name tells; fields of CSV are text."""
    path = Path(path)
    kind, compressed = kind_of(path)
    if kind == "parquet":
        return pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    if kind == "arrow":
        return pytest.importorskip("pyarrow").ipc.open_file(path).read_all().to_pylist()
    if kind in SEPARATORS:
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file, delimiter=SEPARATORS[kind]))
    data = gzip.decompress(path.read_bytes()) if compressed else path.read_bytes()
    return json.loads(data) if kind == "json" else [*map(json.loads, data.splitlines())]


def check_rows_output(inputs, output, *, recursive=False, convert=None):
    """Check that rows of the inputs can be written, as a run does; return the planned outputs."""
    sources = expand(inputs, recursive=recursive, mixed=True)
    plan = plan_outputs(sources, output, convert)
    run_paths = RunPaths(ReadOptions(recursive=recursive))
    run_paths.reads(None, inputs, sources)
    run_paths.writes("output", [each.path for each in plan])
    run_paths.check()
    check_outputs(plan, sources, output)
    return plan


def refusal(*args, **keywords):
    with pytest.raises(InputError) as caught:
        read(*args, **keywords)
    text = str(caught.value)
    assert text.isprintable()
    return text


def refused_if_damaged(index, statements, read):
    """Change a copy of an index in SQLite by each statement of SQL: to read it is an error."""
    for number, statement in enumerate(statements):
        name = f"damaged{number}.ix"
        shutil.copy(index, name)
        with closing(sqlite3.connect(name)) as file, file:
            file.execute(statement)
        with pytest.raises(ValueError, match=rf"{name}: the index is damaged"):
            read(name)
