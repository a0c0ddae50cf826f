"""Rows that are long for the memory: they fit, or one line says which it is and what would do."""

import json
import os
import re
import threading
import zlib
from contextlib import contextmanager, suppress
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import pytest

import fastlsh
from combinations import covering, every
from fastlsh.errors import LongRowError
from fastlsh.files.budget import (
    BASE,
    PER_BATCH,
    PER_COMPARED,
    PER_ROW,
    Budget,
    least_memory,
    parse_memory,
)
from fastlsh.io import Options, Source, read_blocks
from fastlsh.parallel import ordered_map
from fastlsh.parameters import SearchParams
from files import put_table
from in_stages import both_engines
from shards import rows_of, small_budget, write_shards

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def text_of(length, seed=0):
    letters = np.frombuffer(b"etaoin shrdlu cmfwyp", np.uint8)
    return np.random.default_rng(seed).choice(letters, length).tobytes().decode()


READERS = ("plan", "requests", "estimate", "tasks.decontamination", "held")
"""The modules that say how long a row may be without a budget."""


def limited(monkeypatch, **limits):
    """Let budgets be small, and rows of so many bytes too long for them."""
    small_budget(monkeypatch)
    of = Budget.of.__func__
    monkeypatch.setattr(Budget, "of", classmethod(lambda *a: Budget(**{**vars(of(*a)), **limits})))
    for module in READERS if "row" in limits else ():
        monkeypatch.setattr(f"fastlsh.files.{module}.longest_row", lambda memory: limits["row"])


def with_long(folder, place, *texts, shards=2):
    """Write a collection with some long texts from a row of its second file on."""
    inputs = write_shards(folder, rows_of(1, 24), shards)
    lines = Path(inputs[1]).read_text(encoding="utf-8").splitlines(keepends=True)
    lines[place:place] = [
        json.dumps({"id": f"x{i}", "text": t}) + "\n" for i, t in enumerate(texts)
    ]
    Path(inputs[1]).write_text("".join(lines), encoding="utf-8")
    return inputs


@pytest.mark.parametrize("threads", every(2, [1, 2], 1))
@pytest.mark.parametrize("place", every(3, [0, 5, 12], 1))
def test_a_row_that_is_too_long_is_named(tmp_path, monkeypatch, threads, place):
    limited(monkeypatch, row=10_000)
    inputs = with_long(tmp_path, place, text_of(20_000))
    keywords = {"output": tmp_path / "k.jsonl", "engine": "disk", "memory": "300M"}
    with pytest.raises(fastlsh.InputError) as caught:
        fastlsh.deduplicate_files(inputs, threads=threads, **keywords)
    size = 20_000 + len('{"id": "x0", "text": ""}')
    assert str(caught.value) == (
        f"{inputs[1]}: row {place + 1}: the row has 20 KB, and with 300M of memory a row may have"
        f' 10 KB: give at least memory="{least_memory(size, PER_ROW)}"'
    )
    assert not (tmp_path / "k.jsonl").exists()
    limited(monkeypatch, row=20_100)
    done = fastlsh.deduplicate_files(inputs, threads=threads, **keywords)
    assert done.documents == 25
    expected = fastlsh.deduplicate_files(inputs, tmp_path / "m.jsonl", engine="memory")
    assert (tmp_path / "m.jsonl").read_bytes() == (tmp_path / "k.jsonl").read_bytes()
    assert expected.n_kept == done.n_kept


@contextmanager
def endless_pipe(path, pieces=()):
    """Give a named pipe into which a thread writes pieces, and zeros for as long as it is read."""
    os.mkfifo(path)

    def write():
        with suppress(BrokenPipeError), open(path, "wb", buffering=0) as file:
            for piece in chain(pieces, repeat(bytes(1 << 16))):
                file.write(piece)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    yield path
    writer.join(30)
    assert not writer.is_alive()


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
@pytest.mark.parametrize("job", ["memory", "disk", "limit", "decontaminate"])
@pytest.mark.parametrize("suffix", every(3, ["jsonl", "csv", "txt"], 1))
def test_an_endless_row_of_a_pipe_is_refused(tmp_path, monkeypatch, suffix, job):
    limited(monkeypatch, row=20_000)
    with endless_pipe(tmp_path / f"in.{suffix}") as path:
        said = r"row has at least [\d.]+ KB, and with 300M .* may have 20 KB: give at least"
        keywords = {"memory": "300M"}
        if job == "decontaminate":
            items = tmp_path / "items.jsonl"
            items.write_text(json.dumps({"text": text_of(200)}), encoding="utf-8")
            run, keywords["evals"] = fastlsh.decontaminate_files, items
        else:
            run = fastlsh.deduplicate_files
            keywords |= {"engine": "disk"} if job == "disk" else {"engine": "memory"}
            keywords |= {"limit": 3} if job == "limit" else {}
        with pytest.raises(fastlsh.InputError, match=said):
            run(path, output=tmp_path / f"k.{suffix}", **keywords)


def endless_rows():
    """Yield the suffix of a file, and the pieces of it: a row of many lines that never ends."""
    lines = b"so many short lines\n" * 3_000
    yield "csv", chain([b'id,text\n1,"'], repeat(lines))
    yield "txt", repeat(lines)
    yield "json", chain([b'[{"text": "short"}, {"text": ['], repeat(b'"a line",\n' * 6_000))
    packer = zlib.compressobj(0, wbits=31)
    yield "jsonl.gz", map(packer.compress, chain([b'{"text": "'], repeat(b"words " * 10_000)))


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
@pytest.mark.filterwarnings("ignore:.*in.txt is read as one document")
def test_an_endless_row_with_line_ends_is_not_copied(tmp_path, monkeypatch):
    limited(monkeypatch, row=100_000)
    for suffix, pieces in endless_rows():
        with (
            endless_pipe(tmp_path / f"in.{suffix}", pieces) as path,
            pytest.raises(
                fastlsh.InputError, match=r"row has at least [\d.]+ KB, .* give at least"
            ),
        ):
            fastlsh.deduplicate_files(path, tmp_path / "k.jsonl", engine="memory", memory="300M")


def objects(folder):
    """Yield files with a row that becomes large objects of Python, and how it does."""
    many, wide = ",".join(["[7]"] * 7_000), text_of(20_000) + "😀"
    files = {
        "module.jsonl": f'{{"text": {{"b": "c"}}, "v": [{many}]}}\n',
        "many.jsonl": f'{{"text": "b", "v": [{many}]}}\n',
        "wide.csv": f'text,other\n{wide},"a"\n',
        "header.csv": f"text,{text_of(9_000).replace(' ', ',')}\na,b\n",
        "wide.txt": wide,
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    pq.write_table(pa.table({"text": ["b"], "v": [[*range(5_000)]]}), folder / "many.parquet")
    yield "module.jsonl", "jsonl", {"text": "text.b"}
    yield "wide.csv", "csv", {"text": ["text", "other"]}
    for to in ("csv", "parquet"):
        yield "many.jsonl", to, {"convert_to": to}
    for name in ("wide.csv", "wide.txt", "many.parquet"):
        yield name, "jsonl", {"convert_to": "jsonl"}


@pytest.mark.parametrize("number", every(2, range(7)))
@pytest.mark.parametrize("engine", ["disk", "memory"])
def test_rows_that_become_objects_of_python_are_named(tmp_path, monkeypatch, engine, number):
    name, suffix, more = [*objects(tmp_path)][number]
    if (name, engine) == ("wide.txt", "memory"):
        pytest.skip("the text is in memory in any case")
    out = tmp_path / f"k.{suffix}"
    keywords = {"engine": engine, "memory": "300M", "work": tmp_path / "w"}
    said = (
        r"the row takes about [\d.]+ [KM]B of memory as objects of Python, and with 300M of memory"
        r' a row may take 180 KB: give at least memory="\d+M"'
    )
    with monkeypatch.context() as patch:
        limited(patch, row=30_000)
        with pytest.raises(fastlsh.InputError, match=said) as caught:
            fastlsh.deduplicate_files(tmp_path / name, out, **keywords, **more)
        assert caught.value.path == str(tmp_path / name)
        assert caught.value.row == {"wide.csv": 2, "wide.txt": None}.get(name, 1)
        assert not out.exists()
        if name == "many.jsonl":  # as it came, no object is made of the row
            keywords["work"] = tmp_path / "another"
            fastlsh.deduplicate_files(tmp_path / name, tmp_path / "k.jsonl", **keywords)
            assert (tmp_path / "k.jsonl").read_bytes() == (tmp_path / name).read_bytes()
    fastlsh.deduplicate_files(tmp_path / name, out, engine=engine, memory="300M", **more)
    assert out.exists()


def test_a_header_and_columns_that_become_objects_of_python_are_named(tmp_path, monkeypatch):
    said = r"takes about .* as objects of Python, and with 300M of memory a row may take 180 KB"
    [*objects(tmp_path)]
    rows = (tmp_path / "many.jsonl").read_text(encoding="utf-8") * 2
    (tmp_path / "two.jsonl").write_text(rows, encoding="utf-8")
    limited(monkeypatch, row=30_000)
    monkeypatch.setattr("fastlsh.io.arrays.PER_VALUE", 200)
    for engine in ("memory", "disk"):
        keywords = {"engine": engine, "memory": "300M", "work": tmp_path / f"{engine}.work"}
        with pytest.raises(fastlsh.InputError, match=f"row 1: the row {said}"):
            fastlsh.deduplicate_files(tmp_path / "header.csv", tmp_path / "k.csv", **keywords)
        with pytest.raises(fastlsh.InputError, match=f"row 1: the row {said}"):
            fastlsh.near_duplicate_files(
                tmp_path / "two.jsonl", tmp_path / "p.tsv", columns=["v"], **keywords
            )


def test_a_row_of_too_many_lines_is_named(tmp_path, monkeypatch):
    inputs = with_long(tmp_path, 5, "\n".join(map(str, range(300))))
    keywords = {"engine": "disk", "memory": "300M", "work": tmp_path / "w", "threads": 1}
    with monkeypatch.context() as patch:
        patch.setattr("fastlsh.files.disk.sign.PER_PIECE", 1 << 20)
        said = (
            r"row 6: the row takes about 315 MB of memory cut into lines, .* may take 147 MB: give"
        )
        with pytest.raises(fastlsh.InputError, match=said):
            fastlsh.deduplicate_line_files(inputs, tmp_path / "k.jsonl", **keywords)
    fastlsh.deduplicate_line_files(inputs, tmp_path / "k.jsonl", **keywords)


def test_several_long_rows_are_worked_on_one_after_the_other(tmp_path, monkeypatch):
    small_budget(monkeypatch)
    texts = [text_of(20_000, seed) for seed in (0, 1, 1, 2)]
    texts[1] = "changed " + texts[1]
    inputs = with_long(tmp_path, 10, *texts)
    _, written = both_engines(fastlsh.deduplicate_files, tmp_path, inputs, "k.jsonl", threads=2)
    assert b"x2" not in written["k.jsonl"]


def test_no_other_block_is_held_beside_one_that_is_alone():
    held, most = set(), []

    def blocks():
        for number in range(40):
            held.add(number)
            if number % 10 == 7:
                most.append(len(held))
            yield number

    done = ordered_map(blocks(), int, 3, alone=lambda number: number % 10 == 7)
    found = []
    for number in done:
        if number % 10 == 7:
            assert held == {number}
        held.discard(number)
        found.append(number)
    assert found == list(range(40))
    assert len(most) == 4


ARRAY = '\n {\n"text": "a ] and a }, \\"", "x": [' + ",\n".join(["[1]"] * 1_000) + "]}"
LONG = {
    "json": (f'[{{"text": "short"}},{ARRAY} , {{"text": "short"}}]', 2, len(ARRAY) + 2),
    "jsonl": ('{"text": "short"}\n{"text": "%s"}' % ("long" * 1_000), 2, 4_012),
    "csv": ("text,c\nshort,b\n%s,b" % ("long" * 1_000), 3, 4_002),
}
"""A file of each format, the number of its long row, and how many bytes this has."""


@pytest.mark.parametrize("end", ["\n", ""])
@pytest.mark.parametrize("suffix", LONG)
@pytest.mark.parametrize("size", [100, 5_000, 1 << 20])
def test_the_length_of_a_row(tmp_path, suffix, size, end):
    content, row, length = LONG[suffix]
    path = tmp_path / f"a.{suffix}"
    path.write_text(content + end)
    ended = len(end) * (suffix != "json")
    source = Source(str(path), {"json": "jsonl"}.get(suffix, suffix), None, Options())
    assert len(list(read_blocks(source, size, max_row=length + ended))) >= 1
    with pytest.raises(LongRowError) as caught:
        list(read_blocks(source, size, max_row=300))
    assert caught.value.row == row
    assert length <= caught.value.size <= length + ended


def test_texts_that_cannot_be_compared_are_named(tmp_path, monkeypatch):
    text = text_of(20_000)
    inputs = with_long(tmp_path, 6, text, text + " and more")
    keywords = {"output": tmp_path / "k.jsonl", "engine": "disk", "memory": "300M"}
    limited(monkeypatch, compared=36_000)
    with pytest.raises(fastlsh.InputError) as caught:
        fastlsh.deduplicate_files(inputs, **keywords)
    assert str(caught.value) == (
        f"{inputs[1]}: row 8: the text has 20 KB, and its comparison with another one needs more"
        " than 300M of memory: do the same again with"
        f' memory="{least_memory(40_009, PER_COMPARED)}" at least'
    )
    limited(monkeypatch, compared=44_000)
    assert fastlsh.deduplicate_files(inputs, **keywords).n_removed > 0
    fastlsh.deduplicate_files(inputs, tmp_path / "m.jsonl", engine="memory")
    assert (tmp_path / "m.jsonl").read_bytes() == (tmp_path / "k.jsonl").read_bytes()


def test_second_texts_that_cannot_be_compared_are_named(tmp_path, monkeypatch):
    text = text_of(20_000)
    rows = [{"text": "a question", "answer": text + more} for more in ("", " and more")]
    path = put_table(tmp_path / "in.jsonl", rows)
    keywords = {"also": "answer", "engine": "disk", "memory": "300M", "work": tmp_path / "work"}
    limited(monkeypatch, compared=36_000)
    for verify in ("exact", "signature"):
        with pytest.raises(fastlsh.InputError, match="row 2: the text has 20 KB, and its comp"):
            fastlsh.deduplicate_files(path, **keywords, verify=verify, restart=True)
    limited(monkeypatch, compared=44_000)
    assert fastlsh.deduplicate_files(path, **keywords, restart=True).n_removed == 1


def test_copies_and_estimates_need_no_sets_and_lines_do(tmp_path, monkeypatch):
    limited(monkeypatch, compared=24_000)
    text = text_of(20_000)
    keywords = {"output": tmp_path / "k.jsonl", "engine": "disk", "memory": "300M"}
    inputs = with_long(tmp_path, 6, text, text, text + " and more")
    assert fastlsh.deduplicate_files(inputs, **keywords, verify="signature").documents == 27
    with pytest.raises(fastlsh.InputError, match="row 9: the text has"):
        fastlsh.deduplicate_files(inputs, **keywords)
    inputs = with_long(tmp_path, 6, text, text)
    keywords["restart"] = True
    assert fastlsh.deduplicate_files(inputs, **keywords).documents == 26
    inputs = with_long(tmp_path, 6, f"a\n{text}\nb", f"c\nd\n{text} and more")
    with pytest.raises(fastlsh.InputError, match="row 8: the text has 20 KB"):
        fastlsh.deduplicate_line_files(inputs, threshold=0.8, **keywords)
    assert fastlsh.deduplicate_line_files(inputs, **keywords).documents == 26


@pytest.mark.parametrize("each", [PER_ROW, PER_BATCH, PER_COMPARED])
@pytest.mark.parametrize("size", [1_000_000, 200_000_000])
def test_the_memory_that_is_named_is_enough(size, each):
    params = SearchParams.of(0.8)
    said = least_memory(size, each)
    assert re.fullmatch(r"\d+M", said)
    budget = Budget.of(max(parse_memory(said), 256 << 20), params, 2)
    limits = {PER_ROW: budget.row, PER_BATCH: budget.batch, PER_COMPARED: budget.compared}
    assert limits[each] >= size
    assert parse_memory(said) <= BASE + size * each + (2 << 20)


@pytest.mark.parametrize(
    ("compression", "form"), covering([None, "zstd", "lz4"], ["file", "stream"])
)
def test_a_batch_that_is_too_large_is_named_before_the_work(
    tmp_path, monkeypatch, form, compression
):
    pa = pytest.importorskip("pyarrow")
    limited(monkeypatch, batch=10_000)
    table = pa.table({"text": ["short"] * 30 + ["long " * 800] * 10})
    path = tmp_path / "a.arrow"
    new = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}[form]
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with new(path, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=30)
    size = 11 * 4 + 10 * 4000
    with pytest.raises(fastlsh.InputError) as caught:
        fastlsh.deduplicate_files(path, tmp_path / "k.arrow", engine="disk", memory="300M")
    assert str(caught.value) == (
        f"{path}: batch 2 takes 40 KB, and with 300M of memory a batch may take 10 KB: give at"
        f' least memory="{least_memory(size, PER_BATCH)}", or write the file in smaller batches'
    )
    limited(monkeypatch, batch=size + 100)
    done = fastlsh.deduplicate_files(path, tmp_path / "k.arrow", engine="disk", memory="300M")
    assert done.documents == 40


def parquet_with(folder, more, **options):
    """Write a Parquet file of 24 short rows and further ones."""
    rows = [{"id": f"d{i}", "text": row["text"] or ""} for i, row in enumerate(rows_of(1, 24))]
    rows += [{"id": f"x{i}", "text": "short", **row} for i, row in enumerate(more)]
    usual = {"unread": "", "numbers": [1]}
    path = folder / "a.parquet"
    return put_table(path, [{**usual, **row} for row in rows], **options)


LONG_IN_PARQUET = {
    "text": [{"text": text_of(20_001)}],
    "unread": [{"unread": text_of(20_001)}],
    "row in a page of many": [{"text": text_of(12_000)}, {"text": "b"}],
    "page": [{"text": text_of(5_000, seed)} for seed in range(8)],
    "page of lists": [{"numbers": [*range(999 * n, 999 * n + 999)]} for n in range(8)],
}


@pytest.mark.parametrize("engine", every(2, ["disk", "memory"]))
@pytest.mark.parametrize("case", LONG_IN_PARQUET)
@pytest.mark.parametrize("dictionary", every(2, [False, True], 1))
def test_long_rows_and_pages_of_parquet_are_named(tmp_path, monkeypatch, case, engine, dictionary):
    limited(monkeypatch, row=10_000)
    more = LONG_IN_PARQUET[case]
    path = parquet_with(tmp_path, more, use_dictionary=dictionary)
    keywords = {"engine": engine, "memory": "300M", "work": tmp_path / "w"}
    with pytest.raises(fastlsh.InputError, match=r'give at least memory="\d+M"') as caught:
        fastlsh.deduplicate_files(path, tmp_path / "k.parquet", **keywords)
    assert not (tmp_path / "k.parquet").exists()
    said = str(caught.value)
    if case == "row in a page of many":
        assert said.startswith(f"{path}: row 25: the row has 12 KB")
    else:  # longer than all pages may be
        assert said.startswith(f"{path}: the page has")
        assert said.endswith("or write the file in smaller pages")
    if case in ("unread", "page of lists"):  # which a search for pairs does not read
        fastlsh.near_duplicate_files(path, tmp_path / "p.tsv", **keywords)
    monkeypatch.undo()
    done = fastlsh.deduplicate_files(path, tmp_path / "k.parquet", **keywords)
    assert done.documents == 24 + len(more)
