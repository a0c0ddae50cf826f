"""What a run on disk takes, measured in processes of their own, and more text than 2 GiB."""

import csv
import gzip
import json
import os
import random
import subprocess
import sys

import numpy as np
import pytest

from fastlsh import Shingler, near_duplicate_files, near_duplicates
from fastlsh.files.budget import free_memory
from files import put_table
from shards import WORDS

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="measures as Linux does"),
]

LIMIT = 300
"""Megabytes that are given."""

MORE = 100
"""Megabytes that the allocators may keep besides."""

RUN = """
import re, sys, threading, time
from fastlsh.cli import main

most = 0

def watch():
    # Mapped files do not count: the system takes their memory back when it needs it.
    global most
    while True:
        with open("/proc/self/status") as file:
            most = max(most, int(re.search(r"RssAnon:\\s+(\\d+)", file.read())[1]))
        time.sleep(0.002)

threading.Thread(target=watch, daemon=True).start()
status = main(sys.argv[1:])
print(status, most // 1024)
"""


def peak(*arguments, memory=LIMIT, threads=1):
    """Run a command with so much memory; return its status, its peak in megabytes, and messages."""
    command = [*map(str, arguments), "--memory", f"{memory}M", "--threads", f"{threads}"]
    run = subprocess.run(
        [sys.executable, "-c", RUN, *command], capture_output=True, text=True, check=True
    )
    status, megabytes = map(int, run.stdout.split()[-2:])
    return status, megabytes, run.stderr


def fits(*arguments, expected=0, most=LIMIT + 30, **sizes):
    """Run a command that has this status and takes no more megabytes; return its messages."""
    status, megabytes, said = peak(*arguments, **sizes)
    assert status == expected, said
    assert expected == 0 or "give at least --memory=" in said
    assert megabytes < most
    return said


ON_DISK = "--engine", "disk"
LONGEST = ((LIMIT << 20) - (160 << 20)) // 6
"""The bytes of the longest row."""


def deduplicated(path, *options, suffix=None, **sizes):
    """Deduplicate a file on disk, which fits; return the messages."""
    out = path.with_name(f"k.{suffix or path.suffix[1:]}")
    return fits("dedup", path, "-o", out, *ON_DISK, *options, **sizes)


def sentences(seed, count):
    draw = random.Random(seed)
    return [" ".join(draw.choices(WORDS, k=30)) for _ in range(count)]


def test_one_long_row_is_refused(tmp_path):
    path = tmp_path / "in.jsonl"
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps({"text": "short"}) + "\n")
        file.write('{"text": "')
        for _ in range(400):
            file.write("many words " * 100_000)
        file.write('"}\n')
    for engine in ("auto", "disk"):
        out = tmp_path / "k.jsonl"
        command = ["dedup", path, "-o", out, "--engine", engine]
        assert "row 2" in fits(*command, expected=2, most=LIMIT + MORE)
        assert not out.exists()


def test_a_row_of_nulls_that_expands(tmp_path):
    path = tmp_path / "in.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(1000):
            file.write(bytes(1 << 20))
    fits("dedup", path, "-o", tmp_path / "k.jsonl", expected=2, most=LIMIT + MORE)


def test_a_file_that_expands_later(tmp_path):
    path = tmp_path / "in.jsonl.gz"
    with gzip.open(path, "wt", compresslevel=6) as file:
        for text in sentences(1, 30_000):
            file.write(json.dumps({"text": text}) + "\n")
        template = "the same template again and again " * 400
        for number in range(60_000):
            file.write(json.dumps({"text": f"{template}{number % 900}"}) + "\n")
    assert path.stat().st_size < 10 << 20
    said = fits("dedup", path, "-o", tmp_path / "k.jsonl", most=LIMIT + MORE)
    assert "working on disk in " in said


def test_a_dictionary_for_far_more_text_than_the_file_has(tmp_path):
    path = tmp_path / "in.parquet"
    texts = [" ".join(sentences(2, 40)) + str(n) for n in range(50)]
    numbers = pa.array([n * n % 50 for n in range(200_000)], pa.int32())
    column = pa.DictionaryArray.from_arrays(numbers, pa.array(texts))
    assert sum(map(len, texts)) * 4000 > 1 << 30
    pq.write_table(pa.table({"text": column}), path, row_group_size=200_000)
    assert path.stat().st_size < 2 << 20
    deduplicated(path, most=LIMIT + MORE)


def test_wide_rows_cost_nothing_where_only_texts_are_read(tmp_path):
    path, columns, rows = tmp_path / "in.parquet", 600, 20_000
    numbers = pa.array(random.Random(1).choices(range(2**62), k=rows), pa.int64())
    table = pa.table({"text": sentences(3, rows), **{f"c{n}": numbers for n in range(columns)}})
    pq.write_table(table, path, row_group_size=rows)
    said = fits("pairs", path, "-o", tmp_path / "p.tsv", *ON_DISK, most=LIMIT + MORE)
    assert "columns" not in said
    # To write rows, pyarrow holds a page of each column: the run says so before it begins.
    status, _, said = peak("dedup", path, "-o", tmp_path / "k.parquet", *ON_DISK)
    assert status == 0
    assert f"{columns + 1:,} columns are held" in said


@pytest.mark.parametrize("threads", [2, 16])
def test_parquet_is_written_within_the_memory(tmp_path, threads):
    draw = random.Random(4)
    names = []
    for number in range(4):
        texts = [draw.randbytes(850).hex() for _ in range(25_000)] * 2
        assert sum(map(len, texts)) > 40 << 20
        names.append(tmp_path / f"{number}.parquet")
        pq.write_table(pa.table({"text": texts}), names[-1], row_group_size=len(texts))
    out = tmp_path / "k.parquet"
    command = ["dedup", *names, "-o", out, *ON_DISK]
    fits(*command, most=256, memory=256, threads=threads)


def test_a_row_of_very_many_lines(tmp_path):
    lines = 2_000_000
    path = tmp_path / "in.jsonl"
    text = "\n".join(f"{n % 1000:x}" for n in range(lines))
    path.write_text(json.dumps({"text": text}) + "\n", encoding="utf-8")
    most = LIMIT + 20 * lines / 1e6  # as the documentation says, for each line
    deduplicated(path, "--by", "line", most=most)


READERS = ["jsonl", "csv", "txt", "parquet", "arrow"]
JOBS = {
    "dedup": ["dedup", "-o", "k"],
    "pairs": ["pairs", "-o", "p.tsv"],
    "lines": ["dedup", "--by", "line", "-o", "k"],
}


def longest_text(worst):
    """Return a text for the longest row: the worst one has quotes, and characters of four bytes."""
    draw = random.Random(5)
    words = [f"{n:x}" + '"' * (worst and n % 5 == 0) for n in range(40_000)]
    size = LONGEST - 100
    text = " ".join(draw.choices(words, k=4_900_000))
    if not worst:
        return text[:size]
    text = text[: size - text[:size].count('"') - 8]
    return text + "😀"


ROW = LONGEST - 200
"""Bytes of the longest row without its keys and marks."""

LINES = 2_290_000
"""Lines of a row, of which no more than 2,293,000 are accepted."""


def list_of_bytes():
    return pa.array(np.zeros(ROW, np.int8))


def list_of_lists():
    return pa.ListArray.from_arrays(pa.array(np.zeros(ROW // 4, np.int32)), pa.array([], pa.int8()))


WORST = {
    "text": (READERS, lambda: {"text": longest_text(worst=False)}),
    "text with quotes": (READERS, lambda: {"text": longest_text(worst=True)}),
    "lines": (READERS, lambda: {"text": "ab\n" * LINES}),
    "quotes": (READERS, lambda: {"text": '"' * (ROW // 2)}),
    "id": (["jsonl", "csv", "parquet", "arrow"], lambda: {"id": "x" * ROW}),
    "objects": (["jsonl"], lambda: {"v": [{}] * (ROW // 3)}),
    "bytes": (["arrow"], lambda: {"v": list_of_bytes()}),
    "numbers": (["parquet", "arrow"], lambda: {"v": pa.array(np.arange(ROW // 8))}),
    "lists": (["parquet", "arrow"], lambda: {"v": list_of_lists()}),
}
"""The worst rows that are accepted: the formats that can have them, and what they have."""


def as_column(value):
    """Return a column of one row: a value, or a list of the values of an array."""
    if isinstance(value, str):
        return [value]
    return pa.ListArray.from_arrays(pa.array([0, len(value)], pa.int32()), value)


def write_worst_row(path, values):
    """Write a file with a row, of which some values are given."""
    row = {"id": "1", "text": "some text", **values}
    if path.suffix == ".jsonl":
        line = json.dumps(row, separators=(",", ":"), ensure_ascii=False)
        path.write_text(f"{line}\n", encoding="utf-8")
    elif path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([row, row.values()])
            file.write('2,another text\n3,a"b"c\n')
    elif path.suffix == ".txt":
        path.write_text(row["text"], encoding="utf-8")
    else:
        put_table(path, pa.table({name: as_column(value) for name, value in row.items()}))


def test_rows_with_lists_of_numbers(tmp_path):
    """Each value of a list takes room when Parquet is written, however few bytes it has."""
    table = pa.table({
        "text": [f"text {number}" for number in range(2_400)],
        "v": pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(24_000_000, np.int8)), 10_000),
    })  # fmt: skip
    path = tmp_path / "in.parquet"
    pq.write_table(table.cast(pa.schema({"text": pa.string(), "v": pa.list_(pa.int8())})), path)
    deduplicated(path)


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("case", [(row, reader) for row in WORST for reader in WORST[row][0]])
def test_the_worst_row_that_is_accepted(tmp_path, case, job):
    row, reader = case
    path = tmp_path / f"in.{reader}"
    write_worst_row(path, WORST[row][1]())
    name, *more = JOBS[job]
    out = tmp_path / (f"k.{reader}" if more[-1] == "k" else more[-1])
    lines = LINES if (row, job) == ("lines", "lines") else 0
    most = LIMIT + 30 + 20 * lines / 1e6  # as the documentation says, for each line
    fits(name, path, *more[:-1], out, *ON_DISK, most=most)


def filled(unit):
    """Return a list of JSON with one value many times: with it, a row has all of its bytes."""
    return "[" + ",".join([unit] * (ROW // len(unit + ","))) + "]"


def nested(unit):
    return f'{{"text": {{"b": "c"}}, "v": {filled(unit)}}}\n'


def plain(unit):
    return nested(unit).replace('{"b": "c"}', '"b"')


def of_two_texts():
    text = longest_text(False)[:-10] + "😀"
    return f"text,b\n{text[: len(text) // 2]},{text[len(text) // 2 :]}\n"


OBJECTS = {
    "empty objects": ("jsonl", lambda: nested("{}"), ["--text", "text.b"]),
    "short lists": ("jsonl", lambda: nested("[0]"), ["--text", "text.b"]),
    "keys": ("jsonl", lambda: nested('{"":{}}'), ["--text", "text.b"]),
    "texts": ("jsonl", lambda: nested('"ab"'), ["--text", "text.b"]),
    "bad row": ("jsonl", lambda: nested("{}")[:-2] + "\n", ["--on-error", "skip"]),
    "two columns": ("csv", of_two_texts, ["--text", "text", "--text", "b"]),
    "CSV as JSON": ("csv", of_two_texts, ["--convert-to", "jsonl"]),
    "CSV as Parquet": ("csv", of_two_texts, ["--convert-to", "parquet"]),
    "numbers as Parquet": ("jsonl", lambda: plain("123456"), ["--convert-to", "parquet"]),
    "text as JSON": ("txt", lambda: longest_text(False)[:-4] + "😀", ["--convert-to", "jsonl"]),
    "lines": ("txt", lambda: "ab\n" * 7_000_000, ["--by", "line"]),
}


def command_of(folder, case):
    """Write the file of a case; return the command that reads it."""
    suffix, text, options = OBJECTS[case]
    path = folder / f"in.{suffix}"
    path.write_text(text(), encoding="utf-8", newline="")
    out = folder / f"k.{options[1] if '--convert-to' in options else suffix}"
    return ["dedup", path, "-o", out, *ON_DISK, *options]


@pytest.mark.parametrize("case", OBJECTS)
def test_a_row_that_becomes_large_in_memory(tmp_path, case):
    lines = 7_000_000 if case == "lines" else 0
    fits(*command_of(tmp_path, case), expected=2, most=LIMIT + 30 + 20 * lines / 1e6)


@pytest.mark.parametrize("case", ["texts", "two columns", "CSV as JSON", "numbers as Parquet"])
def test_a_row_that_becomes_as_large_as_it_may(tmp_path, case):
    command = command_of(tmp_path, case)
    _, _, said = peak(*command)
    memory = int(said.rpartition("--memory=")[2].split("M")[0])
    fits(*command, most=memory + 30, memory=memory)


def test_rows_that_become_large_are_converted_one_after_the_other(tmp_path):
    path = tmp_path / "in.jsonl"
    values = ",".join(["{}"] * 1_100_000)
    with path.open("w", encoding="utf-8") as file:
        for number in range(6):
            file.write(f'{{"text": "text {number}", "v": [{values}]}}\n')
    deduplicated(path, "--convert-to", "csv", suffix="csv", threads=4)


def structs(rows, count):
    """Return a column of lists of small objects, which Parquet has in few bytes."""
    nulls = pa.nulls(rows * count, pa.bool_())
    values = pa.StructArray.from_arrays([nulls, nulls], ["a", "b"])
    return pa.ListArray.from_arrays(pa.array(range(0, rows * count + 1, count), pa.int32()), values)


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("to", ["csv", "jsonl"])
def test_tables_become_text_within_the_memory(tmp_path, to, threads):
    path = tmp_path / "in.parquet"
    table = pa.table({"text": sentences(6, 400), "v": structs(400, 5_000)})
    pq.write_table(table, path, row_group_size=20)
    deduplicated(path, "--convert-to", to, suffix=to, threads=threads)


@pytest.mark.parametrize("to", ["csv", "parquet"])
def test_long_rows_of_parquet_are_worked_on_one_after_the_other(tmp_path, to):
    path = tmp_path / "in.parquet"
    text = longest_text(False)[:20_000_000]
    table = pa.table({"text": [f"{n} {text}" for n in range(6)]})
    pq.write_table(table, path, use_dictionary=False, write_batch_size=1, data_page_size=1000)
    more = [] if to == "parquet" else ["--convert-to", to]
    deduplicated(path, "--rule", "equal", *more, suffix=to, threads=4)


TEXTS, PARTS = 2300, 10
"""Of a million characters each."""


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
        pq.write_table(table, path, row_group_size=rows, **plain)
        about = pq.ParquetFile(path)
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
