"""Blocks of every format: the same documents and rows however they are cut, and read again."""

import bz2
import gzip
import json
import lzma
import os

import numpy as np
import pytest

from combinations import covering, every
from fastlsh.io import InputError, expand, read, write_rows
from fastlsh.io.blocks.reading import read_blocks, reread_blocks
from fastlsh.io.sources import Options
from fastlsh.io.streams import identity
from fastlsh.parallel import ordered_map
from files import put, save_table
from refusals import refuses

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = [
    {"id": f"d{i}", "text": None if i == 7 else f"text {i} é" * (i % 5), "q": i / 2, "n": [i]}
    for i in range(60)
]
COMPRESS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
SIZES = [1, 100, 1000, 1 << 22]


def jsonl(encoding="utf-8"):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS).encode(encoding)


def csv_file(encoding="utf-8"):
    lines = [f'{row["id"]},"{row["text"] or ""}\r\n""x""",{row["q"]}' for row in ROWS]
    return "\r\n".join(["id,text,q", *lines]).encode(encoding)


def table():
    return pa.Table.from_pylist(ROWS)


def save(name, rows):
    save_table(table(), name, rows)


FILES = {
    "a.jsonl": lambda name: put(name, jsonl()),
    "marked.jsonl": lambda name: put(name, b"\xef\xbb\xbf" + jsonl()),
    "a.csv": lambda name: put(name, csv_file()),
    "a.parquet": lambda name: save(name, 60),
    "groups.parquet": lambda name: save(name, 7),
    "a.arrow": lambda name: save(name, 60),
    "batches.arrow": lambda name: save(name, 7),
    "stream.arrow": lambda name: save(name, 13),
    **{
        f"a.{kind}.{suffix}": lambda name, kind=kind, suffix=suffix: put(
            name, COMPRESS[suffix]({"jsonl": jsonl, "csv": csv_file}[kind]())
        )
        for kind in ("jsonl", "csv")
        for suffix in COMPRESS
    },
    "a.jsonl.zst": lambda name: put(name, pa.compress(jsonl(), "zstd", asbytes=True)),
}
ENCODED = ["utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252", "utf-7", "iso2022_jp_2"]


def made(name):
    FILES[name](name)
    return expand(name, options=Options(priority="q"))[0]


def listed(values):
    return values.to_pylist() if hasattr(values, "to_pylist") else list(values)


def all_documents(blocks):
    found = [block.documents() for block in blocks]
    assert not any(each.bad for each in found)
    return [
        (row, text, identity, priority)
        for each in found
        for row, text, identity, priority in zip(
            each.rows.tolist(), listed(each.texts), listed(each.ids), each.numbers["q"].tolist(),
            strict=True,
        )
    ]  # fmt: skip


def joined(pieces):
    if isinstance(pieces[0], pa.Table):
        return pa.concat_tables(pieces).to_pylist()
    return b"".join(map(bytes, pieces))


@pytest.mark.parametrize(("name", "size"), covering(FILES, SIZES))
def test_the_size_of_blocks_changes_nothing(here, name, size):
    source = made(name)
    known = identity(source)
    whole = list(read_blocks(source, 1 << 30))
    documents = all_documents(whole)
    assert [each[2] for each in documents] == [row["id"] for row in ROWS]
    assert [each[3] for each in documents] == [row["q"] for row in ROWS]
    every = [np.ones(len(block.documents()), bool) for block in whole]
    rows = joined([block.rows(flags) for block, flags in zip(whole, every, strict=True)])
    some = np.random.default_rng(1).random(60) < 0.4
    blocks = list(read_blocks(source, size))
    extents = [block.extent for block in blocks]
    assert [extent.index for extent in extents] == list(range(len(blocks)))
    assert all_documents(blocks) == documents
    counts = [len(block.documents()) for block in blocks]
    flags = np.split(some, np.cumsum(counts)[:-1])
    pieces, chosen = [], []
    for block, kept in zip(reread_blocks(source, extents, (), known), flags, strict=True):
        assert block.extent == extents[len(pieces)]
        pieces.append(block.rows(kept))
        chosen.append(block.documents(kept))
    first = [block.rows(kept) for block, kept in zip(blocks, flags, strict=True)]
    assert joined(pieces) == joined(first)
    assert [t for c in chosen for t in listed(c.texts)] == [
        each[1] for each, keep in zip(documents, some, strict=True) if keep
    ]
    full = [
        block.rows(np.ones(n, bool))
        for n, block in zip(counts, reread_blocks(source, extents), strict=True)
    ]
    assert joined(full) == rows


@pytest.mark.parametrize("name", FILES)
def test_going_on_behind_a_block_and_single_blocks(here, name):
    source = made(name)
    for size in (100, 1000):
        extents = [block.extent for block in read_blocks(source, size)]
        for index in (0, len(extents) // 2, len(extents) - 1):
            behind = read_blocks(source, size, after=extents[index])
            assert [block.extent for block in behind] == extents[index + 1 :]
        few = extents[1::3]
        assert [block.extent for block in reread_blocks(source, few, all_columns=False)] == few
        texts = [
            listed(block.documents().texts)
            for block in reread_blocks(source, few, all_columns=False)
        ]
        wanted = [b.documents() for b in read_blocks(source, size) if b.extent in few]
        assert texts == [listed(each.texts) for each in wanted]


@pytest.mark.parametrize(("name", "sizes"), covering(FILES, [(100, 370), (370, 100), (1, 1 << 22)]))
def test_going_on_with_another_size(here, name, sizes):
    """Every row comes once, and comes again."""
    source, (before, after) = made(name), sizes
    documents = all_documents(read_blocks(source, 1 << 30))
    done = list(read_blocks(source, before))
    for count in sorted({1, len(done) // 3, len(done) // 2, len(done) - 1} - {0}):
        blocks = done[:count] + list(read_blocks(source, after, after=done[count - 1].extent))
        assert all_documents(blocks) == documents
        extents = [block.extent for block in blocks]
        assert [extent.index for extent in extents] == list(range(len(extents)))
        assert all_documents(reread_blocks(source, extents)) == documents


@pytest.mark.parametrize("encoding", every(2, ENCODED))
@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_encodings(here, encoding, kind):
    data = {"jsonl": jsonl, "csv": csv_file}[kind](encoding)
    name = put(f"a.{kind}", data)
    source = expand(name, options=Options(encoding=encoding, priority="q"))[0]
    documents = all_documents(read_blocks(source, 1 << 30))
    for size in (1, 1000):
        assert all_documents(read_blocks(source, size)) == documents
    collection = read(name, encoding=encoding)
    write_rows(collection, np.ones(60, bool), f"b.{kind}")
    if encoding != "utf-7":  # where a text has several spellings
        with open(f"b.{kind}", "rb") as file:
            assert file.read() == data


# --- what is wrong


def change(name, how):
    with open(name, "rb") as file:
        data = bytearray(file.read())
    status = os.stat(name)
    if how == "grown":
        data = data + data
    elif how == "other bytes":
        at = data.index(b"text 3") if b"text 3" in data else len(data) // 2
        data[at] ^= 1
    os.unlink(name)
    put(name, bytes(data))
    if how == "other bytes":
        os.utime(name, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize("how", ["grown", "replaced"])
@pytest.mark.parametrize("name", FILES)
def test_a_changed_file_is_refused(here, name, how):
    source = made(name)
    known = identity(source)
    extents = [block.extent for block in read_blocks(source, 500)]
    put("old", b"")  # so that no inode is used again
    os.link(name, "same")
    change(name, how)
    refuses(InputError, "changed during the run", list, reread_blocks(source, extents, (), known))


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.arrow", "stream.arrow", "a.jsonl.gz"])
def test_other_bytes_are_noticed_whatever_the_clock_says(here, name):
    source = made(name)
    extents = [block.extent for block in read_blocks(source, 500)]
    change(name, "other bytes")
    with pytest.raises(InputError, match=r"changed|CRC|incorrect|Error|invalid"):
        list(reread_blocks(source, extents))


def test_a_change_between_two_blocks_is_noticed(here):
    source = made("a.jsonl")
    blocks = read_blocks(source, 500)
    next(blocks)
    change("a.jsonl", "replaced")
    refuses(InputError, "changed during the run", list, blocks)


@pytest.mark.parametrize(("suffix", "size"), covering(["gz", "bz2", "xz", "zst"], [1000, 1 << 22]))
def test_a_truncated_archive_is_told_after_the_rows_before(here, suffix, size):
    rows = "".join(f'{{"text": "{os.urandom(50).hex()}"}}\n' for _ in range(4_000)).encode()
    how = {"bz2": [1], "xz": [lzma.FORMAT_XZ, -1, 0]}.get(suffix, [])  # with the smallest blocks
    packed = (
        pa.compress(rows, "zstd", asbytes=True) if suffix == "zst" else COMPRESS[suffix](rows, *how)
    )
    put(f"a.jsonl.{suffix}", packed[: len(packed) // 2])
    source = expand(f"a.jsonl.{suffix}")[0]
    blocks = []
    with pytest.raises(InputError, match=r"[Tt]runcated|Compressed file ended"):
        blocks.extend(read_blocks(source, size))
    documents = [block.documents() for block in blocks]
    assert not any(each.bad for each in documents)  # a row that was cut is none
    texts = [text for each in documents for text in each.texts]
    assert len(texts) > 1_000
    put("a.jsonl", rows)
    assert read("a.jsonl").texts[: len(texts)] == texts
    put(f"b.jsonl.{suffix}", b"")
    refuses(InputError, "truncated: an empty file is not", read, f"b.jsonl.{suffix}")


def test_a_file_without_rows_is_one_block(here):
    put("a.jsonl", b"")
    (block,) = read_blocks(expand("a.jsonl")[0], 1000)
    assert listed(block.documents().texts) == []
    assert [each.extent for each in reread_blocks(expand("a.jsonl")[0], [block.extent])] == [
        block.extent
    ]


def test_places_ascend(here):
    source = made("a.jsonl")
    extents = [block.extent for block in read_blocks(source, 500)]
    refuses(ValueError, "ascending", list, reread_blocks(source, extents[::-1]))


# --- threads


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_are_in_order_and_errors_in_their_turn(threads):
    def work(number):
        if number == 40:
            raise ValueError("forty")
        return number * number

    def numbers(stop):
        yield from range(stop)
        raise KeyError("the end")

    assert list(ordered_map(range(30), work, threads)) == [n * n for n in range(30)]
    for stop, error in ((20, KeyError), (60, ValueError)):
        found = []
        with pytest.raises(error):
            found.extend(ordered_map(numbers(stop), work, threads))
    results = ordered_map(numbers(60), work, threads)
    assert [next(results) for _ in range(40)] == [n * n for n in range(40)]
    refuses(ValueError, "forty", next, results)


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_change_nothing(here, threads, monkeypatch):
    monkeypatch.setattr("fastlsh.io.blocks.reading.read_blocks.__defaults__", (300,))
    names = [name for name in FILES if not name.endswith((".arrow", ".parquet"))]
    for name in names:
        made(name)
    found = read(names, threads=threads)
    assert (len(found), len(found.parts[0].extents) > 5) == (60 * len(names), True)
    assert list(found.ids) == [row["id"] for row in ROWS] * len(names)
    assert found.repeated_ids == 60 * (len(names) - 1)
