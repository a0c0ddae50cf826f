"""A limit: the same files as if the inputs ended behind the last document that is wanted."""

import bz2
import gzip
import json
import lzma
import os
import random
import threading
from contextlib import suppress
from functools import cache

import pytest

import fastlsh
from combinations import covering, first
from fastlsh.files.disk.segments import SegmentWriter
from fastlsh.io import read
from files import lines_of, put_table
from in_stages import both_engines
from killed_runs import stopped_in
from shards import contents, rows_of, small_budget

pa = pytest.importorskip("pyarrow")

ROWS = rows_of(5, 30)
FILES, IN_FILE = 3, 10
KINDS = ["jsonl", "jsonl.gz", "csv", "txt", "lines.txt", "parquet", "arrow"]
LIMITS = [1, 4, 9, 10, 11, 17, 30, 1000]
BAD = {2, 3, 9, 11, 12, 20}
"""Rows that are left out where bad ones are skipped."""


def parts(rows, bad, limit):
    """Return the rows of each file; with a limit, up to the last good row that is wanted."""
    left, found = limit, []
    for file in range(FILES):
        part = []
        for number in range(IN_FILE * file, IN_FILE * (file + 1)):
            if left == 0:
                break
            part.append((number, rows[number], number in bad))
            left -= number not in bad
        if part or limit is None:
            found.append(part)
    return found


def write(folder, kind, bad=(), limit=None):
    """Write the rows; return the paths."""
    folder.mkdir()
    if kind == "txt":
        left = ROWS if limit is None else ROWS[:limit]
        paths = [folder / f"{number:02}.txt" for number in range(len(left))]
        for path, row in zip(paths, left, strict=True):
            path.write_bytes((row["text"] or "").encode())
        return paths
    paths = []
    for number, part in enumerate(parts(ROWS, bad, -1 if limit is None else limit)):
        path = folder / f"{number}.{kind.removeprefix('lines.')}"
        paths.append(path)
        if kind.startswith("jsonl"):
            put_table(path, [{**row, "text": 5} if wrong else row for _, row, wrong in part])
        elif kind == "csv":
            lines = [
                f"{row['id']}" if wrong else f'{row["id"]},"{row["text"] or ""}",{row["score"]}'
                for _, row, wrong in part
            ]
            path.write_text("\n".join(["id,text,score", *lines, ""]), encoding="utf-8", newline="")
        elif kind == "lines.txt":
            lines = [(row["text"] or "").strip() or "a line" for _, row, _ in part]
            path.write_bytes("".join(f"{line}\n\n" for line in lines).encode())
        else:
            rows = [{**row, "id": None if wrong else row["id"]} for _, row, wrong in part]
            schema = pa.schema([("id", pa.string()), ("text", pa.string()), ("score", pa.int64())])
            how = {"parquet": {"row_group_size": 7}, "arrow": {"max_chunksize": 7}}[kind]
            put_table(path, pa.Table.from_pylist(rows, schema), **how)
    return paths


def options_of(kind, bad):
    options = {"recursive": False, "threads": 1}
    if kind == "lines.txt":
        options["split"] = "lines"
    if bad:
        options |= {"on_error": "skip", "id": "id", "priority": "score"}
    return options


@pytest.mark.parametrize(("kind", "limit"), covering(KINDS, LIMITS))
def test_as_if_the_inputs_ended_there(tmp_path, monkeypatch, kind, limit):
    folder_output = (KINDS.index(kind) + LIMITS.index(limit)) % 2
    small_budget(monkeypatch)
    monkeypatch.setattr("fastlsh.io.blocks.reading.SIZE", 700)
    bad = BAD if kind in ("jsonl", "csv", "parquet", "arrow") else ()
    whole = write(tmp_path / "in", kind, bad)
    (tmp_path / "short").mkdir()
    short = write(tmp_path / "short" / "in", kind, bad, limit)
    options = options_of(kind, bad)
    suffix = {"txt": "jsonl", "lines.txt": "txt"}.get(kind, kind)
    output, *tables = (
        "kept/" if folder_output else f"k.{suffix}", "removed.jsonl", "clusters.tsv"
    )  # fmt: skip
    found = {}
    for name, inputs, more in (
        ("limited", whole, {"limit": limit}), ("short", short, {"engines": ["memory"]}),
    ):  # fmt: skip
        found[name] = both_engines(
            fastlsh.deduplicate_files, tmp_path / f"of-{name}", inputs, output, *tables,
            threshold=0.6, **options, **more,
        )  # fmt: skip
    (result, same), (expected, written) = found["limited"], found["short"]
    if kind in ("txt", "lines.txt"):  # whose ids are their paths
        assert same.keys() == written.keys()
        same, written = (
            {name: data for name, data in files.items() if name.startswith("kept/")}
            for files in (same, written)
        )
    assert same == written
    assert (result.documents, result.n_kept, result.skipped, result.empty, len(result.outputs)) == (
        expected.documents, expected.n_kept, expected.skipped, expected.empty,
        len(expected.outputs),
    )  # fmt: skip
    good = len(ROWS) - len(bad) if kind != "lines.txt" else expected.documents
    assert expected.documents == min(limit, good)


def test_what_comes_behind_is_not_looked_at(tmp_path):
    lines = [json.dumps({"text": "the same text in every row"}) for _ in range(3)]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines, "no JSON"]), encoding="utf-8")
    (tmp_path / "b.jsonl.gz").write_bytes(b"no gzip")
    inputs = [tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"]
    for engine in ("memory", "disk"):
        out = tmp_path / f"{engine}.tsv"
        result = fastlsh.near_duplicate_files(inputs, out, limit=3, engine=engine)
        assert (result.documents, result.n_pairs) == (3, 3)
        with pytest.raises(fastlsh.InputError, match=r"a\.jsonl: row 4: not JSON"):
            fastlsh.near_duplicate_files(inputs, out, limit=4, engine=engine)


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_the_reference_collection_has_no_limit(tmp_path, engine):
    paths = write(tmp_path / "in", "jsonl")
    known = write(tmp_path / "known", "jsonl")[1:]
    result = fastlsh.deduplicate_files(
        paths[:2], tmp_path / "k.jsonl", against=known, limit=12, engine=engine
    )
    assert result.documents == 12
    texts = [row["text"] for row in ROWS]
    assert result.n_kept == fastlsh.deduplicate(texts[:12], against=texts[10:]).n_kept


def test_lines(tmp_path, monkeypatch):
    small_budget(monkeypatch)
    rows = [{"text": f"same {i % 3}\nline {i % 7}\nown {i}"} for i in range(50)]
    for limit in (5, 20, 33):
        written = []
        for name, some, more in (("in", rows, {"limit": limit}), ("short", rows[:limit], {})):
            folder = tmp_path / f"{name}-{limit}"
            path = put_table(folder / f"{name}.jsonl", some)
            written.append(
                both_engines(fastlsh.deduplicate_line_files, folder, path, "k.jsonl", **more)
            )
        assert written[0][1] == written[1][1]
        assert written[0][0].n_removed == written[1][0].n_removed > 0
        assert written[0][0].documents == limit


@pytest.mark.parametrize("group", first("id", None))
def test_a_killed_run_continues_with_the_same_limit_only(tmp_path, monkeypatch, group):
    small_budget(monkeypatch, segment=10)
    paths = write(tmp_path / "in", "jsonl")
    keywords = {"engine": "disk", "work": tmp_path / "work", "limit": 22, "group": group}
    fastlsh.deduplicate_files(
        paths, tmp_path / "whole.jsonl", **{**keywords, "work": tmp_path / "w"}
    )
    run = fastlsh.deduplicate_files, paths, tmp_path / "k.jsonl"
    stopped_in(monkeypatch, SegmentWriter, "close", 1, *run, **keywords)
    with pytest.raises(fastlsh.InputError, match="limit was 22, and is 21"):
        fastlsh.deduplicate_files(paths, tmp_path / "k.jsonl", **{**keywords, "limit": 21})
    result = fastlsh.deduplicate_files(paths, tmp_path / "k.jsonl", **keywords)
    assert result.documents == 22
    assert (tmp_path / "k.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()


def test_memory_is_enough_for_few_documents(tmp_path, monkeypatch):
    paths = write(tmp_path / "in", "jsonl")
    monkeypatch.setattr("fastlsh.files.estimate.PER_DOCUMENT", 20_000_000)
    engines = [
        fastlsh.deduplicate_files(paths, tmp_path / "k.jsonl", memory="300M", limit=limit).engine
        for limit in (None, 3)
    ]
    assert engines == ["disk", "memory"]


def test_commands(tmp_path, run):
    paths = write(tmp_path / "in", "jsonl")
    for command in (
        ["pairs", *paths, "-o", "p.tsv"],
        ["dedup", *paths, "-o", "k.jsonl", "--by", "line"],
        ["dedup", *paths, "-o", "k.jsonl", "--report", "r.html"],
    ):
        for limit, said in (("31", "30 documents"), ("15", "the first 15 documents")):
            assert said in "\n".join(run.done(*command, "--limit", limit)[1])
    assert said in (tmp_path / "r.html").read_text(encoding="utf-8")
    evaluate = ["evaluate", *paths, "--json", "e.json"]
    for more in ([], ["--sample", "10"], ["--bandings", "20x5,10x10"]):
        out, _ = run.done(*evaluate, *more, "--limit", "15")
        assert out.startswith("only the first 15 documents (--limit)\n")
        assert json.loads((tmp_path / "e.json").read_bytes())["limit"] == 15
        for limit in ([], ["--limit", "31"]):
            assert "(--limit)" not in run.done(*evaluate, *more, *limit)[0]
            assert "limit" not in json.loads((tmp_path / "e.json").read_bytes())


def test_commands_with_an_index_and_wrong_limits(tmp_path, run):
    paths = write(tmp_path / "in", "jsonl")
    other = put_table(tmp_path / "other.jsonl", [{"text": "another text"}])
    run.done("index", "build", "seen.index", other)
    dedup = ["dedup", *paths, "-o", "i.jsonl", "--index", "seen.index"]
    assert "the first 15 documents" in "\n".join(run.done(*dedup, "--limit", "15")[1])
    for command, *more in (["pairs"], ["evaluate"], ["dedup", "-o", "n.jsonl"]):
        for limit in ("0", "-3"):
            line = run.refused(command, *paths, *more, "--limit", limit)
            assert line == f"fastlsh: --limit must be at least 1, got {limit}"
    assert not (tmp_path / "n.jsonl").exists()
    with pytest.raises(ValueError, match=r"limit must be at least 1, got 0"):
        read(paths, limit=0)
    with pytest.raises(TypeError, match=r"limit must be an integer, got 2\.5"):
        fastlsh.near_duplicate_files(paths, None, limit=2.5)


@pytest.mark.parametrize(
    ("kind", "engine"),
    covering(["jsonl", "jsonl.gz", "parquet", "arrow"], ["memory", "disk", "auto"]),
)
def test_files_behind_the_limit_are_not_opened(tmp_path, monkeypatch, kind, engine):
    paths = write(tmp_path / "in", kind)
    opened = set()
    from fastlsh.io.filesystems import local

    for module, name in ((local, "open_file"), (pa, "OSFile")):
        monkeypatch.setattr(module, name, _recorded(getattr(module, name), opened))
    fastlsh.deduplicate_files(paths, tmp_path / f"k.{kind}", limit=12, engine=engine)
    assert opened & {str(path) for path in paths} == {str(path) for path in paths[:2]}


def _recorded(function, names):
    def call(path, *arguments):
        names.add(os.fsdecode(path))
        return function(path, *arguments)

    return call


def test_a_file_behind_the_limit_may_grow(tmp_path, monkeypatch):
    paths = write(tmp_path / "in", "jsonl")
    from fastlsh.files.disk import write as module

    def grown(*arguments, check=module.check_unchanged):
        with paths[2].open("a", encoding="utf-8") as file:
            file.write("more\n")
        check(*arguments)

    monkeypatch.setattr(module, "check_unchanged", grown)
    for run in (fastlsh.deduplicate_files, fastlsh.deduplicate_line_files):
        out = tmp_path / f"{run.__name__}.jsonl"
        assert run(paths, out, limit=12, engine="disk").documents == 12
        with pytest.raises(fastlsh.InputError, match=r"2\.jsonl: changed during the run"):
            run(paths, out, limit=22, on_error="skip", engine="disk")


def test_a_large_batch_behind_the_limit(tmp_path, monkeypatch):
    small_budget(monkeypatch, batch=100_000)
    paths = write(tmp_path / "in", "arrow")
    large = pa.table({"id": ["a"], "text": ["x" * 600_000], "score": [1]})
    put_table(paths[1], large)
    keywords = {"engine": "disk", "memory": "300M"}
    found = fastlsh.near_duplicate_files(paths, tmp_path / "p.tsv", limit=10, **keywords)
    assert found.documents == 10
    for limit in (11, None):
        with pytest.raises(fastlsh.InputError, match=r"1\.arrow: batch 1 takes 600 KB"):
            fastlsh.near_duplicate_files(paths, tmp_path / f"{limit}.tsv", limit=limit, **keywords)
    with pytest.raises(fastlsh.InputError, match=r"1\.arrow: batch 1 takes 600 KB"):
        fastlsh.deduplicate_files(
            paths[0], tmp_path / "k.arrow", against=paths[1], limit=2, **keywords
        )


def grouped(scattered):
    """Return rows of seven documents, of which one is bad."""
    sizes = [1, 4, 1, 25, 3, 1, 9]
    rows = [{"g": g, "text": f"{g} has row {n}"} for g in range(7) for n in range(sizes[g])]
    if scattered:
        random.Random(1).shuffle(rows)
    return [*rows[:3], None, *rows[3:]]


def up_to_document(rows, limit):
    """Return the rows before the first one of a document behind the limit."""
    begun = set()
    for number, row in enumerate(rows):
        begun |= {row["g"]} if row else set()
        if len(begun) > limit:
            return rows[:number]
    return rows


def write_grouped(folder, rows):
    """Write rows to three files, of which those without a row are left out."""
    folder.mkdir()
    paths = []
    for number, part in enumerate((rows[:6], rows[6:20], rows[20:])):
        if part:
            paths.append(folder / f"{number}.jsonl")
            lines = [json.dumps(row) if row else "bad" for row in part]
            paths[-1].write_text("\n".join([*lines, ""]), encoding="utf-8")
    return paths


@pytest.mark.parametrize(
    ("engine", "scattered", "limit"),
    covering(["memory", "disk"], [False, True], [2, 4, 1, 5, 7, 99]),
)
def test_the_rows_of_a_document_are_not_cut(tmp_path, monkeypatch, engine, scattered, limit):
    """If they follow each other; else, the inputs end before a document behind the limit."""
    small_budget(monkeypatch, block=200)
    rows = grouped(scattered)
    files = write_grouped(tmp_path / "all", rows)
    keywords = {"group": "g", "engine": engine, "on_error": "skip"}
    short = write_grouped(tmp_path / "short", up_to_document(rows, limit))
    kept = []
    for inputs, more in ((files, {"limit": limit}), (short, {})):
        out = tmp_path / f"kept-{len(kept)}"
        result = fastlsh.deduplicate_files(inputs, f"{out}/", **keywords, **more)
        assert result.documents == min(limit, 7)
        kept.append(contents(out))
    assert kept[0] == kept[1]
    found = fastlsh.near_duplicate_files(files, tmp_path / "p.tsv", limit=limit, **keywords)
    assert found.documents == min(limit, 7)


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
def test_a_pipe_is_read_to_the_last_row_of_a_document(tmp_path):
    rows = [{"g": n // 500, "text": f"row {n} of a document"} for n in range(5_000)]
    data = lines_of(rows).encode()
    pipe = Pipe(tmp_path / "in.jsonl", data)
    out = tmp_path / "k.jsonl"
    fastlsh.deduplicate_files(tmp_path / "in.jsonl", out, limit=2, group="g")
    assert out.read_bytes() == lines_of(rows[:1000]).encode()
    assert pipe.end() < len(data)


COMPRESSIONS = ["", "gz", "bz2", "xz", "zst"]


def compressed(data, compression):
    if compression == "zst":
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as file:
            file.write(data)
        return sink.getvalue().to_pybytes()
    if compression == "xz":
        return lzma.compress(data, preset=0)
    how = {"": bytes, "gz": gzip.compress, "bz2": bz2.compress}
    return how[compression](data, *([1] if compression else []))


class Pipe:
    """A named pipe into which a thread writes; `accepted` is how many bytes somebody has read."""

    def __init__(self, path, data):
        os.mkfifo(path)
        self.accepted = 0
        self._thread = threading.Thread(target=self._write, args=[path, data], daemon=True)
        self._thread.start()

    def _write(self, path, data):
        with suppress(BrokenPipeError), open(path, "wb", buffering=0) as file:
            while self.accepted < len(data):
                self.accepted += file.write(data[self.accepted : self.accepted + 4096])

    def end(self):
        self._thread.join(60)
        assert not self._thread.is_alive()
        return self.accepted


@cache
def texts_of_pipe(kind, count):
    words = random.Random(7).choices([f"word{i}" for i in range(5000)], k=40 * count)
    texts = [" ".join(words[40 * i : 40 * i + 40]) for i in range(count)]
    texts[4], texts[5] = texts[0], "short"
    if kind == "csv":
        rows = [f'{i},"{text}\n"\n' for i, text in enumerate(texts)]
        return "".join(["id,text\n", rows[0], "bad\n", *rows[1:]]).encode()
    if kind == "txt":
        return "\n\n".join(texts).encode()
    rows = [json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts)]
    return "".join([rows[0], "bad\n", *rows[1:]]).encode()


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
@pytest.mark.parametrize(("kind", "compression"), covering(["jsonl", "csv", "txt"], COMPRESSIONS))
def test_a_pipe_is_read_to_the_limit_only(tmp_path, kind, compression):
    number = COMPRESSIONS.index(compression)
    engine = ["memory", "disk"][number % 2]
    by = ["document", "line"][(number + len(kind)) // 2 % 2]
    data = compressed(texts_of_pipe(kind, 4_000), compression)
    name = ".".join(filter(None, ["in", kind, compression]))
    if by == "line" and kind != "txt":  # of which it is one document
        run, split = fastlsh.deduplicate_line_files, {}
    else:
        run, split = fastlsh.deduplicate_files, {"split": "lines" if kind == "txt" else None}
    for limit in (1, 6):
        folders = tmp_path / f"{limit}-file", tmp_path / f"{limit}-pipe"
        for folder in folders:
            folder.mkdir()
        (folders[0] / name).write_bytes(data)
        pipe = Pipe(folders[1] / name, data)
        for folder in folders:
            keywords = {"limit": limit, "engine": engine, "on_error": "skip", **split}
            result = run(folder / name, folder / f"k.{kind}", work=tmp_path / "w", **keywords)
            assert result.documents == limit
        assert pipe.end() < len(data) / 2
        kept = [(folder / f"k.{kind}").read_bytes() for folder in folders]
        assert kept[0] == kept[1] != b""


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
def test_a_bad_row_ends_the_reading_of_a_pipe(tmp_path):
    data = texts_of_pipe("jsonl", 6) + b"not a row of JSON at all\n" * 12_000
    pipe = Pipe(tmp_path / "in.jsonl", data)
    with pytest.raises(fastlsh.InputError, match=r"in\.jsonl: row 2: not JSON"):
        fastlsh.deduplicate_files(tmp_path / "in.jsonl", tmp_path / "k.jsonl", limit=5)
    assert pipe.end() < len(data) / 2
